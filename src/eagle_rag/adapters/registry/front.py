"""The lists of a document's front matter as one JSON value, so that one row is a whole record.

The same lists also lie in tables of their own, for joins; both are written in one transaction.
Affiliations are not in here: they are most of the bytes and no listing shows them.
"""

from typing import Any

from eagle_rag.model.metadata import (
    Author,
    DocumentMetadata,
    Grant,
    Identifiers,
    MeshHeading,
    MeshQualifier,
    RelatedArticle,
)

__all__ = ["pack_front", "unpack_front"]


def pack_front(metadata: DocumentMetadata) -> dict[str, object]:
    """Return the lists of a front matter; empty ones are left out."""
    packed: dict[str, object] = {
        "other_ids": metadata.ids.other,
        "dates": metadata.dates,
        "publication_types": metadata.publication_types,
        "authors": [(a.family, a.given, a.group, a.orcid) for a in metadata.authors],
        "keywords": metadata.keywords,
        "grants": [(grant.award, grant.agency, grant.country) for grant in metadata.grants],
        "mesh": [_pack_heading(heading) for heading in metadata.mesh],
        "related": [_pack_related(related) for related in metadata.related],
        "properties": metadata.properties,
    }
    return {name: value for name, value in packed.items() if value}


def unpack_front(front: dict[str, Any], metadata: DocumentMetadata) -> DocumentMetadata:
    """Return ``metadata``, which holds the single values, with the lists of ``front``.

    Args:
        front: What ``pack_front`` returned, through JSON.
        metadata: The single values; its lists are not looked at.
    """
    ids = metadata.ids
    return DocumentMetadata(
        ids=Identifiers(ids.pmid, ids.pmcid, ids.doi, _pairs(front.get("other_ids", ()))),
        title=metadata.title,
        journal=metadata.journal,
        published=metadata.published,
        year=metadata.year,
        dates=_pairs(front.get("dates", ())),
        article_type=metadata.article_type,
        publication_types=tuple(front.get("publication_types", ())),
        licence=metadata.licence,
        language=metadata.language,
        volume=metadata.volume,
        issue=metadata.issue,
        pages=metadata.pages,
        authors=tuple(Author(*author) for author in front.get("authors", ())),
        keywords=tuple(front.get("keywords", ())),
        grants=tuple(Grant(*grant) for grant in front.get("grants", ())),
        mesh=tuple(map(_unpack_heading, front.get("mesh", ()))),
        related=tuple(_unpack_related(*related) for related in front.get("related", ())),
        retracted=metadata.retracted,
        properties=_pairs(front.get("properties", ())),
    )


def _pack_heading(heading: MeshHeading) -> tuple[object, ...]:
    qualifiers = [(q.name, q.ui, q.major) for q in heading.qualifiers]
    return (heading.descriptor, heading.ui, heading.major, qualifiers)


def _unpack_heading(heading: list[Any]) -> MeshHeading:
    descriptor, ui, major, qualifiers = heading
    return MeshHeading(descriptor, ui, major, tuple(MeshQualifier(*q) for q in qualifiers))


def _pack_related(related: RelatedArticle) -> tuple[object, ...]:
    ids = related.ids
    packed_ids = (ids.pmid, ids.pmcid, ids.doi, ids.other)
    return (related.relation, packed_ids, related.source_type, related.citation)


def _unpack_related(
    relation: str, ids: list[Any], source_type: str, citation: str
) -> RelatedArticle:
    pmid, pmcid, doi, other = ids
    unpacked_ids = Identifiers(pmid, pmcid, doi, _pairs(other))
    return RelatedArticle(relation, unpacked_ids, source_type, citation)


def _pairs(values: list[list[str]] | tuple[()]) -> tuple[tuple[str, str], ...]:
    return tuple((first, second) for first, second in values)
