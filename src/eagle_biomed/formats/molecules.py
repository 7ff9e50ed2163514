"""Compounds: SDF, MOL, MOL2, SMILES lists, tables and InChI, one document a compound.

Records of one InChIKey in one file are one compound: the first gives the card, the others their names,
identifiers and fields. A record that cannot be used is refused by its number, and the rest loads.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha256

from eagle_biomed.chemistry import MoleculeRefused, Standard, read_structure, standardise
from eagle_biomed.formats.catalog import FormatTools
from eagle_biomed.formats.compound_card import Compound, compound_document
from eagle_biomed.formats.molecules_fields import Naming, read_naming
from eagle_biomed.formats.molecules_records import RawRecord, read_mol2, read_sdf, text_lines
from eagle_biomed.formats.molecules_signs import compound_kind
from eagle_biomed.formats.smiles_tables import read_inchi_list, read_smiles_list, read_table
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import ParseOutcome, Refusal, Source

__all__ = ["MAX_RECORDS", "MAX_REFUSALS", "parse"]

MAX_RECORDS = 1_000_000
"""Of one file; about 15 minutes' work."""
MAX_REFUSALS = 1_000
"""Refused records that are listed one by one; the others are counted."""

_REMEMBERED_CHARS = 500  # SMILES and InChI; blocks of coordinates are not written twice
_HOPELESS = 1_000  # bad records and no good one: not a file of compounds
_MOSTLY_BAD = 50  # bad records for each good one, beyond the first ones: the rest is not tried
_MAX_BAD = 20_000
_MAX_MERGED = 20  # further records of one compound whose names and fields are kept
_NO_INCHI = "InChI cannot name this structure: it is known by its SMILES"


def parse(source: Source, tools: FormatTools) -> ParseOutcome:  # noqa: ARG001 - every parser's form
    """Return the compounds of a file.

    Raises:
        UnreadableDocument: ``empty``, ``binary``, ``no-structure-column``, ``no-records``,
            ``not-compounds``, or the reason of the only record.
    """
    gathered = _Gathered(source)
    for raw in _records(source):
        if raw.number > MAX_RECORDS:
            gathered.refuse_rest(f"holds more than {MAX_RECORDS} records")
            break
        if gathered.mostly_bad:
            gathered.refuse_rest(f"most of the first {raw.number - 1} records are bad")
            break
        gathered.add(raw)
    return gathered.outcome()


def _records(source: Source) -> Iterator[RawRecord]:
    kind = compound_kind(source)
    stream = text_lines(source)
    if kind in {"sdf", "mol"}:
        return read_sdf(stream, single=kind == "mol")
    if kind == "mol2":
        return read_mol2(stream)
    if kind == "inchi":
        return read_inchi_list(stream)
    return read_table(stream, source) if kind == "table" else read_smiles_list(stream)


@dataclass(slots=True)
class _Gathered:
    """The compounds found so far, by key."""

    source: Source
    compounds: dict[str, Compound] = field(default_factory=dict)
    merged: dict[str, int] = field(default_factory=dict)
    refusals: list[Refusal] = field(default_factory=list)
    refused: int = 0
    count: int = 0
    standards: dict[tuple[str, str], Standard] = field(default_factory=dict)

    def _standard(self, raw: RawRecord) -> Standard:
        """Describe a structure once: tables of activities name each compound many times."""
        key = (raw.kind, raw.structure)
        known = self.standards.get(key)
        if known is None:
            known = _standard(raw)
            if len(raw.structure) <= _REMEMBERED_CHARS:
                self.standards[key] = known
        return known

    def add(self, raw: RawRecord) -> None:
        """Take one record."""
        self.count += 1
        try:
            standard = self._standard(raw)
        except MoleculeRefused as error:
            self._refuse(raw.number, error)
            return
        naming = read_naming(raw.title, raw.fields)
        digest = sha256(raw.raw.encode("utf-8", "surrogatepass")).hexdigest()
        known = self.compounds.get(standard.key)
        if known is None:
            self.compounds[standard.key] = self._new(raw, standard, naming, digest=digest)
            return
        times = self.merged[standard.key] = self.merged.get(standard.key, 0) + 1
        if times <= _MAX_MERGED:
            self.compounds[standard.key] = _merge(known, standard, naming, digest=digest)

    def _new(self, raw: RawRecord, standard: Standard, naming: Naming, *, digest: str) -> Compound:
        return Compound(
            source_uri=self.source.uri,
            member=_member(raw.number),
            digest=digest,
            standard=standard,
            name=naming.name,
            synonyms=naming.synonyms,
            ids=naming.ids,
            fields=naming.fields,
            warnings=() if standard.inchikey else (_NO_INCHI,),
        )

    def _refuse(self, number: int, error: MoleculeRefused) -> None:
        self.refused += 1
        if self.refused >= _HOPELESS and not self.compounds:
            message = f"none of the first {self.count} records holds a structure: {error.message}"
            raise UnreadableDocument(
                self.source.uri, "not-compounds", message, remedy="check the file"
            )
        if len(self.refusals) < MAX_REFUSALS:
            message = f"record {number}: {error.message}"
            self.refusals.append(
                Refusal(self.source.uri, _member(number), error.reason, message, error.remedy)
            )

    @property
    def mostly_bad(self) -> bool:
        """Whether so many records are bad that the file is something else in the main."""
        return self.refused >= max(_MAX_BAD, _MOSTLY_BAD * len(self.compounds))

    def refuse_rest(self, why: str) -> None:
        """Say that the records from here on are not read."""
        message = f"{why}: those after them are not read"
        self.refusals.append(
            Refusal(self.source.uri, "", "too-many-records", message, "split the file")
        )

    def outcome(self) -> ParseOutcome:
        """Return the documents in the order of the file.

        Raises:
            UnreadableDocument: There is no record, or the only one is bad.
        """
        if not self.count:
            message = "holds no record"
            raise UnreadableDocument(
                self.source.uri, "no-records", message, remedy="check the file"
            )
        if self.count == 1 and self.refusals:
            only = self.refusals[0]
            raise UnreadableDocument(
                self.source.uri, only.reason, only.message, remedy=only.remedy
            )
        listed = [refusal for refusal in self.refusals if refusal.member]
        if self.refused > len(listed):
            message = f"{self.refused - len(listed)} more records were refused"
            self.refusals.append(
                Refusal(self.source.uri, "", "more-refused", message, "correct those listed first")
            )
        compounds: Iterator[Compound] = iter(self.compounds.values())
        if self.count == 1:
            compounds = (replace(compound, member="") for compound in compounds)
        return ParseOutcome(tuple(map(compound_document, compounds)), tuple(self.refusals))


def _standard(raw: RawRecord) -> Standard:
    if raw.problem:
        raise MoleculeRefused(raw.problem, reason="bad-record", remedy="correct the record")
    return standardise(read_structure(raw.kind, raw.structure))


def _member(number: int) -> str:
    return f"record-{number}"


def _merge(known: Compound, standard: Standard, naming: Naming, *, digest: str) -> Compound:
    """Return a compound with what another record of it adds."""
    names = (*known.synonyms, naming.name, *naming.synonyms)
    synonyms = dict.fromkeys(name for name in names if name and name != known.name)
    other = dict.fromkeys((*known.other_smiles, standard.smiles))
    other.pop(known.standard.smiles, None)
    both = read_naming("", (*known.fields, *naming.fields))
    return replace(
        known,
        digest=sha256(f"{known.digest}{digest}".encode()).hexdigest(),
        name=known.name or naming.name,
        synonyms=tuple(synonyms),
        ids=tuple(sorted({*known.ids, *naming.ids})),
        fields=both.fields,
        other_smiles=tuple(other),
    )
