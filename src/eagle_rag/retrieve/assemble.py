"""Stage 1: a request to a query context: checked, tokenised, scoped."""

from eagle_rag.errors import InvalidQuery
from eagle_rag.kernel.bus import BoundBus
from eagle_rag.model.filters import AllOf, Filter, OneOf
from eagle_rag.model.query import QueryContext, SearchRequest
from eagle_rag.ops.tokens import tokenize

__all__ = ["assemble_query", "check_request"]

_MAX_WINDOW = 10_000


def check_request(request: SearchRequest, *, max_query_chars: int) -> None:
    """Refuse a request that has no defined answer.

    Raises:
        InvalidQuery: The value and what it must be.
    """
    if request.top_k < 1:
        message = f"top_k must be at least 1, got {request.top_k}"
        raise InvalidQuery(message)
    if request.offset < 0:
        message = f"offset must be at least 0, got {request.offset}"
        raise InvalidQuery(message)
    if request.offset + request.top_k > _MAX_WINDOW:
        message = f"offset + top_k must be at most {_MAX_WINDOW:,}, got {request.offset + request.top_k:,}"
        raise InvalidQuery(message, remedy="narrow the query instead of paging further")
    if len(request.query) > max_query_chars:
        message = f"the query has {len(request.query):,} characters, at most {max_query_chars:,} are allowed"
        raise InvalidQuery(message, remedy="shorten it, or raise search.max_query_chars")
    if not request.query.strip():
        message = "the query is empty"
        raise InvalidQuery(message, remedy="ask something")


def assemble_query(bus: BoundBus, request: SearchRequest, *, max_query_chars: int) -> QueryContext:
    """Return the context that every later stage receives.

    Raises:
        InvalidQuery: The request has no defined answer.
    """
    check_request(request, max_query_chars=max_query_chars)
    context = QueryContext(
        request=request,
        namespace=bus.namespace,
        tokens=tuple(tokenize(request.query)),
        scope=_scope(request),
    )
    additions = bus.query_assemble(context)
    return QueryContext(
        request=request,
        namespace=context.namespace,
        tokens=context.tokens,
        scope=context.scope,
        additions=additions,
    )


def _scope(request: SearchRequest) -> Filter | None:
    parts: list[Filter] = []
    if request.kb_names is not None:
        parts.append(OneOf("kb_name", request.kb_names))
    if request.document_ids is not None:
        parts.append(OneOf("document_id", request.document_ids))
    if request.filters is not None:
        parts.append(request.filters)
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else AllOf(tuple(parts))
