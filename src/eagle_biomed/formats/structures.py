"""Macromolecular structures: PDB and mmCIF files, one document an entry."""

import hashlib

from gemmi import cif

from eagle_biomed.formats.catalog import FormatTools
from eagle_biomed.formats.structures_cif import read_block
from eagle_biomed.formats.structures_facts import structure_document
from eagle_biomed.formats.structures_model import GEMMI_ERRORS, shown_error
from eagle_biomed.formats.structures_pdb import read_pdb
from eagle_biomed.formats.structures_signs import structure_kind
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import ParsedDocument, ParseOutcome, Refusal, Source
from eagle_rag.ops.decoding import decode_text

__all__ = ["parse"]

_REMEDY = "check the file, or take it from the PDB again"


def parse(source: Source, tools: FormatTools) -> ParseOutcome:  # noqa: ARG001 - every parser's form
    """Return the structures of a file: one of a PDB file, one of each data block of a CIF.

    Raises:
        UnreadableDocument: ``empty``, ``binary``, ``too-large``, ``cif-syntax``, ``bad-structure`` or
            ``no-structure``.
    """
    digest = source.digest or hashlib.sha256(source.data).hexdigest()
    if structure_kind(source) == "cif":
        return _parse_cif(source, digest)
    facts = read_pdb(source)
    return ParseOutcome((structure_document(facts, source.uri, member="", digest=digest),))


def _parse_cif(source: Source, digest: str) -> ParseOutcome:
    text, _ = decode_text(source)
    try:
        blocks = list(cif.read_string(text))
    except GEMMI_ERRORS as error:
        message = f"is no CIF that can be read: {shown_error(error)}"
        raise UnreadableDocument(source.uri, "cif-syntax", message, remedy=_REMEDY) from error
    documents: list[ParsedDocument] = []
    refusals: list[Refusal] = []
    for number, block in enumerate(blocks, 1):
        member = f"{number}-{block.name}"[:100] if len(blocks) > 1 else ""
        outcome = _read(source, block, member=member, digest=digest)
        if isinstance(outcome, Refusal):
            refusals.append(outcome)
        else:
            documents.append(outcome)
    if len(blocks) == 1 and refusals:
        only = refusals[0]
        raise UnreadableDocument(source.uri, only.reason, only.message, remedy=only.remedy)
    if not blocks:
        message = "holds no data block"
        raise UnreadableDocument(source.uri, "no-structure", message, remedy=_REMEDY)
    return ParseOutcome(tuple(documents), tuple(refusals))


def _read(
    source: Source, block: cif.Block, *, member: str, digest: str
) -> ParsedDocument | Refusal:
    try:
        facts = read_block(block, source.uri)
    except GEMMI_ERRORS as error:
        message = f"data block {block.name!r} cannot be read: {shown_error(error)}"
        return Refusal(source.uri, member, "bad-structure", message, _REMEDY)
    if facts is None:
        message = f"data block {block.name!r} holds neither coordinates nor a molecule"
        return Refusal(source.uri, member, "no-structure", message, "leave it out")
    own = digest
    if member:
        own = hashlib.sha256(f"{digest}\n{member}".encode()).hexdigest()
    return structure_document(facts, source.uri, member=member, digest=own)
