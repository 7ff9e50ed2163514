"""How patents of the USPTO are recognised: XML by its root or document type, APS by its first tags."""

import re

from eagle_rag.model.document import Source

__all__ = ["APS_START", "looks_like_patent"]

_HEAD_BYTES = 16_384
_ROOTS = rb"us-patent-grant|us-patent-application|PATDOC|patent-application-publication"
_XML = re.compile(rb"<(?:!DOCTYPE\s+)?(?:" + _ROOTS + rb")[\s>]")
APS_START = re.compile(rb"^PATN[ \t]*\r?\nWKU  ", re.MULTILINE)


def looks_like_patent(source: Source) -> bool:
    """Whether it holds patents: XML of any of the USPTO's dialects, or APS text."""
    head = source.data[:_HEAD_BYTES]
    if head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<"):
        return _XML.search(head) is not None
    return APS_START.search(head) is not None
