"""What a hook's return must keep; every refusal names the plugin and the hook.

These run on every return of every plugin, so they are linear and allocate little.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite
from typing import TypeVar

from eagle_rag.errors import PluginError
from eagle_rag.kernel.plugins import Implementation
from eagle_rag.model.passage import Passage
from eagle_rag.model.query import ArmScore, Candidate

__all__ = ["check_candidates", "check_enriched", "check_items", "check_type", "stamp_arm"]

T = TypeVar("T")


def check_type(expected: type[T], value: object, each: Implementation) -> T:
    """Return the value, which must be of the expected type; ``True`` is not a number here.

    Raises:
        PluginError: It is of another type.
    """
    if not isinstance(value, expected) or isinstance(value, bool):
        raise _broken(each, f"returned {type(value).__name__}, not {expected.__name__}")
    return value


def check_items(expected: type[T], value: object, each: Implementation) -> tuple[T, ...]:
    """Return the value, which must be a tuple of items of the expected type.

    Raises:
        PluginError: It is not.
    """
    items = check_type(tuple, value, each)
    for item in items:
        if not isinstance(item, expected):
            raise _broken(
                each, f"returned a tuple with a {type(item).__name__}, not {expected.__name__}"
            )
    return items


def check_enriched(
    given: tuple[Passage, ...], value: object, each: Implementation
) -> tuple[Passage, ...]:
    """Return passages that differ from those given by further tags at most.

    Raises:
        PluginError: Number, order or anything but tags changed, a tag is lost, or tags are unsorted.
    """
    passages = check_items(Passage, value, each)
    if len(passages) != len(given):
        raise _broken(each, f"returned {len(passages)} passages for {len(given)}")
    for old, new in zip(given, passages, strict=True):
        if new is old:
            continue
        if replace(new, tags=old.tags) != old:
            changed = next(
                name
                for name in Passage.__slots__
                if name != "tags" and getattr(old, name) != getattr(new, name)
            )
            raise _broken(each, f"changed {changed} of passage {old.ordinal} ({old.id})")
        if not set(old.tags) <= set(new.tags):
            raise _broken(each, f"removed tags of passage {old.ordinal} ({old.id})")
        if list(new.tags) != sorted(new.tags):
            raise _broken(each, f"left the tags of passage {old.ordinal} ({old.id}) unsorted")
    return passages


def check_candidates(
    allowed: Sequence[Candidate] | None, value: object, each: Implementation
) -> tuple[Candidate, ...]:
    """Return a ranking: each passage once, with finite score and parts, of the allowed when given.

    Parts come back sorted by name.

    Raises:
        PluginError: It is not.
    """
    candidates = check_items(Candidate, value, each)
    known = None if allowed is None else {_identity(candidate) for candidate in allowed}
    seen: set[tuple[str, str, int, str]] = set()
    for candidate in candidates:
        identity = _identity(candidate)
        if known is not None and identity not in known:
            raise _broken(each, f"returned passage {candidate.passage_id}, which was not given")
        if identity in seen:
            raise _broken(each, f"returned passage {candidate.passage_id} twice")
        if not isfinite(candidate.score):
            raise _broken(each, f"scored passage {candidate.passage_id} {candidate.score}")
        if candidate.parts:
            _check_parts(candidate, each)
        seen.add(identity)
    return tuple(
        replace(item, parts=tuple(sorted(item.parts))) if len(item.parts) > 1 else item
        for item in candidates
    )


def _check_parts(candidate: Candidate, each: Implementation) -> None:
    names = [name for name, _ in candidate.parts]
    if len(set(names)) != len(names):
        raise _broken(each, f"named a part of passage {candidate.passage_id} twice: {names}")
    for name, value in candidate.parts:
        if not isfinite(value):
            raise _broken(each, f"gave part {name!r} of passage {candidate.passage_id} {value}")


def stamp_arm(candidates: tuple[Candidate, ...], arm: str) -> tuple[Candidate, ...]:
    """Return the ranking, each candidate with an arm of this name for its rank and score."""
    return tuple(
        candidate
        if any(known.arm == arm for known in candidate.arms)
        else replace(candidate, arms=(*candidate.arms, ArmScore(arm, rank, candidate.score)))
        for rank, candidate in enumerate(candidates, start=1)
    )


def _identity(candidate: Candidate) -> tuple[str, str, int, str]:
    return candidate.passage_id, candidate.document_id, candidate.version, candidate.kb_name


def _broken(each: Implementation, what: str) -> PluginError:
    message = f"plugin {each.plugin!r} broke the contract of hook {each.hook!r}: it {what}"
    return PluginError(message, remedy="see docs/hooks.md")
