"""Stage 3: passages of a document, and the tokens each is found by."""

import re
from bisect import bisect_left
from typing import Literal

from eagle_rag.kernel.bus import BoundBus
from eagle_rag.model.document import Citation, ParsedDocument
from eagle_rag.model.passage import Passage
from eagle_rag.ops.chunking import cut_passages
from eagle_rag.ops.tokens import lexemes

__all__ = ["ContextMode", "chunk_document", "context_of", "passage_lexemes"]

ContextMode = Literal["none", "title", "title+section"]
_LETTERS = re.compile(r"[^\W\d_]")


def chunk_document(
    bus: BoundBus, document: ParsedDocument, document_id: str, *, target_chars: int
) -> tuple[Passage, ...]:
    """Cut a document into passages and let plugins tag them."""
    return bus.chunk(document, cut_passages(document, document_id, target_chars=target_chars))


def context_of(document: ParsedDocument, passage: Passage, mode: ContextMode) -> str:
    """Return what an arm sees of the document besides the passage itself; empty for ``none``."""
    if mode == "none":
        return ""
    parts = [document.metadata.title]
    if mode == "title+section":
        parts.extend(passage.section_path)
    return " ".join(part for part in parts if part)


def passage_lexemes(
    document: ParsedDocument, passages: tuple[Passage, ...], mode: ContextMode
) -> tuple[str, ...]:
    """Return the search tokens of each passage.

    Numeric citation markers are left out: the ``12`` of a superscript reference is not a number the
    paper reports. Markers with letters (``Smith et al., 2010``) stay.
    """
    contexts: dict[str, str] = {}
    starts = [citation.start for citation in document.citations]
    result: list[str] = []
    for passage in passages:
        context = context_of(document, passage, mode)
        if context not in contexts:
            contexts[context] = lexemes(context) if context else ""
        own = lexemes(_without_markers(passage, document.citations, starts))
        result.append(f"{contexts[context]} {own}".strip())
    return tuple(result)


def _without_markers(passage: Passage, citations: tuple[Citation, ...], starts: list[int]) -> str:
    first = bisect_left(starts, passage.start)
    last = bisect_left(starts, passage.end)
    pieces: list[str] = []
    position = 0
    for citation in citations[first:last]:
        start, end = citation.start - passage.start, citation.end - passage.start
        if start < position or _LETTERS.search(passage.text, start, end):
            continue
        pieces.append(passage.text[position:start].removesuffix("^"))
        position = end
    if not pieces:
        return passage.text
    pieces.append(passage.text[position:])
    return " ".join(pieces)
