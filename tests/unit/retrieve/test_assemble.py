"""What a request must be before anything is searched."""

import pytest

from eagle_rag.engine import Engine
from eagle_rag.errors import InvalidFilter, InvalidQuery
from eagle_rag.model.filters import AllOf, Compare
from eagle_rag.model.query import SearchRequest
from eagle_rag.retrieve.assemble import check_request


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({"mode": "x"}, InvalidQuery),
        ({"query": None}, InvalidQuery),
        ({"kb_names": "default"}, InvalidQuery),
        ({"kb_names": ("\udcff",)}, InvalidQuery),
        ({"filters": "year>5"}, InvalidFilter),
        ({"filters": AllOf(Compare("year", "ge", 2020))}, InvalidFilter),  # type: ignore[arg-type]  # so it is
        ({"filters": 5, "kb_names": ()}, InvalidFilter),
    ],
)
def test_a_wrong_request_is_refused_alone_and_by_an_engine(
    engine: Engine, values: dict[str, object], error: type[Exception]
) -> None:
    with pytest.raises(error):
        check_request(
            SearchRequest(**{"query": "kinase", **values}),  # type: ignore[arg-type]  # that is what is tested
            max_query_chars=100,
        )
    with pytest.raises(error):
        engine.search(SearchRequest(**{"query": "kinase", **values}))  # type: ignore[arg-type]  # that is what is tested


def test_a_filter_as_deep_as_allowed_is_searched_with_a_knowledge_base(engine: Engine) -> None:
    """The scope goes around it, and the store counts that level too."""
    where: Compare | AllOf = Compare("year", "ge", 2020)
    for _ in range(29):
        where = AllOf((where,))
    results = engine.search(SearchRequest("kinase", kb_names=("default",), filters=where))
    assert results.hits == ()
