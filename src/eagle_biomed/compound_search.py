"""Compound search over a library: exact, by part, by fingerprint, by the collection's encoder.

Whatever an index or a collection finds is read from the library again before it is returned, so that
nothing deleted, changed or out of scope ever is.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Literal

from rdkit.Chem.rdchem import Mol

from eagle_biomed.chemistry import MoleculeRefused, parent_molecule, read_structure, standardise
from eagle_biomed.collections import CHEMICAL
from eagle_biomed.compound_index import CompoundIndex, Matches, morgan_words
from eagle_biomed.compound_query import (
    CompoundQuery,
    KnownNames,
    check_pattern,
    is_inchikey,
    pattern_of,
    structure_of,
    unknown_compound,
)
from eagle_biomed.compound_shelf import CompoundShelf
from eagle_biomed.exact_compounds import (
    COMPOUND_FORMAT,
    ExactForm,
    card_passage,
    compound_id_of,
    exact_forms,
)
from eagle_biomed.readable_structures import readable_structure
from eagle_rag.errors import EncoderLoadError, EncoderUnavailable, UnknownName
from eagle_rag.model.collection import StoreHit
from eagle_rag.model.filters import OneOf
from eagle_rag.model.passage import Passage
from eagle_rag.model.records import DocumentRecord
from eagle_rag.ports.services import Library

__all__ = ["CompoundAnswer", "CompoundHit", "CompoundSearch", "Mode", "Question"]

Mode = Literal["learned", "similar", "substructure", "exact"]
Match = Literal["exact", "parent", "substructure", "similar", "learned"]

TANIMOTO = "morgan2-tanimoto"
_TIME_LIMIT_S = 5.0
"""Of one substructure search; patterns that screen well take a tenth of it at 200,000 compounds."""
_ONTOLOGY_NAMES = 2000  # its own entities; those of a large lexicon have no structures
_GROWTH = (
    4  # a ranking that scope or deletions thinned out is asked for again, so many times as long
)


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
            for ``learned``; the share of heavy atoms that the query covers for ``substructure``.
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
class CompoundAnswer:
    """Hits in order, and how they came about.

    Args:
        query: What was asked.
        smiles: The structure it was taken for; empty for a SMARTS pattern.
        mode: How compounds were compared: another than asked for when a note says so.
        collection, encoder: What was searched by what.
        hits: The compound itself first, then by score.
        notes: What a reader should know.
    """

    query: str
    smiles: str
    mode: Mode
    collection: str = ""
    encoder: str = ""
    hits: tuple[CompoundHit, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question understood: its pattern, its structure if it has one, what to say of it."""

    pattern: Mol
    structure: CompoundQuery | None
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Finding:
    """Hits on their way, each document once."""

    question: Question
    library: Library
    hits: list[CompoundHit] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    stale: bool = False
    live: frozenset[str] | None = None

    @property
    def full(self) -> bool:
        return len(self.hits) >= self.question.top_k

    def record(self, document_id: str) -> DocumentRecord | None:
        """Return a document that the caller may see, or ``None``.

        After the first that is not there, what can be seen is listed once: a caller who sees little of a large
        library would be asked for one document after another.
        """
        scope = self.question.kb_names
        if self.live is not None and document_id not in self.live:
            return None
        found = self.library.find(document_id, kb_names=scope)
        record = next((each for each in found if each.document_id == document_id), None)
        if record is None and self.live is None:
            seen = self.library.versions_of_format(COMPOUND_FORMAT, kb_names=scope)
            self.live = frozenset(seen)
        return record


class CompoundSearch:
    """Searches the compounds of a library; safe to use from several threads.

    Args:
        library: All live documents; the index follows it.
        cache_dir: Where the index is kept, or ``None``.
        names: Gives the ontology.
        encoder: Gives the label of the encoder that fills the chemical collection; empty for none.
    """

    def __init__(
        self,
        library: Library,
        cache_dir: Path | None,
        *,
        names: Callable[[], KnownNames],
        encoder: Callable[[], str],
    ) -> None:
        self._shelf = CompoundShelf(library, cache_dir)
        self._names = names
        self._encoder = encoder

    def search(self, question: Question, library: Library) -> CompoundAnswer:
        """Return what answers a question.

        Args:
            question: The question.
            library: What the caller may see; nothing else is returned.

        Raises:
            InvalidQuery: The substructure is no SMARTS, or its search could take too long.
            InvalidInput: The text is neither a structure nor a known name; ``MoleculeRefused``: it is a
                structure too large.
        """
        asked = self._asked(question, library)
        smiles = asked.structure.standard.smiles if asked.structure else ""
        answer = CompoundAnswer(question.text, smiles, question.mode, notes=asked.notes)
        finding = _Finding(question, library)
        forms = self._forms(asked, question, library)
        _add_forms(finding, forms, question.mode)
        if question.mode == "exact":
            return self._exact_without_key(finding, asked, answer)
        if question.mode == "learned" and asked.structure is not None:
            return self._learned(finding, asked.structure, answer)
        return self._indexed(finding, asked, answer, forms)

    def _forms(self, asked: _Asked, question: Question, library: Library) -> tuple[ExactForm, ...]:
        if asked.structure is None:
            return ()
        standard = asked.structure.standard
        return exact_forms(
            library, standard.inchikey, standard.parent_inchikey, kb_names=question.kb_names
        )

    def _asked(self, question: Question, library: Library) -> _Asked:
        text = question.text.strip()
        by_part = question.mode == "substructure"
        if by_part and text.upper().startswith("SMARTS"):
            return _Asked(pattern_of(text), None)
        found = structure_of(text, self._names(), lambda name: self._named(name, library))
        if found is None:
            if by_part:
                return _Asked(pattern_of(text), None)
            raise unknown_compound(text, self._known_names(library))
        notes = (found.note,) if found.note else ()
        if by_part:
            check_pattern(found.mol)
            if "H" in text and "[" in text and not found.note:
                says = "read as SMILES: hydrogens in brackets do not count; write 'SMARTS: ...' if they do"
                notes = (*notes, says)
        return _Asked(found.mol, found, notes)

    def _named(self, name: str, library: Library) -> tuple[str, str]:
        """Return SMILES and name of the library's compound of an InChIKey or name."""
        if is_inchikey(name):
            records: Iterable[DocumentRecord] = library.find(f"inchikey:{name.strip()}")
        else:
            documents = self._shelf.named(name)
            records = (record for each in documents for record in library.find(each))
        record = next((each for each in records if each.format == COMPOUND_FORMAT), None)
        if record is None:
            return "", ""
        known = dict(record.metadata.properties)
        return known.get("smiles", ""), record.metadata.title

    def _known_names(self, library: Library) -> Iterator[str]:
        """Yield the names that may be told to a caller who sees this library."""
        live = library.versions_of_format(COMPOUND_FORMAT)
        rows = self._shelf.index().rows
        for document, names in zip(rows.documents.tolist(), rows.names.items(), strict=True):
            if document.decode() in live:
                yield names.decode().split("\n", 1)[0]
        known = self._names()
        own = islice(known.entities, _ONTOLOGY_NAMES)
        yield from (name for name in own if known.smiles_of(name))

    def _exact_without_key(
        self, finding: _Finding, asked: _Asked, answer: CompoundAnswer
    ) -> CompoundAnswer:
        """Return the answer; a structure that InChI does not describe is looked for in the index."""
        if asked.structure is not None and not asked.structure.standard.inchikey:
            index = self._shelf.index()
            rows = index.with_key(asked.structure.standard.key)
            _add_rows(finding, index, ((row, 1.0) for row in rows), match="exact")
        return replace(answer, hits=tuple(finding.hits))

    def _indexed(
        self,
        finding: _Finding,
        asked: _Asked,
        answer: CompoundAnswer,
        forms: Sequence[ExactForm],
    ) -> CompoundAnswer:
        """Return the answer by fingerprint or part, from an index that is compared anew if it lags."""
        match: Match = "substructure" if answer.mode == "substructure" else "similar"
        marks = {form.record.document_id: form.match for form in forms}
        first, seen = list(finding.hits), set(finding.seen)
        found = Matches(())
        for anew in (False, True):
            index = self._shelf.index(anew=anew)
            finding.hits, finding.seen, finding.stale = list(first), set(seen), False
            limit = finding.question.top_k + len(finding.seen)
            while True:
                found = _matches(index, asked, finding.question, limit=limit)
                _add_rows(finding, index, found.found, match=match, marks=marks)
                if finding.full or found.timed_out or len(found.found) < limit:
                    break
                limit *= _GROWTH
            if not finding.stale:
                break
        notes = answer.notes
        if found.timed_out:
            share = f"{found.looked_at} of {found.candidates} possible molecules, smallest first"
            notes = (*notes, f"stopped after {_TIME_LIMIT_S:g} s, having compared {share}")
        encoder = TANIMOTO if match == "similar" else "substructure"
        return replace(answer, hits=tuple(finding.hits), encoder=encoder, notes=notes)

    def _learned(
        self, finding: _Finding, structure: CompoundQuery, answer: CompoundAnswer
    ) -> CompoundAnswer:
        """Return the answer by the encoder of the collection; by fingerprint when there is none."""
        label = self._encoder()
        scope = finding.question.kb_names
        where = None if scope is None else OneOf("kb_name", scope)
        limit = _GROWTH * finding.question.top_k
        text = f"SMILES: {structure.standard.smiles}"
        try:
            while True:
                hits = finding.library.nearest(CHEMICAL, text, limit=limit, where=where)
                for hit in hits:
                    _add_row_of_collection(finding, hit)
                if finding.full or len(hits) < limit:
                    break
                limit *= _GROWTH
        except (UnknownName, EncoderLoadError, EncoderUnavailable) as error:
            note = f"compared by Tanimoto similarity: {CHEMICAL} could not be searched ({error})"
            fallen = replace(answer, mode="similar", notes=(*answer.notes, note))
            return self._indexed(finding, _Asked(structure.mol, structure), fallen, ())
        return replace(answer, collection=CHEMICAL, encoder=label, hits=tuple(finding.hits))


def _matches(index: CompoundIndex, asked: _Asked, question: Question, *, limit: int) -> Matches:
    if question.mode == "substructure" or asked.structure is None:
        return index.containing(
            asked.pattern, limit=limit, kb_names=question.kb_names, time_limit_s=_TIME_LIMIT_S
        )
    fingerprint = morgan_words(parent_molecule(asked.structure.mol))
    return index.nearest(fingerprint, limit=limit, kb_names=question.kb_names)


def _add_forms(finding: _Finding, forms: Sequence[ExactForm], mode: Mode) -> None:
    """Add the compound itself and its other forms; a part is found in these by the index or not at all."""
    for form in forms:
        if form.match == "exact" or mode != "substructure":
            _add_card(finding, form.record, form.match, 1.0)


def _add_rows(
    finding: _Finding,
    index: CompoundIndex,
    found: Iterable[tuple[int, float]],
    *,
    match: Match,
    marks: dict[str, Literal["exact", "parent"]] | None = None,
) -> None:
    for row, score in found:
        if finding.full:
            return
        document_id = index.rows.documents[row].decode()
        if document_id in finding.seen:
            continue
        record = finding.record(document_id)
        if record is None or record.version != index.rows.versions[row]:
            # Deleted, changed or out of sight: it is left out, and only what changed is worth another look.
            finding.stale = finding.stale or record is not None
            continue
        _add_card(finding, record, (marks or {}).get(document_id, match), score)


def _add_card(finding: _Finding, record: DocumentRecord, match: Match, score: float) -> None:
    if finding.full or record.document_id in finding.seen:
        return
    passage = card_passage(finding.library, record.document_id, kb_names=finding.question.kb_names)
    if passage is None:
        return
    known = dict(record.metadata.properties)
    made = (compound_id_of(record), known.get("smiles", ""), known.get("inchikey", ""))
    finding.seen.add(record.document_id)
    finding.hits.append(
        _hit(record, passage, made, name=record.metadata.title, score=score, match=match)
    )


def _add_row_of_collection(finding: _Finding, hit: StoreHit) -> None:
    """Add what a row of the collection stands for: a compound, or a structure in somebody's prose."""
    if finding.full or hit.document_id in finding.seen:
        return
    library, scope = finding.library, finding.question.kb_names
    records = library.find(hit.document_id, kb_names=scope)
    record = next((each for each in records if each.document_id == hit.document_id), None)
    if record is None or record.version != hit.version:
        return
    if record.format == COMPOUND_FORMAT:
        _add_card(finding, record, "learned", hit.score)
        return
    passages = library.passages(hit.document_id, kb_names=scope)
    passage = next((each for each in passages if each.id == hit.passage_id), None)
    found = "" if passage is None else readable_structure(passage.text)
    if passage is None or not found:
        return
    try:
        standard = standardise(
            read_structure("inchi" if found.startswith("InChI=") else "smiles", found)
        )
    except MoleculeRefused:
        return
    finding.seen.add(hit.document_id)
    made = (standard.key, standard.smiles, standard.inchikey)
    finding.hits.append(_hit(record, passage, made, name="", score=hit.score, match="learned"))


def _hit(
    record: DocumentRecord,
    passage: Passage,
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
        passage_id=passage.id,
        path=" > ".join(passage.section_path),
        kb_name=record.kb_name,
        start=passage.start,
        end=passage.end,
    )
