"""Check that every prose paragraph of JATS files is in the product's passages exactly once.

This script shares no code with the product's parser: it reads the XML with the standard library and
by its own rules, and compares characters. What counts:

- every ``<p>`` below an ``<abstract>`` or the ``<body>`` of the article itself: in sections, lists,
  boxed text, captions, table footnotes, directly in the body. Sub-articles, the back matter and the
  floats group are not required, but a text that stands there may occur once more.
- of a paragraph, its own text: what stands in nested blocks (lists, figures, boxed text, footnotes,
  another ``<p>``) counts for the paragraphs in there.
- aside: cells of tables, reference lists, alternative texts, formulas (any rendering may stand in
  their place), citation markers (``xref ref-type="bibr"``) and the brackets, commas and dashes around
  them, ``^`` (the product's superscript sign), white space.

The product's passages are joined in the order of their offsets. Paragraphs take their characters out
of that string, longest first, so a paragraph that stands twice in the source must be found twice,
and one whose text is also part of a longer paragraph needs a place of its own. A paragraph that could
be taken once more afterwards is a duplicate (paragraphs shorter than 40 characters are exempt:
headings and footnotes repeat such texts).

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
from collections import Counter
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
_DUPLICATE_MINIMUM = 40
_BEFORE_MARKER = "[({,;-\u2010\u2011\u2012\u2013\u2014\u2212"
_AFTER_MARKER = "])},;-\u2010\u2011\u2012\u2013\u2014\u2212"

Passages = Callable[[Path], Iterable[tuple[int, str]]]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One ``<p>``: its pieces, without white space.

    Args:
        pieces: ``(kind, text)``; kind is ``text``, ``marker`` (may be absent) or ``formula``
            (anything may stand there).
        required: It stands in an abstract or in the body of the article itself.
    """

    pieces: tuple[tuple[str, str], ...]
    required: bool

    @property
    def text(self) -> str:
        """Its text without markers and formulas."""
        return "".join(text for kind, text in self.pieces if kind == "text")


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


def _own_pieces(element: ET.Element) -> Iterator[tuple[str, str]]:
    """Yield the pieces of an element's own text, in order, without its nested blocks."""
    yield "text", _fold(element.text)
    for child in element:
        name = _local(child)
        if name in _FORMULAS:
            yield "formula", _fold("".join(child.itertext()))
        elif name == "xref" and child.get("ref-type") == "bibr":
            yield "marker", _fold("".join(child.itertext()))
        elif name not in _BLOCKS and name not in _SKIPPED:
            yield from _own_pieces(child)
        yield "text", _fold(child.tail)


def _merged(pieces: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
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
    root = ET.fromstring(data)  # noqa: S314 - expat loads no external entity; files are ours
    article = (
        root
        if _local(root) == "article"
        else next((e for e in root.iter() if _local(e) == "article"), root)
    )
    found = _walk(article, required=False, top=True)
    return tuple(p for p in found if any(c.isalnum() for c in p.text))


def _pattern(paragraph: Paragraph) -> re.Pattern[str]:
    """Return what matches a paragraph in the passages' text."""
    pieces = list(paragraph.pieces)
    while pieces and pieces[0][0] != "text":
        pieces.pop(0)
    while pieces and pieces[-1][0] != "text":
        pieces.pop()
    parts: list[str] = []
    for position, (kind, text) in enumerate(pieces):
        if kind == "marker":
            parts.append(f"(?:{re.escape(text)})?")
        elif kind == "formula":
            parts.append(f".{{0,{200 + 3 * len(text)}}}?")
        else:
            after = position > 0 and pieces[position - 1][0] == "marker"
            before = position + 1 < len(pieces) and pieces[position + 1][0] == "marker"
            parts.append(_text_pattern(text, after=after, before=before))
    return re.compile("".join(parts), re.DOTALL)


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


def _take(text: str, pattern: re.Pattern[str]) -> str | None:
    """Return the text with the first match blotted out, or ``None`` when nothing matches."""
    match = pattern.search(text)
    if match is None or match.start() == match.end():
        return None
    return f"{text[: match.start()]}\0{text[match.end() :]}"


def check_document(
    paragraphs: Sequence[Paragraph], passages: Iterable[tuple[int, str]]
) -> list[Finding]:
    """Return what is missing or double.

    Args:
        paragraphs: All paragraphs of the source.
        passages: ``(start, text)`` of each passage, in any order.
    """
    text = _fold("".join(passage for _, passage in sorted(passages)))
    findings = []
    # Longest first, and of two alike the required one first: it may not lose its place to another.
    ordered = sorted(paragraphs, key=lambda p: (-len(p.text), not p.required))
    patterns = [(paragraph, _pattern(paragraph)) for paragraph in ordered]
    for paragraph, pattern in patterns:
        rest = _take(text, pattern)
        if rest is not None:
            text = rest
        elif paragraph.required:
            findings.append(Finding("missing", paragraph.text))
    seen: Counter[str] = Counter()
    for paragraph, pattern in patterns:
        long_enough = paragraph.required and len(paragraph.text) >= _DUPLICATE_MINIMUM
        if long_enough and not seen[paragraph.text] and pattern.search(text):
            findings.append(Finding("duplicate", paragraph.text))
        seen[paragraph.text] += 1
    return findings


def _from_engine(path: Path) -> list[tuple[int, str]]:
    """Return the passages of a file, made in this process by the product."""
    from eagle_rag.adapters.documents.jats import JatsParser
    from eagle_rag.model.document import Source
    from eagle_rag.ops.chunking import cut_passages

    data = path.read_bytes()
    source = Source(path.name, data, hashlib.sha256(data).hexdigest(), "jats")
    found = []
    for document in JatsParser().parse(source).documents:
        found += [(p.start, p.text) for p in cut_passages(document, document_id=path.name)]
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
        except ET.ParseError as error:
            result.refused += 1
            print(f"not XML, left out: {path}: {error}", file=sys.stderr)
            continue
        result.add(str(path), paragraphs, check_document(paragraphs, passages(path)))
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
