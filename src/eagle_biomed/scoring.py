"""The formulas of the query side; pure functions of text, tags and numbers.

Source of every formula: the reference's page on retrieval. Where it compares by substring, names are compared
here as names: any alias counts, and a name must end where its letters or digits end.
"""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from eagle_biomed.entity_names import key_of
from eagle_biomed.intent import EntityNames, named_drugs
from eagle_biomed.profiles_weights import Weights, profile_weights
from eagle_rag.errors import InvalidInput
from eagle_rag.ops.tokens import HYPHENS, tokenize

__all__ = [
    "ENTITY_TEXT_CHARS",
    "Evidence",
    "Weights",
    "boost_terms",
    "cross_drug_penalty",
    "entity_boost_score",
    "entity_match_score",
    "fused_score",
    "lexical_overlap",
    "names_any",
    "names_any_within",
    "normalise",
    "parse_primary_drugs",
    "profile_weights",
    "section_match_score",
    "spellings",
    "supplement_score",
]

ENTITY_TEXT_CHARS: Final = 512
"""Characters of a passage in which a drug is looked for."""
_SUMMARY_CHARS: Final = 200
_RELATED: Final = 6  # drugs of an entity that stand for it when the query names none
_TAGGED, _IN_BLOB = 1.0, 0.5
_ELSEWHERE: Final = 0.75  # entity match of a drug in the blob or in the text
_ENTITY_WEIGHT, _DENSE_WEIGHT = 2.0, 0.1  # of the supplement's formula
_PARTS: Final = re.compile(rf"[^\W\d_]+|\d+|[^\s\-{HYPHENS}]")  # runs of letters, of digits; signs
_GAP: Final = rf"[\s\-{HYPHENS}]"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of a passage when it is scored.

    Args:
        primary_drugs: Drugs its tag names.
        blob: Section path, file name, document name and source URI, in small letters.
        section: Its ``biomed_section``, or empty.
        text: The passage.
        summary: Its ``content_summary``, or empty.
        section_path: Titles of its section.
    """

    primary_drugs: tuple[str, ...] = ()
    blob: str = ""
    section: str = ""
    text: str = ""
    summary: str = ""
    section_path: tuple[str, ...] = ()


def parse_primary_drugs(value: str | None) -> tuple[str, ...]:
    """Return the drugs of a tag: names joined by commas, one name, or a JSON array of names."""
    bare = (value or "").strip()
    if bare.startswith("["):
        try:
            listed = json.loads(bare)
        except json.JSONDecodeError:
            listed = bare.strip("[]").split(",")
    else:
        listed = bare.split(",")
    named = (str(each).strip().strip("\"'") for each in listed)
    return tuple(dict.fromkeys(name for name in named if name))


def boost_terms(query: str, names: EntityNames) -> tuple[str, ...]:
    """Return the names that a passage is asked for: of the drugs named, else of drugs related to an entity.

    Canonical names first, then their aliases. A named drug is never joined by related ones.

    Args:
        query: The question as asked.
        names: Finds drugs and knows their aliases.
    """
    drugs = named_drugs(query, names)
    if not drugs:
        drugs = tuple(
            drug
            for entity in names.match_entities(query)
            for drug in names.resolve_entity(entity).related_drugs[:_RELATED]
        )
    return spellings(drugs, names)


def spellings(drugs: Sequence[str], names: EntityNames) -> tuple[str, ...]:
    """Return drugs and all their other names, each once, those given first."""
    aliases = (alias for drug in drugs for alias in names.resolve_entity(drug).aliases)
    return tuple(dict.fromkeys((*drugs, *aliases)))


def names_any(text: str, drugs: Sequence[str]) -> bool:
    """Return whether a text holds one of these names, in any case and hyphenation.

    ``nib`` is not in ``nibble``, ``STI57`` not in ``STI571``; ``imatinib`` is in ``label_imatinib.xml``.
    """
    return names_any_within(text, drugs, len(text))


def names_any_within(text: str, drugs: Sequence[str], chars: int) -> bool:
    """Return whether the first characters of a text hold one of these names whole.

    The character behind them is read as well: where a cut text ends tells nothing of where a name ends.

    Args:
        text: The whole text, not one that was cut.
        drugs: Names, compared as ``names_any`` does.
        chars: How many characters; at least 0.
    """
    head = text[: chars + 1]
    lower = head.lower()
    return any(
        match.end() <= chars
        for needle, pattern in _patterns(tuple(drugs))
        if needle in lower  # a thousand times faster than the pattern, and mostly false
        for match in pattern.finditer(head)
    )


@lru_cache(maxsize=256)
def _patterns(drugs: tuple[str, ...]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return for each name its longest part in small letters, and its pattern."""
    named = ((drug, _form(drug)) for drug in dict.fromkeys(drugs))
    return tuple(
        (max(_PARTS.findall(drug), key=len).lower(), re.compile(form, re.IGNORECASE))
        for drug, form in named
        if form
    )


def _form(name: str) -> str:
    parts: list[str] = _PARTS.findall(name)
    if not parts:
        return ""
    body = re.escape(parts[0])
    for before, part in pairwise(parts):
        # Two numbers never become one.
        gap = _GAP if before.isdigit() and part.isdigit() else f"{_GAP}?"
        body += gap + re.escape(part)
    return f"(?<!{_same(parts[0][0])}){body}(?!{_same(parts[-1][-1])})"


def _same(edge: str) -> str:
    """Return the class of characters that would carry a name on beyond its edge."""
    return r"\d" if edge.isdigit() else r"[^\W\d_]"


def entity_boost_score(evidence: Evidence, drugs: Sequence[str]) -> float:
    """Return 1.0 for a drug in the passage's tag, 0.5 for one in its blob, else 0.0.

    Args:
        evidence: The passage.
        drugs: Names, aliases included; see ``boost_terms``.
    """
    if _keys(drugs) & {key_of(drug) for drug in evidence.primary_drugs}:
        return _TAGGED
    return _IN_BLOB if names_any(evidence.blob, drugs) else 0.0


def _keys(drugs: Sequence[str]) -> frozenset[str]:
    return _cached_keys(tuple(drugs))


@lru_cache(maxsize=256)
def _cached_keys(drugs: tuple[str, ...]) -> frozenset[str]:
    return frozenset(key for drug in drugs if (key := key_of(drug)))


def entity_match_score(evidence: Evidence, drugs: Sequence[str]) -> float:
    """Return 1.0 for a drug in the tag, 0.75 in the blob or the first 512 characters of the text, else 0.0."""
    boost = entity_boost_score(evidence, drugs)
    if boost >= _TAGGED:
        return 1.0
    in_text = boost >= _IN_BLOB or names_any_within(evidence.text, drugs, ENTITY_TEXT_CHARS)
    return _ELSEWHERE if in_text else 0.0


def section_match_score(evidence: Evidence, cues: Sequence[str]) -> float:
    """Return the share of the cues that stand in section, blob or the summary's first 200 characters.

    A cue counts as written or with spaces for underscores. Without cues the share is 0.0.
    """
    if not cues:
        return 0.0
    parts = (evidence.section, evidence.blob, evidence.summary[:_SUMMARY_CHARS])
    where = "\n".join(parts).lower()
    found = sum(cue.lower() in where or cue.lower().replace("_", " ") in where for cue in cues)
    return found / len(cues)


def cross_drug_penalty(evidence: Evidence, drugs: Sequence[str]) -> float:
    """Return 1.0 for a passage about other drugs only, else 0.0.

    It has a tag of drugs, none of them is asked for, and none asked for stands in its blob or in the first
    512 characters of its text. A query that asks for no drug punishes nothing.
    """
    tagged = {key_of(drug) for drug in evidence.primary_drugs}
    asked = _keys(drugs)
    if not asked or not tagged or asked & tagged:
        return 0.0
    if names_any(evidence.blob, drugs) or names_any_within(
        evidence.text, drugs, ENTITY_TEXT_CHARS
    ):
        return 0.0
    return 1.0


def normalise(scores: Sequence[float]) -> list[float]:
    """Return scores moved to 0 to 1 by their least and greatest; all 1.0 when all are equal.

    The best of a pool has 1.0, also when it is alone in it.

    Raises:
        InvalidInput: A score is not a finite number.
    """
    for at, score in enumerate(scores):
        if not math.isfinite(score):
            message = f"score {at} must be a finite number, got {score!r}"
            raise InvalidInput(message, remedy="leave the scores out and keep the earlier order")
    if not scores:
        return []
    low, high = min(scores), max(scores)
    if low == high:
        return [1.0] * len(scores)
    return [(score - low) / (high - low) for score in scores]


def fused_score(
    ce_norm: float, entity: float, section: float, xdrug: float, weights: Weights
) -> float:
    """Return ``w_ce * ce_norm + (w_entity * entity + w_sec * section - w_xdrug_penalty * xdrug)``."""
    domain = weights.w_entity * entity + weights.w_sec * section - weights.w_xdrug_penalty * xdrug
    return weights.w_ce * ce_norm + domain


def lexical_overlap(query: str, text: str, extra_terms: Sequence[str]) -> float:
    """Return the share of terms that a text holds: the query's search tokens, and each further term.

    A further term counts when the text has all its tokens; one that is a token of the query counts once. A
    query without tokens and without further terms gives 0.0.
    """
    terms: set[tuple[str, ...]] = {(token,) for token in tokenize(query)}
    terms |= {tuple(tokenize(term)) for term in extra_terms}
    terms.discard(())
    if not terms:
        return 0.0
    held = set(tokenize(text))
    return sum(held.issuperset(term) for term in terms) / len(terms)


def supplement_score(entity: float, lexical: float, dense: float) -> float:
    """Return ``2.0 * entity + lexical + 0.1 * dense``."""
    return _ENTITY_WEIGHT * entity + lexical + _DENSE_WEIGHT * dense
