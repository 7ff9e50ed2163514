"""Compound search over a library: exact, by part, by fingerprint, by the collection's encoder.

Whatever an index or a collection finds is read from the library again before it is returned, so that
nothing deleted, changed or out of scope ever is.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from rdkit.Chem import AdjustQueryParameters, AdjustQueryProperties
from rdkit.Chem.rdchem import Mol

from eagle_biomed.chemistry import parent_molecule
from eagle_biomed.collections import CHEMICAL
from eagle_biomed.compound_hits import CardPlaces, CompoundHit, Finding, Match, Mode, Question
from eagle_biomed.compound_index import CompoundIndex, Matches, morgan_words
from eagle_biomed.compound_query import (
    CompoundQuery,
    KnownNames,
    check_pattern,
    entity_without_structure,
    is_inchikey,
    pattern_of,
    structure_of,
    unknown_compound,
)
from eagle_biomed.compound_shelf import CompoundShelf
from eagle_biomed.exact_compounds import COMPOUND_FORMAT, ExactForm, exact_forms
from eagle_rag.errors import EncoderLoadError, EncoderUnavailable, InvalidQuery, UnknownName
from eagle_rag.model.filters import OneOf
from eagle_rag.ports.services import Library

if TYPE_CHECKING:
    from eagle_rag.model.records import DocumentRecord

__all__ = ["CompoundAnswer", "CompoundSearch"]

_TANIMOTO = "morgan2-tanimoto"
_TIME_LIMIT_S = 5.0
"""Of one substructure search; patterns that screen well take a tenth of it at 200,000 compounds."""
_ONTOLOGY_NAMES = 2000  # its own entities; those of a large lexicon have no structures
_GROWTH = 4
"""A ranking that scope or deletions thinned out is asked for again, so many times as long."""


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
        self._places = CardPlaces()
        self._names = names
        self._encoder = encoder

    def search(self, question: Question, library: Library) -> CompoundAnswer:
        """Return what answers a question.

        Args:
            question: The question.
            library: What the caller may see; nothing else is returned.

        Raises:
            InvalidQuery: The substructure is no SMARTS, or its search could take too long.
            InvalidInput: The text is neither a structure nor the name of something that has one;
                ``MoleculeRefused``: it is a structure too large.
        """
        asked = self._asked(question, library)
        smiles = asked.structure.standard.smiles if asked.structure else ""
        answer = CompoundAnswer(question.text, smiles, question.mode, notes=asked.notes)
        finding = Finding(question, library, self._places)
        forms = self._forms(asked, question, library)
        finding.add_forms(forms)
        if question.mode == "exact":
            answer = self._exact_without_key(finding, asked, answer)
        elif question.mode == "learned" and asked.structure is not None:
            answer = self._learned(finding, asked.structure, answer)
        else:
            answer = self._indexed(finding, asked, answer, forms)
        said = _absence(asked.structure, question, answer.hits)
        return replace(answer, notes=(*answer.notes, said)) if said else answer

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
            return self._without_structure(text, library, by_part=by_part)
        notes = (found.note,) if found.note else ()
        if by_part:
            check_pattern(found.mol)
            if "H" in text and "[" in text and not found.note:
                says = "read as SMILES: hydrogens in brackets do not count; write 'SMARTS: ...' if they do"
                notes = (*notes, says)
        return _Asked(found.mol, found, notes)

    def _without_structure(self, text: str, library: Library, *, by_part: bool) -> _Asked:
        """Return the pattern that a text is, or say why it is nothing that can be searched for."""
        known = entity_without_structure(text, self._names())
        if by_part:
            try:
                return _Asked(pattern_of(text), None)
            except InvalidQuery as error:
                if known is None:
                    raise
                raise known from error
        raise known or unknown_compound(text, self._known_names(library))

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
        self, finding: Finding, asked: _Asked, answer: CompoundAnswer
    ) -> CompoundAnswer:
        """Return the answer; a structure that InChI does not describe is looked for in the index."""
        if asked.structure is not None and not asked.structure.standard.inchikey:
            index = self._shelf.index()
            rows = index.with_key(asked.structure.standard.key)
            finding.add_rows(index, ((row, 1.0) for row in rows), match="exact")
        return replace(answer, hits=tuple(finding.hits))

    def _indexed(
        self,
        finding: Finding,
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
                finding.add_rows(index, found.found, match=match, marks=marks)
                if finding.full or found.timed_out or len(found.found) < limit:
                    break
                limit *= _GROWTH
            if not finding.stale:
                break
        notes = answer.notes
        if found.timed_out:
            share = f"{found.looked_at} of {found.candidates} possible molecules, smallest first"
            notes = (*notes, f"stopped after {_TIME_LIMIT_S:g} s, having compared {share}")
        encoder = _TANIMOTO if match == "similar" else "substructure"
        return replace(answer, hits=tuple(finding.hits), encoder=encoder, notes=notes)

    def _learned(
        self, finding: Finding, structure: CompoundQuery, answer: CompoundAnswer
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
                    finding.add_row_of_collection(hit)
                if finding.full or len(hits) < limit:
                    break
                limit *= _GROWTH
        except (UnknownName, EncoderLoadError, EncoderUnavailable) as error:
            note = f"compared by Tanimoto similarity: {CHEMICAL} could not be searched ({error})"
            fallen = replace(answer, mode="similar", notes=(*answer.notes, note))
            return self._indexed(finding, _Asked(structure.mol, structure), fallen, ())
        return replace(answer, collection=CHEMICAL, encoder=label, hits=tuple(finding.hits))


def _absence(
    structure: CompoundQuery | None, question: Question, hits: Sequence[CompoundHit]
) -> str:
    """Return what to say when the compound asked for is not there; empty when it is, or for a part."""
    if structure is None or question.mode == "substructure":
        return ""
    if any(hit.compound_id == structure.standard.key for hit in hits):
        return ""
    scope = question.kb_names
    where = "the library's compounds" if scope is None else f"the compounds of {', '.join(scope)}"
    found = {hit.match for hit in hits}
    shown = ["its other forms"] if "parent" in found else []
    if found - {"parent"}:
        shown.append("its neighbours")
    said = f"the compound itself is not among {where}"
    return f"{said}; these are {' and '.join(shown)}" if shown else said


def _open_ends(pattern: Mol) -> Mol:
    """Return the pattern with ``*`` of a SMILES as what chemists mean by it: any atom."""
    if not any(atom.GetAtomicNum() == 0 and not atom.HasQuery() for atom in pattern.GetAtoms()):
        return pattern
    parameters = AdjustQueryParameters.NoAdjustments()
    # RDKit's stubs give the flags the type of their class.
    setattr(parameters, "makeDummiesQueries", True)  # noqa: B010 - see above
    return AdjustQueryProperties(pattern, parameters)


def _matches(index: CompoundIndex, asked: _Asked, question: Question, *, limit: int) -> Matches:
    if question.mode == "substructure" or asked.structure is None:
        return index.containing(
            _open_ends(asked.pattern),
            limit=limit,
            kb_names=question.kb_names,
            time_limit_s=_TIME_LIMIT_S,
        )
    fingerprint = morgan_words(parent_molecule(asked.structure.mol))
    return index.nearest(fingerprint, limit=limit, kb_names=question.kb_names)
