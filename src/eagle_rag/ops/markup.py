"""Small things every reader of markup needs."""

import re

__all__ = ["fold_space", "is_prose_file", "local_name"]

_PROSE_NAMES = (".txt", ".text", ".md", ".markdown", ".mdown", ".mkd")
_BEGINS_AS_MARKUP = re.compile(
    rb"<(?:\?xml|!doctype|(?:html|(?:[\w.-]+:)?article|pmc-articleset|Pubmed\w+|Medline\w+"
    rb"|DeleteCitation|BookDocumentSet)[\s>])",
    re.IGNORECASE,
)


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


def is_prose_file(name: str, data: bytes) -> bool:
    """Whether a file is text by its name, and does not begin as a document of markup does.

    A text about markup mentions its tags; an article saved as ``.txt`` begins with them.
    """
    if not name.lower().endswith(_PROSE_NAMES):
        return False
    head = data[:512].replace(b"\0", b"")  # as good as decoding UTF-16, for the tags
    return _BEGINS_AS_MARKUP.match(head.lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")) is None
