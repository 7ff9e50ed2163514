"""Alembic migrations of the registry, shipped in the wheel; run by ``schema.ensure_current``."""

__all__: list[str] = []
