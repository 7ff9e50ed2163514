"""The beginning of a text, for messages: what somebody asked may be megabytes long."""

__all__ = ["excerpt"]

_LIMIT = 80
"""Characters, the width of a terminal: enough to know a name or a structure again."""


def excerpt(text: str, limit: int = _LIMIT) -> str:
    """Return a text as it is, or its beginning and an ellipsis, at most ``limit`` characters together."""
    return text if len(text) <= limit else f"{text[: limit - 1]}\u2026"
