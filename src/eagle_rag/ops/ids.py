"""Content-hash ids with a versioned prefix: stable over runs and machines."""

from hashlib import sha256
from typing import Final

__all__ = ["document_id", "passage_id"]

_HEX_DIGITS: Final = 32  # 128 bits: no collision below 10^15 ids


def passage_id(document_id: str, start: int, end: int, text: str) -> str:
    """Return ``psg1_`` and 32 hex digits over document id, start, end and text, each on a line."""
    content = f"{document_id}\n{start}\n{end}\n{text}".encode("utf-8", "surrogatepass")
    return "psg1_" + sha256(content).hexdigest()[:_HEX_DIGITS]


def document_id(namespace: str, kb_name: str, key: str) -> str:
    """Return ``doc1_`` and 32 hex digits: one key is one document in each knowledge base.

    Args:
        namespace: Plugin namespace.
        kb_name: Knowledge base.
        key: What names the document inside it, such as a source URI and member. Lengths are hashed
            too, so that no two triples share their bytes.
    """
    content = f"{len(namespace)}:{namespace}{len(kb_name)}:{kb_name}{len(key)}:{key}"
    digest = sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
    return "doc1_" + digest[:_HEX_DIGITS]
