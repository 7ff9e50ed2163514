"""What comes back: hits with their evidence, a trace, reports of ingest and verify."""

from dataclasses import dataclass, field

from eagle_rag.model.document import Refusal
from eagle_rag.model.metadata import Identifiers
from eagle_rag.model.query import ArmScore

__all__ = [
    "ClauseMatch",
    "Hit",
    "IngestEvent",
    "IngestReport",
    "Linked",
    "SearchResults",
    "TermMatch",
    "Trace",
    "TraceEvent",
    "VerifyProblem",
    "VerifyReport",
]


@dataclass(frozen=True, slots=True)
class TermMatch:
    """A query term in the text: ``document_text[start:end]`` is the term as the source writes it."""

    term: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ClauseMatch:
    """The clause of a passage that answers best, with absolute offsets into the document."""

    start: int
    end: int
    text: str
    terms: tuple[TermMatch, ...] = ()


@dataclass(frozen=True, slots=True)
class Linked:
    """A figure or table that belongs to a hit's passage."""

    kind: str
    key: str
    label: str


@dataclass(frozen=True, slots=True)
class Hit:
    """One result: a passage that can be checked.

    Args:
        rank: From 1, over all pages of results.
        score: Of the last stage; higher is better.
        passage_id, document_id, version: What it is.
        kb_name: Knowledge base.
        start, end, text: ``document_text[start:end] == text``.
        section_path, section_kind: Where it stands.
        clause: The matching clause, or ``None`` when no query term occurs in the passage.
        title, journal, year, ids: Of the document.
        retracted: The document is retracted, by its own word or a notice's.
        retracts: The document is itself a notice that retracts another article.
        linked: Figures and tables of the passage.
        versions: Other documents of the same work, by id.
        arms: Filled when the request says ``explain``.
        pictures: Keys of the document's pictures through which it was found, best first.
        parts: Named parts of its score, sorted by name; filled when the request says ``explain``.
    """

    rank: int
    score: float
    passage_id: str
    document_id: str
    version: int
    kb_name: str
    start: int
    end: int
    text: str
    section_path: tuple[str, ...]
    section_kind: str
    clause: ClauseMatch | None
    title: str
    journal: str
    year: int | None
    ids: Identifiers
    retracted: bool = False
    retracts: bool = False
    linked: tuple[Linked, ...] = ()
    versions: tuple[str, ...] = ()
    arms: tuple[ArmScore, ...] = ()
    pictures: tuple[str, ...] = ()
    parts: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class TraceEvent:
    """Something that happened on the way: a stage's summary, a degradation, a truncation.

    Args:
        stage: Which stage.
        message: One sentence.
        degraded: The result is worse than asked for because of it.
        plugin: Who, when it was a plugin.
        elapsed_ms: Wall time of the stage, or ``None``.
    """

    stage: str
    message: str
    degraded: bool = False
    plugin: str = ""
    elapsed_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything that happened to one query."""

    events: tuple[TraceEvent, ...] = ()

    @property
    def degraded(self) -> bool:
        """Whether anything fell short of what was asked."""
        return any(event.degraded for event in self.events)


@dataclass(frozen=True, slots=True)
class SearchResults:
    """Hits in order, and how they came about."""

    query: str
    hits: tuple[Hit, ...]
    trace: Trace = field(default_factory=Trace)


@dataclass(frozen=True, slots=True)
class IngestEvent:
    """Something an ingest just finished; once ``committed`` is reported, the document is durable.

    Args:
        kind: ``committed``, ``unchanged``, ``duplicate``, ``refused``, ``deleted``, ``warning`` or
            ``optimized``.
        source_uri: The file.
        document_id: The document, or empty.
        version: Its live version, or 0.
        passages: How many passages it has.
        message: For a refusal, duplicate or warning: why.
        pictures: How many pictures of it are kept.
    """

    kind: str
    source_uri: str
    document_id: str = ""
    version: int = 0
    passages: int = 0
    message: str = ""
    pictures: int = 0


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What became of every source of one ingest.

    Args:
        added: Documents new to the knowledge base.
        replaced: Documents whose new version went live.
        unchanged: Documents already there, byte for byte.
        duplicates: Records whose content is already there under another name.
        refused: Sources or records that gave no document.
        passages: Passages written.
        truncated: Passages longer than their encoder's window.
        deleted: Documents removed because a source said so.
        recovered: Half-written versions of an earlier interrupted ingest that were cleared.
        pictures: Pictures kept.
        pictures_embedded: How many of them a search can find by their looks.
        pictures_unreadable: Pictures that their encoder could not decode; they are kept all the same.
    """

    added: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    unchanged: int = 0
    duplicates: tuple[tuple[str, str], ...] = ()
    refused: tuple[Refusal, ...] = ()
    passages: int = 0
    truncated: int = 0
    deleted: tuple[str, ...] = ()
    recovered: int = 0
    pictures: int = 0
    pictures_embedded: int = 0
    pictures_unreadable: int = 0


@dataclass(frozen=True, slots=True)
class VerifyProblem:
    """One broken promise.

    Args:
        kind: ``text-mismatch``, ``uncovered-text``, ``orphan-row``, ``missing-row``, ``stale-row``,
            ``pending-version``, ``vector-space``, ``duplicate-row``, ``stale-fields``,
            ``broken-index``, ``broken-store``, ``damaged-document``, ``missing-identifier``,
            ``wrong-span``, ``lost-registry``, ``missing-picture``, ``damaged-picture``,
            ``orphan-picture``, ``extra-row``.
        where: Document, passage or row id.
        message: One sentence.
        repaired: ``verify --repair`` fixed it.
    """

    kind: str
    where: str
    message: str
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What ``eagle verify`` proved.

    Args:
        documents: Live documents checked.
        passages: Passages proved equal to their characters.
        rows: Store rows compared with the registry.
        problems: What was wrong, ordered by kind and place.
    """

    documents: int
    passages: int
    rows: int
    problems: tuple[VerifyProblem, ...] = ()

    @property
    def clean(self) -> bool:
        """Whether nothing is wrong, or everything was repaired."""
        return all(problem.repaired for problem in self.problems)
