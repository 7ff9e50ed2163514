"""What is known of candidates when they are scored: tags and text, section path, title and file.

A row of the store has its tags only where its collection keeps them, and never the document's title; the
registry has all of it (the reference's ``enrich_file_names``). One look-up each for all candidates of a stage.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock

from eagle_biomed.enrichment import DRUGS_TAG, SECTION_TAG, tag
from eagle_biomed.scoring import Evidence, parse_primary_drugs
from eagle_rag.model.document import SectionKind
from eagle_rag.model.passage import Passage
from eagle_rag.model.query import Candidate
from eagle_rag.model.records import DocumentNames
from eagle_rag.ports.services import NameLookup, PassageTexts

__all__ = ["BOXED", "EvidenceReader", "evidence_of", "with_parts"]

_SUMMARY = "content_summary"
BOXED = "boxed_warning"
"""What a boxed text is called as a section cue."""


_KEPT = 2_048
"""Passages that are kept: those of the last few queries, a few megabytes."""

_Key = tuple[str, str, int]


class _Recent:
    """Passages by the version of their document, which never changes: four stages read the same ones."""

    def __init__(self) -> None:
        self._kept: OrderedDict[_Key, Passage] = OrderedDict()
        self._lock = Lock()

    def among(self, keys: Sequence[_Key]) -> dict[_Key, Passage]:
        """Return those that are kept."""
        with self._lock:
            return {key: self._kept[key] for key in keys if key in self._kept}

    def keep(self, passages: Mapping[_Key, Passage]) -> None:
        """Keep passages; the oldest go."""
        with self._lock:
            self._kept.update(passages)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)


@dataclass(frozen=True, slots=True)
class EvidenceReader:
    """Reads the evidence of candidates.

    Args:
        texts: The text and tags of passages; ``None``: only what the rows hold.
        names: What documents are called; ``None`` likewise.
    """

    texts: PassageTexts | None
    names: NameLookup | None
    recent: _Recent = field(default_factory=_Recent)

    def read(
        self, candidates: Sequence[Candidate], *, kb_names: Sequence[str] | None
    ) -> tuple[Evidence, ...]:
        """Return the evidence of each candidate, in order.

        Args:
            candidates: What is scored.
            kb_names: Knowledge bases the caller may see; ``None`` for all.
        """
        passages = self._passages(candidates, kb_names)
        called: Mapping[str, DocumentNames] = {}
        if candidates and self.names is not None:
            documents = list(dict.fromkeys(each.document_id for each in candidates))
            called = self.names.names_of(documents, kb_names=kb_names)
        return tuple(
            evidence_of(each, passages.get(_key(each)), called.get(each.document_id))
            for each in candidates
        )

    def _passages(
        self, candidates: Sequence[Candidate], kb_names: Sequence[str] | None
    ) -> dict[_Key, Passage]:
        found = self.recent.among([_key(each) for each in candidates])
        unread = {_key(each): each.passage_id for each in candidates if _key(each) not in found}
        if unread and self.texts is not None:
            read = self.texts.texts(list(dict.fromkeys(unread.values())), kb_names=kb_names)
            new = {key: read[identity] for key, identity in unread.items() if identity in read}
            self.recent.keep(new)
            found |= new
        return found


def _key(candidate: Candidate) -> _Key:
    return candidate.passage_id, candidate.document_id, candidate.version


def evidence_of(
    candidate: Candidate, passage: Passage | None, called: DocumentNames | None
) -> Evidence:
    """Return what is known of one candidate.

    Args:
        candidate: Its row's extra fields come first.
        passage: Its passage; its tags fill what the row does not hold.
        called: Title and file of its document.
    """
    extra = dict(candidate.extra)
    blob = [] if passage is None else [" > ".join(passage.section_path)]
    if called is not None:
        # The URI ends in the file's name, so that one is not said twice.
        blob += [called.title, called.source_uri, called.member]
    return Evidence(
        primary_drugs=parse_primary_drugs(_value(extra, passage, DRUGS_TAG)),
        blob="\n".join(filter(None, blob)).lower(),
        section=_section(extra, passage),
        section_path=() if passage is None else passage.section_path,
        text="" if passage is None else passage.text,
        summary=extra.get(_SUMMARY) or "",
    )


def _section(extra: Mapping[str, str | None], passage: Passage | None) -> str:
    """Return the tag of the section; that a passage stands in a box goes with it."""
    tagged = _value(extra, passage, SECTION_TAG)
    boxed = passage is not None and passage.section_kind is SectionKind.BOXED_TEXT
    return f"{tagged} {BOXED}".strip() if boxed else tagged


def _value(extra: Mapping[str, str | None], passage: Passage | None, name: str) -> str:
    return extra.get(name) or ("" if passage is None else tag(passage, name))


def with_parts(candidate: Candidate, **parts: float) -> tuple[tuple[str, float], ...]:
    """Return a candidate's parts with these in place of older ones, sorted by name."""
    return tuple(sorted((dict(candidate.parts) | parts).items()))
