"""PubMed XML: ``PubmedArticle``, ``PubmedBookArticle`` and MEDLINE-era ``MedlineCitation`` records.

Records are read one by one and dropped, so that a file of 30,000 needs the memory of one, besides
what it gives back. The text of a record is its title and its abstract: labels of a structured
abstract are headings; a part without a label belongs to the abstract itself. Abstracts in other
languages (``OtherAbstract``) and copyright notices are left aside.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO

from lxml import etree

from eagle_rag.adapters.documents.pubmed_front import render
from eagle_rag.adapters.documents.pubmed_record import Record, read_article, read_book
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import (
    BlockKind,
    ParsedDocument,
    ParseOutcome,
    Refusal,
    SectionKind,
    Source,
)
from eagle_rag.ops.markup import is_prose_file
from eagle_rag.ops.outline import CanonicalText

__all__ = ["PubmedParser"]

_RECORDS = ("PubmedArticle", "PubmedBookArticle", "MedlineCitation")
_INNER = ("MedlineCitation", "PubmedArticle")
_DELETIONS = ("DeleteCitation", "DeleteDocument")
_ROOT = re.compile(
    rb"<(?:PubmedArticleSet|PubmedBookArticleSet|PubmedArticle|PubmedBookArticle"
    rb"|MedlineCitationSet|MedlineCitation|DeleteCitation|BookDocumentSet)[\s>]"
)
_ENTITY = re.compile(rb"<!ENTITY")
_MAX_BYTES = 512 * 1024 * 1024
# Older records name the one part of an unstructured abstract so; PubMed does not show it.
_NO_LABEL = "UNLABELLED"


@dataclass(slots=True)
class _Gathered:
    documents: dict[str, ParsedDocument] = field(default_factory=dict)
    refusals: list[Refusal] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    count: int = 0


class PubmedParser:
    """Parser of PubMed and MEDLINE citation XML."""

    @property
    def format(self) -> str:
        """``pubmed``."""
        return "pubmed"

    def accepts(self, source: Source) -> bool:
        """Whether one of PubMed's root elements stands in the first 4 KB."""
        if is_prose_file(source.uri, source.data):
            return False
        return _ROOT.search(source.data[:4096]) is not None

    def parse(self, source: Source) -> ParseOutcome:
        """Return every record; a record that cannot be used is a refusal.

        Raises:
            UnreadableDocument: ``empty``, ``too-large``, ``entity-declaration``, ``xml-syntax``, or
                ``no-records``. A file that breaks after its first record gives the records before
                the break and a refusal ``truncated``.
        """
        _guard(source)
        gathered = _Gathered()
        try:
            for element in _stream(source.data):
                _take(element, source, gathered)
        except etree.XMLSyntaxError as error:
            _broken(source, gathered, error)
        if not (gathered.documents or gathered.refusals or gathered.deleted):
            raise UnreadableDocument(
                source.uri,
                "no-records",
                "no PubmedArticle, PubmedBookArticle, MedlineCitation or DeleteCitation in it",
                remedy="download the records from PubMed in the XML format",
            )
        return ParseOutcome(
            tuple(gathered.documents.values()), tuple(gathered.refusals), tuple(gathered.deleted)
        )


def _guard(source: Source) -> None:
    """Refuse what must not reach the XML parser."""
    if not source.data.strip():
        message = "the file holds no record (0 bytes)"
        raise UnreadableDocument(source.uri, "empty", message, remedy="download it again")
    if len(source.data) > _MAX_BYTES:
        raise UnreadableDocument(
            source.uri,
            "too-large",
            f"{len(source.data)} bytes are more than {_MAX_BYTES}",
            remedy="split the file",
        )
    root = _ROOT.search(source.data)
    if _ENTITY.search(source.data, 0, root.start() if root else len(source.data)):
        raise UnreadableDocument(
            source.uri,
            "entity-declaration",
            "it declares entities of its own, which PubMed files never do",
            remedy="remove the internal DTD subset",
        )


def _stream(data: bytes) -> Iterator[etree._Element]:
    """Yield each record and each deleted PMID list when complete, and drop it afterwards."""
    events = etree.iterparse(
        BytesIO(data),
        events=("end",),
        tag=(*_RECORDS, *_DELETIONS),
        load_dtd=False,
        no_network=True,
        resolve_entities=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    for _, element in events:
        parent = element.getparent()
        if parent is not None and (element.tag, parent.tag) == _INNER:
            continue
        yield element
        element.clear(keep_tail=False)
        while parent is not None and element.getprevious() is not None:
            del parent[0]


def _broken(source: Source, gathered: _Gathered, error: etree.XMLSyntaxError) -> None:
    count = len(gathered.documents)
    if not count:
        raise UnreadableDocument(
            source.uri,
            "xml-syntax",
            f"the XML is not well-formed: {error}",
            remedy="download it again",
        ) from error
    message = f"the file breaks after record {count}, the rest is lost: {error}"
    gathered.refusals.append(
        Refusal(source.uri, "", "truncated", message, "download the file again")
    )


def _take(element: etree._Element, source: Source, gathered: _Gathered) -> None:
    """Add one record or one list of deletions."""
    if element.tag in _DELETIONS:
        gathered.deleted.extend(filter(None, map(render, element.iterfind("PMID"))))
        return
    digest = hashlib.sha256(etree.tostring(element, encoding="utf-8", with_tail=False)).hexdigest()
    record = read_book(element) if element.tag == "PubmedBookArticle" else read_article(element)
    gathered.count += 1
    member = record.metadata.ids.pmid or f"record-{gathered.count}"
    if member in gathered.documents:
        # NLM's files are applied in order: of two versions of one record the later one stands.
        del gathered.documents[member]
        message = f"record {member} stands again further down; the later one is kept"
        gathered.refusals.append(Refusal(source.uri, member, "superseded", message))
    gathered.documents[member] = _document(record, source.uri, member=member, digest=digest)


def _document(record: Record, uri: str, *, member: str, digest: str) -> ParsedDocument:
    canonical = CanonicalText()
    if record.metadata.title:
        section = canonical.open_section((), SectionKind.TITLE)
        canonical.add(BlockKind.TITLE, record.metadata.title, section)
    for name, abstract in record.abstracts:
        _add_abstract(canonical, name, abstract)
    text, sections, blocks = canonical.finish()
    return ParsedDocument(
        source_uri=uri,
        member=member,
        digest=digest,
        format="pubmed",
        metadata=record.metadata,
        text=text,
        sections=sections,
        blocks=blocks,
        references=record.references,
        full_text=False,
        warnings=() if text else ("the record has neither a title nor an abstract",),
    )


def _add_abstract(canonical: CanonicalText, name: str, abstract: etree._Element) -> None:
    """Add an abstract; its labels, repeated or not, open a section each."""
    whole = canonical.open_section((name,), SectionKind.ABSTRACT)
    for part in abstract.iterfind("AbstractText"):
        label = " ".join(part.get("Label", "").split())
        if not label or label.upper() == _NO_LABEL:
            canonical.add(BlockKind.PARAGRAPH, render(part), whole)
            continue
        section = canonical.open_section((name, label), SectionKind.ABSTRACT)
        canonical.add(BlockKind.HEADING, label, section)
        canonical.add(BlockKind.PARAGRAPH, render(part), section)
