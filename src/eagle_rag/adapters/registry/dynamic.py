"""Names for what SQLAlchemy cannot type.

Rows and statements built from lists of columns have no static type, and SQLAlchemy 2.0 and 2.1 spell
even the open ones differently.
"""

from typing import Any

__all__ = ["AnyColumn", "AnyCondition", "AnyRow", "AnySelect"]

AnyColumn = Any
AnyCondition = Any
AnyRow = Any
AnySelect = Any
