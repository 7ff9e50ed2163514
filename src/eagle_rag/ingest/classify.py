"""Stage 4: which collection and encoder each passage goes to."""

from eagle_rag.errors import PluginError
from eagle_rag.kernel.bus import BoundBus
from eagle_rag.model.document import ParsedDocument
from eagle_rag.model.passage import ChunkDecision, Passage

__all__ = ["classify_passages"]

_CORE = "core"


def classify_passages(
    bus: BoundBus, document: ParsedDocument, passages: tuple[Passage, ...]
) -> tuple[ChunkDecision, ...]:
    """Return the standing decisions, ordered by passage, collection.

    The core's decisions stand only for passages that no plugin decided on. Of several decisions in one
    exclusive group for one passage the first stands, and so of several for one collection.

    Raises:
        PluginError: A decision points at a passage that does not exist, or a passage has none.
    """
    decided: dict[int, list[ChunkDecision]] = {passage.ordinal: [] for passage in passages}
    defaults: list[ChunkDecision] = []
    for decision in bus.classify_chunk(document, passages):
        if decision.target not in decided:
            message = f"plugin {decision.plugin!r} decided on passage {decision.target} of {len(passages)}"
            raise PluginError(message, remedy="ChunkDecision.target is Passage.ordinal")
        if decision.plugin == _CORE:
            defaults.append(decision)
        elif _stands(decision, decided[decision.target]):
            decided[decision.target].append(decision)
    left = {ordinal for ordinal, decisions in decided.items() if not decisions}
    for decision in defaults:
        if decision.target in left and _stands(decision, decided[decision.target]):
            decided[decision.target].append(decision)
    undecided = [ordinal for ordinal, decisions in decided.items() if not decisions]
    if undecided:
        message = f"no plugin decided where passage {undecided[0]} of {document.source_uri} goes"
        raise PluginError(message, remedy="enable the core plugin")
    ordered = (decision for ordinal in sorted(decided) for decision in decided[ordinal])
    return tuple(sorted(ordered, key=lambda decision: (decision.target, decision.collection)))


def _stands(decision: ChunkDecision, earlier: list[ChunkDecision]) -> bool:
    return not any(
        other.collection == decision.collection
        or (decision.exclusive_group and other.exclusive_group == decision.exclusive_group)
        for other in earlier
    )
