"""Stage 1: a request to a query context: checked, tokenised, scoped."""

from dataclasses import dataclass, replace

from eagle_rag.errors import InvalidQuery
from eagle_rag.kernel.bus import BoundBus
from eagle_rag.model.filters import AllOf, Filter, OneOf
from eagle_rag.model.query import QueryContext, RerankPolicy, SearchRequest
from eagle_rag.ops.pictures import picture_type
from eagle_rag.ops.request_rules import check_conditions, check_fields
from eagle_rag.ops.tokens import tokenize

__all__ = ["RerankTerms", "assemble_query", "check_request", "rerank_terms"]


@dataclass(frozen=True, slots=True)
class RerankTerms:
    """What plugins are told of the merged rerank; see ``QueryContext``."""

    policy: RerankPolicy = "none"
    budget_s: float | None = None
    depth: int = 50


_MAX_WINDOW = 10_000
_MAX_IMAGE_BYTES = 100 << 20


def rerank_terms(bus: BoundBus, asked: RerankTerms, *, has_pairs: bool) -> RerankTerms:
    """Return what plugins are told: policy ``none`` where the one who should rerank is not there.

    Args:
        bus: Hooks.
        asked: As configured.
        has_pairs: The core has a cross-encoder.
    """
    there = {"domain": bool(bus.implements("rerank_merged")), "general": has_pairs}
    return asked if there.get(asked.policy) else replace(asked, policy="none")


def check_request(
    request: SearchRequest, *, max_query_chars: int, max_image_bytes: int = _MAX_IMAGE_BYTES
) -> None:
    """Refuse a request that has no defined answer, before anything is searched.

    Raises:
        InvalidQuery: The field, its value and what it must be.
        InvalidFilter: What is wrong with the filter.
    """
    check_fields(request)
    _check_window(request)
    if request.filters is not None:
        check_conditions(request.filters)
    if len(request.query) > max_query_chars:
        message = f"the query has {len(request.query):,} characters, at most {max_query_chars:,} are allowed"
        raise InvalidQuery(message, remedy="shorten it, or raise search.max_query_chars")
    if request.image is not None:
        _check_image(request, request.image, max_image_bytes)
    elif not request.query.strip():
        message = "the query is empty"
        raise InvalidQuery(message, remedy="ask something")


def _check_image(request: SearchRequest, image: bytes, max_bytes: int) -> None:
    if len(image) > max_bytes:
        message = f"the picture has {len(image):,} bytes, at most {max_bytes:,} are allowed"
        raise InvalidQuery(message, remedy="scale it down, or raise ingest.max_file_bytes")
    if not picture_type(image):
        message = f"the picture is none that can be read ({len(image):,} bytes)"
        raise InvalidQuery(message, remedy="give PNG, JPEG, GIF, TIFF, BMP or WebP")
    if request.mode == "lexical" and not request.query.strip():
        message = "a picture alone holds no words, so mode lexical finds nothing"
        raise InvalidQuery(message, remedy="leave the mode out, or add a question")


def _check_window(request: SearchRequest) -> None:
    if request.top_k < 1:
        message = f"top_k must be at least 1, got {request.top_k}"
        raise InvalidQuery(message)
    if request.offset < 0:
        message = f"offset must be at least 0, got {request.offset}"
        raise InvalidQuery(message)
    if request.offset + request.top_k > _MAX_WINDOW:
        message = f"offset + top_k must be at most {_MAX_WINDOW:,}, got {request.offset + request.top_k:,}"
        raise InvalidQuery(message, remedy="narrow the query instead of paging further")


def assemble_query(
    bus: BoundBus,
    request: SearchRequest,
    *,
    max_query_chars: int,
    max_image_bytes: int = _MAX_IMAGE_BYTES,
    rerank: RerankTerms = RerankTerms(),
) -> QueryContext:
    """Return the context that every later stage receives.

    Args:
        bus: Hooks.
        request: What was asked.
        max_query_chars: Longer queries are refused.
        max_image_bytes: Larger pictures are refused.
        rerank: Who reranks the merged ranking, how much of it, and the seconds that may take.

    Raises:
        InvalidQuery, InvalidFilter: The request has no defined answer.
    """
    check_request(request, max_query_chars=max_query_chars, max_image_bytes=max_image_bytes)
    context = QueryContext(
        request=request,
        namespace=bus.namespace,
        tokens=tuple(tokenize(request.query)),
        scope=_scope(request),
        rerank_policy=rerank.policy,
        rerank_budget_s=rerank.budget_s,
        rerank_depth=rerank.depth,
    )
    return replace(context, additions=bus.query_assemble(context))


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
