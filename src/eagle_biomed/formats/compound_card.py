"""The compound card: the text that stands for a compound, and the document made of it.

One form for all formats. After the title come short labelled paragraphs, the structure first, so that
the passage a search gives begins with ``SMILES: `` and the canonical SMILES, which has no white space.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from eagle_biomed.chemistry import Standard
from eagle_biomed.formats.external_ids import external_ids
from eagle_biomed.formats.molecules_fields import tells_names_alone
from eagle_rag.model.document import BlockKind, Identity, ParsedDocument
from eagle_rag.model.metadata import DocumentMetadata
from eagle_rag.ops.outline import Outline

__all__ = ["Compound", "compound_document", "compound_paragraphs"]

_PARAGRAPH_CHARS = 500
"""Long lists are cut into paragraphs of about this size, so that a passage ends between two."""


@dataclass(frozen=True, slots=True)
class Compound:
    """One compound of a file.

    Args:
        source_uri: The file.
        member: The record, such as ``record-17``; empty when the file is one record.
        digest: ``sha256`` of the record, hexadecimal.
        standard: Structure, parent and computed properties.
        name: Its name, or empty.
        synonyms: Further names.
        ids: ``(scheme, value)`` pairs the record states.
        fields: The record's own fields; those that repeat its names are not in the card.
        other_smiles: Other canonical SMILES that records of this InChIKey have, such as of a tautomer.
        warnings: What could not be used.
    """

    source_uri: str
    member: str
    digest: str
    standard: Standard
    name: str = ""
    synonyms: tuple[str, ...] = ()
    ids: tuple[tuple[str, str], ...] = ()
    fields: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    other_smiles: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The name, else the first synonym, else the InChIKey, else the SMILES."""
        first = next(iter(self.synonyms), "")
        return self.name or first or self.standard.inchikey or self.standard.smiles


def compound_document(compound: Compound) -> ParsedDocument:
    """Return the document of a compound: its card, its identity, its properties."""
    outline = Outline()
    outline.title(compound.title)
    for paragraph in compound_paragraphs(compound):
        outline.block(BlockKind.PARAGRAPH, paragraph)
    text, sections, blocks = outline.finish()
    standard = compound.standard
    scheme = "inchikey" if standard.inchikey else "smiles-sha256"
    keys = (("inchikey", standard.inchikey), ("parent-inchikey", standard.parent_inchikey))
    own = tuple((name, key) for name, key in keys if key)
    return ParsedDocument(
        source_uri=compound.source_uri,
        member=compound.member,
        digest=compound.digest,
        format="compound",
        metadata=DocumentMetadata(
            ids=external_ids(own, compound.ids),
            title=compound.title,
            properties=tuple(sorted(_properties(compound).items())),
        ),
        text=text,
        sections=sections,
        blocks=blocks,
        warnings=compound.warnings,
        identity=Identity(key=standard.key, work=f"{scheme}:{standard.key}"),
    )


def _properties(compound: Compound) -> dict[str, str]:
    standard = compound.standard
    known = {
        "inchikey": standard.inchikey,
        "inchi": standard.inchi,
        "parent_inchikey": standard.parent_inchikey,
        "smiles": standard.smiles,
        "parent_smiles": standard.parent_smiles,
        "other_smiles": " ".join(compound.other_smiles),
        "formula": standard.formula,
        "molecular_weight": f"{standard.molecular_weight:.3f}",
        "name": compound.name,
        "synonyms": "; ".join(compound.synonyms),
        "heavy_atoms": str(standard.heavy_atoms),
        "logp": f"{standard.logp:.3f}",
        "tpsa": f"{standard.tpsa:.2f}",
        "hbd": str(standard.hbd),
        "hba": str(standard.hba),
        "rotatable_bonds": str(standard.rotatable_bonds),
        "rings": str(standard.rings),
        "has_stereo": str(standard.has_stereo).lower(),
        "has_isotopes": str(standard.has_isotopes).lower(),
        "has_salt": str(standard.has_salt).lower(),
    }
    stated = {f"field:{name}": value for name, value in compound.fields}
    return {name: value for name, value in (known | stated).items() if value}


def compound_paragraphs(compound: Compound) -> Iterator[str]:
    """Yield the card's paragraphs below the title, in order."""
    standard = compound.standard
    yield f"SMILES: {standard.smiles}"
    if compound.name:
        yield f"Name: {compound.name}"
    if standard.parent_smiles != standard.smiles:
        yield f"Parent SMILES: {standard.parent_smiles}"
    for smiles in compound.other_smiles:
        yield f"Other SMILES: {smiles}"
    if standard.inchikey:
        yield f"InChIKey: {standard.inchikey}"
        yield f"InChI: {standard.inchi}"
    weight = f"{standard.molecular_weight:.2f} g/mol"
    yield f"Formula: {standard.formula}; molecular weight {weight}"
    yield from _paragraphs(compound.synonyms, label="Synonyms: ", separator="; ")
    yield (
        f"Computed: logP {standard.logp:.2f} (Crippen); "
        f"polar surface area {standard.tpsa:.1f} \u00c5\u00b2; "
        f"hydrogen bond donors {standard.hbd}, acceptors {standard.hba}; "
        f"rotatable bonds {standard.rotatable_bonds}; rings {standard.rings}; "
        f"heavy atoms {standard.heavy_atoms}"
    )
    told = frozenset(each.casefold() for each in (compound.name, *compound.synonyms))
    lines = tuple(
        f"{name}: {value}"
        for name, value in compound.fields
        if not tells_names_alone(name, value, told)
    )
    yield from _paragraphs(lines, label="", separator="\n")


def _paragraphs(items: tuple[str, ...], *, label: str, separator: str) -> Iterator[str]:
    """Yield the items joined, a new paragraph whenever one is long enough."""
    gathered: list[str] = []
    size = 0
    for item in items:
        if gathered and size + len(item) > _PARAGRAPH_CHARS:
            yield label + separator.join(gathered)
            gathered, size = [], 0
        gathered.append(item)
        size += len(item)
    if gathered:
        yield label + separator.join(gathered)
