"""Which structure a chemical encoder is given: the first one that a text holds.

A compound's passage begins with ``SMILES: `` and its structure; elsewhere strings are told from prose by
``eagle_biomed.smiles_text``.
"""

import re
from collections.abc import Iterator, Sequence

from eagle_biomed.smiles_text import find_smiles, smiles_shape
from eagle_rag.errors import InvalidInput, InvalidQuery
from eagle_rag.ops.excerpts import excerpt

__all__ = [
    "candidates",
    "document_structures",
    "query_candidates",
    "query_structure",
    "refuse_document",
    "refuse_query",
]

_CARD_LINE = re.compile(r"^SMILES: (\S+)$", re.MULTILINE)


def candidates(text: str) -> Iterator[str]:
    """Yield the SMILES and InChI strings of a text, best first: a card's own line, then in order."""
    card = _CARD_LINE.search(text)
    if card is not None:
        yield card[1]
    yield from (mention.text for mention in find_smiles(text))


def query_candidates(text: str) -> Iterator[str]:
    """Yield the structures of a query as ``candidates`` does; one that is SMILES by its grammar is taken so.

    Whoever asks this encoder ``CCO`` means ethanol: only structures are sent to it.
    """
    yield from candidates(text)
    bare = text.strip()
    if smiles_shape(bare) is not None:
        yield bare


def document_structures(texts: Sequence[str], label: str) -> list[str]:
    """Return the first structure of each text.

    Raises:
        InvalidInput: A text holds none; the message names its position.
    """
    found = []
    for at, text in enumerate(texts):
        structure = next(candidates(text), "")
        if not structure:
            raise refuse_document(text, label, at=at)
        found.append(structure)
    return found


def query_structure(text: str, label: str) -> str:
    """Return the first structure of a query.

    Raises:
        InvalidQuery: It holds none.
    """
    structure = next(query_candidates(text), "")
    if not structure:
        raise refuse_query(text, label)
    return structure


def refuse_document(text: str, label: str, *, at: int) -> InvalidInput:
    """Return the error of a text without a structure at a position of a batch."""
    message = f"encoder {label!r}: no structure was found in text {at}, {excerpt(text)!r}"
    remedy = "give it texts that hold a valid SMILES or InChI string"
    return InvalidInput(message, remedy=remedy)


def refuse_query(text: str, label: str) -> InvalidQuery:
    """Return the error of a query without a structure."""
    message = f"encoder {label!r}: no structure was found in the query {excerpt(text)!r}"
    remedy = "write one as SMILES or InChI, such as 'SMILES: CC(=O)Oc1ccccc1C(=O)O'"
    return InvalidQuery(message, remedy=remedy)
