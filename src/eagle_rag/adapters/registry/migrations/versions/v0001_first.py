"""The first schema."""

import sqlalchemy as sa
from alembic import op

__all__ = ["down_revision", "downgrade", "revision", "upgrade"]

revision = "0001"
down_revision = None

_TABLES = (
    "knowledge_bases",
    "kb_collections",
    "versions",
    "documents",
    "document_tags",
    "sources",
    "texts",
    "text_chunks",
    "sections",
    "passages",
    "passage_tags",
    "reference_entries",
    "citations",
    "identifiers",
    "related_articles",
    "authors",
    "affiliations",
    "author_affiliations",
    "grants",
    "mesh_headings",
    "keywords",
    "publication_types",
    "figures",
    "data_tables",
    "index_specs",
    "audit",
)


def upgrade() -> None:
    """Create every table."""
    _create_documents()
    _create_live_documents()
    _create_document_tags()
    _create_text()
    _create_citations()
    _create_front_matter()
    _create_subjects()
    _create_floats()
    _create_records()


def downgrade() -> None:
    """Drop every table."""
    for name in reversed(_TABLES):
        op.drop_table(name)


def _create_documents() -> None:
    op.create_table(
        "knowledge_bases",
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("namespace", "name", name=op.f("pk_knowledge_bases")),
    )
    op.create_table(
        "kb_collections",
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("kb_name", sa.Text(), nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("documents", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint(
            "namespace", "kb_name", "collection", name=op.f("pk_kb_collections")
        ),
    )
    op.create_table(
        "versions",
        sa.Column("document_id", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("collections", sa.JSON(), nullable=False),
        sa.Column("begun_at", sa.Text(), nullable=False),
        sa.Column("ended_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("document_id", "version", name=op.f("pk_versions")),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_versions_state", "versions", ["state"], unique=False)


def _create_live_documents() -> None:
    op.create_table(
        "documents",
        sa.Column("doc", sa.Integer(), nullable=False),
        sa.Column("document_id", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("kb_name", sa.Text(), nullable=False),
        sa.Column("work_id", sa.Text(), nullable=False),
        sa.Column("work_key", sa.Text(), nullable=False),
        sa.Column("source_uri", sa.Text(), nullable=False),
        sa.Column("member", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("source_digest", sa.Text(), nullable=False),
        sa.Column("config_digest", sa.Text(), nullable=False),
        sa.Column("format", sa.Text(), nullable=False),
        sa.Column("full_text", sa.Boolean(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("journal", sa.Text(), nullable=False),
        sa.Column("published", sa.Text(), nullable=False),
        sa.Column("year", sa.Integer(), nullable=True),
        sa.Column("article_type", sa.Text(), nullable=False),
        sa.Column("licence", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("volume", sa.Text(), nullable=False),
        sa.Column("issue", sa.Text(), nullable=False),
        sa.Column("pages", sa.Text(), nullable=False),
        sa.Column("pmid", sa.Text(), nullable=False),
        sa.Column("pmcid", sa.Text(), nullable=False),
        sa.Column("doi", sa.Text(), nullable=False),
        sa.Column("retracted_by_itself", sa.Boolean(), nullable=False),
        sa.Column("retracted_by_notice", sa.Boolean(), nullable=False),
        sa.Column("characters", sa.Integer(), nullable=False),
        sa.Column("passages", sa.Integer(), nullable=False),
        sa.Column("reference_entries", sa.Integer(), nullable=False),
        sa.Column("citations", sa.Integer(), nullable=False),
        sa.Column("figures", sa.Integer(), nullable=False),
        sa.Column("data_tables", sa.Integer(), nullable=False),
        sa.Column("truncated", sa.Integer(), nullable=False),
        sa.Column("collections", sa.JSON(), nullable=False),
        sa.Column("warnings", sa.JSON(), nullable=False),
        sa.Column("front", sa.JSON(), nullable=False),
        sa.Column("ingested_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("doc", name=op.f("pk_documents")),
        sa.UniqueConstraint("document_id", name=op.f("uq_documents_document_id")),
    )
    op.create_index(
        "ix_documents_digest", "documents", ["digest", "namespace", "kb_name"], unique=False
    )
    op.create_index(
        "ix_documents_scope", "documents", ["namespace", "kb_name", "document_id"], unique=False
    )
    op.create_index("ix_documents_work_id", "documents", ["work_id"], unique=False)
    op.create_index("ix_documents_year", "documents", ["year"], unique=False)


def _create_document_tags() -> None:
    op.create_table(
        "document_tags",
        sa.Column("document_id", sa.Text(), nullable=False),
        sa.Column("ordinal", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("document_id", "ordinal", name=op.f("pk_document_tags")),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_document_tags_name", "document_tags", ["name"], unique=False)
    op.create_table(
        "sources",
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("kb_name", sa.Text(), nullable=False),
        sa.Column("source_uri", sa.Text(), nullable=False),
        sa.Column("source_digest", sa.Text(), nullable=False),
        sa.Column("config_digest", sa.Text(), nullable=False),
        sa.Column("read_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("namespace", "kb_name", "source_uri", name=op.f("pk_sources")),
    )


def _create_text() -> None:
    op.create_table(
        "texts",
        sa.Column("doc", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.LargeBinary(), nullable=False),
        sa.Column("chunk_characters", sa.Integer(), nullable=False),
        sa.Column("blocks", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["doc"], ["documents.doc"], name=op.f("fk_texts_doc"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("doc", name=op.f("pk_texts")),
    )
    op.create_table(
        "text_chunks",
        sa.Column("doc", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["doc"], ["documents.doc"], name=op.f("fk_text_chunks_doc"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("doc", "ordinal", name=op.f("pk_text_chunks")),
    )
    op.create_table(
        "sections",
        sa.Column("doc", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("path", sa.JSON(), nullable=False),
        sa.Column("start_char", sa.Integer(), nullable=False),
        sa.Column("end_char", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["doc"], ["documents.doc"], name=op.f("fk_sections_doc"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("doc", "ordinal", name=op.f("pk_sections")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "passages",
        sa.Column("doc", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("section", sa.Integer(), nullable=False),
        sa.Column("start_char", sa.Integer(), nullable=False),
        sa.Column("end_char", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.LargeBinary(), nullable=False),
        sa.Column("tags", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["doc"], ["documents.doc"], name=op.f("fk_passages_doc"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("doc", "ordinal", name=op.f("pk_passages")),
        sa.UniqueConstraint("id", name=op.f("uq_passages_id")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "passage_tags",
        sa.Column("doc", sa.Integer(), nullable=False),
        sa.Column("passage", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("ordinal", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["doc"], ["documents.doc"], name=op.f("fk_passage_tags_doc"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("doc", "passage", "ordinal", name=op.f("pk_passage_tags")),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_passage_tags_name", "passage_tags", ["name"], unique=False)


def _create_citations() -> None:
    op.create_table(
        "reference_entries",
        sa.Column("doc", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("raw", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("year", sa.Integer(), nullable=True),
        sa.Column("pmid", sa.Text(), nullable=False),
        sa.Column("pmcid", sa.Text(), nullable=False),
        sa.Column("doi", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["doc"], ["documents.doc"], name=op.f("fk_reference_entries_doc"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("doc", "ordinal", name=op.f("pk_reference_entries")),
    )
    op.create_index(
        "ix_reference_entries_doi",
        "reference_entries",
        ["doi"],
        unique=False,
        sqlite_where=sa.text("doi <> ''"),
        postgresql_where=sa.text("doi <> ''"),
    )
    op.create_index(
        "ix_reference_entries_pmid",
        "reference_entries",
        ["pmid"],
        unique=False,
        sqlite_where=sa.text("pmid <> ''"),
        postgresql_where=sa.text("pmid <> ''"),
    )
    op.create_table(
        "citations",
        sa.Column("doc", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("start_char", sa.Integer(), nullable=False),
        sa.Column("end_char", sa.Integer(), nullable=False),
        sa.Column("reference_key", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["doc"], ["documents.doc"], name=op.f("fk_citations_doc"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("doc", "ordinal", "position", name=op.f("pk_citations")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "identifiers",
        sa.Column("doc", sa.Integer(), nullable=False),
        sa.Column("relation", sa.Text(), nullable=False),
        sa.Column("scheme", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["doc"], ["documents.doc"], name=op.f("fk_identifiers_doc"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("doc", "relation", "scheme", "value", name=op.f("pk_identifiers")),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_identifiers_value", "identifiers", ["value"], unique=False)
    op.create_table(
        "related_articles",
        sa.Column("doc", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("relation", sa.Text(), nullable=False),
        sa.Column("source_type", sa.Text(), nullable=False),
        sa.Column("citation", sa.Text(), nullable=False),
        sa.Column("pmid", sa.Text(), nullable=False),
        sa.Column("pmcid", sa.Text(), nullable=False),
        sa.Column("doi", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["doc"], ["documents.doc"], name=op.f("fk_related_articles_doc"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("doc", "ordinal", name=op.f("pk_related_articles")),
    )


def _create_front_matter() -> None:
    op.create_table(
        "authors",
        sa.Column("doc", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("family", sa.Text(), nullable=False),
        sa.Column("given", sa.Text(), nullable=False),
        sa.Column("group_name", sa.Text(), nullable=False),
        sa.Column("orcid", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["doc"], ["documents.doc"], name=op.f("fk_authors_doc"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("doc", "ordinal", name=op.f("pk_authors")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "affiliations",
        sa.Column("doc", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["doc"], ["documents.doc"], name=op.f("fk_affiliations_doc"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("doc", "ordinal", name=op.f("pk_affiliations")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "author_affiliations",
        sa.Column("doc", sa.Integer(), nullable=False),
        sa.Column("author", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("affiliation", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["doc"], ["documents.doc"], name=op.f("fk_author_affiliations_doc"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("doc", "author", "position", name=op.f("pk_author_affiliations")),
        sqlite_with_rowid=False,
    )


def _create_subjects() -> None:
    op.create_table(
        "grants",
        sa.Column("doc", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("award", sa.Text(), nullable=False),
        sa.Column("agency", sa.Text(), nullable=False),
        sa.Column("country", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["doc"], ["documents.doc"], name=op.f("fk_grants_doc"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("doc", "ordinal", name=op.f("pk_grants")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "mesh_headings",
        sa.Column("doc", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("descriptor", sa.Text(), nullable=False),
        sa.Column("descriptor_ui", sa.Text(), nullable=False),
        sa.Column("descriptor_major", sa.Boolean(), nullable=False),
        sa.Column("qualifier", sa.Text(), nullable=False),
        sa.Column("qualifier_ui", sa.Text(), nullable=False),
        sa.Column("qualifier_major", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["doc"], ["documents.doc"], name=op.f("fk_mesh_headings_doc"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("doc", "ordinal", "position", name=op.f("pk_mesh_headings")),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_mesh_headings_descriptor", "mesh_headings", ["descriptor"], unique=False)
    op.create_table(
        "keywords",
        sa.Column("doc", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("keyword", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["doc"], ["documents.doc"], name=op.f("fk_keywords_doc"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("doc", "ordinal", name=op.f("pk_keywords")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "publication_types",
        sa.Column("doc", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["doc"], ["documents.doc"], name=op.f("fk_publication_types_doc"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("doc", "ordinal", name=op.f("pk_publication_types")),
        sqlite_with_rowid=False,
    )


def _create_floats() -> None:
    op.create_table(
        "figures",
        sa.Column("doc", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("caption_start", sa.Integer(), nullable=True),
        sa.Column("caption_end", sa.Integer(), nullable=True),
        sa.Column("graphics", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["doc"], ["documents.doc"], name=op.f("fk_figures_doc"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("doc", "ordinal", name=op.f("pk_figures")),
    )
    op.create_table(
        "data_tables",
        sa.Column("doc", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("caption_start", sa.Integer(), nullable=True),
        sa.Column("caption_end", sa.Integer(), nullable=True),
        sa.Column("no_cells", sa.Boolean(), nullable=False),
        sa.Column("rows", sa.JSON(), nullable=False),
        sa.Column("column_paths", sa.JSON(), nullable=False),
        sa.Column("row_paths", sa.JSON(), nullable=False),
        sa.Column("graphics", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["doc"], ["documents.doc"], name=op.f("fk_data_tables_doc"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("doc", "ordinal", name=op.f("pk_data_tables")),
    )


def _create_records() -> None:
    op.create_table(
        "index_specs",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("encoder", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("dim", sa.Integer(), nullable=False),
        sa.Column("metric", sa.Text(), nullable=False),
        sa.Column("normalized", sa.Boolean(), nullable=False),
        sa.Column("pooling", sa.Text(), nullable=False),
        sa.Column("query_prefix", sa.Text(), nullable=False),
        sa.Column("document_prefix", sa.Text(), nullable=False),
        sa.Column("hybrid", sa.Boolean(), nullable=False),
        sa.Column("extra_fields", sa.JSON(), nullable=False),
        sa.Column("saved_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_index_specs")),
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("plugin", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("decision", sa.Text(), nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    op.create_index("ix_audit_subject", "audit", ["subject"], unique=False)
