"""Reading XML that nobody vouches for: no DTD, no network, no entity expansion, a size limit.

Shared by the XML formats of this package. Everything that is refused is an ``UnreadableDocument``
whose ``reason`` is one of ``empty``, ``too-large``, ``html``, ``not-xml``, ``entity-declaration``
and ``xml-syntax``.
"""

import re
from html.entities import html5
from typing import TYPE_CHECKING, Any, cast

from lxml import etree

from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import Source
from eagle_rag.ops.markup import local_name

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "DEFAULT_SIZE_LIMIT_BYTES",
    "all_text",
    "head_text",
    "read_xml",
]

# The largest PMC articles are a few tens of MiB (tables of thousands of rows); beyond this a file is
# a dump of many articles or an attack.
DEFAULT_SIZE_LIMIT_BYTES = 64 * 1024 * 1024

_HEAD_BYTES = 4096
_MAX_ENTITIES = 256
_MAX_ENTITY_CHARACTERS = 64
_BOMS = (
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
    (b"<\x00?\x00", "utf-16-le"),
    (b"\x00<\x00?", "utf-16-be"),
)
_ROOT_START = re.compile(r"<[A-Za-z_]")
_ENTITY = re.compile(r"<!ENTITY\s+(?P<parameter>%\s+)?[^\s\"'>]+\s+(?P<value>[^>]*)>")
_LITERAL = re.compile(r"(\"[^\"]*\"|'[^']*')\s*")
_REFERENCE = re.compile(r"&(?!#)|%")
_NAMED_REFERENCE = re.compile(rb"&(?!#|lt;|gt;|amp;|quot;|apos;)")
_UNPARSED = re.compile(r"(SYSTEM|PUBLIC)\s.*\sNDATA\s", re.DOTALL)
_HTML_HEAD = re.compile(
    # Each comment ends at its first "-->", for good: else many of them are tried in every combination.
    r"\s*(<\?xml[^>]*>)?\s*(?:(?><!--.*?-->)\s*)*+<(!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)

# Comments and processing instructions carry no text; without them every node has a string tag.
# ``collect_ids=False`` would save little and makes libxml2 look for the external DTD.
_PARSER = etree.XMLParser(
    resolve_entities=False,
    load_dtd=False,
    no_network=True,
    dtd_validation=False,
    attribute_defaults=False,
    huge_tree=False,
    remove_comments=True,
    remove_pis=True,
)


def read_xml(
    source: Source, *, size_limit_bytes: int = DEFAULT_SIZE_LIMIT_BYTES
) -> etree._Element:
    """Return the root element; entity references are replaced by their characters.

    Character entities of HTML and ISO (``&alpha;``) are known without a DTD. An unknown one stays
    in the text as it is written.

    Args:
        source: What to read.
        size_limit_bytes: Larger sources are refused before they are parsed.

    Raises:
        UnreadableDocument: See the module's docstring for the reasons.
    """
    _refuse_at_sight(source, size_limit_bytes)
    # A declaration further down is found after parsing, which expands nothing.
    head = source.data[:_HEAD_BYTES]
    if b"<!ENTITY" in head or b"\x00" in head:
        _check_declarations(source)
    try:
        root = etree.fromstring(source.data, _PARSER)
    except (etree.XMLSyntaxError, ValueError, LookupError) as error:
        raise _syntax_error(source, error) from error
    if local_name(root.tag).lower() == "html":
        raise _is_html(source)
    _replace_entities(source, root)
    return root


def head_text(data: bytes) -> str:
    """Return the first few thousand characters, decoded well enough to look at the markup."""
    head = data[:_HEAD_BYTES]
    if not head.startswith(b"<?xml"):
        for bom, encoding in _BOMS:
            if head.startswith(bom):
                return head.decode(encoding, errors="replace")
    return head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace")


def all_text(element: etree._Element, separator: str = "") -> str:
    """Return every character inside an element, its text nodes joined by the separator."""
    return separator.join(cast("Iterator[str]", element.itertext()))


def _refuse_at_sight(source: Source, size_limit_bytes: int) -> None:
    size = len(source.data)
    if size > size_limit_bytes:
        message = f"{size} bytes are more than the limit of {size_limit_bytes}"
        remedy = "split the file into articles, or raise the size limit"
        raise UnreadableDocument(source.uri, "too-large", message, remedy=remedy)
    head = head_text(source.data)
    if not head.strip():
        raise UnreadableDocument(
            source.uri, "empty", "the file is empty", remedy="download it again"
        )
    if _HTML_HEAD.match(head):
        raise _is_html(source)
    if not head.lstrip().startswith("<"):
        message = f"this is not XML, it begins with {head.lstrip()[:20]!r}"
        raise UnreadableDocument(source.uri, "not-xml", message, remedy="give the XML file")


def _is_html(source: Source) -> UnreadableDocument:
    return UnreadableDocument(
        source.uri,
        "html",
        "this is an HTML page saved as XML",
        remedy="download the article's XML, or name the file .html",
    )


def _syntax_error(source: Source, error: Exception) -> UnreadableDocument:
    return UnreadableDocument(
        source.uri,
        "xml-syntax",
        f"the XML is not well-formed: {error}",
        remedy="download the file again; a cut-off transfer is the usual cause",
    )


def _check_declarations(source: Source) -> None:
    """Refuse entity declarations before the parser sees them, but for trivial ones."""
    text = _prolog(source.data)
    declarations = list(_ENTITY.finditer(text))
    if len(declarations) > _MAX_ENTITIES or text.count("<!ENTITY") != len(declarations):
        raise _entity(source, f"{text.count('<!ENTITY')} entity declarations")
    for found in declarations:
        value = found["value"].strip()
        if found["parameter"] or not _is_trivial(value):
            raise _entity(source, f"the entity declaration {found[0][:60]!r}")


def _prolog(data: bytes) -> str:
    encoding = next((name for bom, name in _BOMS if data.startswith(bom)), "latin-1")
    text = data.decode(encoding, errors="replace")
    root = _ROOT_START.search(text)
    return text[: root.start()] if root else text


def _is_trivial(value: str) -> bool:
    if _UNPARSED.match(value):
        return True
    return (
        _LITERAL.fullmatch(value) is not None
        and len(value) <= _MAX_ENTITY_CHARACTERS
        and not _REFERENCE.search(value)
    )


def _entity(source: Source, what: str) -> UnreadableDocument:
    return UnreadableDocument(
        source.uri,
        "entity-declaration",
        f"{what} is refused, because entities can read files and fill memory",
        remedy="resolve the entities with a tool you trust and remove the declarations",
    )


def _replace_entities(source: Source, root: etree._Element) -> None:
    subset = root.getroottree().docinfo.internalDTD
    if subset is None:
        return
    values: dict[str, str] = {}
    for declared in cast("Any", subset).iterentities():
        # A second look: an unusual encoding may hide declarations from the scan of the bytes.
        content = declared.content or ""
        if len(content) > _MAX_ENTITY_CHARACTERS or _REFERENCE.search(content) or "<" in content:
            raise _entity(source, f"the entity {declared.name!r}")
        values[declared.name] = content
    if not _NAMED_REFERENCE.search(source.data) and b"\x00" not in source.data[:_HEAD_BYTES]:
        return
    for reference in list(root.iter(etree.Entity)):
        name = cast("Any", reference).name
        _replace(reference, values.get(name) or html5.get(f"{name};") or f"&{name};")


def _replace(reference: etree._Element, value: str) -> None:
    parent = reference.getparent()
    if parent is None:
        return
    text = value + (reference.tail or "")
    before = reference.getprevious()
    if before is None:
        parent.text = (parent.text or "") + text
    else:
        before.tail = (before.tail or "") + text
    reference.tail = None
    parent.remove(reference)
