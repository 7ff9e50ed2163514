"""Hits of compound search: read from the library, each document once, each with the passage that shows it."""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from eagle_biomed.chemistry import MoleculeRefused, read_line, standardise
from eagle_biomed.compound_index import CompoundIndex
from eagle_biomed.exact_compounds import (
    COMPOUND_FORMAT,
    ExactForm,
    card_passage,
    compound_id_of,
)
from eagle_biomed.readable_structures import readable_structure
from eagle_rag.model.collection import StoreHit
from eagle_rag.model.passage import Passage
from eagle_rag.model.records import DocumentRecord
from eagle_rag.ports.services import Library

__all__ = ["CardPlaces", "CompoundHit", "Finding", "Match", "Mode", "Question"]

Mode = Literal["learned", "similar", "substructure", "exact"]
"""``learned``: by the encoder that fills the collection, whatever that is."""
Match = Literal["exact", "parent", "substructure", "similar", "encoder"]
"""``encoder``: a neighbour by the encoder of the collection, whether or not that was trained."""

_PLACES = 10_000  # kept in memory, a few hundred bytes each


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked.

    Args:
        text: SMILES, InChI, InChIKey or a name; SMARTS too for ``substructure``.
        mode: How compounds are compared.
        top_k: The most hits, at least 1.
        kb_names: Only of these knowledge bases; ``None`` for all, empty for none.
    """

    text: str
    mode: Mode = "learned"
    top_k: int = 5
    kb_names: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class CompoundHit:
    """A compound found, and the passage that shows it: ``document_text[start:end]`` holds its structure.

    Args:
        compound_id: InChIKey, or the sha256 that stands for one.
        name: Its name; empty for a structure in another document's prose.
        smiles, inchikey: Its structure as its document states it.
        score: 1 for the compound itself and its forms; Tanimoto similarity for ``similar``; the encoder's
            for ``encoder``; the share of heavy atoms that the query covers for ``substructure``.
        match: How it was found.
        document_id, passage_id, path, kb_name, start, end: Where to check it.
    """

    compound_id: str
    name: str
    smiles: str
    inchikey: str
    score: float
    match: Match
    document_id: str
    passage_id: str
    path: str
    kb_name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the card of a compound is; without its text, which only the library keeps."""

    passage_id: str
    path: str
    start: int
    end: int


def _place_of(passage: Passage) -> _Place:
    return _Place(passage.id, " > ".join(passage.section_path), passage.start, passage.end)


class CardPlaces:
    """Where cards are, by document and version: those of a version never change.

    Reading one costs as much as all the rest of an exact search. Safe to use from several threads.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, int], _Place] = OrderedDict()
        self._lock = threading.Lock()

    def of(
        self, record: DocumentRecord, library: Library, kb_names: Sequence[str] | None
    ) -> _Place | None:
        """Return the place of a live document's card; ``None`` when it went in this moment."""
        identity = (record.document_id, record.version)
        with self._lock:
            known = self._known.get(identity)
            if known is not None:
                self._known.move_to_end(identity)
                return known
        passage = card_passage(library, record.document_id, kb_names=kb_names)
        if passage is None:
            return None
        place = _place_of(passage)
        with self._lock:
            self._known[identity] = place
            while len(self._known) > _PLACES:
                self._known.popitem(last=False)
        return place


@dataclass(slots=True)
class Finding:
    """Hits on their way to one caller.

    Args:
        question: What is asked.
        library: What the caller may see.
        places: Where cards are.
        hits: What was found, best first.
        seen: Their documents.
        stale: An index named a version that is not the live one.
    """

    question: Question
    library: Library
    places: CardPlaces
    hits: list[CompoundHit] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    stale: bool = False
    _live: frozenset[str] | None = None

    @property
    def full(self) -> bool:
        """Whether there are as many as were asked for."""
        return len(self.hits) >= self.question.top_k

    def add_forms(self, forms: Sequence[ExactForm]) -> None:
        """Add the compound itself, then its other forms: of a part, the index alone says which contain it."""
        for form in forms:
            if form.match == "exact" or self.question.mode != "substructure":
                self._add(form.record, form.match, 1.0)

    def add_rows(
        self,
        index: CompoundIndex,
        found: Iterable[tuple[int, float]],
        *,
        match: Match,
        marks: Mapping[str, Literal["exact", "parent"]] | None = None,
    ) -> None:
        """Add what an index found, as far as it is still so.

        Args:
            index: The index.
            found: Its rows with their scores, best first.
            match: How they were found.
            marks: Documents of which more is known.
        """
        for row, score in found:
            if self.full:
                return
            document_id = index.rows.documents[row].decode()
            if document_id in self.seen:
                continue
            record = self._record(document_id)
            if record is None or record.version != index.rows.versions[row]:
                # Deleted, changed or out of sight: left out. Only what changed is worth another look.
                self.stale = self.stale or record is not None
                continue
            self._add(record, (marks or {}).get(document_id, match), score)

    def add_row_of_collection(self, hit: StoreHit) -> None:
        """Add what a row of the collection stands for: a compound, or a structure in somebody's prose."""
        if self.full or hit.document_id in self.seen:
            return
        record = _found(self.library, hit.document_id, self.question.kb_names)
        if record is None or record.version != hit.version:
            return
        if record.format == COMPOUND_FORMAT:
            self._add(record, "encoder", hit.score)
        else:
            self._add_prose(record, hit)

    def _add(self, record: DocumentRecord, match: Match, score: float) -> None:
        if self.full or record.document_id in self.seen:
            return
        place = self.places.of(record, self.library, self.question.kb_names)
        if place is None:
            return
        known = dict(record.metadata.properties)
        made = (compound_id_of(record), known.get("smiles", ""), known.get("inchikey", ""))
        self.seen.add(record.document_id)
        self.hits.append(
            _hit(record, place, made, name=record.metadata.title, score=score, match=match)
        )

    def _add_prose(self, record: DocumentRecord, hit: StoreHit) -> None:
        passages = self.library.passages(hit.document_id, kb_names=self.question.kb_names)
        passage = next((each for each in passages if each.id == hit.passage_id), None)
        found = "" if passage is None else readable_structure(passage.text)
        if passage is None or not found:
            return
        try:
            standard = standardise(read_line(found))
        except MoleculeRefused:
            return
        self.seen.add(hit.document_id)
        made = (standard.key, standard.smiles, standard.inchikey)
        place = _place_of(passage)
        self.hits.append(_hit(record, place, made, name="", score=hit.score, match="encoder"))

    def _record(self, document_id: str) -> DocumentRecord | None:
        """Return a document that the caller may see, or ``None``.

        After the first that is not there, the compounds that can be seen are listed once: a caller who sees little
        of a large library would be asked for one document after another.
        """
        scope = self.question.kb_names
        if self._live is not None and document_id not in self._live:
            return None
        record = _found(self.library, document_id, scope)
        if record is None and self._live is None:
            self._live = frozenset(
                self.library.versions_of_format(COMPOUND_FORMAT, kb_names=scope)
            )
        return record


def _found(
    library: Library, document_id: str, kb_names: Sequence[str] | None
) -> DocumentRecord | None:
    found = library.find(document_id, kb_names=kb_names)
    return next((each for each in found if each.document_id == document_id), None)


def _hit(
    record: DocumentRecord,
    place: _Place,
    structure: tuple[str, str, str],
    *,
    name: str,
    score: float,
    match: Match,
) -> CompoundHit:
    compound_id, smiles, inchikey = structure
    return CompoundHit(
        compound_id=compound_id,
        name=name,
        smiles=smiles,
        inchikey=inchikey,
        score=round(score, 6),
        match=match,
        document_id=record.document_id,
        passage_id=place.passage_id,
        path=place.path,
        kb_name=record.kb_name,
        start=place.start,
        end=place.end,
    )
