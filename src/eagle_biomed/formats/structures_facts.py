"""What is said of a structure, whichever format said it, and the document made of it."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from eagle_biomed.formats.external_ids import external_ids
from eagle_rag.model.document import BlockKind, Identity, ParsedDocument, Reference
from eagle_rag.model.metadata import Author, DocumentMetadata
from eagle_rag.ops.outline import Outline

__all__ = ["Chain", "Ligand", "Molecule", "StructureFacts", "entry_title", "structure_document"]

_LINE_RESIDUES = 60
_MAX_CHAINS_LISTED = 60
_MAX_SEQUENCES = 500
_MAX_LIGANDS = 500
_MAX_MOLECULES = 500


@dataclass(frozen=True, slots=True)
class Molecule:
    """A molecule that the entry names.

    Args:
        name: As the entry has it.
        chains: Its chains.
        details: Further ``(label, value)`` pairs, such as ``("organism", "Homo sapiens")``.
    """

    name: str
    chains: tuple[str, ...] = ()
    details: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Chain:
    """A polymer chain.

    Args:
        name: The authors' name of it.
        kind: ``protein``, ``DNA``, ``RNA`` or another word.
        sequence: One letter a residue, ``X`` for others: the whole one where the entry states it,
            else what has coordinates.
        entity: The entity it belongs to, in mmCIF.
    """

    name: str
    kind: str
    sequence: str
    entity: str = ""


@dataclass(frozen=True, slots=True)
class Ligand:
    """A small molecule or ion of the entry; water is left out.

    Args:
        code: Its component code, such as ``ATP``.
        copies: How many the first model has.
        name, formula, smiles: What the entry says; empty when it does not.
    """

    code: str
    copies: int
    name: str = ""
    formula: str = ""
    smiles: str = ""


@dataclass(frozen=True, slots=True)
class StructureFacts:
    """A structure.

    Args:
        entry: PDB code in upper case, or empty.
        title: Its title, or what stands for one.
        summary: ``(label, value)`` pairs for the first paragraphs, in order.
        resolution: In angstrom; ``None`` when unknown or without meaning.
        deposited: ISO date, or empty.
        authors: ``Family, G.`` each.
        keywords: As the entry has them.
        molecules, chains, ligands: What it holds.
        citation: The primary citation.
        properties: Further ``(name, value)`` pairs.
        ids: Further ``(scheme, value)`` identifiers.
        warnings: What could not be used.
    """

    entry: str
    title: str
    summary: tuple[tuple[str, str], ...] = ()
    resolution: float | None = None
    deposited: str = ""
    authors: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    molecules: tuple[Molecule, ...] = ()
    chains: tuple[Chain, ...] = field(default=(), repr=False)
    ligands: tuple[Ligand, ...] = ()
    citation: Reference | None = None
    properties: tuple[tuple[str, str], ...] = ()
    ids: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()


def entry_title(title: str, entry: str, uri: str) -> str:
    """Return a title: the entry's own; with the file's name where no PDB code says which it is.

    Programs that write structures leave a title of their own, the same for every file.
    """
    stem = PurePosixPath(uri).stem
    if entry or stem.casefold() in title.casefold():
        return title or f"Structure {entry}"
    return f"Structure {stem}: {title}" if title else f"Structure {stem}"


def structure_document(
    facts: StructureFacts, uri: str, *, member: str, digest: str
) -> ParsedDocument:
    """Return the document of a structure."""
    outline = Outline()
    outline.title(facts.title)
    for paragraph in _summary(facts):
        outline.block(BlockKind.PARAGRAPH, paragraph)
    for title, kind, texts in (
        ("Molecules", BlockKind.LIST_ITEM, _molecules(facts.molecules)),
        ("Ligands", BlockKind.LIST_ITEM, _ligands(facts.ligands)),
        ("Sequences", BlockKind.PARAGRAPH, _sequences(facts.chains)),
        ("Primary citation", BlockKind.PARAGRAPH, _citation(facts.citation)),
    ):
        for position, text in enumerate(texts):
            if position == 0:
                outline.heading(1, title)
            outline.block(kind, text)
    text, sections, blocks = outline.finish()
    return ParsedDocument(
        source_uri=uri,
        member=member,
        digest=digest,
        format="structure",
        metadata=_metadata(facts),
        text=text,
        sections=sections,
        blocks=blocks,
        references=() if facts.citation is None else (facts.citation,),
        warnings=facts.warnings,
        identity=Identity(f"pdb:{facts.entry}", f"pdb:{facts.entry}") if facts.entry else None,
    )


def _metadata(facts: StructureFacts) -> DocumentMetadata:
    organisms = dict.fromkeys(
        value for each in facts.molecules for label, value in each.details if label == "organism"
    )
    properties = dict(facts.properties)
    properties |= {
        "resolution_angstrom": _resolution(facts.resolution),
        "chains": "; ".join(chain.name for chain in facts.chains),
        "ligands": "; ".join(ligand.code for ligand in facts.ligands[:_MAX_LIGANDS]),
        "organisms": "; ".join(organisms),
    }
    own = (("pdb", facts.entry),) if facts.entry else ()
    return DocumentMetadata(
        ids=external_ids(own, facts.ids),
        title=facts.title,
        published=facts.deposited,
        year=int(facts.deposited[:4]) if facts.deposited else None,
        authors=tuple(map(_author, facts.authors)),
        keywords=facts.keywords,
        properties=tuple(sorted((name, value) for name, value in properties.items() if value)),
    )


def _author(name: str) -> Author:
    family, _, given = name.partition(",")
    return Author(family=family.strip(), given=given.strip())


def _resolution(value: float | None) -> str:
    usable = value is not None and math.isfinite(value) and 0 < value < 1000  # noqa: PLR2004 - angstrom
    return f"{value:.2f}" if usable else ""


def _summary(facts: StructureFacts) -> Iterator[str]:
    if facts.entry:
        yield f"PDB entry: {facts.entry}"
    for label, value in facts.summary:
        if value:
            yield f"{label}: {value}"
    if _resolution(facts.resolution):
        yield f"Resolution: {_resolution(facts.resolution)} \u00c5"
    if facts.deposited:
        yield f"Deposited: {facts.deposited}"
    if facts.keywords:
        yield f"Keywords: {', '.join(facts.keywords)}"


def _molecules(molecules: tuple[Molecule, ...]) -> Iterator[str]:
    for each in molecules[:_MAX_MOLECULES]:
        details = [_chain_names(each.chains)] if each.chains else []
        details += [f"{label} {value}" for label, value in each.details if value]
        yield f"{each.name} ({'; '.join(details)})" if details else each.name


def _chain_names(names: tuple[str, ...]) -> str:
    listed = ", ".join(names[:_MAX_CHAINS_LISTED])
    more = len(names) - _MAX_CHAINS_LISTED
    rest = f" and {more} more" if more > 0 else ""
    return f"{'chain' if len(names) == 1 else 'chains'} {listed}{rest}"


def _ligands(ligands: tuple[Ligand, ...]) -> Iterator[str]:
    """Yield a line each; the SMILES stands last, so that nothing follows it."""
    for each in ligands[:_MAX_LIGANDS]:
        parts = [f"{each.code}: {each.name}" if each.name else each.code]
        parts += [f"formula {each.formula}"] if each.formula else []
        parts += [f"{each.copies} copies"] if each.copies > 1 else []
        parts += [f"SMILES: {each.smiles}"] if each.smiles else []
        yield "; ".join(parts)


def _sequences(chains: tuple[Chain, ...]) -> Iterator[str]:
    """Yield each different sequence once, with its chains, in lines of 60 residues."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for chain in chains:
        if chain.sequence:
            grouped.setdefault((chain.kind, chain.sequence), []).append(chain.name)
    for (kind, sequence), names in list(grouped.items())[:_MAX_SEQUENCES]:
        lines = [
            sequence[start : start + _LINE_RESIDUES]
            for start in range(0, len(sequence), _LINE_RESIDUES)
        ]
        name = _chain_names(tuple(names))
        head = f"{name[0].upper()}{name[1:]} ({kind}, {len(sequence)} residues):"
        yield "\n".join([head, *lines])


def _citation(citation: Reference | None) -> Iterator[str]:
    if citation is not None and citation.raw:
        ids = [f"PMID {citation.pmid}"] if citation.pmid else []
        ids += [f"doi:{citation.doi}"] if citation.doi else []
        yield " ".join([citation.raw, *(["; ".join(ids)] if ids else [])])
