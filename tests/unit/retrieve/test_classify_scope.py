"""What the scope of a request adds to a route."""

from collections.abc import Iterator, Sequence

import pytest

from eagle_rag.errors import InvalidFilter
from eagle_rag.model.filters import AllOf, AnyOf, Compare, Filter, OneOf
from eagle_rag.model.query import (
    CollectionQueryPlan,
    QueryContext,
    QueryIntent,
    RouteDecision,
    SearchRequest,
)
from eagle_rag.retrieve.classify import Catalogue, ScopedRoute, add_scope_plans
from eagle_rag.retrieve.report import plan_events, route_message, scope_message

ROUTE = RouteDecision((CollectionQueryPlan("text", "tiny"),), rule="lab")
_USED = {"papers": ("text",), "labels": ("labels", "molecules", "text")}


class FakeRecords:
    """Two knowledge bases; document ``d1`` is in ``molecules``."""

    def collections_used(
        self,
        namespace: str,
        kb_names: Sequence[str] | None = None,
        *,
        document_ids: Sequence[str] | None = None,
    ) -> tuple[str, ...]:
        assert namespace == "space"
        if document_ids is not None:
            return ("molecules",) if "d1" in document_ids else ()
        names = _USED if kb_names is None else kb_names
        return tuple(sorted({each for kb in names for each in _USED.get(kb, ())}))


class FakeStore:
    """Only ``labels`` has the field ``maker``, and no row of any is of source ``absent``."""

    def scan(
        self, collection: str, *, where: Filter | None, batch_size: int
    ) -> Iterator[tuple[str, ...]]:
        assert batch_size == 1
        fields = repr(where)
        if "maker" in fields and collection != "labels":
            message = "unknown field"
            raise InvalidFilter(message)
        if "absent" not in fields:
            yield ("row",)


def _plans(collections: Sequence[str]) -> tuple[CollectionQueryPlan, ...]:
    return tuple(CollectionQueryPlan(name, f"e-{name}") for name in collections)


CATALOGUE = Catalogue(FakeRecords(), "space", FakeStore(), _plans)  # type: ignore[arg-type]  # what is called


def _route(request: SearchRequest, intent: QueryIntent | None = None) -> ScopedRoute:
    scope = request.filters
    context = QueryContext(request, "lab", ("x",), scope=scope, intent=intent or QueryIntent())
    return add_scope_plans(context, ROUTE, CATALOGUE)


def _added(route: ScopedRoute) -> list[tuple[str, str]]:
    return [(each.collection, each.rule) for each in route.decision.plans[1:]]


def test_without_a_scope_the_route_stands() -> None:
    assert _route(SearchRequest("x")) == ScopedRoute(ROUTE)


@pytest.mark.parametrize(
    ("request_", "added"),
    [
        (SearchRequest("x", kb_names=("papers",)), []),
        (SearchRequest("x", kb_names=("labels",)), ["labels", "molecules"]),
        (SearchRequest("x", document_ids=("d1",)), ["molecules"]),
        (SearchRequest("x", filters=Compare("source_type", "eq", "spl")), ["labels", "molecules"]),
        (SearchRequest("x", filters=OneOf("maker", ("a",))), ["labels"]),
        (
            SearchRequest(
                "x", filters=AllOf((Compare("maker", "eq", "a"), Compare("year", "ge", 1)))
            ),
            ["labels"],
        ),
        (SearchRequest("x", filters=AnyOf((Compare("source_type", "eq", "absent"),))), []),
        (SearchRequest("x", filters=Compare("year", "ge", 2020)), []),
        (SearchRequest("x", filters=Compare("section_kind", "eq", "results")), []),
    ],
)
def test_a_scope_adds_the_collections_its_documents_were_written_to(
    request_: SearchRequest, added: list[str]
) -> None:
    """By their default encoders; what merely narrows within documents adds nothing."""
    route = _route(request_)
    assert _added(route) == [(name, "scope") for name in added]
    assert [each.encoder for each in route.decision.plans[1:]] == [f"e-{name}" for name in added]
    assert not route.empty


def test_what_the_intent_suppresses_is_not_added_and_said() -> None:
    intent = QueryIntent(suppress_collections=("molecules",))
    route = _route(SearchRequest("x", kb_names=("labels",)), intent)
    assert _added(route) == [("labels", "scope")]
    assert route.suppressed == ("molecules",)


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (SearchRequest("x", kb_names=("absent",)), "knowledge bases ['absent']"),
        (SearchRequest("x", kb_names=()), "knowledge bases []"),
        (
            SearchRequest("x", document_ids=("d9",), kb_names=("papers",)),
            "documents ['d9'] in knowledge bases ['papers']",
        ),
        (
            SearchRequest("x", kb_names=("absent",), filters=Compare("year", "eq", 1)),
            "knowledge bases ['absent'], with the filter",
        ),
    ],
)
def test_a_scope_that_holds_nothing_adds_nothing_and_is_named(
    request_: SearchRequest, message: str
) -> None:
    route = _route(request_)
    assert (route.empty, route.decision) == (True, ROUTE)
    context = QueryContext(request_, "lab", ("x",))
    assert scope_message(context) == f"the scope holds no document: {message}"


def test_a_scope_of_thousands_is_named_by_its_beginning() -> None:
    request = SearchRequest("x", document_ids=tuple(f"doc{number}" for number in range(10_000)))
    assert len(scope_message(QueryContext(request, "lab", ("x",)))) < 200


def test_a_route_is_told_by_rule() -> None:
    plans = (*ROUTE.plans, CollectionQueryPlan("labels", "e", rule="scope"))
    assert route_message(RouteDecision(plans, rule="lab")) == "text by lab; labels by scope"
    assert route_message(RouteDecision((), rule="lab")) == "nothing by lab"


def test_each_plan_is_explained_with_its_rule_and_hint_and_what_is_not_searched() -> None:
    plan, other = ROUTE.plans[0], CollectionQueryPlan("labels", "e", rule="scope")
    route = RouteDecision(
        (plan, other),
        "lab",
        hints=(("molecules", "left out"), ("parents", "False"), ("text", "words")),
        plugin="p",
    )
    events = plan_events(
        route, [(plan, 3), (other, 0)], collections={"labels", "molecules", "text"}
    )
    assert [(each.stage, each.message, each.plugin) for each in events] == [
        ("plan", "text with tiny by lab (words): 3 candidates", "p"),
        ("plan", "labels with e by scope: 0 candidates", ""),
        ("plan", "molecules: left out", "p"),
        ("hint", "parents: False", "p"),
    ]
