"""Compounds by their InChIKey: the documents themselves, then other salts and forms of the same parent.

No index and no encoder: the registry is asked. In the core's search, a query that holds a structure or
an InChIKey gets these documents first; a query that only names a drug is left alone. Chemistry is imported with the first
structure.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Literal

from eagle_biomed.collections import CHEMICAL, CORE_TEXT, TEXT
from eagle_biomed.structure_texts import candidates
from eagle_rag.model.passage import Passage
from eagle_rag.model.query import ArmScore, Candidate, CollectionQueryPlan, QueryContext
from eagle_rag.model.records import DocumentRecord
from eagle_rag.ops.exact import INCHIKEY
from eagle_rag.ports.services import Library

__all__ = [
    "COMPOUND_FORMAT",
    "ExactCompounds",
    "ExactForm",
    "card_passage",
    "compound_id_of",
    "exact_forms",
    "is_exact_compound",
]

COMPOUND_FORMAT = "compound"
_ARM = "supplement/exact-structure"
_INCHIKEY = re.compile(rf"(?<![\w-]){INCHIKEY}(?![\w-])", re.IGNORECASE)
_STRUCTURES = 3
"""Structures of a query that are looked up; further ones are left to the encoder."""
_FORMS = 10
"""Documents a structure brings: a compound and its salts, in one knowledge base or several."""
_HOMES = (TEXT, CHEMICAL, CORE_TEXT)  # where the card of a compound is, likeliest first


@dataclass(frozen=True, slots=True)
class ExactForm:
    """A document of the compound itself (``exact``), or of another form of its parent (``parent``)."""

    record: DocumentRecord
    match: Literal["exact", "parent"]


def exact_forms(
    library: Library, key: str, parent_key: str, *, kb_names: Sequence[str] | None = None
) -> tuple[ExactForm, ...]:
    """Return the compound's documents, then the parent's, then those of its other salts and forms.

    Args:
        library: Where to look.
        key: InChIKey of the compound; empty when it has none.
        parent_key: InChIKey of its parent; empty likewise.
        kb_names: ``None`` for all, empty for none.
    """
    found = _compounds(library, "parent-inchikey", parent_key, kb_names)
    # A compound has its parent's key, so that one question finds it, unless it was drawn as another form.
    if key and key not in map(_own_key, found.values()):
        found |= _compounds(library, "inchikey", key, kb_names)

    def place(record: DocumentRecord) -> tuple[int, str, str]:
        own = _own_key(record)
        form = 0 if key and own == key else 1 if own == parent_key else 2
        return form, own, record.document_id

    ordered = sorted(found.values(), key=place)
    return tuple(
        ExactForm(record, "parent" if place(record)[0] else "exact") for record in ordered
    )


def _compounds(
    library: Library, scheme: str, value: str, kb_names: Sequence[str] | None
) -> dict[str, DocumentRecord]:
    found = library.find(f"{scheme}:{value}", kb_names=kb_names) if value else ()
    return {each.document_id: each for each in found if each.format == COMPOUND_FORMAT}


def _own_key(record: DocumentRecord) -> str:
    return dict(record.metadata.properties).get("inchikey", "")


def compound_id_of(record: DocumentRecord) -> str:
    """Return the InChIKey of a compound, or sha256 of its SMILES (hexadecimal) where InChI has none."""
    known = dict(record.metadata.properties)
    return _own_key(record) or sha256(known.get("smiles", "").encode()).hexdigest()


def card_passage(
    library: Library, document_id: str, *, kb_names: Sequence[str] | None = None
) -> Passage | None:
    """Return the passage of a compound that holds its structure; ``None`` when the document is gone."""
    passages = library.passages(document_id, kb_names=kb_names)
    own = (each for each in passages if each.text.startswith("SMILES: "))
    return next(own, passages[0] if passages else None)


class ExactCompounds:
    """What a structure in a query brings to the core's search; keeps nothing between two queries.

    Args:
        library: The live documents; ``None`` in a worker process, and then it abstains.
    """

    def __init__(self, library: Library | None) -> None:
        self._library = library

    def supplement(
        self, context: QueryContext, plans: tuple[CollectionQueryPlan, ...]
    ) -> tuple[Candidate, ...] | None:
        """Return the compounds that the query writes down, exact ones before other forms."""
        searched = {plan.collection for plan in plans}
        home = next((name for name in _HOMES if name in searched), "")
        if self._library is None or not home:
            return None
        brought: dict[str, Candidate] = {}
        for key, parent_key in _keys_in(context.request.query):
            forms = exact_forms(self._library, key, parent_key, kb_names=context.request.kb_names)
            for form in forms[:_FORMS]:
                passage = card_passage(self._library, form.record.document_id)
                if passage is not None:
                    place = len(brought) + 1
                    brought.setdefault(passage.id, _candidate(form, passage, home, rank=place))
        return tuple(brought.values()) or None

    def inject(
        self,
        merged: tuple[Candidate, ...],
        supplement: tuple[Candidate, ...],
    ) -> tuple[Candidate, ...] | None:
        """Return the ranking with those of ``supplement`` first, scored above the best."""
        own = [each for each in supplement if is_exact_compound(each)]
        if not own:
            return None
        best = max((each.score for each in merged), default=0.0)
        known = {each.passage_id: each for each in merged}
        first = tuple(
            _joined(known.get(each.passage_id), each, score=best + len(own) - at)
            for at, each in enumerate(own)
        )
        ahead = {each.passage_id for each in first}
        return (*first, *(each for each in merged if each.passage_id not in ahead))


def is_exact_compound(candidate: Candidate) -> bool:
    """Return whether a candidate is there because the query writes its structure down."""
    return any(arm.arm == _ARM for arm in candidate.arms)


def _keys_in(query: str) -> Iterator[tuple[str, str]]:
    """Yield InChIKey and parent's InChIKey of each structure that the query holds, InChIKeys first.

    Of a key that is written down, the parent's is not known: it may be that of its own salts.
    """
    written = dict.fromkeys(key.upper() for key in _INCHIKEY.findall(query))
    yield from ((key, key) for key in tuple(written)[:_STRUCTURES])
    for text in tuple(dict.fromkeys(candidates(query)))[:_STRUCTURES]:
        from eagle_biomed.chemistry import MoleculeRefused, read_line, standardise

        try:
            standard = standardise(read_line(text))
        except MoleculeRefused:
            continue  # prose that is SMILES by its grammar alone
        yield standard.inchikey, standard.parent_inchikey


def _candidate(form: ExactForm, passage: Passage, collection: str, *, rank: int) -> Candidate:
    return Candidate(
        passage_id=passage.id,
        document_id=form.record.document_id,
        version=form.record.version,
        kb_name=form.record.kb_name,
        collection=collection,
        score=1.0,
        arms=(ArmScore(_ARM, rank, 1.0),),
    )


def _joined(known: Candidate | None, own: Candidate, *, score: float) -> Candidate:
    if known is None:
        return replace(own, score=score)
    return replace(known, score=score, arms=(*known.arms, *own.arms))
