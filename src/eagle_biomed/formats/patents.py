"""Patents of the USPTO: XML of all its dialects since 2001, and the APS text before.

A bulk file is many XML documents, one after the other; they are read one by one.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from eagle_biomed.formats.catalog import FormatTools
from eagle_biomed.formats.patents_aps import aps_front, read_aps, split_aps, write_aps
from eagle_biomed.formats.patents_front import (
    PatentFront,
    patent_identity,
    patent_metadata,
    read_front,
)
from eagle_biomed.formats.patents_text import PatentText
from eagle_biomed.formats.sectioned import SectionedText
from eagle_biomed.formats.xml_nodes import name_of, too_deep
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import ParsedDocument, ParseOutcome, Refusal, Source
from eagle_rag.ops.bibliography import read_entry
from eagle_rag.ops.decoding import decode_text

__all__ = ["parse"]

_Read = Callable[[bytes], tuple[PatentFront, SectionedText]]

_DECLARATION = b"<?xml "
_ROOTS = frozenset(
    {"us-patent-grant", "us-patent-application", "PATDOC", "patent-application-publication"}
)
# Names of picture files. Nothing reads them; a patent has more than the reader of XML allows.
_PICTURES = re.compile(
    rb'<!ENTITY\s+[\w.-]{1,99}\s+SYSTEM\s+"[^"<>]{0,199}"\s+NDATA\s+\w{1,9}\s*>'
)
_MAX_PROLOG_BYTES = 1024 * 1024


def parse(source: Source, tools: FormatTools) -> ParseOutcome:
    """Return every patent of a file; of several, one that cannot be used is a refusal.

    Raises:
        UnreadableDocument: The reasons of the reader of XML, ``not-a-patent``, ``no-text``,
            ``nested-too-deep`` or, when a file has none that could be used, ``no-records``.
    """
    warnings: tuple[str, ...] = ()
    if source.data.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<"):
        parts = list(_split(source.data))
        read: _Read = partial(_read_xml, source, tools)
    else:
        text, warnings = decode_text(source)
        parts = [part.encode() for part in split_aps(text)]
        read = partial(_read_aps, source)
    if len(parts) == 1:
        document = _document(source, read(parts[0]), warnings)
        return ParseOutcome((document,))
    return _several(source, parts, read, warnings)


def _several(
    source: Source, parts: list[bytes], read: _Read, warnings: tuple[str, ...]
) -> ParseOutcome:
    documents: list[ParsedDocument] = []
    refusals: list[Refusal] = []
    for number, part in enumerate(parts, 1):
        place = f"record-{number}"
        try:
            document = _document(source, read(part), warnings)
        except UnreadableDocument as error:
            refusals.append(Refusal(source.uri, place, error.reason, error.detail, error.remedy))
            continue
        member = document.identity.key if document.identity else place
        digest = hashlib.sha256(part).hexdigest()
        documents.append(replace(document, member=member, digest=digest))
    if not documents:
        raise UnreadableDocument(
            source.uri,
            "no-records",
            f"none of its {len(parts)} records is a patent",
            remedy="give a file of the USPTO's patent grants or applications",
        )
    return ParseOutcome(tuple(documents), tuple(refusals))


def _split(data: bytes) -> Iterator[bytes]:
    """Yield each document of a file: each begins with its own XML declaration."""
    start = 0
    while start < len(data):
        end = data.find(_DECLARATION, start + 1)
        end = len(data) if end < 0 else end
        if data[start:end].strip(b"\xef\xbb\xbf \t\r\n"):
            yield data[start:end]
        start = end


def _read_xml(
    source: Source, tools: FormatTools, part: bytes
) -> tuple[PatentFront, SectionedText]:
    root = tools.read_xml(Source(source.uri, _without_pictures(part), source.digest))
    if name_of(root) not in _ROOTS:
        raise UnreadableDocument(
            source.uri,
            "not-a-patent",
            f"its root element is <{name_of(root)}>, which is no patent of the USPTO",
            remedy="sequence listings and other parts are not read",
        )
    text = SectionedText()
    try:
        front = read_front(root)
        text.title(front.title)
        PatentText(text).read(root)
    except RecursionError as error:
        raise too_deep(source.uri) from error
    return front, text


def _without_pictures(part: bytes) -> bytes:
    end = part.find(b"]>", 0, _MAX_PROLOG_BYTES)
    if end < 0 or b"NDATA" not in part[:end]:
        return part
    return _PICTURES.sub(b"", part[:end]) + part[end:]


def _read_aps(source: Source, part: bytes) -> tuple[PatentFront, SectionedText]:
    del source
    record = read_aps(part.decode())
    front = aps_front(record)
    text = SectionedText()
    text.title(front.title)
    write_aps(record, text)
    return front, text


def _document(
    source: Source, read: tuple[PatentFront, SectionedText], warnings: tuple[str, ...]
) -> ParsedDocument:
    """Return the document of one patent, as if it were alone in its file."""
    front, text = read
    if text.empty:
        raise UnreadableDocument(
            source.uri,
            "no-text",
            f"the patent {front.name} has no title, abstract, description or claim",
            remedy="download it again",
        )
    canonical, sections, blocks = text.finish()
    return ParsedDocument(
        source_uri=source.uri,
        member="",
        digest=source.digest,
        format="patent",
        metadata=patent_metadata(front),
        text=canonical,
        sections=sections,
        blocks=blocks,
        tables=tuple(text.tables),
        references=tuple(
            read_entry(raw, key=f"ref-{number}") for number, raw in enumerate(front.cited, 1)
        ),
        full_text=len(sections) > 1,
        warnings=(*warnings, *text.warnings),
        identity=patent_identity(front),
    )
