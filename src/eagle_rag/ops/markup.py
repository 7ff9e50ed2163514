"""Small things every reader of markup needs."""

__all__ = ["fold_space", "local_name"]


def local_name(tag: str) -> str:
    """Return a tag without its namespace."""
    return tag.rpartition("}")[2]


def fold_space(text: str) -> str:
    """Return text with XML white space folded to single spaces and trimmed at both ends.

    Only space, tab and line ends fold: a no-break or thin space inside is the publisher's choice.
    """
    text = text.strip()
    if "\n" in text or "\t" in text or "\r" in text:
        text = text.replace("\n", " ").replace("\t", " ").replace("\r", " ")
    while "  " in text:
        text = text.replace("  ", " ")
    return text
