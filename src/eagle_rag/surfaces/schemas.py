"""What every surface puts on the wire: one shape for a hit, a passage, a report, everywhere."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pydantic import TypeAdapter

from eagle_rag.model.records import DocumentRecord, DocumentView, PassageRecord
from eagle_rag.model.results import Hit, SearchResults

__all__ = [
    "convert_spans",
    "document_json",
    "hit_json",
    "passage_json",
    "results_json",
    "to_json",
]

Json = dict[str, Any]
Convert = Callable[[Sequence[tuple[int, int]]], Sequence[tuple[int, int]]]


def to_json(value: object) -> Any:  # noqa: ANN401 - any JSON value
    """Return a dataclass of the model as plain JSON values."""
    return TypeAdapter(type(value)).dump_python(value, mode="json")


def hit_json(hit: Hit) -> Json:
    """Return a hit."""
    value: Json = to_json(hit)
    return value


def results_json(results: SearchResults) -> Json:
    """Return hits and trace."""
    return {
        "query": results.query,
        "degraded": results.trace.degraded,
        "hits": [hit_json(hit) for hit in results.hits],
        "trace": to_json(results.trace)["events"],
    }


def convert_spans(value: object, convert: Convert) -> None:
    """Replace every ``start`` and ``end`` inside a JSON value of one document, in place.

    Args:
        value: What ``hit_json``, ``passage_json`` or ``document_json`` returned.
        convert: Spans in code points to spans in another unit, in the order given.
    """
    places = list(_places(value))
    spans = convert([(place["start"], place["end"]) for place in places])
    for place, (start, end) in zip(places, spans, strict=True):
        place["start"], place["end"] = start, end


def _places(value: object) -> Iterator[Json]:
    if isinstance(value, dict):
        if isinstance(value.get("start"), int) and isinstance(value.get("end"), int):
            yield value
        for inner in value.values():
            yield from _places(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _places(inner)


def passage_json(record: PassageRecord) -> Json:
    """Return one passage with its document's data."""
    value: Json = to_json(record.passage)
    value["version"] = record.version
    value["document"] = to_json(record.document)
    value["figures"] = [to_json(figure) for figure in record.figures]
    value["tables"] = [{"key": key, "label": label} for key, label in record.tables]
    value["versions"] = list(record.versions)
    return value


def document_json(view: DocumentView, links: Sequence[tuple[str, DocumentRecord]] = ()) -> Json:
    """Return a whole document, with the relation and record of each document linked with it."""
    value: Json = to_json(view)
    value["links"] = [
        {
            "relation": relation,
            "document_id": record.document_id,
            "title": record.metadata.title,
        }
        for relation, record in links
    ]
    return value
