"""Why nothing was found: names in a request that the index does not know."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from eagle_rag.model.document import SectionKind
from eagle_rag.model.filters import AllOf, AnyOf, Compare, Filter, OneOf
from eagle_rag.model.passage import StoredPassage
from eagle_rag.surfaces.cli.output import say

if TYPE_CHECKING:
    from eagle_rag.engine import Engine

__all__ = ["warn_of_unknown_kbs", "warn_of_unknown_values"]

_FORMATS = ("jats", "pubmed", "html", "markdown", "text")


def warn_of_unknown_kbs(engine: "Engine", kb_names: tuple[str, ...] | None) -> None:
    """Say on stderr which of the knowledge bases do not exist, and which do."""
    if not kb_names:
        return
    known = [name for name, _ in engine.stats().by_kb]
    unknown = [name for name in kb_names if name not in known]
    if unknown:
        say(f"no knowledge base {', '.join(unknown)}; there are: {', '.join(known) or 'none'}")


def warn_of_unknown_values(engine: "Engine", where: Filter | None) -> None:
    """Say on stderr which values a filter compares with that a field never has, and which it has."""
    if where is None:
        return
    known = _known_values(engine)
    for field, value in _comparisons(where):
        if field in known and value not in known[field]:
            values = _with_held(engine, field, known[field])
            if value not in values:
                say(f"no {field} is {value!r}; there are: {', '.join(values)}")


def _known_values(engine: "Engine") -> dict[str, tuple[str, ...]]:
    formats = (name for name, _ in engine.stats().by_format)  # plugins may bring more
    chunk_types = (item.chunk_type for item in engine.plugins().collections)
    return {
        "section_kind": tuple(SectionKind),
        "source_type": tuple(dict.fromkeys((*_FORMATS, *formats))),
        "chunk_type": tuple(dict.fromkeys(chunk_types)),
    }


def _with_held(engine: "Engine", field: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values known and those that only rows hold: a plugin may give a row one of its own.

    Each look asks a collection for one row with a value that was not seen yet.
    """
    values = dict.fromkeys(known)
    for collection in engine.store.collections():
        while row := _one_row(engine, collection, field, values):
            values[str(getattr(row, field))] = None
    return tuple(values)


def _one_row(
    engine: "Engine", collection: str, field: str, seen: Iterable[str]
) -> StoredPassage | None:
    """Return a row of a collection whose field holds none of these values."""
    other = AllOf(tuple(Compare(field, "ne", value) for value in seen))
    for batch in engine.store.scan(collection, where=other, batch_size=1):
        return batch[0]
    return None


def _comparisons(where: Filter) -> Iterator[tuple[str, object]]:
    """Yield field and value of everything in a filter that asks for a value exactly."""
    if isinstance(where, Compare):
        if where.operator == "eq":
            yield where.field, where.value
    elif isinstance(where, OneOf):
        for value in where.values:
            yield where.field, value
    elif isinstance(where, AllOf | AnyOf):
        for part in where.parts:
            yield from _comparisons(part)
