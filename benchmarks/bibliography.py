"""Measure the bibliography detector against the reference lists of JATS files.

Each article is written out as plain text by this script's own code: title, abstract, body with
captions, in some with tables; then, in a random half, a reference list in one of several styles
(numbered or by author, entries on lines, separated by blank lines, wrapped, or run together; with
or without a heading), and in a tenth of those an appendix after it. The detector must find where
the list begins, or that there is none.

    python benchmarks/bibliography.py FOLDER          # report; the rates were fitted on the other half
    python benchmarks/bibliography.py FOLDER --fit    # print the rates of the fitting half
    python benchmarks/bibliography.py FOLDER --half fit

Which half an article is in, and every choice of its layout, follow from its file name.
"""

import argparse
import hashlib
import sys
import textwrap
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from eagle_rag.ops.bibliography import FEATURES, count_features, find_bibliography

__all__ = ["Rendered", "Score", "main", "render"]

_HEADINGS = ("References", "REFERENCES", "Bibliography", "Literature cited", "6. References")
_HEADING_SHARE = 0.75
_LIST_SHARE = 0.5
_APPENDIX_SHARE = 0.1
_TABLES_SHARE = 0.3
_APA, _COLON, _VANCOUVER = 2, 1, 0
_WRAP = 84
_NEAR = 0.01
_ASIDE = frozenset(("ref-list", "alt-text", "graphic", "object-id", "tex-math", "annotation"))
_PARAGRAPHS = frozenset(("title", "article-title", "p", "label"))


@dataclass(frozen=True, slots=True)
class Rendered:
    """One article as plain text.

    Args:
        text: The whole text.
        start: Where its reference list begins; ``None`` without one.
        end: Where it ends.
    """

    text: str
    start: int | None
    end: int


@dataclass(slots=True)
class Score:
    """What the detector did on one group of texts, in characters and texts."""

    texts: int = 0
    found: int = 0
    near: int = 0
    prose: int = 0
    prose_cut: int = 0
    references: int = 0
    references_left: int = 0
    worst: list[tuple[int, str]] = field(default_factory=list)

    def add(self, name: str, rendered: Rendered, cut: int | None) -> None:
        """Count one text."""
        length = len(rendered.text)
        start = length if rendered.start is None else rendered.start
        end = length if rendered.start is None else rendered.end
        at = length if cut is None else cut
        lost = max(0, start - at) + length - max(end, at)
        lost = lost if cut is not None else 0
        left = max(0, min(at, end) - start)
        self.texts += 1
        self.found += cut is not None
        self.near += abs(at - start) <= _NEAR * length
        self.prose += start + length - end
        self.prose_cut += lost
        self.references += end - start
        self.references_left += left
        self.worst.append((lost + left, f"{name}: {lost} of prose cut, {left} of references left"))


def _local(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


def _words(element: ET.Element) -> str:
    return " ".join("".join(_characters(element)).split())


def _characters(element: ET.Element) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if _local(child) not in _ASIDE and _local(child) not in ("fig", "table-wrap", "list", "p"):
            yield from _characters(child)
        yield child.tail or ""


def _prose(element: ET.Element, *, tables: bool) -> Iterator[str]:
    name = _local(element)
    if name in _ASIDE:
        return
    if name == "tr":
        if tables:
            yield "\t".join(_words(cell) for cell in element)
        return
    if name in _PARAGRAPHS:
        yield _words(element)
    for child in element:
        yield from _prose(child, tables=tables)


def _find(root: ET.Element, *names: str) -> list[ET.Element]:
    return [e for e in root.iter() if _local(e) in names]


def _value(entry: ET.Element, *names: str) -> str:
    found = _find(entry, *names)
    return _words(found[0]) if found else ""


def _authors(entry: ET.Element, *, dotted: bool) -> str:
    people = []
    for name in _find(entry, "name", "string-name")[:6]:
        initials = [part[0] for part in _value(name, "given-names").replace("-", " ").split()]
        given = " ".join(f"{i}." for i in initials) if dotted else "".join(initials)
        people.append(f"{_value(name, 'surname')}{',' if dotted else ''} {given}".strip())
    return ", ".join(filter(None, people))


def _entry(ref: ET.Element, style: int) -> str:
    citations = _find(ref, "mixed-citation", "element-citation", "citation", "nlm-citation")
    entry = citations[0] if citations else ref
    punctuated = any((child.tail or "").strip(" .") for child in entry)
    if punctuated and style != _APA:
        return " ".join("".join(entry.itertext()).split())
    title = _value(entry, "article-title", "chapter-title")
    source, year = _value(entry, "source"), _value(entry, "year")[:4]
    volume, issue = _value(entry, "volume"), _value(entry, "issue")
    pages = "-".join(
        filter(None, (_value(entry, "fpage", "elocation-id"), _value(entry, "lpage")))
    )
    issue = f"({issue})" if issue else ""
    if style == _APA:
        authors = _authors(entry, dotted=True)
        return f"{authors} ({year}). {title}. {source}, {volume}{issue}, {pages}.".strip()
    if style == _COLON:
        authors = _authors(entry, dotted=False)
        return f"{authors}: {title}. {source} {year}, {volume}{issue}:{pages}."
    authors = _authors(entry, dotted=False)
    return f"{authors}. {title}. {source}. {year};{volume}{issue}:{pages}."


def _ids(ref: ET.Element, share: float, rng: np.random.Generator) -> str:
    """Return the ids of an entry as styles print them; publishers keep them out of the text."""
    found = {e.get("pub-id-type", ""): _words(e) for e in _find(ref, "pub-id")}
    if rng.random() >= share:
        return ""
    if found.get("doi"):
        return (
            f" https://doi.org/{found['doi']}" if rng.random() < 0.5 else f" doi: {found['doi']}"
        )
    return f" PMID: {found['pmid']}" if found.get("pmid") else ""


def _reference_list(refs: list[ET.Element], rng: np.random.Generator) -> str:
    style = int(rng.integers(3))
    shown = float(rng.choice((0.0, 0.5, 0.9)))
    entries = [_entry(ref, style) + _ids(ref, shown, rng) for ref in refs]
    entries = list(filter(None, entries))
    numbering = "{n}. {e}" if style == _COLON else "[{n}] {e}" if rng.random() < 0.3 else "{e}"
    numbering = "{n}. {e}" if style == _VANCOUVER and rng.random() < 0.7 else numbering
    entries = [numbering.format(n=n, e=entry) for n, entry in enumerate(entries, 1)]
    layout = rng.random()
    if layout < 0.1:
        body = " ".join(entries)
    elif layout < 0.4:
        body = "\n".join("\n".join(textwrap.wrap(entry, _WRAP)) for entry in entries)
    else:
        body = ("\n\n" if layout < 0.7 else "\n").join(entries)
    heading = str(rng.choice(_HEADINGS)) if rng.random() < _HEADING_SHARE else ""
    return f"{heading}\n\n{body}" if heading else body


def render(name: str, data: bytes) -> Rendered | None:
    """Return an article as plain text, laid out by its name; ``None`` without prose or list."""
    root = ET.fromstring(data)  # noqa: S314 - expat loads no external entity; files are ours
    rng = np.random.default_rng(int(hashlib.sha256(name.encode()).hexdigest()[:8], 16))
    tables = bool(rng.random() < _TABLES_SHARE)
    wrapped = bool(rng.random() < 0.3)
    parts: list[str] = []
    for scope in [
        *_find(root, "title-group")[:1],
        *_find(root, "abstract")[:1],
        *_find(root, "body")[:1],
        *_find(root, "ack")[:1],
    ]:
        parts += filter(None, _prose(scope, tables=tables))
    if wrapped:
        parts = ["\n".join(textwrap.wrap(part, _WRAP)) for part in parts]
    refs = _find(root, "ref")
    if len(parts) < 5 or len(refs) < 3:
        return None
    appendix = ""
    if rng.random() < _APPENDIX_SHARE:
        kept = max(3, len(parts) // 5)
        appendix = "\n\n".join(("Appendix", *parts[-kept:]))
        parts = parts[:-kept]
    prose = "\n\n".join(parts) + "\n\n"
    if rng.random() >= _LIST_SHARE:
        return Rendered(prose.rstrip(), None, 0)
    listed = _reference_list(refs, rng)
    end = len(prose) + len(listed)
    text = prose + listed + (f"\n\n{appendix}" if appendix else "")
    return Rendered(text, len(prose), end)


def _half(name: str) -> str:
    return "test" if hashlib.sha256(f"half {name}".encode()).digest()[0] % 2 else "fit"


def _articles(folder: Path, half: str) -> Iterator[tuple[str, Rendered]]:
    for path in sorted(p for s in ("*.xml", "*.nxml") for p in folder.rglob(s)):
        rendered = render(path.name, path.read_bytes()) if _half(path.name) == half else None
        if rendered is not None:
            yield path.name, rendered


def _fit(folder: Path) -> None:
    """Print how often each feature occurs per 1,000 characters of prose and of reference lists."""
    totals = np.zeros((2, len(FEATURES) + 1))
    for _, rendered in _articles(folder, "fit"):
        start = len(rendered.text) if rendered.start is None else rendered.start
        end = len(rendered.text) if rendered.start is None else rendered.end
        prose = f"{rendered.text[:start]}\n{rendered.text[end:]}"
        for row, text in enumerate((prose, rendered.text[start:end])):
            totals[row] += [*count_features(text), len(text)]
    rates = 1000 * totals[:, :-1] / totals[:, -1:]
    for position, feature in enumerate(FEATURES):
        print(
            f"{feature.name:12} prose {rates[0, position]:8.3f}  references {rates[1, position]:8.3f}"
        )


def _line(name: str, score: Score) -> None:
    if not score.texts:
        return
    print(
        f"{name:22} texts {score.texts:4}  cut {score.found:4}  boundary within 1 % "
        f"{100 * score.near / score.texts:6.2f} %  prose cut {100 * score.prose_cut / score.prose:7.4f} %"
        f"  references left {100 * score.references_left / max(1, score.references):6.2f} %"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the report and return the exit code."""
    parser = argparse.ArgumentParser(description="Bibliography detector against JATS.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--fit", action="store_true", help="print the rates of the fitting half")
    parser.add_argument("--half", choices=("fit", "test"), default="test")
    parser.add_argument("--show", type=int, default=10, help="worst texts to print")
    options = parser.parse_args(arguments)
    if options.fit:
        _fit(options.folder)
        return 0
    scores = {"list at the end": Score(), "list, then appendix": Score(), "no list": Score()}
    for name, rendered in _articles(options.folder, options.half):
        ends = rendered.end == len(rendered.text)
        group = (
            "no list"
            if rendered.start is None
            else "list at the end"
            if ends
            else "list, then appendix"
        )
        scores[group].add(name, rendered, find_bibliography(rendered.text))
    for group, score in scores.items():
        _line(group, score)
    listed, none = scores["list at the end"], scores["no list"]
    print(
        f"precision {listed.found / max(1, listed.found + none.found):.4f}  recall {listed.found / max(1, listed.texts):.4f} (texts with a list at the end)"
    )
    prose_cut = sum(s.prose_cut for s in scores.values()) / max(
        1, sum(s.prose for s in scores.values())
    )
    print(f"prose wrongly cut, all texts: {100 * prose_cut:.4f} %")
    for group, score in scores.items():
        for cost, message in sorted(score.worst, reverse=True)[: options.show]:
            if cost:
                print(f"{group}: {message}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
