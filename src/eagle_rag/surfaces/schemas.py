"""What every surface puts on the wire: one shape for a hit, a passage, a report, everywhere."""

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from eagle_rag.model.records import DocumentView, PassageRecord
from eagle_rag.model.results import Hit, SearchResults

__all__ = ["document_json", "hit_json", "passage_json", "results_json", "to_json"]

Json = dict[str, Any]


def to_json(value: object) -> Any:  # noqa: ANN401 - any JSON value
    """Return a dataclass of the model as plain JSON values."""
    return TypeAdapter(type(value)).dump_python(value, mode="json")


def hit_json(hit: Hit, offsets: Mapping[str, tuple[int, int]] | None = None) -> Json:
    """Return a hit.

    Args:
        hit: The hit.
        offsets: Start and end by passage id in another unit, to replace code points.
    """
    value: Json = to_json(hit)
    if offsets is not None:
        value["start"], value["end"] = offsets[hit.passage_id]
    return value


def results_json(
    results: SearchResults, offsets: Mapping[str, tuple[int, int]] | None = None
) -> Json:
    """Return hits and trace."""
    return {
        "query": results.query,
        "degraded": results.trace.degraded,
        "hits": [hit_json(hit, offsets) for hit in results.hits],
        "trace": to_json(results.trace)["events"],
    }


def passage_json(record: PassageRecord) -> Json:
    """Return one passage with its document's data."""
    value: Json = to_json(record.passage)
    value["version"] = record.version
    value["document"] = to_json(record.document)
    value["figures"] = [to_json(figure) for figure in record.figures]
    value["tables"] = [{"key": key, "label": label} for key, label in record.tables]
    value["versions"] = list(record.versions)
    return value


def document_json(view: DocumentView) -> Json:
    """Return a whole document."""
    value: Json = to_json(view)
    return value
