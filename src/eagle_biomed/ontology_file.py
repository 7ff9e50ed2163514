"""Read the ontology file; ``docs/ontology.md`` says what is in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import yaml

from eagle_rag.errors import ConfigurationError

__all__ = ["KINDS", "OntologyEntry", "OntologyFile", "read_ontology_bytes", "read_ontology_file"]

KINDS: Final = ("gene", "drug", "disease", "pathway")
"""Types of entities."""

_LISTS: Final = ("aliases", "pathways", "related_drugs", "guarded_aliases")
_TEXTS: Final = ("type", "group", "cui", "smiles", "guard")
_FIX: Final = "see docs/ontology.md for the keys of the ontology file"


@dataclass(frozen=True, slots=True)
class OntologyEntry:
    """One entity as the file has it.

    Args:
        name: Canonical name.
        kind: One of ``KINDS``.
        group: ``oncogenes``, ``drugs``, ``diseases`` or ``pathways``.
        aliases: Other names, the most useful first.
        cui: UMLS concept, or empty.
        pathways: Pathways it belongs to.
        related_drugs: Drugs that act on it.
        smiles: Structure of a small molecule, or empty.
        guarded: Its names that count only as written.
    """

    name: str
    kind: str
    group: str = ""
    aliases: tuple[str, ...] = ()
    cui: str = ""
    pathways: tuple[str, ...] = ()
    related_drugs: tuple[str, ...] = ()
    smiles: str = ""
    guarded: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class OntologyFile:
    """What the file says.

    Args:
        entries: Entities, in the order of the file.
        keywords: Generic words of the field.
        compound_aliases: SMILES by name.
    """

    entries: tuple[OntologyEntry, ...]
    keywords: tuple[str, ...]
    compound_aliases: Mapping[str, str]


def read_ontology_bytes(path: str = "") -> bytes:
    """Return the file's bytes; of the plugin's own file when no path is given.

    Raises:
        ConfigurationError: It cannot be read.
    """
    try:
        if path:
            return Path(path).expanduser().read_bytes()
        return (files("eagle_biomed") / "data" / "ontology.yaml").read_bytes()
    except OSError as error:
        message = f"the ontology {path or 'data/ontology.yaml'!r} cannot be read: {error}"
        raise ConfigurationError(
            message, remedy="set `ontology_path` to a readable file"
        ) from error


def read_ontology_file(data: bytes) -> OntologyFile:
    """Return the ontology in a YAML file.

    Raises:
        ConfigurationError: It is not YAML, or an entity has a wrong or unknown key; names the entity.
    """
    try:
        root = yaml.load(data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both are safe loaders
    except yaml.YAMLError as error:
        message = f"the ontology is not YAML: {error}"
        raise ConfigurationError(message, remedy=_FIX) from error
    root = _mapping(root, "the ontology")
    entities = _mapping(root.get("entities", {}), "`entities`")
    chemical = _mapping(root.get("chemical", {}), "`chemical`")
    names = _mapping(chemical.get("name_aliases", {}), "`chemical.name_aliases`")
    return OntologyFile(
        tuple(_entry(str(name), value) for name, value in entities.items()),
        _texts(root.get("entity_keywords", ()), "`entity_keywords`"),
        {str(name): _text(smiles, f"the SMILES of {name!r}") for name, smiles in names.items()},
    )


def _entry(name: str, value: object) -> OntologyEntry:
    where = f"entity {name!r}"
    fields = _mapping(value, where)
    unknown = sorted(set(fields) - {*_LISTS, *_TEXTS})
    if unknown:
        message = f"{where} has the unknown key {unknown[0]!r}"
        raise ConfigurationError(message, remedy=_FIX)
    texts = {key: _text(fields.get(key, ""), f"`{key}` of {where}") for key in _TEXTS}
    lists = {key: _texts(fields.get(key, ()), f"`{key}` of {where}") for key in _LISTS}
    if texts["type"] not in KINDS:
        message = f"`type` of {where} must be one of {', '.join(KINDS)}, got {texts['type']!r}"
        raise ConfigurationError(message, remedy=_FIX)
    if texts["guard"] not in {"", "case"}:
        message = f"`guard` of {where} must be 'case', got {texts['guard']!r}"
        raise ConfigurationError(message, remedy=_FIX)
    own = {name} if texts["guard"] else set()
    return OntologyEntry(
        name,
        texts["type"],
        group=texts["group"],
        aliases=tuple(dict.fromkeys(lists["aliases"] + lists["guarded_aliases"])),
        cui=texts["cui"],
        pathways=lists["pathways"],
        related_drugs=lists["related_drugs"],
        smiles=texts["smiles"],
        guarded=frozenset(own | set(lists["guarded_aliases"])),
    )


def _mapping(value: object, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        message = f"{where} must be a mapping, got {type(value).__name__}"
        raise ConfigurationError(message, remedy=_FIX)
    return value


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        message = f"{where} must be a text, got {value!r}"
        raise ConfigurationError(message, remedy=f"put it in quotes; {_FIX}")
    return value


def _texts(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        message = f"{where} must be a list, got {value!r}"
        raise ConfigurationError(message, remedy=_FIX)
    return tuple(_text(item, where) for item in value)
