"""The namespace of each version: which store its rows are in."""

import sqlalchemy as sa
from alembic import op

__all__ = ["down_revision", "downgrade", "revision", "upgrade"]

revision = "0002"
down_revision = "0001"

_VERSIONS = sa.table("versions", sa.column("document_id"), sa.column("namespace"))
_DOCUMENTS = sa.table("documents", sa.column("document_id"), sa.column("namespace"))


def upgrade() -> None:
    """Add the column; versions of live documents get the document's namespace, the rest none."""
    op.add_column("versions", sa.Column("namespace", sa.Text(), nullable=False, server_default=""))
    same = _DOCUMENTS.c.document_id == _VERSIONS.c.document_id
    namespace = sa.select(_DOCUMENTS.c.namespace).where(same).scalar_subquery()
    op.execute(
        _VERSIONS.update()
        .where(sa.exists().where(same).correlate(_VERSIONS))
        .values(namespace=namespace)
    )


def downgrade() -> None:
    """Drop the column."""
    op.drop_column("versions", "namespace")
