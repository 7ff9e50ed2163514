"""What the hooks work with, put together once a process; nothing heavy is imported before it is used."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from eagle_biomed.classifiers import Classifier, Targets
from eagle_biomed.collections import TEXT, collection_profiles, register_collections
from eagle_biomed.compound_tools import compound_tool
from eagle_biomed.doc_profile import DocumentRouter, profile_event, stamp_profile
from eagle_biomed.encoders import register_encoders
from eagle_biomed.enrichment import enrich_passages
from eagle_biomed.entity_tools import entity_tool
from eagle_biomed.evidence import EvidenceReader
from eagle_biomed.exact_compounds import ExactCompounds
from eagle_biomed.formats.catalog import FormatTools
from eagle_biomed.options import BiomedOptions, read_options
from eagle_biomed.pair_scores import PairScores
from eagle_biomed.query_path import QueryPath
from eagle_biomed.rerank import PlanReranker
from eagle_biomed.rerank_merged import MergedReranker
from eagle_biomed.routing import QueryRouter, structure_in
from eagle_biomed.supplement import EntitySupplement
from eagle_rag.errors import ConfigurationError
from eagle_rag.model.document import ParsedDocument
from eagle_rag.model.passage import EncodedBatch, Passage
from eagle_rag.ports.plugins import PluginContext

if TYPE_CHECKING:
    from eagle_biomed.entities import Ontology

__all__ = ["BiomedParts", "load_parts"]


@dataclass(frozen=True, slots=True)
class BiomedParts:
    """The parts of the loaded plugin.

    Args:
        context: What the core gave.
        formats: What parsers are given.
        names: Gives the ontology; it is built with the first call.
        encoders: Labels of the encoders that the plugin itself registered.
        router: Profiles of documents.
        classifier: Where passages and pictures go.
        queries: Where queries go.
        path: What happens to them there.
    """

    context: PluginContext
    formats: FormatTools
    names: "Callable[[], Ontology]"
    encoders: frozenset[str]
    router: DocumentRouter
    classifier: Classifier
    queries: QueryRouter
    path: QueryPath

    def enrich(
        self, document: ParsedDocument, passages: tuple[Passage, ...]
    ) -> tuple[Passage, ...]:
        """Return the passages with section, document type and drugs."""
        return enrich_passages(document, passages, self.names())

    def profile(
        self, document: ParsedDocument, passages: tuple[Passage, ...]
    ) -> tuple[Passage, ...] | None:
        """Return the passages with the document's profile, which is audited; ``None`` without any."""
        if not passages:
            return None
        profile = self.router.classify(document, passages)
        self.context.audit.log_decision(profile_event(document, profile))
        return stamp_profile(passages, profile)

    def embed_text(self, encoder: str, texts: Sequence[str]) -> EncodedBatch | None:
        """Return vectors of texts by an encoder of the plugin's own, else ``None``."""
        if encoder not in self.encoders:
            return None
        return self.context.encoders.text(encoder).encode_documents(texts)

    def embed_visual(self, encoder: str, images: Sequence[bytes]) -> EncodedBatch | None:
        """Return vectors of pictures, as ``embed_text``."""
        if encoder not in self.encoders:
            return None
        return self.context.encoders.visual(encoder).encode_images(images)


def load_parts(context: PluginContext) -> BiomedParts:
    """Register encoders and collections, and return the parts; loads no weights and no ontology.

    Raises:
        ConfigurationError: The options are wrong.
    """
    options = read_options(context.options, os.environ)
    encoders = _register_encoders(context, options)
    _check_expand_encoders(context, options)
    register_collections(context, options)

    @lru_cache(maxsize=1)
    def names() -> "Ontology":
        from eagle_biomed.entities import open_ontology

        return open_ontology(options.names)

    context.registrar.register_rerank_policy(
        options.reranks,
        encoder=options.domain_rerank_encoder if options.reranks == "domain" else "",
    )
    context.registrar.register_tool(compound_tool(context, names))
    context.registrar.register_tool(entity_tool(names))
    label = options.encoders[TEXT]
    queries = QueryRouter(
        options, collections=context.collections, encoders=context.encoders, names=names
    )
    return BiomedParts(
        context=context,
        formats=FormatTools(context.services.read_xml),
        names=names,
        encoders=encoders,
        router=DocumentRouter(
            options.doc_semantic_router,
            encoder=(lambda: context.encoders.text(label)) if label else None,
            names=names,
            model=context.services.json_model,
        ),
        classifier=Classifier(options, lambda: _targets(context, options), context.audit),
        queries=queries,
        path=_query_path(context, options, queries, names=names),
    )


def _query_path(
    context: PluginContext,
    options: BiomedOptions,
    queries: QueryRouter,
    *,
    names: "Callable[[], Ontology]",
) -> QueryPath:
    library, lookup = context.services.library, context.services.names
    reader = EvidenceReader(context.services.texts, lookup)
    return QueryPath(
        router=queries,
        tier1=PlanReranker(options.tier1, library, reader, names),
        compounds=ExactCompounds(library),
        supplement=EntitySupplement(library, lookup, reader, names, queries.expand),
        tier2=MergedReranker(
            overrides=options.retrieval_scoring,
            pairs=PairScores(context.encoders, options.domain_rerank_encoder),
            reader=reader,
            library=library,
            names=names,
            structure=lambda query: structure_in(query, names()),
            audit=context.audit,
        ),
        names=names,
        min_new=options.supplement_min_new,
    )


def _register_encoders(context: PluginContext, options: BiomedOptions) -> frozenset[str]:
    """Register the plugin's own encoders and return their labels."""
    others = {card.label for card in context.encoders.cards()}
    register_encoders(context, options)
    return frozenset(card.label for card in context.encoders.cards()) - others


def _check_expand_encoders(context: PluginContext, options: BiomedOptions) -> None:
    known = {card.label for card in context.encoders.cards()}
    for label in options.expand_encoders:
        if label not in known:
            message = f"plugins.options.biomed.expand_encoders names no encoder: {label!r}"
            raise ConfigurationError(message, remedy=f"known: {', '.join(sorted(known))}")


def _targets(context: PluginContext, options: BiomedOptions) -> Targets:
    cards = context.encoders.cards()
    profiles = (
        collection_profiles(options.encoders, cards)
        if context.collections is None
        else context.collections.profiles()
    )
    return Targets(
        {each.name: each.default_encoder for each in profiles if each.default_encoder},
        frozenset(card.label for card in cards if card.modality == "visual"),
    )
