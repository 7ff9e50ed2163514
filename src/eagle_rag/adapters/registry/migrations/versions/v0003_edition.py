"""The edition of each document: of several of one work, search serves the highest."""

import sqlalchemy as sa
from alembic import op

__all__ = ["down_revision", "downgrade", "revision", "upgrade"]

revision = "0003"
down_revision = "0002"

_BY_FORMAT = "ix_documents_format"


def upgrade() -> None:
    """Add the column, 0 for what has no editions, and the index that lists one format."""
    op.add_column(
        "documents", sa.Column("edition", sa.Integer(), nullable=False, server_default="0")
    )
    op.create_index(_BY_FORMAT, "documents", ["format", "namespace", "document_id"])


def downgrade() -> None:
    """Drop both."""
    op.drop_index(_BY_FORMAT, "documents")
    op.drop_column("documents", "edition")
