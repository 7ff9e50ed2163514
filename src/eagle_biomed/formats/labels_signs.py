"""How drug labels are recognised: SPL by its root and namespace, openFDA records by their keys."""

import re

from eagle_rag.model.document import Source

__all__ = ["looks_like_openfda", "looks_like_spl"]

_HEAD_BYTES = 8192
_JSON_BYTES = 4 * 1024 * 1024
_SPL_ROOT = re.compile(rb"<(?:[A-Za-z][\w.-]*:)?document[\s>]")
_NAMESPACE = b"urn:hl7-org:v3"
# A value, not a type: the schema of these records has the same keys.
_SET_ID = re.compile(rb'"(?:set_id|spl_set_id)"\s*:\s*(?:\[\s*)?"')
_RECORD = re.compile(rb'"(?:effective_time"\s*:\s*"|openfda"\s*:\s*\{)')
_OTHER_NAMES = (".md", ".markdown", ".mdown", ".mkd", ".html", ".htm", ".xhtml")


def looks_like_spl(source: Source) -> bool:
    """Whether the root is ``document`` in the namespace of HL7 version 3."""
    head = source.data[:_HEAD_BYTES]
    return _NAMESPACE in head and _SPL_ROOT.search(head) is not None


def looks_like_openfda(source: Source) -> bool:
    """Whether it is JSON with the set id and the date or harmonised names of a drug label."""
    if source.uri.lower().endswith(_OTHER_NAMES):
        return False
    head = source.data[:_JSON_BYTES]
    if not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")):
        return False
    return _SET_ID.search(head) is not None and _RECORD.search(head) is not None
