"""The registry in SQL: SQLite by default, PostgreSQL by a URL."""

from eagle_rag.adapters.registry.registry import SqlRegistry, open_registry

__all__ = ["SqlRegistry", "open_registry"]
