"""Code point offsets as other programs count: UTF-16 units (browsers, Java) and UTF-8 bytes."""

from collections.abc import Callable, Sequence

from eagle_rag.errors import InvalidInput

__all__ = ["utf8_spans", "utf16_spans"]

Spans = Sequence[tuple[int, int]]


def utf16_spans(text: str, spans: Spans) -> tuple[tuple[int, int], ...]:
    """Return each code point span in UTF-16 code units, in the order given.

    Raises:
        InvalidInput: A span does not lie in the text.
    """
    return _convert(
        text, spans, lambda piece: len(piece.encode("utf-16-le", "surrogatepass")) // 2
    )


def utf8_spans(text: str, spans: Spans) -> tuple[tuple[int, int], ...]:
    """Return each code point span in UTF-8 bytes, as ``utf16_spans`` does."""
    return _convert(text, spans, lambda piece: len(piece.encode("utf-8", "surrogatepass")))


def _convert(text: str, spans: Spans, length: Callable[[str], int]) -> tuple[tuple[int, int], ...]:
    """Measure the text once between neighbouring offsets, however many spans there are."""
    for start, end in spans:
        if not 0 <= start <= end <= len(text):
            msg = f"span {start}-{end} does not lie in a text of {len(text)} characters"
            raise InvalidInput(msg)
    if text.isascii():
        return tuple((start, end) for start, end in spans)
    converted: dict[int, int] = {}
    last = total = 0
    for offset in sorted({offset for span in spans for offset in span}):
        total += length(text[last:offset])
        converted[offset] = total
        last = offset
    return tuple((converted[start], converted[end]) for start, end in spans)
