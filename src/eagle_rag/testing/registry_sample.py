"""Small documents for the registry contract: real text, real spans, made in one line."""

from dataclasses import dataclass, field, replace

from eagle_rag.model.document import (
    Block,
    BlockKind,
    Citation,
    Figure,
    Identity,
    ParsedDocument,
    Reference,
    Section,
    SectionKind,
    Span,
    Table,
)
from eagle_rag.model.metadata import (
    Author,
    DocumentMetadata,
    Grant,
    Identifiers,
    MeshHeading,
    MeshQualifier,
    RelatedArticle,
)
from eagle_rag.model.passage import Passage
from eagle_rag.model.records import NewVersion
from eagle_rag.ops.ids import document_id, passage_id
from eagle_rag.ports.registry import Registry

__all__ = ["NAMESPACE", "Sample", "commit", "rich_version", "text_of"]

NAMESPACE = "core"


@dataclass(frozen=True, slots=True)
class Sample:
    """A document of a few paragraphs, one passage each.

    Args:
        key: Names it inside its knowledge base; its id follows.
        paragraphs: Its text.
        ids: Its identifiers.
        related: Links to other articles.
        kb_name, namespace: Where.
        retracted: It says so itself.
        collections: Where its rows are written.
        digest: Of source and record.
        identity: Key, work and edition of a format with ids of its own.
    """

    key: str
    paragraphs: tuple[str, ...] = ("First passage.", "Second passage.")
    ids: Identifiers = field(default_factory=Identifiers)
    related: tuple[RelatedArticle, ...] = ()
    kb_name: str = "papers"
    namespace: str = NAMESPACE
    retracted: bool = False
    collections: tuple[str, ...] = ("eagle_text",)
    digest: str = "d1"
    identity: Identity | None = None

    @property
    def id(self) -> str:
        """The document's id."""
        return document_id(self.namespace, self.kb_name, self.key)

    def version(self) -> NewVersion:
        """Return the document ready to be committed."""
        document = self.parsed()
        passages = tuple(
            _passage(self.id, document, ordinal) for ordinal in range(len(document.blocks))
        )
        return self.with_passages(document, passages)

    def with_passages(self, document: ParsedDocument, passages: tuple[Passage, ...]) -> NewVersion:
        """Return the version that holds this parsed document and these passages."""
        return NewVersion(
            document_id=self.id,
            work_key=_work_key(self.ids) or self.id,
            namespace=self.namespace,
            kb_name=self.kb_name,
            source_digest=self.digest,
            config_digest="config",
            document=document,
            passages=passages,
            collections=self.collections,
        )

    def parsed(self) -> ParsedDocument:
        """Return the document as a parser yields it."""
        blocks: list[Block] = []
        at = 0
        for paragraph in self.paragraphs:
            blocks.append(Block(BlockKind.PARAGRAPH, at, at + len(paragraph), 0))
            at += len(paragraph) + 2
        text = "\n\n".join(self.paragraphs)
        return ParsedDocument(
            source_uri=f"{self.key}.xml",
            member="",
            digest=self.digest,
            format="jats",
            metadata=DocumentMetadata(
                ids=self.ids,
                title=f"Title of {self.key}",
                related=self.related,
                retracted=self.retracted,
            ),
            text=text,
            sections=(Section(0, ("Results",), SectionKind.RESULTS, 0, len(text)),),
            blocks=tuple(blocks),
            identity=self.identity,
        )


def commit(registry: Registry, sample: Sample) -> str:
    """Begin and commit a sample; return its document id."""
    version = registry.begin_version(sample.id, sample.collections, namespace=sample.namespace)
    registry.commit_version(version, sample.version())
    return sample.id


def text_of(registry: Registry, sample: Sample) -> str:
    """Return the live text of a sample."""
    return registry.view(sample.namespace, sample.id).text


def rich_version(sample: Sample) -> NewVersion:
    """Return a version of a document that has everything a document can have."""
    # Astral characters, both ends of Unicode normalisation and a NUL: offsets are code points.
    prose = (
        "A \N{GREEK SMALL LETTER BETA}-blocker \N{DNA DOUBLE HELIX} e\u0301 \u00e9 [1,2]\tx\x00y."
    )
    figure_caption, table_caption = "Figure 1. Survival.", "Table 1. Patients."
    text = "\n\n".join((prose, figure_caption, table_caption))
    spans = [
        Span(0, len(prose)),
        Span(len(prose) + 2, len(prose) + 2 + len(figure_caption)),
        Span(len(text) - len(table_caption), len(text)),
    ]
    kinds = (SectionKind.RESULTS, SectionKind.CAPTION, SectionKind.CAPTION)
    paths = (("Results", "Cohort"), ("Results", "Figure 1"), ("Results", "Table 1"))
    document = ParsedDocument(
        source_uri="rich.xml",
        member="7",
        digest="rich",
        format="jats",
        metadata=_rich_metadata(),
        text=text,
        sections=tuple(
            Section(at, path, kind, span.start, span.end)
            for at, (path, kind, span) in enumerate(zip(paths, kinds, spans, strict=True))
        ),
        blocks=tuple(
            Block(BlockKind.PARAGRAPH, span.start, span.end, at) for at, span in enumerate(spans)
        ),
        figures=(
            Figure("F1", "Figure 1", spans[1], ("f1.jpg", "f1.tif")),
            Figure("F2", "", None, ()),
        ),
        tables=_rich_tables(spans[2]),
        references=(
            Reference("B1", "1", "Doe 2001.", "On A", 2001, "11", "PMC11", "10.1/b1"),
            Reference("B2", "2", "Roe."),
        ),
        citations=(Citation(17, 22, ("B1", "B2")), Citation(22, 23, ())),
    )
    passages = tuple(_passage(sample.id, document, at) for at in range(3))
    tagged = (_tagged(passages[0]), *passages[1:])
    return sample.with_passages(document, tagged)


def _rich_tables(caption: Span) -> tuple[Table, ...]:
    with_cells = Table(
        key="T1",
        label="Table 1",
        caption=caption,
        rows=(("1", "2"),),
        column_paths=(("n",), ("Arm", "A")),
        row_paths=(("Age",),),
        no_cells=False,
    )
    picture = Table(
        key="T2",
        label="Table 2",
        caption=None,
        rows=(),
        column_paths=(),
        row_paths=(),
        no_cells=True,
        graphics=("t2.gif",),
    )
    return with_cells, picture


def _rich_metadata() -> DocumentMetadata:
    return DocumentMetadata(
        ids=Identifiers("7", "PMC7", "10.1/rich", (("publisher-id", "p7"),)),
        title="Rich; DROP TABLE documents;--",
        journal="Journal of Riches",
        published="2021-03-09",
        year=2021,
        dates=(("received", "2020-11-01"),),
        article_type="research-article",
        publication_types=("Clinical Trial", "Journal Article"),
        licence="CC BY 4.0",
        language="en",
        volume="1",
        issue="2",
        pages="3-4",
        authors=(
            Author("Doe", "Jane", "", "0000-0002-1825-0097", ("Ward A", "Ward B")),
            Author(group="The Consortium", affiliations=("Ward B",)),
        ),
        keywords=("survival", "EGFR"),
        grants=(Grant("R01", "NCI", "United States"), Grant(agency="Wellcome")),
        mesh=(
            MeshHeading(
                "Lung Neoplasms",
                "D008175",
                True,  # noqa: FBT003 - the field's own order
                (MeshQualifier("genetics", "Q000235", True), MeshQualifier("therapy", "Q000628")),  # noqa: FBT003 - the field's own order
            ),
            MeshHeading("Humans", "D006801"),
        ),
        related=(
            RelatedArticle(
                "comment_on", Identifiers("8", other=(("x", "y"),)), "CommentOn", "Doe J."
            ),
        ),
    )


def _passage(document: str, parsed: ParsedDocument, ordinal: int) -> Passage:
    block = parsed.blocks[ordinal]
    section = parsed.sections[block.section]
    text = parsed.text[block.start : block.end]
    return Passage(
        id=passage_id(document, block.start, block.end, text),
        document_id=document,
        ordinal=ordinal,
        section=section.ordinal,
        section_path=section.path,
        section_kind=section.kind,
        start=block.start,
        end=block.end,
        text=text,
    )


def _tagged(passage: Passage) -> Passage:
    tags = (("primary_drugs", "osimertinib,savolitinib"), ("stage", "IV"))
    return replace(passage, tags=tags)


def _work_key(ids: Identifiers) -> str:
    keys = (("pmid", ids.pmid), ("pmcid", ids.pmcid), ("doi", ids.doi))
    return next((f"{scheme}:{value}" for scheme, value in keys if value), "")
