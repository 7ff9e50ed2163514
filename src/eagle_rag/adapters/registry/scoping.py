"""What a caller may see, as SQL conditions: every read by a caller goes through here."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, false

from eagle_rag.adapters.registry.dynamic import AnySelect
from eagle_rag.adapters.registry.tables import documents
from eagle_rag.ops.request_rules import check_names

__all__ = ["in_scope", "kb_condition", "storable"]


def in_scope(rows: AnySelect, namespace: str, kb_names: Sequence[str] | None) -> AnySelect:
    """Return the rows of a query over ``documents`` that the caller may see."""
    rows = rows.where(documents.c.namespace == namespace)
    condition = kb_condition(documents.c.kb_name, kb_names)
    return rows if condition is None else rows.where(condition)


def kb_condition(
    column: ColumnElement[str], kb_names: Sequence[str] | None
) -> ColumnElement[bool] | None:
    """Return the condition on a knowledge base column: ``None`` for all, false for an empty list.

    Raises:
        InvalidQuery: Too many names, or one that is not Unicode text.
    """
    if kb_names is None:
        return None
    check_names("kb_names", kb_names, what="knowledge base")
    return column.in_(list(kb_names)) if kb_names else false()


def storable(value: str) -> bool:
    """Return whether any engine could hold this value; what none holds is asked of none.

    PostgreSQL refuses NUL, and neither engine takes half of a surrogate pair.
    """
    return "\0" not in value and not any("\ud800" <= character <= "\udfff" for character in value)
