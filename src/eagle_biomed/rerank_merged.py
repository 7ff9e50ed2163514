"""Tier 2: the merged ranking by cross-encoder, entity, section and the penalty for other drugs.

``final = w_ce * ce_norm + (w_entity * entity + w_sec * section - w_xdrug_penalty * xdrug)``, the weights by
workflow. Where no cross-encoder is there, the fused scores take its place: then this is a fusion of signals
that costs two look-ups in the registry. What stays where it is: compounds that the query writes down, first;
passages found through pictures alone, last.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from eagle_biomed.collections import CHEMICAL, CORE_VISUAL, PATHOLOGY, RADIOLOGY
from eagle_biomed.combination import COMBINATION, bring_up_each_drug
from eagle_biomed.evidence import EvidenceReader, with_parts
from eagle_biomed.exact_compounds import is_exact_compound
from eagle_biomed.headings import heading_match_score
from eagle_biomed.injection import INJECTED
from eagle_biomed.intent import EntityNames
from eagle_biomed.pair_scores import FUSED, PairScores, RerankScores
from eagle_biomed.profiles_weights import Weights, profile_weights
from eagle_biomed.rerank import VectorShelf, cosines
from eagle_biomed.routing import asks_for_neighbours
from eagle_biomed.scoring import (
    Evidence,
    boost_terms,
    cross_drug_penalty,
    entity_match_score,
    fused_score,
    normalise,
    section_match_score,
)
from eagle_rag.model.query import STAND_IN_PART, Candidate, QueryContext
from eagle_rag.model.records import AuditEvent
from eagle_rag.ports.plugins import DecisionLog

__all__ = ["MergedReranker", "Scored", "fuse_scores", "is_by_picture", "standing_scores"]

_VISUAL: Final = frozenset({RADIOLOGY, PATHOLOGY, CORE_VISUAL})
_SEARCH_ARMS: Final = frozenset({"dense", "identifier", "lexical"})
_AUDITED: Final = "rerank_scores"


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with what it was scored by.

    Args:
        candidate: With its final score.
        evidence: What is known of it.
        entity: Its entity match.
        place: Where it stood in the merged ranking, from 0.
    """

    candidate: Candidate
    evidence: Evidence
    entity: float
    place: int


def is_by_picture(candidate: Candidate) -> bool:
    """Return whether a passage was found through its pictures alone."""
    found = [arm.arm.rpartition("/") for arm in candidate.arms]
    collections = {where for where, _, arm in found if arm in _SEARCH_ARMS}
    return bool(collections) and collections <= _VISUAL


def standing_scores(candidates: Sequence[Candidate]) -> list[float]:
    """Return the scores that stand in for a cross-encoder's; they never rise down the ranking.

    Tier 1 may put a candidate before one that the fusion scored higher, and when one plan alone found
    something, the scores are still those of the fusion. So a found candidate has the least score from the top
    down to its place: what stood higher by the fusion alone is equal to what tier 1 put before it. When the
    first has the least score of all, min-max gives each 1.0; then entity, section and penalty decide.

    No arm found an injected one: it counts as the lowest of those found, not by the 100 that only keep it in
    the pool. Were it kept, min-max would make all others alike.

    Args:
        candidates: The merged ranking, best first.
    """
    standing: list[float | None] = []
    least: float | None = None
    for each in candidates:
        added = INJECTED in dict(each.parts)
        if not added:
            least = each.score if least is None else min(least, each.score)
        standing.append(None if added else least)
    lowest = 0.0 if least is None else least
    return [lowest if score is None else score for score in standing]


def fuse_scores(
    context: QueryContext,
    candidates: Sequence[tuple[Candidate, Evidence]],
    scores: RerankScores,
    *,
    terms: Sequence[str],
    weights: Weights,
) -> list[Scored]:
    """Return the candidates with their final scores and the parts of them, best first.

    Equal scores keep the merged order. The part ``ce_raw`` is what the cross-encoder said; a score that stands
    in for it is the part ``fused``, so that nobody takes the one for the other. ``ce_norm`` is either.

    Args:
        context: Its intent has the section cues.
        candidates: With their evidence, in the merged order.
        scores: Of the cross-encoder; one that was not reached counts as the lowest.
        terms: Names of the drugs asked for; see ``boost_terms``.
        weights: Of the workflow.
    """
    reached = normalise([value for value in scores.values if value is not None])
    upcoming = iter(reached)
    raw_part = FUSED if scores.source == FUSED else "ce_raw"
    fused: list[Scored] = []
    pairs = zip(candidates, scores.values, strict=True)
    for place, ((candidate, evidence), raw) in enumerate(pairs):
        ce_norm = 0.0 if raw is None else next(upcoming)
        entity = entity_match_score(evidence, terms)
        section = max(
            section_match_score(evidence, context.intent.section_cues),
            heading_match_score(evidence.section_path, context.tokens, terms),
        )
        xdrug = cross_drug_penalty(evidence, terms)
        final = fused_score(ce_norm, entity, section, xdrug, weights)
        parts = {"ce_norm": ce_norm, "entity": entity, "section": section, "xdrug": xdrug}
        if raw is not None:
            parts[raw_part] = raw
        if scores.failed:
            parts[STAND_IN_PART] = 1.0
        explained = with_parts(candidate, final=final, **parts)
        scored = replace(candidate, score=final, parts=explained)
        fused.append(Scored(scored, evidence, entity, place))
    return _sorted(fused)


def _sorted(scored: Sequence[Scored]) -> list[Scored]:
    return sorted(scored, key=lambda each: (-each.candidate.score, each.place))


@dataclass(frozen=True, slots=True)
class MergedReranker:
    """Reranks the merged ranking.

    Args:
        overrides: ``retrieval_scoring`` of the options.
        pairs: The cross-encoder.
        reader: Reads tags, sections, titles and files.
        library: Compares stored chemical vectors.
        names: Gives the ontology.
        structure: The structure a query holds or names; empty when it has none.
        audit: Told of every rerank.
    """

    overrides: Mapping[str, Any]
    pairs: PairScores
    reader: EvidenceReader
    library: VectorShelf | None
    names: Callable[[], EntityNames]
    structure: Callable[[str], str]
    audit: DecisionLog

    def rerank(
        self, context: QueryContext, merged: tuple[Candidate, ...], texts: tuple[str, ...]
    ) -> tuple[Candidate, ...] | None:
        """Return the candidates best first; ``None`` when the policy is another than ``domain``.

        Args:
            context: The query.
            merged: Best first.
            texts: Text of each of them.

        Raises:
            ConfigurationError: ``retrieval_scoring`` names an unknown weight.
            RegistryError: It did not answer.
        """
        if context.rerank_policy != "domain" or not merged:
            return None
        exact = [each for each in merged if is_exact_compound(each)]
        images = [each for each in merged if is_by_picture(each) and each not in exact]
        apart = {each.passage_id for each in (*exact, *images)}
        pairs = [
            (candidate, text)
            for candidate, text in zip(merged, texts, strict=True)
            if candidate.passage_id not in apart
        ]
        ranked = self._ranked(context, pairs) if pairs else []
        return (*_above(exact, ranked), *ranked, *images)

    def _ranked(
        self, context: QueryContext, pairs: Sequence[tuple[Candidate, str]]
    ) -> list[Candidate]:
        query, known = context.request.query, self.names()
        scores = self.pairs.score(
            query,
            [text for _, text in pairs],
            existing=standing_scores([candidate for candidate, _ in pairs]),
            budget_s=context.rerank_budget_s,
        )
        self._log(query, scores)
        candidates = [candidate for candidate, _ in pairs]
        evidence = self.reader.read(candidates, kb_names=context.request.kb_names)
        # Who asks for molecules like one asks for others than the one named: they are no noise. A question that
        # leaves chemistry out is about texts, whatever its words: there another drug is noise.
        left_out = CHEMICAL in context.intent.suppress_collections
        alike = not left_out and asks_for_neighbours(query)
        fused = fuse_scores(
            context,
            tuple(zip(candidates, evidence, strict=True)),
            scores,
            terms=() if alike else boost_terms(query, known),
            weights=profile_weights(context.intent.workflow, self.overrides),
        )
        if alike or context.intent.workflow == "chemical":
            fused = self._by_structure(query, fused, everyone=alike)
        ranking = [(each.candidate, each.evidence) for each in fused]
        if context.intent.workflow == COMBINATION:
            ranking = bring_up_each_drug(ranking, query, known)
        return [candidate for candidate, _ in ranking]

    def _by_structure(self, query: str, fused: list[Scored], *, everyone: bool) -> list[Scored]:
        """Return the candidates with the cosine of the chemical encoder where that is higher.

        Only of those that name what is asked for, as the reference has it; of everyone when the question
        is for molecules alike.
        """
        named = [each.candidate for each in fused if everyone or each.entity > 0]
        structure = self.structure(query) if named else ""
        if not structure:
            return fused
        known = cosines(named, CHEMICAL, structure, self.library)
        changed: list[Scored] = []
        for each in fused:
            cosine = known.get(each.candidate.passage_id)
            if cosine is None:
                changed.append(each)
                continue
            score = max(each.candidate.score, cosine)
            parts = with_parts(each.candidate, chemical=cosine)
            changed.append(
                replace(each, candidate=replace(each.candidate, score=score, parts=parts))
            )
        return _sorted(changed)

    def _log(self, query: str, scores: RerankScores) -> None:
        decision = f"{len(scores.values)} candidates by {scores.source}"
        detail = (("note", scores.note),) if scores.note else ()
        self.audit.log_decision(AuditEvent(_AUDITED, "biomed", query, decision, detail))


def _above(exact: Sequence[Candidate], ranked: Sequence[Candidate]) -> list[Candidate]:
    """Return the exact compounds in their order, scored above the rest."""
    best = ranked[0].score if ranked else 0.0
    return [replace(each, score=best + len(exact) - at) for at, each in enumerate(exact)]
