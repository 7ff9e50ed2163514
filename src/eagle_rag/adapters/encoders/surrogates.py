"""Texts that UTF-8 cannot carry."""

__all__ = ["without_surrogates"]


def without_surrogates(text: str) -> str:
    """Return the text with a question mark for every lone surrogate; other text is unchanged."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
