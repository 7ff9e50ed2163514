"""Exact names in a query: variants, cell lines, alleles, trial and compound numbers, whole."""

import re
from typing import Final

from eagle_rag.ops.tokens import tokenize_spans

__all__ = ["INCHIKEY", "exact_forms"]

_LETTER_AND_DIGIT = re.compile(r"(?=.*\d)(?=.*[^\W\d_])", re.DOTALL)
INCHIKEY: Final = r"[A-Z]{14}-[A-Z]{10}-[A-Z]"
"""Pattern of an InChIKey: the one code of letters alone that is no word."""
_INCHIKEY = re.compile(INCHIKEY)


def exact_forms(text: str) -> tuple[str, ...]:
    """Return the tokens of a query that name one thing exactly, in order, none twice.

    Only outermost tokens count (``il2/il15``, not its parts): those that mix letters and digits, as
    ``t790m``, ``hlab*57:01`` or ``nct09900001``; InChIKeys; and whatever a query is that consists of one name
    alone, such as ``vanadium(II)``. Ordinary words never count, so most queries have none.
    """
    outermost: list[tuple[str, int, int]] = []
    for token, start, end in tokenize_spans(text):
        if outermost and start >= outermost[-1][1] and end <= outermost[-1][2]:
            continue
        outermost.append((token, start, end))
    found = [
        token
        for token, start, end in outermost
        if _LETTER_AND_DIGIT.match(token) or _INCHIKEY.fullmatch(text, start, end)
    ]
    if not found and len(outermost) == 1 and len(tokenize_spans(text)) > 1:
        found = [outermost[0][0]]
    return tuple(dict.fromkeys(found))
