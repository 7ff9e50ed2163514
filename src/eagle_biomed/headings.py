"""Whether a query names the section that a passage stands in, by the words of its headings.

Beyond the reference, whose cues are three words of a label's table of contents: a heading such as
"5.2 QTc prolongation" or "Exclusion Criteria" is named by whoever writes its words.
"""

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Final

from eagle_rag.ops.tokens import tokenize

__all__ = ["heading_match_score"]

# A heading of nothing but these stands in every paper, whatever it is about.
_EVERYWHERE: Final = frozenset(
    tokenize(
        "abstract aim analysis approach background case claim comment conclusion data description design"
        " detail discussion experiment experimental figure finding group information interpretation"
        " introduction material method objective overview participant patient procedure purpose"
        " report result setting statistical study subject summary supplementary table text treatment trial"
    )
)


def heading_match_score(
    section_path: Sequence[str], query_tokens: Collection[str], drugs: Sequence[str]
) -> float:
    """Return 1.0 when the query holds every word of a heading in the path, else 0.0.

    Every word, because papers head their parts by their subject: two of the three words of "Frequency of MET
    amplification" are in many a question that another passage answers better. Numbers are no words here. Nor
    are names of drugs: a query that names a drug does not point to every section called after it. Headings
    that every paper has ("Results", "Patients") point nowhere.

    Args:
        section_path: Titles from the root.
        query_tokens: Search tokens of the query.
        drugs: Names of the drugs asked for, in all spellings.
    """
    names = _words_of(tuple(drugs))
    asked = frozenset(query_tokens) - names
    headings = (_heading_words(title) - names for title in section_path)
    return float(any(words and words <= asked for words in headings))


@lru_cache(maxsize=4_096)
def _heading_words(title: str) -> frozenset[str]:
    """Return the words of a heading; none of one that every paper has."""
    words = frozenset(word for word in tokenize(title) if any(map(str.isalpha, word)))
    return frozenset() if words <= _EVERYWHERE else words


@lru_cache(maxsize=256)
def _words_of(drugs: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word for drug in drugs for word in tokenize(drug))
