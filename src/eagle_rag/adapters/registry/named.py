"""The identifiers a document has and those it names, and who else has or names them.

Everything here looks at one namespace and knowledge base only: what one team uploads must not change
what another team sees.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, select

from eagle_rag.adapters.registry.chunked import chunked
from eagle_rag.adapters.registry.tables import documents, identifiers
from eagle_rag.model.document import ParsedDocument
from eagle_rag.model.metadata import Identifiers
from eagle_rag.model.passage import Passage
from eagle_rag.ops.identifiers import parse_identifier

__all__ = [
    "ABOUT",
    "OWN",
    "Holder",
    "Key",
    "Named",
    "Scope",
    "holders",
    "keys_of",
    "known_keys",
    "name_key",
    "named_identifiers",
    "subject_names",
    "typed_keys",
    "write_identifiers",
]

OWN = ""
"""``identifiers.relation`` of a document's own ids; a related article's ids carry the relation."""

ABOUT = "about"
"""``identifiers.relation`` of what a document's passages are about, by the name of the tag that says so."""

_ABOUT_TAG = "primary_"
_MAX_NAME_CHARS = 200  # an index of PostgreSQL holds no value of more than 2,704 bytes
_MAX_NAMES = 256  # of one document; a formulary names more drugs than anyone asks it for

_SCHEMES = ("pmid", "pmcid", "doi")
WORK, BARE = "work", "work-value"
_JOINING = frozenset({*_SCHEMES, WORK})
"""Schemes that identify a work; others, such as ``publisher-id``, repeat between journals."""

Key = tuple[str, str]
"""``(scheme, value)`` in its normal form."""

Named = tuple[str, str, str]
"""``(relation, scheme, value)``."""

Scope = tuple[str, str]
"""``(namespace, kb_name)``."""


@dataclass(frozen=True, slots=True)
class Holder:
    """A live document that has an identifier (``relation`` is ``OWN``) or names it."""

    doc: int
    relation: str
    key: Key
    work_id: str


def named_identifiers(document: ParsedDocument) -> frozenset[Named]:
    """Return a document's own ids and those of its related articles, with the relation.

    The work of a format with ids of its own (``nct:NCT00000001``) joins works by its whole name and
    is found by its bare value as well.
    """
    metadata = document.metadata
    named = {(OWN, scheme, value) for scheme, value in known_keys(metadata.ids)}
    named |= {(OWN, scheme, value) for scheme, value in metadata.ids.other}
    for related in metadata.related:
        named |= {(related.relation, scheme, value) for scheme, value in known_keys(related.ids)}
    if document.identity is not None and document.identity.work:
        work = document.identity.work.casefold()
        named |= {(OWN, WORK, work), (OWN, BARE, work.partition(":")[2] or work)}
    return frozenset(named)


def subject_names(passages: Iterable[Passage]) -> frozenset[Named]:
    """Return what passages are about: the parts of each ``primary_...`` tag, folded; at most 256.

    Those named by the earliest passages stand when there are more.
    """
    found: dict[Named, None] = {}
    for name, value in (pair for passage in passages for pair in passage.tags):
        if name.startswith(_ABOUT_TAG):
            keys = (name_key(part) for part in value.split(","))
            found |= {(ABOUT, name, key): None for key in keys if key}
            if len(found) >= _MAX_NAMES:
                break
    return frozenset(list(found)[:_MAX_NAMES])


def name_key(name: str) -> str:
    """Return a name as it is kept and looked for; empty when it is too long to be one."""
    key = name.strip().casefold()
    return key if len(key) <= _MAX_NAME_CHARS else ""


def typed_keys(text: str) -> tuple[Key, ...]:
    """Return the ids that a typed text may be.

    A PMID, PMCID or DOI; a work's name or bare value; ``scheme:value`` of any other id, as written.
    """
    bare = text.strip()
    folded = bare.casefold()
    scheme, _, value = bare.partition(":")
    other = [(scheme.casefold(), value)] if value else []
    return (*known_keys(parse_identifier(text)), (WORK, folded), (BARE, folded), *other)


def keys_of(named: Collection[Named], relations: Collection[str]) -> frozenset[Key]:
    """Return the work-identifying ids that stand in one of these relations."""
    return frozenset(
        (scheme, value)
        for relation, scheme, value in named
        if relation in relations and scheme in _JOINING
    )


def write_identifiers(connection: Connection, doc: int, named: Collection[Named]) -> None:
    """Write what ``named_identifiers`` returned."""
    rows = [
        {"doc": doc, "relation": relation, "scheme": scheme, "value": value}
        for relation, scheme, value in sorted(named)
    ]
    if rows:
        connection.execute(identifiers.insert(), rows)


def holders(connection: Connection, scope: Scope, keys: Collection[Key]) -> list[Holder]:
    """Return the live documents in scope that have or name one of these ids."""
    columns = identifiers.c
    named: list[tuple[int, str, Key]] = []
    for values in chunked(sorted({value for _, value in keys})):
        rows = connection.execute(select(identifiers).where(columns.value.in_(values)))
        found = ((row.doc, row.relation, (row.scheme, row.value)) for row in rows)
        named += [each for each in found if each[2] in keys]
    works = _works(connection, scope, sorted({doc for doc, _, _ in named}))
    return [Holder(doc, relation, key, works[doc]) for doc, relation, key in named if doc in works]


def _works(connection: Connection, scope: Scope, docs: list[int]) -> dict[int, str]:
    """Return the work of each of these documents that is in scope."""
    columns = documents.c
    works: dict[int, str] = {}
    for some in chunked(docs):
        rows = select(columns.doc, columns.work_id).where(
            columns.doc.in_(some), columns.namespace == scope[0], columns.kb_name == scope[1]
        )
        works |= {row.doc: row.work_id for row in connection.execute(rows)}
    return works


def known_keys(ids: Identifiers) -> list[Key]:
    """Return the work-identifying ids that are known."""
    values = zip(_SCHEMES, (ids.pmid, ids.pmcid, ids.doi), strict=True)
    return [(scheme, value) for scheme, value in values if value]
