"""What Alembic runs; it uses the connection, and so the transaction, it was handed."""

from alembic import context

from eagle_rag.adapters.registry.tables import METADATA, REVISION_TABLE

__all__ = ["run"]


def run() -> None:
    """Run the migrations on the connection in the configuration's attributes."""
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=METADATA,
        version_table=REVISION_TABLE,
        render_as_batch=True,
    )
    with context.begin_transaction():
        context.run_migrations()


run()
