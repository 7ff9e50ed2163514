"""Entities: find them in a text, look them up, expand a query with them.

The ontology's own entities are in memory; larger lexica are compiled to disk and looked into. An entity of a
lexicon whose canonical name is that of an entity before it adds its names to that one, and its concept
identifier when that one has none.
"""

import hashlib
import re
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from eagle_biomed.drugs import CompoundNames, is_drug
from eagle_biomed.entity_names import NormalText, key_of, normalise
from eagle_biomed.lexica import chosen_sources
from eagle_biomed.lexicon_guards import guard_allows, ontology_guard
from eagle_biomed.lexicon_store import (
    StoredEntity,
    StoredLexicon,
    default_cache_dir,
    open_lexicon,
)
from eagle_biomed.matching import FirstForms, Form, Hit, Matcher
from eagle_biomed.ontology_file import (
    OntologyEntry,
    OntologyFile,
    read_ontology_bytes,
    read_ontology_file,
)
from eagle_rag.errors import InvalidInput

__all__ = ["Entity", "Ontology", "ResolvedEntity", "open_ontology"]

_ALIASES_SHOWN: Final = 2
_PATHWAYS_SHOWN: Final = 1
_OPEN_AT_ONCE: Final = 4  # ontologies kept; a process has one, a test run several


@dataclass(frozen=True, slots=True)
class Entity:
    """A gene, drug, disease, pathway, or a concept of a lexicon.

    Args:
        name: Canonical name.
        kind: ``gene``, ``drug``, ``disease``, ``pathway``; empty when its lexicon does not say.
        aliases: Other names, the ontology's first.
        cui: UMLS concept, or empty; of an entity whose file has none, that of a lexicon where it is plain.
        pathways: Pathways it belongs to; empty for an entity that only a lexicon knows.
        related_drugs: Drugs that act on it; empty likewise.
        smiles: Structure of a small molecule, or empty.
        source: ``ontology``, or the lexicon's name.
    """

    name: str
    kind: str
    aliases: tuple[str, ...] = ()
    cui: str = ""
    pathways: tuple[str, ...] = ()
    related_drugs: tuple[str, ...] = ()
    smiles: str = ""
    source: str = "ontology"


@dataclass(frozen=True, slots=True)
class ResolvedEntity:
    """What is known of a name; ``entity`` is the canonical name, or the name asked for when not found."""

    entity: str
    found: bool
    cui: str = ""
    aliases: tuple[str, ...] = ()
    pathways: tuple[str, ...] = ()
    related_drugs: tuple[str, ...] = ()


class _Entities(Mapping[str, Entity]):
    """Every entity by any spelling of its canonical name; the ontology's first, then each lexicon's."""

    def __init__(self, own: Mapping[str, OntologyEntry], lexica: Sequence[StoredLexicon]) -> None:
        self._own = own
        self._lexica = lexica
        self._taken = frozenset(entry.cui for entry in own.values() if entry.cui)
        self._owners = Counter(
            key for name, entry in own.items() for key in {name, *map(key_of, entry.aliases)}
        )
        self._cached = lru_cache(maxsize=1 << 14)(self._read)

    def __getitem__(self, name: str) -> Entity:
        entity = self.by_key(key_of(name))
        if entity is None:
            raise KeyError(name)
        return entity

    def __iter__(self) -> Iterator[str]:
        for entry in self._own.values():
            yield entry.name
        for number, lexicon in enumerate(self._lexica):
            previous = ""
            for key, name in lexicon.names():
                entity = self.by_key(key)
                if entity is not None and entity.name == name and key != previous:
                    known = any(other.by_key(key) for other in self._lexica[:number])
                    if key not in self._own and not known:
                        yield name
                previous = key

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def by_key(self, key: str) -> Entity | None:
        """Return the entity whose canonical name has this key."""
        return self._cached(key)

    def _read(self, key: str) -> Entity | None:
        own = self._own.get(key)
        stored = [
            (lexicon.report.source, entity)
            for lexicon in self._lexica
            for entity in lexicon.by_key(key)
        ]
        if own is not None:
            return Entity(
                own.name,
                own.kind,
                _merged(own.aliases, (entity for _, entity in stored), key),
                own.cui or self._concept(own),
                own.pathways,
                own.related_drugs,
                own.smiles,
            )
        if not stored:
            return None
        source, first = stored[0]
        aliases = _merged((), (entity for _, entity in stored), key)
        cui = next((entity.cui for _, entity in stored if entity.cui), "")
        return Entity(first.name, first.kind, aliases, cui, source=source)

    def _concept(self, own: OntologyEntry) -> str:
        """Return the one concept of the lexica that is named like an entity, or empty.

        Its name is looked for before its aliases, since an alias may be a narrower term. A name of two
        entities, and a concept that another entity has, tell nothing.
        """
        names = [own.name, f"{own.name} gene"] if own.kind == "gene" else [own.name]
        aliases = [alias for alias in own.aliases if self._owners[key_of(alias)] == 1]
        for spellings in (names, aliases):
            found = {cui for name in spellings for cui in self._concepts(own, name)}
            if found:
                return found.pop() if len(found) == 1 and not found & self._taken else ""
        return ""

    def _concepts(self, own: OntologyEntry, name: str) -> Iterator[str]:
        """Yield the concepts with this canonical name; the animal ``Cat`` is not the gene ``CAT``."""
        guard = ontology_guard(name, own.kind, marked=name in own.guarded)
        for lexicon in self._lexica:
            for entity in lexicon.by_key(key_of(name)):
                if entity.cui and guard_allows(guard, entity.name, 0, len(entity.name)):
                    yield entity.cui


def _merged(own: Sequence[str], stored: Iterator[StoredEntity], key: str) -> tuple[str, ...]:
    """Return the ontology's aliases, then those of lexica that are spelled unlike all before them."""
    aliases = list(own)
    seen = {key, *map(key_of, own)}
    for entity in stored:
        for alias in entity.aliases:
            other = key_of(alias)
            if other not in seen:
                seen.add(other)
                aliases.append(alias)
    return tuple(aliases)


class Ontology:
    """Entities and what is asked of them; immutable, safe to share among threads."""

    def __init__(self, file: OntologyFile, lexica: Sequence[StoredLexicon] = ()) -> None:
        """Index an ontology.

        Args:
            file: The ontology's own entities.
            lexica: Compiled lexica; earlier ones win.
        """
        own: dict[str, OntologyEntry] = {}
        for entry in file.entries:
            own.setdefault(key_of(entry.name), entry)
        self._own = own
        self._lexica = tuple(lexica)
        self._entities = _Entities(own, self._lexica)
        self._matcher = Matcher((FirstForms(_forms(own)), *self._lexica))
        self._aliases = {
            key_of(alias): key for key, entry in reversed(own.items()) for alias in entry.aliases
        }
        self._compounds = CompoundNames(
            file.compound_aliases,
            (((e.name, *e.aliases), e.smiles) for e in own.values() if e.smiles),
        )
        self.keywords = file.keywords
        words = "|".join(re.escape(word) for word in sorted(file.keywords, key=len, reverse=True))
        self._keyword = re.compile(rf"\b(?:{words})\b" if words else r"(?!)", re.IGNORECASE)

    @property
    def entities(self) -> Mapping[str, Entity]:
        """Every entity by canonical name; a name is looked up in any spelling."""
        return self._entities

    def match_entities(self, text: str) -> tuple[str, ...]:
        """Return the canonical names of the entities in a text, by first occurrence, each once.

        Of names that overlap the leftmost counts, then the longest.
        """
        return tuple(dict.fromkeys(self._canonical(hit) for hit in self._matcher.hits(text)))

    def match_keywords(self, text: str) -> tuple[str, ...]:
        """Return the generic words of the field in a text, in small letters, each once.

        The reference matches these ``entity_keywords`` together with the entities. Here they are asked for on
        their own, by whoever wants them; no part of the query path does.
        """
        return tuple(dict.fromkeys(m[0].lower() for m in self._keyword.finditer(text)))

    def match_drug_entities(self, text: str) -> tuple[str, ...]:
        """Return those of ``match_entities`` that are drugs, by type or by the suffix rule."""
        return tuple(
            name for name in self.match_entities(text) if is_drug(name, self._entities[name].kind)
        )

    def resolve_entity(self, entity: str) -> ResolvedEntity:
        """Return what is known of a name in any spelling: canonical names first, then aliases."""
        key = key_of(entity)
        known = self._entities.by_key(key) if key in self._own else None
        if known is None and key in self._aliases:
            known = self._entities.by_key(self._aliases[key])
        if known is None and key:
            stored = (found for lexicon in self._lexica for found in lexicon.by_name(key))
            first = next(stored, None)
            known = None if first is None else self._entities.by_key(first.key)
        if known is None:
            return ResolvedEntity(entity, found=False)
        return ResolvedEntity(
            known.name,
            found=True,
            cui=known.cui,
            aliases=known.aliases,
            pathways=known.pathways,
            related_drugs=known.related_drugs,
        )

    def expand_query_with_entities(self, query: str, *, limit: int = 12) -> str:
        """Return ``[biomed entities: a, b]``: two aliases and one pathway of each entity, by first occurrence.

        Args:
            query: The query.
            limit: The most terms; 12 is the reference's.

        Returns:
            The terms, none twice; empty when there are none.

        Raises:
            InvalidInput: ``limit`` is negative.
        """
        if limit < 0:
            message = f"limit must be at least 0, got {limit}"
            raise InvalidInput(message)
        terms: dict[str, str] = {}
        for name in self.match_entities(query):
            entity = self._entities[name]
            shown = entity.aliases[:_ALIASES_SHOWN] + entity.pathways[:_PATHWAYS_SHOWN]
            for term in shown:
                terms.setdefault(term.casefold(), term)
        listed = ", ".join(list(terms.values())[:limit])
        return f"[biomed entities: {listed}]" if listed else ""

    def expand_query_for_dense_retrieval(self, query: str) -> str:
        """Return the query and its expansion, for dense encoders only; words are searched as asked."""
        suffix = self.expand_query_with_entities(query)
        return f"{query} {suffix}" if suffix else query

    def resolve_compound_query(self, smiles_or_name: str) -> str:
        """Return the SMILES of a known compound's name, brand or code; anything else as it is.

        A known name wins even when it could be read as SMILES.
        """
        return self.smiles_of(smiles_or_name) or smiles_or_name

    def smiles_of(self, name: str) -> str:
        """Return the SMILES of a known compound's name, brand or code; empty when it is unknown."""
        return self._compounds.smiles_of(name)

    def _canonical(self, hit: Hit) -> str:
        entity = self._entities.by_key(key_of(hit.entity)) if self._lexica else None
        return hit.entity if entity is None else entity.name


def _forms(own: Mapping[str, OntologyEntry]) -> Iterator[tuple[NormalText, Form]]:
    """Yield every name, canonical names first: a name of one entity is never an alias of another."""
    for entry in own.values():
        yield _form(entry, entry.name)
    for entry in own.values():
        for alias in entry.aliases:
            yield _form(entry, alias)


def _form(entry: OntologyEntry, name: str) -> tuple[NormalText, Form]:
    normal = normalise(name)
    guard = ontology_guard(name, entry.kind, marked=name in entry.guarded)
    return normal, Form(entry.name, normal.ties, loose=True, guard=guard)


_OPENED: dict[tuple[str, ...], Ontology] = {}
_LOCK: Final = threading.Lock()


def open_ontology(options: Mapping[str, Any]) -> Ontology:
    """Return the ontology that the options describe; one of equal content is built once a process.

    Args:
        options: ``plugins.options.biomed``. ``ontology_path``: another ontology file. ``lexica``: larger
            lexica, in order. ``mrconso_path``: a UMLS file, also ``EAGLE_BIOMED_UMLS_MRCONSO_PATH``.
            ``cache_dir``: where lexica are compiled to; by default below the user's cache folder.

    Raises:
        ConfigurationError: A file or package is missing, or the ontology file is wrong.
        UnknownName: ``lexica`` names an unknown source.
        InvalidInput: A lexicon is not what it should be; a table's wrong lines are listed.
    """
    data = read_ontology_bytes(str(options.get("ontology_path", "") or ""))
    sources = [(source, source.digest()) for source in chosen_sources(options)]
    folder = str(options.get("cache_dir", "") or "")
    cache_dir = Path(folder).expanduser() if folder else default_cache_dir()
    content = hashlib.sha256(data).hexdigest()
    identity = (content, str(cache_dir), *(f"{s.name}-{digest}" for s, digest in sources))
    with _LOCK:
        ontology = _OPENED.get(identity)
        if ontology is None:
            file = read_ontology_file(data)
            opened = [open_lexicon(source, cache_dir, digest=digest) for source, digest in sources]
            ontology = Ontology(file, [lexicon for lexicon in opened if lexicon is not None])
            while len(_OPENED) >= _OPEN_AT_ONCE:
                del _OPENED[next(iter(_OPENED))]
            _OPENED[identity] = ontology
        return ontology
