"""The identifiers of records that are cited by another id than PMID, PMCID or DOI."""

from collections.abc import Iterable

from eagle_rag.model.metadata import Identifiers

__all__ = ["external_ids"]


def external_ids(
    cited: Iterable[tuple[str, str]], others: Iterable[tuple[str, str]]
) -> Identifiers:
    """Return the identifiers of a record: those it is cited by in their order, the rest sorted.

    Args:
        cited: ``(scheme, value)`` pairs a reader knows the record by, the best one first.
        others: All further pairs; may repeat. A pair without a value is left out of either.
    """
    first = dict.fromkeys(pair for pair in cited if pair[1])
    rest = {pair for pair in others if pair[1]} - first.keys()
    return Identifiers(other=(*first, *sorted(rest)))
