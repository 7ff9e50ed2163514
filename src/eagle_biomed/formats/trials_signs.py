"""How clinical trials are recognised: the legacy XML by its root, JSON by its modules and NCT id."""

import re

from eagle_rag.model.document import Source

__all__ = ["looks_like_trial"]

_HEAD_BYTES = 8192
_JSON_BYTES = 8 * 1024 * 1024
# The group is atomic: many comments must not be tried in every combination.
_XML_ROOT = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:(?><!--.*?-->)\s*)*<clinical_study[\s>]",
    re.DOTALL,
)
_SECTION = re.compile(rb'"(?:protocolSection|ProtocolSection)"\s*:\s*\{')
_NCT_ID = re.compile(rb'"(?:nctId|NCTId)"\s*:\s*"NCT\d{8}"')
_OTHER_NAMES = (".md", ".markdown", ".mdown", ".mkd", ".html", ".htm", ".xhtml")
_MARK = b"\xef\xbb\xbf"


def looks_like_trial(source: Source) -> bool:
    """Whether it is a trial record of ClinicalTrials.gov, of any of its three formats."""
    if source.uri.lower().endswith(_OTHER_NAMES):
        return False
    head = source.data[:_HEAD_BYTES].removeprefix(_MARK)
    if _XML_ROOT.match(head):
        return True
    if not head.lstrip().startswith((b"{", b"[")):
        return False
    data = source.data[:_JSON_BYTES]
    return _SECTION.search(data) is not None and _NCT_ID.search(data) is not None
