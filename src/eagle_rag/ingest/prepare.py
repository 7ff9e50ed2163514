"""What happens to a source before anything is decided or written: route, parse, chunk, tokenise.

Its pictures are read, nothing is written, so it runs in worker processes; everything it returns pickles.
"""

from dataclasses import dataclass, field, replace

from eagle_rag.errors import EagleError, UnreadableDocument
from eagle_rag.ingest.chunk import ContextMode, chunk_document, context_of, passage_lexemes
from eagle_rag.ingest.encodable import find_surrogate
from eagle_rag.ingest.extract import extract_pictures
from eagle_rag.ingest.parse import parse_source
from eagle_rag.ingest.route import route_source
from eagle_rag.kernel.bus import BoundBus
from eagle_rag.model.document import ParsedDocument, Refusal, Source
from eagle_rag.model.passage import Passage, VisualAsset
from eagle_rag.ops.ids import document_id as make_document_id
from eagle_rag.ops.ids import passage_id

__all__ = [
    "PrepareConfig",
    "PreparedDocument",
    "PreparedSource",
    "plugin_refusal",
    "prepare_document",
    "prepare_source",
    "renamed",
]

_FAMILIES = {"jats": "article", "pubmed": "record"}


@dataclass(frozen=True, slots=True)
class PrepareConfig:
    """What shapes prepared documents.

    Args:
        namespace, kb_name: Where they go.
        target_chars: Size of a passage in characters.
        lexical_context, dense_context: What of the document each arm sees besides the passage.
        refuse_abstracts: Refuse records without full text.
        max_pictures, max_picture_bytes: How many pictures of a document are kept.
    """

    namespace: str
    kb_name: str
    target_chars: int
    lexical_context: ContextMode
    dense_context: ContextMode
    refuse_abstracts: bool
    max_pictures: int = 200
    max_picture_bytes: int = 64 << 20


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A document ready to be embedded.

    Args:
        document_id: Its id.
        work_key: Its best identifier.
        document: The parsed document.
        passages: Its passages.
        lexemes: Search tokens of each passage.
        contexts: What precedes each passage's text for the dense arm; empty strings for none.
        assets: Its pictures.
        warnings: What of it was left out, one sentence each.
    """

    document_id: str
    work_key: str
    document: ParsedDocument = field(repr=False)
    passages: tuple[Passage, ...] = field(repr=False)
    lexemes: tuple[str, ...] = field(repr=False)
    contexts: tuple[str, ...] = field(repr=False)
    assets: tuple[VisualAsset, ...] = field(default=(), repr=False)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PreparedSource:
    """Everything one source gave."""

    uri: str
    digest: str
    documents: tuple[PreparedDocument, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    deleted_pmids: tuple[str, ...] = ()


def prepare_source(bus: BoundBus, source: Source, config: PrepareConfig) -> PreparedSource:
    """Run the pure stages on one source; what cannot be read becomes a refusal."""
    try:
        source = route_source(bus, source)
        outcome = parse_source(bus, source)
    except UnreadableDocument as error:
        refusal = Refusal(source.uri, "", error.reason, error.detail, error.remedy)
        return PreparedSource(source.uri, source.digest, refusals=(refusal,))
    except EagleError as error:
        return PreparedSource(
            source.uri, source.digest, refusals=(plugin_refusal(source.uri, "", error),)
        )
    documents: list[PreparedDocument] = []
    refusals = list(outcome.refusals)
    for document in outcome.documents:
        prepared = _prepare_or_refuse(bus, document, config, source=source)
        if isinstance(prepared, Refusal):
            refusals.append(prepared)
        else:
            documents.append(prepared)
    return PreparedSource(
        source.uri, source.digest, tuple(documents), tuple(refusals), outcome.deleted_pmids
    )


def _prepare_or_refuse(
    bus: BoundBus, document: ParsedDocument, config: PrepareConfig, *, source: Source
) -> PreparedDocument | Refusal:
    uri, member = document.source_uri, document.member
    if config.refuse_abstracts and not document.full_text:
        message = "holds no full text, only a title or an abstract"
        remedy = "give the full text, or set ingest.abstract_only to accept"
        return Refusal(uri, member, "abstract-only", message, remedy)
    fault = find_surrogate(document)
    if fault is not None:
        message = f"{fault} holds half a character (a lone surrogate), which UTF-8 cannot write"
        remedy = "correct the escape or the encoding in the file, then ingest again"
        member = member.encode("utf-8", "backslashreplace").decode()
        return Refusal(uri, member, "surrogates", message, remedy)
    if not document.text:
        return Refusal(uri, member, "no-text", "holds no text at all", "check the file")
    try:
        prepared = prepare_document(bus, document, config)
        assets, warnings = extract_pictures(
            bus,
            document,
            source,
            most=config.max_pictures,
            most_bytes=config.max_picture_bytes,
        )
        return replace(prepared, assets=assets, warnings=warnings)
    except EagleError as error:
        return plugin_refusal(uri, member, error)


def plugin_refusal(uri: str, member: str, error: EagleError) -> Refusal:
    """Return the refusal of a document that a plugin failed on; it is tried again next time."""
    # The bus notes plugin and hook on errors of ours that it passes on.
    message = "; ".join([str(error), *getattr(error, "__notes__", ())])
    return Refusal(
        uri, member, "plugin-failed", message, "fix or disable the plugin, then ingest again"
    )


def prepare_document(
    bus: BoundBus, document: ParsedDocument, config: PrepareConfig
) -> PreparedDocument:
    """Cut, tag and tokenise one parsed document."""
    key, work_key = _identity(document)
    identity = make_document_id(config.namespace, config.kb_name, key)
    passages = chunk_document(bus, document, identity, target_chars=config.target_chars)
    return PreparedDocument(
        document_id=identity,
        work_key=work_key or identity,
        document=document,
        passages=passages,
        lexemes=passage_lexemes(document, passages, config.lexical_context),
        contexts=tuple(
            context_of(document, passage, config.dense_context) for passage in passages
        ),
    )


def renamed(prepared: PreparedDocument, identity: str) -> PreparedDocument:
    """Return the same document under another id; its passages' ids follow."""
    passages = tuple(
        replace(
            passage,
            document_id=identity,
            id=passage_id(identity, passage.start, passage.end, passage.text),
        )
        for passage in prepared.passages
    )
    return replace(prepared, document_id=identity, passages=passages)


def _identity(document: ParsedDocument) -> tuple[str, str]:
    """Return the key of the document and of its work.

    A bibliographic record, the article it describes and a web page of it are documents of one work, so
    the format's family is part of the key. A format with ids of its own says what they are. A text
    without identifiers is known by its file name.
    """
    ids = document.metadata.ids
    family = _FAMILIES.get(document.format, document.format)
    own = document.identity
    if own is not None and own.key:
        return f"{family}:{own.key}", own.work
    known = [("pmcid", ids.pmcid), ("doi", ids.doi), ("pmid", ids.pmid)]
    if family == "record":
        known.reverse()
    for scheme, value in known:
        if value:
            return f"{family}:{scheme}:{value}", f"{scheme}:{value}"
    if own is not None and own.work:
        return f"source:{document.source_uri}#{document.member}", own.work
    return f"source:{document.source_uri}#{document.member}", ""
