"""The query as the arms see it: names for dense encoders that profit from them, drugs and sections for words."""

from collections.abc import Sequence
from typing import Final

from eagle_biomed.intent import EntityNames, named_drugs
from eagle_rag.model.query import ExpandedQuery, QueryIntent

__all__ = ["EXPANDED_ENCODER", "expand_query", "resolve_drug_terms", "sparse_terms"]

EXPANDED_ENCODER: Final = "pubmedbert"
"""The one encoder whose query the reference rewrites."""
_RELATED: Final = 4


def expand_query(
    query: str,
    names: EntityNames,
    *,
    encoder: str,
    intent: QueryIntent,
    expand_encoders: Sequence[str] = (),
) -> ExpandedQuery:
    """Return the query for one encoder; words are always searched as they were asked.

    Args:
        query: The question as asked.
        names: Finds entities.
        encoder: Label of the encoder; empty for the call that only asks for the intent.
        intent: What kind of question it is.
        expand_encoders: Further encoders whose query is rewritten.
    """
    rewritten = encoder == EXPANDED_ENCODER or (encoder and encoder in expand_encoders)
    dense = names.expand_query_for_dense_retrieval(query) if rewritten else query
    return ExpandedQuery(dense, sparse_terms(query, names, intent=intent), intent)


def sparse_terms(query: str, names: EntityNames, *, intent: QueryIntent) -> tuple[str, ...]:
    """Return what the arm of words is asked for besides the query: drugs by canonical name, then sections."""
    cues = (cue.replace("_", " ") for cue in intent.section_cues)
    return tuple(dict.fromkeys((*named_drugs(query, names), *cues)))


def resolve_drug_terms(query: str, names: EntityNames) -> tuple[str, ...]:
    """Return the drugs a query is about: those it names, else the first four related to its first entity.

    A named drug is never replaced by related ones.
    """
    named = named_drugs(query, names)
    if named:
        return named
    first = next(iter(names.match_entities(query)), "")
    related = names.resolve_entity(first).related_drugs if first else ()
    return tuple(dict.fromkeys(related[:_RELATED]))
