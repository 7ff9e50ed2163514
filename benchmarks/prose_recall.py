"""Check that every prose paragraph of JATS files is in the product's passages exactly once.

This script shares no code with the product's parser: it reads the XML with the standard library and
by its own rules, and compares characters. What counts:

- every ``<p>`` below an ``<abstract>`` or the ``<body>`` of the article itself: in sections, lists,
  boxed text, captions, table footnotes, directly in the body. Sub-articles, the back matter and the
  floats group are not required, but a text that stands there may occur once more.
- of a paragraph, its own text: what stands in nested blocks (lists, figures, boxed text, footnotes,
  another ``<p>``) counts for the paragraphs in there, and the text before and after such a block may
  stand apart. Every part must be found.
- aside: cells of tables, reference lists, alternative texts, ids of objects, formulas (any rendering may stand in
  their place), citation markers (``xref ref-type="bibr"``) and the brackets, commas and dashes around
  them, ``^`` (the product's superscript sign), white space.

The product's passages are joined in the order of their offsets. Paragraphs take their characters out
of that string, longest first, so a paragraph that stands twice in the source must be found twice,
and one whose text is also part of a longer paragraph needs a place of its own. A paragraph that could
be taken once more afterwards is a duplicate, unless the source has its text in a title too
(paragraphs shorter than 40 characters are exempt: labels and footnotes repeat such texts).

    python benchmarks/prose_recall.py FOLDER                  # parse and cut in this process
    python benchmarks/prose_recall.py FOLDER --passages DUMP  # read DUMP/<file stem>.jsonl instead

A dump holds one JSON object a line with ``start``, ``end`` and ``text``. Exit code 1 below 100 %.
"""

import argparse
import hashlib
import json
import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

__all__ = [
    "Finding",
    "Paragraph",
    "Result",
    "check_document",
    "main",
    "read_paragraphs",
    "read_titles",
]

_BLOCKS = frozenset(
    (
        "p",
        "list",
        "def-list",
        "boxed-text",
        "disp-quote",
        "fig",
        "fig-group",
        "table-wrap",
        "table-wrap-group",
        "table",
        "sec",
        "fn",
        "fn-group",
        "speech",
        "verse-group",
        "statement",
        "supplementary-material",
        "media",
        "disp-formula",
        "disp-formula-group",
        "chem-struct-wrap",
        "array",
        "preformat",
        "code",
        "question",
        "answer",
    )
)
_SKIPPED = frozenset(
    (
        "alt-text",
        "long-desc",
        "table",
        "ref-list",
        "index-term",
        "inline-graphic",
        "graphic",
        "object-id",
    )
)
_FORMULAS = frozenset(
    (
        "inline-formula",
        "tex-math",
        "math",
        "chem-struct",
        "disp-formula",
    )
)
_TITLES = frozenset(("title", "subtitle", "article-title", "term", "label"))
_DUPLICATE_MINIMUM = 40
# Room for what a formula without text (a picture) may be written as; others have three times theirs.
_FORMULA_ROOM = 40
_CANDIDATES = 50
_BEFORE_MARKER = "[({,;-\u2010\u2011\u2012\u2013\u2014\u2212"
_AFTER_MARKER = "])},;-\u2010\u2011\u2012\u2013\u2014\u2212"

Pieces = tuple[tuple[str, str], ...]
Passages = Callable[[Path], Iterable[tuple[int, str]]]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One ``<p>``: its pieces, without white space.

    Args:
        pieces: ``(kind, text)``; kind is ``text``, ``marker`` (may be absent), ``formula``
            (anything may stand there) or ``block`` (the text goes on, perhaps elsewhere).
        required: It stands in an abstract or in the body of the article itself.
    """

    pieces: Pieces
    required: bool

    @property
    def text(self) -> str:
        """Its text without markers and formulas."""
        return _literal(self.pieces)

    def parts(self) -> Iterator[Pieces]:
        """Yield the stretches between nested blocks that have a letter or digit."""
        start = 0
        for end in [n for n, (kind, _) in enumerate(self.pieces) if kind == "block"]:
            yield from _worded(self.pieces[start:end])
            start = end + 1
        yield from _worded(self.pieces[start:])


@dataclass(frozen=True, slots=True)
class Finding:
    """A paragraph that is ``missing`` or ``duplicate``."""

    kind: str
    text: str


@dataclass(slots=True)
class Result:
    """Totals over all documents."""

    documents: int = 0
    paragraphs: int = 0
    characters: int = 0
    missing: int = 0
    duplicates: int = 0
    refused: int = 0
    findings: list[tuple[str, Finding]] = field(default_factory=list)

    @property
    def recall(self) -> float:
        """Share of paragraphs found exactly once, in per cent."""
        bad = self.missing + self.duplicates
        return 100.0 * (self.paragraphs - bad) / self.paragraphs if self.paragraphs else 0.0

    def add(self, name: str, paragraphs: Sequence[Paragraph], findings: Sequence[Finding]) -> None:
        """Count one document."""
        required = [p for p in paragraphs if p.required]
        self.documents += 1
        self.paragraphs += len(required)
        self.characters += sum(len(p.text) for p in required)
        self.missing += sum(f.kind == "missing" for f in findings)
        self.duplicates += sum(f.kind == "duplicate" for f in findings)
        self.findings.extend((name, finding) for finding in findings)


def _local(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


def _fold(text: str | None) -> str:
    return "".join((text or "").split()).replace("^", "")


def _literal(pieces: Pieces) -> str:
    return "".join(text for kind, text in pieces if kind == "text")


def _worded(pieces: Pieces) -> tuple[Pieces, ...]:
    return (pieces,) if any(c.isalnum() for c in _literal(pieces)) else ()


def _own_pieces(element: ET.Element) -> Iterator[tuple[str, str]]:
    """Yield the pieces of an element's own text, in order, without its nested blocks."""
    yield "text", _fold(element.text)
    for child in element:
        name = _local(child)
        if name in _FORMULAS:
            yield "formula", _fold("".join(child.itertext()))
        elif name == "xref" and child.get("ref-type") == "bibr":
            yield "marker", _fold("".join(child.itertext()))
        elif name in _BLOCKS:
            yield "block", ""
        elif name not in _SKIPPED:
            yield from _own_pieces(child)
        yield "text", _fold(child.tail)


def _merged(pieces: Iterable[tuple[str, str]]) -> Pieces:
    merged: list[tuple[str, str]] = []
    for kind, text in pieces:
        if not text and kind == "text":
            continue
        if merged and kind == "text" and merged[-1][0] == "text":
            merged[-1] = (kind, merged[-1][1] + text)
        else:
            merged.append((kind, text))
    return tuple(merged)


def _walk(element: ET.Element, *, required: bool, top: bool) -> Iterator[Paragraph]:
    name = _local(element)
    if name in _SKIPPED:
        return
    if name in ("abstract", "body") and top:
        required = True
    elif name in ("sub-article", "response", "back", "floats-group", "trans-abstract"):
        required = top = False
    if name == "p":
        yield Paragraph(_merged(_own_pieces(element)), required)
    for child in element:
        yield from _walk(child, required=required, top=top)


def read_paragraphs(data: bytes) -> tuple[Paragraph, ...]:
    """Return every paragraph of a JATS file that has text of its own, in document order."""
    found = (p for article in _articles(data) for p in _walk(article, required=False, top=True))
    return tuple(p for p in found if any(c.isalnum() for c in p.text))


def read_titles(data: bytes) -> str:
    """Return the titles of a JATS file, joined by NUL."""
    titles = (e for article in _articles(data) for e in article.iter() if _local(e) in _TITLES)
    return "\0".join(_literal(_merged(_own_pieces(title))) for title in titles)


def _articles(data: bytes) -> list[ET.Element]:
    """Return the articles of a file, one or a set of them."""
    root = ET.fromstring(data)  # noqa: S314 - expat loads no external entity; files are ours
    if _local(root) == "article":
        return [root]
    return [e for e in root.iter() if _local(e) == "article"] or [root]


def _pattern(pieces: Pieces, *, markers: bool) -> re.Pattern[str]:
    """Return what matches a part of a paragraph in the passages' text.

    Args:
        pieces: The part.
        markers: The citation markers must be there.
    """
    inner = list(pieces)
    while inner and inner[0][0] != "text":
        inner.pop(0)
    while inner and inner[-1][0] != "text":
        inner.pop()
    parts: list[str] = []
    for position, (kind, text) in enumerate(inner):
        if kind == "marker":
            parts.append(re.escape(text) if markers else f"(?:{re.escape(text)})?")
        elif kind == "formula":
            parts.append(f"[^\\0]{{0,{_FORMULA_ROOM + 3 * len(text)}}}?")
        else:
            after = not markers and position > 0 and inner[position - 1][0] == "marker"
            following = inner[position + 1][0] if position + 1 < len(inner) else ""
            before = not markers and following == "marker"
            parts.append(_text_pattern(text, after=after, before=before))
    return re.compile("".join(parts))


def _text_pattern(text: str, *, after: bool, before: bool) -> str:
    """Return a pattern of literal text whose marker punctuation at the ends is optional."""
    head = len(text) - len(text.lstrip(_AFTER_MARKER)) if after else 0
    if after and before:  # "," between two markers is both
        inner = text.strip(_AFTER_MARKER + _BEFORE_MARKER)
        head = text.index(inner) if inner else len(text)
    tail = len(text[head:].rstrip(_BEFORE_MARKER)) + head if before else len(text)
    optional = "".join(f"{re.escape(c)}?" for c in text[:head])
    closing = "".join(f"{re.escape(c)}?" for c in text[tail:])
    return optional + re.escape(text[head:tail]) + closing


def _take(text: str, patterns: Sequence[re.Pattern[str]]) -> str | None:
    """Return the text with the best match blotted out, or ``None`` when nothing matches.

    The first pattern that matches anywhere decides; of its matches the shortest is taken, because
    the room for a formula must not swallow another paragraph.
    """
    for pattern in patterns:
        best: re.Match[str] | None = None
        match = pattern.search(text)
        for _ in range(_CANDIDATES):
            if match is None or match.start() == match.end():
                break
            if best is None or len(match[0]) < len(best[0]):
                best = match
            match = pattern.search(text, match.start() + 1)
        if best is not None:
            return f"{text[: best.start()]}\0{text[best.end() :]}"
    return None


def check_document(
    paragraphs: Sequence[Paragraph], passages: Iterable[tuple[int, str]], titles: str = ""
) -> list[Finding]:
    """Return what is missing or double.

    Args:
        paragraphs: All paragraphs of the source.
        passages: ``(start, text)`` of each passage, in any order.
        titles: The source's titles; their texts may be in the passages besides.
    """
    text = _fold("".join(passage for _, passage in sorted(passages)))
    parts = [(part, paragraph) for paragraph in paragraphs for part in paragraph.parts()]
    # Longest first, and of two alike the required one first: it may not lose its place to another.
    parts.sort(key=lambda item: (-len(_literal(item[0])), not item[1].required))
    missing: list[Paragraph] = []
    patterns = []
    for part, paragraph in parts:
        both = (_pattern(part, markers=True), _pattern(part, markers=False))
        patterns.append((_literal(part), paragraph, both[1]))
        rest = _take(text, both)
        if rest is not None:
            text = rest
        elif paragraph.required and paragraph not in missing:
            missing.append(paragraph)
    findings = [Finding("missing", paragraph.text) for paragraph in missing]
    seen: set[str] = set()
    for literal, paragraph, pattern in patterns:
        if not paragraph.required or len(literal) < _DUPLICATE_MINIMUM or literal in seen:
            continue
        seen.add(literal)
        if sum(1 for _ in pattern.finditer(text)) > titles.count(literal):
            findings.append(Finding("duplicate", literal))
    return findings


def _from_engine(path: Path) -> list[tuple[int, str]]:
    """Return the passages of a file, made in this process by the product."""
    from eagle_rag.adapters.documents.jats import JatsParser
    from eagle_rag.model.document import Source
    from eagle_rag.ops.chunking import cut_passages

    data = path.read_bytes()
    source = Source(path.name, data, hashlib.sha256(data).hexdigest(), "jats")
    found = []
    base = 0
    for document in JatsParser().parse(source).documents:
        passages = cut_passages(document, document_id=path.name)
        found += [(base + p.start, p.text) for p in passages]
        base += len(document.text)  # the articles of a set stand one after the other
    return found


def _from_dump(folder: Path) -> Passages:
    def read(path: Path) -> list[tuple[int, str]]:
        lines = (folder / f"{path.stem}.jsonl").read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines if line.strip()]
        return [(int(row["start"]), str(row["text"])) for row in rows]

    return read


def measure(files: Sequence[Path], passages: Passages) -> Result:
    """Return the totals over files."""
    result = Result()
    for path in files:
        try:
            paragraphs = read_paragraphs(path.read_bytes())
            titles = read_titles(path.read_bytes())
        except ET.ParseError as error:
            result.refused += 1
            print(f"not XML, left out: {path}: {error}", file=sys.stderr)
            continue
        result.add(str(path), paragraphs, check_document(paragraphs, passages(path), titles))
    return result


def _report(result: Result, show: int) -> None:
    print(f"documents   {result.documents}")
    print(f"paragraphs  {result.paragraphs}")
    print(f"characters  {result.characters} (white space, markers and formulas aside)")
    print(f"missing     {result.missing}")
    print(f"duplicates  {result.duplicates}")
    print(f"not XML     {result.refused}")
    print(f"recall      {result.recall:.4f} %")
    for name, finding in result.findings[:show]:
        print(f"{finding.kind}: {name}: {finding.text[:160]}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the check and return the exit code."""
    parser = argparse.ArgumentParser(description="Prose recall of JATS parsing.")
    parser.add_argument("folder", type=Path, help="folder of JATS files, searched recursively")
    parser.add_argument("--passages", type=Path, help="folder of <file stem>.jsonl dumps")
    parser.add_argument("--limit", type=int, default=0, help="only the first N files")
    parser.add_argument("--show", type=int, default=20, help="failures to print")
    options = parser.parse_args(arguments)
    files = sorted(p for s in ("*.xml", "*.nxml") for p in options.folder.rglob(s))
    files = files[: options.limit] if options.limit else files
    if not files:
        print(f"no .xml or .nxml file below {options.folder}", file=sys.stderr)
        return 2
    result = measure(files, _from_dump(options.passages) if options.passages else _from_engine)
    _report(result, options.show)
    return 0 if result.paragraphs and not (result.missing or result.duplicates) else 1


if __name__ == "__main__":
    sys.exit(main())
