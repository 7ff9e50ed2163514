"""Stage 11: candidates to hits: text, place, document, the matching clause, links."""

from collections.abc import Callable, Sequence

from eagle_rag.errors import RegistryError
from eagle_rag.model.query import Candidate, QueryContext
from eagle_rag.model.records import PassageRecord
from eagle_rag.model.results import Hit, Linked
from eagle_rag.ops.clauses import best_clause
from eagle_rag.ports.registry import DocumentReader

__all__ = ["enrich_candidates", "readable_passages"]

_RETRACTS = "retraction_of"


def enrich_candidates(
    registry: DocumentReader,
    context: QueryContext,
    candidates: Sequence[Candidate],
    *,
    namespace: str,
    first_rank: int,
    on_damage: Callable[[str], None] = lambda _: None,
) -> tuple[Hit, ...]:
    """Return one hit a candidate, in order.

    The registry is asked within the caller's knowledge bases once more, so a row that should not have
    been found is not shown; a document deleted since it was found is left out.

    Args:
        registry: Where passages are read from.
        context: The query.
        candidates: One page of the ranking.
        namespace: The registry's namespace.
        first_rank: Rank of the first of them.
        on_damage: Told of each damaged document, which is left out.

    Raises:
        RegistryError: Nothing could be read.
    """
    records = readable_passages(
        registry,
        [candidate.passage_id for candidate in candidates],
        namespace=namespace,
        kb_names=context.request.kb_names,
        on_damage=on_damage,
    )
    by_id = {record.passage.id: record for record in records}
    found = [candidate for candidate in candidates if candidate.passage_id in by_id]
    return tuple(
        _hit(context, candidate, record=by_id[candidate.passage_id], rank=rank)
        for rank, candidate in enumerate(found, start=first_rank)
    )


def readable_passages(
    registry: DocumentReader,
    passage_ids: Sequence[str],
    *,
    namespace: str,
    kb_names: Sequence[str] | None,
    on_damage: Callable[[str], None],
) -> tuple[PassageRecord, ...]:
    """Return the live passages that can be read; damage is told, not raised.

    Raises:
        RegistryError: None can be read: then it may be the whole registry.
    """
    try:
        return registry.passages(namespace, passage_ids, kb_names=kb_names)
    except RegistryError as error:
        found: list[PassageRecord] = []
        damage: dict[str, None] = {}
        for passage_id in passage_ids:
            try:
                found.extend(registry.passages(namespace, (passage_id,), kb_names=kb_names))
            except RegistryError as single:
                damage[str(single)] = None
        if not found:
            raise error from error.__cause__
        for message in damage:
            on_damage(message)
        return tuple(found)


def _hit(context: QueryContext, candidate: Candidate, *, record: PassageRecord, rank: int) -> Hit:
    passage, document = record.passage, record.document
    linked = [Linked("figure", figure.key, figure.label) for figure in record.figures]
    linked.extend(Linked("table", key, label) for key, label in record.tables)
    return Hit(
        rank=rank,
        score=candidate.score,
        passage_id=passage.id,
        document_id=passage.document_id,
        version=record.version,
        kb_name=document.kb_name,
        start=passage.start,
        end=passage.end,
        text=passage.text,
        section_path=passage.section_path,
        section_kind=passage.section_kind.value,
        clause=best_clause(passage.text, passage.start, context.tokens),
        title=document.metadata.title,
        journal=document.metadata.journal,
        year=document.metadata.year,
        ids=document.metadata.ids,
        retracted=document.retracted,
        retracts=any(item.relation == _RETRACTS for item in document.metadata.related),
        linked=tuple(linked),
        versions=record.versions,
        arms=candidate.arms if context.request.explain else (),
        pictures=candidate.pictures,
        parts=tuple(sorted(candidate.parts)) if context.request.explain else (),
    )
