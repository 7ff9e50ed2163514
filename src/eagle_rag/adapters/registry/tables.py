"""The tables of the registry, one ``Table`` each; no statement is built here.

``doc`` is the number of one committed version of a document: a new version is a new row of
``documents``, and every row that hangs on the old one goes with it. ``docs/registry.md`` says what
each column holds. A change here needs a migration beside it; a test compares the two.
"""

from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    text,
)

__all__ = [
    "METADATA",
    "REVISION",
    "REVISION_TABLE",
    "affiliations",
    "audit",
    "author_affiliations",
    "authors",
    "citations",
    "data_tables",
    "document_tags",
    "documents",
    "figures",
    "grants",
    "identifiers",
    "index_specs",
    "kb_collections",
    "keywords",
    "knowledge_bases",
    "mesh_headings",
    "passage_tags",
    "passages",
    "publication_types",
    "reference_entries",
    "related_articles",
    "sections",
    "sources",
    "text_chunks",
    "texts",
    "versions",
]

REVISION = "0003"
"""The migration this code was written for."""

REVISION_TABLE = "eagle_rag_revision"
"""Not Alembic's default name: the registry may share a database with other migrated schemas."""

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _doc() -> Column[int]:
    return Column(
        "doc", Integer, ForeignKey("documents.doc", ondelete="CASCADE"), primary_key=True
    )


def _key(name: str) -> Column[int]:
    return Column(name, Integer, primary_key=True, autoincrement=False)


def _int(name: str, *, optional: bool = False) -> Column[int]:
    return Column(name, Integer, nullable=optional)


def _str(name: str, *, optional: bool = False) -> Column[str]:
    return Column(name, Text, nullable=optional)


def _flag(name: str) -> Column[bool]:
    return Column(name, Boolean, nullable=False)


def _json(name: str) -> Column[object]:
    return Column(name, JSON, nullable=False)


def _child(name: str, *columns: Column[Any] | Index) -> Table:
    """Return a table of short rows clustered by document; long ones would overflow its pages."""
    return Table(name, METADATA, *columns, sqlite_with_rowid=False)


def _filled(name: str, column: str) -> Index:
    """Return an index over the rows where ``column`` is known."""
    where = text(f"{column} <> ''")
    return Index(name, column, sqlite_where=where, postgresql_where=where)


knowledge_bases = Table(
    "knowledge_bases",
    METADATA,
    Column("namespace", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    _str("created_at"),
)

kb_collections = Table(
    "kb_collections",
    METADATA,
    Column("namespace", Text, primary_key=True),
    Column("kb_name", Text, primary_key=True),
    Column("collection", Text, primary_key=True),
    _int("documents"),
)

versions = Table(
    "versions",
    METADATA,
    Column("document_id", Text, primary_key=True),
    _key("version"),
    _str("state"),
    _json("collections"),
    _str("begun_at"),
    _str("ended_at"),
    Column("namespace", Text, nullable=False, server_default=""),
    Index("ix_versions_state", "state"),
    sqlite_with_rowid=False,
)

documents = Table(
    "documents",
    METADATA,
    Column("doc", Integer, primary_key=True),
    Column("document_id", Text, nullable=False, unique=True),
    _int("version"),
    _str("namespace"),
    _str("kb_name"),
    _str("work_id"),
    _str("work_key"),
    _str("source_uri"),
    _str("member"),
    _str("digest"),
    _str("source_digest"),
    _str("config_digest"),
    _str("format"),
    _flag("full_text"),
    _str("title"),
    _str("journal"),
    _str("published"),
    _int("year", optional=True),
    _str("article_type"),
    _str("licence"),
    _str("language"),
    _str("volume"),
    _str("issue"),
    _str("pages"),
    _str("pmid"),
    _str("pmcid"),
    _str("doi"),
    _flag("retracted_by_itself"),
    _flag("retracted_by_notice"),
    _int("characters"),
    _int("passages"),
    _int("reference_entries"),
    _int("citations"),
    _int("figures"),
    _int("data_tables"),
    _int("truncated"),
    _json("collections"),
    _json("warnings"),
    _json("front"),
    _str("ingested_at"),
    Column("edition", Integer, nullable=False, server_default="0"),
    Index("ix_documents_scope", "namespace", "kb_name", "document_id"),
    Index("ix_documents_digest", "digest", "namespace", "kb_name"),
    Index("ix_documents_work_id", "work_id"),
    Index("ix_documents_year", "year"),
    Index("ix_documents_format", "format", "namespace", "document_id"),
)

texts = Table(
    "texts",
    METADATA,
    _doc(),
    Column("sha256", LargeBinary, nullable=False),
    _int("chunk_characters"),
    Column("blocks", LargeBinary, nullable=False),
)

text_chunks = Table(
    "text_chunks", METADATA, _doc(), _key("ordinal"), Column("data", LargeBinary, nullable=False)
)

sections = _child(
    "sections",
    _doc(),
    _key("ordinal"),
    _str("kind"),
    _json("path"),
    _int("start_char"),
    _int("end_char"),
)

passages = _child(
    "passages",
    _doc(),
    _key("ordinal"),
    Column("id", Text, nullable=False, unique=True),
    _int("section"),
    _int("start_char"),
    _int("end_char"),
    Column("sha256", LargeBinary, nullable=False),
    _int("tags"),
)

passage_tags = _child(
    "passage_tags",
    _doc(),
    _key("passage"),
    _key("ordinal"),
    _str("name"),
    _str("value"),
    Index("ix_passage_tags_name", "name"),
)

document_tags = Table(
    "document_tags",
    METADATA,
    Column("document_id", Text, primary_key=True),
    _key("ordinal"),
    _str("name"),
    _str("value"),
    Index("ix_document_tags_name", "name"),
    sqlite_with_rowid=False,
)

reference_entries = Table(
    "reference_entries",
    METADATA,
    _doc(),
    _key("ordinal"),
    _str("key"),
    _str("label"),
    _str("raw"),
    _str("title"),
    _int("year", optional=True),
    _str("pmid"),
    _str("pmcid"),
    _str("doi"),
    _filled("ix_reference_entries_pmid", "pmid"),
    _filled("ix_reference_entries_doi", "doi"),
)

citations = _child(
    "citations",
    _doc(),
    _key("ordinal"),
    _key("position"),
    _int("start_char"),
    _int("end_char"),
    _str("reference_key", optional=True),
)

authors = _child(
    "authors",
    _doc(),
    _key("ordinal"),
    _str("family"),
    _str("given"),
    _str("group_name"),
    _str("orcid"),
)

affiliations = _child("affiliations", _doc(), _key("ordinal"), _str("name"))

author_affiliations = _child(
    "author_affiliations", _doc(), _key("author"), _key("position"), _int("affiliation")
)

grants = _child("grants", _doc(), _key("ordinal"), _str("award"), _str("agency"), _str("country"))

mesh_headings = _child(
    "mesh_headings",
    _doc(),
    _key("ordinal"),
    _key("position"),
    _str("descriptor"),
    _str("descriptor_ui"),
    _flag("descriptor_major"),
    _str("qualifier"),
    _str("qualifier_ui"),
    _flag("qualifier_major"),
    Index("ix_mesh_headings_descriptor", "descriptor"),
)

keywords = _child("keywords", _doc(), _key("ordinal"), _str("keyword"))

publication_types = _child("publication_types", _doc(), _key("ordinal"), _str("name"))

figures = Table(
    "figures",
    METADATA,
    _doc(),
    _key("ordinal"),
    _str("key"),
    _str("label"),
    _int("caption_start", optional=True),
    _int("caption_end", optional=True),
    _json("graphics"),
)

data_tables = Table(
    "data_tables",
    METADATA,
    _doc(),
    _key("ordinal"),
    _str("key"),
    _str("label"),
    _int("caption_start", optional=True),
    _int("caption_end", optional=True),
    _flag("no_cells"),
    _json("rows"),
    _json("column_paths"),
    _json("row_paths"),
    _json("graphics"),
)

identifiers = _child(
    "identifiers",
    _doc(),
    Column("relation", Text, primary_key=True),
    Column("scheme", Text, primary_key=True),
    Column("value", Text, primary_key=True),
    Index("ix_identifiers_value", "value"),
)

related_articles = Table(
    "related_articles",
    METADATA,
    _doc(),
    _key("ordinal"),
    _str("relation"),
    _str("source_type"),
    _str("citation"),
    _str("pmid"),
    _str("pmcid"),
    _str("doi"),
)

sources = Table(
    "sources",
    METADATA,
    Column("namespace", Text, primary_key=True),
    Column("kb_name", Text, primary_key=True),
    Column("source_uri", Text, primary_key=True),
    _str("source_digest"),
    _str("config_digest"),
    _str("read_at"),
)

index_specs = Table(
    "index_specs",
    METADATA,
    Column("name", Text, primary_key=True),
    _str("encoder"),
    _str("digest"),
    _int("dim"),
    _str("metric"),
    _flag("normalized"),
    _str("pooling"),
    _str("query_prefix"),
    _str("document_prefix"),
    _flag("hybrid"),
    _json("extra_fields"),
    _str("saved_at"),
)

audit = Table(
    "audit",
    METADATA,
    Column("id", Integer, primary_key=True),
    _str("at"),
    _str("category"),
    _str("plugin"),
    _str("subject"),
    _str("decision"),
    _json("detail"),
    Index("ix_audit_subject", "subject"),
)
