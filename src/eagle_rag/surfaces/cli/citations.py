"""The identifiers of a document as a line for readers; what it prints, ``eagle show`` takes."""

from eagle_rag.model.metadata import Identifiers

__all__ = ["cited_by", "named_by"]

_MOST = 20  # a drug's label can have hundreds of product codes


def cited_by(ids: Identifiers) -> tuple[str, ...]:
    """Return what a reader cites a document by: PMCID, PMID, DOI, else the first of its other ids.

    An id of another scheme is written ``scheme:value``.
    """
    known = _known(ids)
    if known or not ids.other:
        return known
    scheme, value = ids.other[0]
    return (f"{scheme}:{value}",)


def named_by(ids: Identifiers) -> tuple[str, ...]:
    """Return all identifiers of a document, with a word in the end when they are too many to print."""
    names = (*_known(ids), *(f"{scheme}:{value}" for scheme, value in ids.other))
    left = len(names) - _MOST
    return names if left <= 0 else (*names[:_MOST], f"and {left} more")


def _known(ids: Identifiers) -> tuple[str, ...]:
    pmid = f"PMID {ids.pmid}" if ids.pmid else ""
    return tuple(filter(None, (ids.pmcid, pmid, ids.doi)))
