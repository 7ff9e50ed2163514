"""Stage 4: which collection and encoder each passage and each picture goes to."""

from collections.abc import Mapping, Sequence

from eagle_rag.errors import PluginError
from eagle_rag.kernel.bus import BoundBus
from eagle_rag.model.document import ParsedDocument
from eagle_rag.model.passage import ChunkDecision, Passage, VisualAsset

__all__ = ["classify_passages", "classify_pictures"]

_CORE = "core"
_TARGETS = {
    "passage": "ChunkDecision.target is Passage.ordinal",
    "picture": "ChunkDecision.target is the position of the asset",
}


def classify_passages(
    bus: BoundBus, document: ParsedDocument, passages: tuple[Passage, ...]
) -> tuple[ChunkDecision, ...]:
    """Return the standing decisions, ordered by passage, collection.

    The core's decisions stand only for passages that no plugin decided on. Of several decisions in one
    exclusive group for one passage the first stands, and so of several for one collection.

    Raises:
        PluginError: A decision points at a passage that does not exist, or a passage has none.
    """
    made = bus.classify_chunk(document, passages)
    decided = _standing(made, [passage.ordinal for passage in passages], "passage")
    undecided = [ordinal for ordinal, decisions in decided.items() if not decisions]
    if undecided:
        message = f"no plugin decided where passage {undecided[0]} of {document.source_uri} goes"
        raise PluginError(message, remedy="enable the core plugin")
    return _ordered(decided)


def classify_pictures(
    bus: BoundBus, document: ParsedDocument, assets: tuple[VisualAsset, ...]
) -> tuple[ChunkDecision, ...]:
    """Return the standing decisions on pictures, as ``classify_passages`` does.

    A picture that nobody decided on goes nowhere: it is kept, and no search finds it by its looks.

    Raises:
        PluginError: A decision points at a picture that does not exist.
    """
    if not assets:
        return ()
    made = bus.classify_visual(document, assets)
    return _ordered(_standing(made, range(len(assets)), "picture"))


def _standing(
    made: Sequence[ChunkDecision], targets: Sequence[int], what: str
) -> dict[int, list[ChunkDecision]]:
    decided: dict[int, list[ChunkDecision]] = {target: [] for target in targets}
    defaults: list[ChunkDecision] = []
    for decision in made:
        if decision.target not in decided:
            message = (
                f"plugin {decision.plugin!r} decided on {what} {decision.target} of {len(targets)}"
            )
            raise PluginError(message, remedy=_TARGETS[what])
        if decision.plugin == _CORE:
            defaults.append(decision)
        elif _stands(decision, decided[decision.target]):
            decided[decision.target].append(decision)
    left = {target for target, decisions in decided.items() if not decisions}
    for decision in defaults:
        if decision.target in left and _stands(decision, decided[decision.target]):
            decided[decision.target].append(decision)
    return decided


def _ordered(decided: Mapping[int, Sequence[ChunkDecision]]) -> tuple[ChunkDecision, ...]:
    every = (decision for decisions in decided.values() for decision in decisions)
    return tuple(sorted(every, key=lambda decision: (decision.target, decision.collection)))


def _stands(decision: ChunkDecision, earlier: list[ChunkDecision]) -> bool:
    return not any(
        other.collection == decision.collection
        or (decision.exclusive_group and other.exclusive_group == decision.exclusive_group)
        for other in earlier
    )
