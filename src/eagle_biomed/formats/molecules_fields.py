"""What the fields of a compound's record say: its name, synonyms, identifiers, and the rest."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from eagle_biomed.formats.molecules_signs import fold_name

__all__ = ["MAX_FIELDS", "MAX_FIELD_CHARS", "Naming", "clean", "read_naming", "tells_names_alone"]

MAX_FIELDS = 50
MAX_FIELD_CHARS = 500
_MAX_NAME_CHARS = 300
_MAX_SYNONYMS = 100
_MAX_FIELD_NAME = 100


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_NAMES = _words(
    "name compound_name drug_name generic_name preferred_name pref_name common_name molecule_name"
    " chemical_name drug compound title inn label iupac_name pubchem_iupac_name"
)
_ID_NAMES = _words(
    "compound_id id molecule_chembl_id chembl_id drugbank_id database_id zinc_id chebi_id mol_id"
    " molecule_id cas cas_number"
)
_SYNONYMS = frozenset(
    _words(
        "brand_name brand_names trade_name trade_names alias aliases other_names iupac_name"
        " pubchem_iupac_name pubchem_iupac_traditional_name pubchem_iupac_systematic_name"
        " jchem_iupac jchem_traditional_iupac international_brands"
    )
)
_CIDS = frozenset({"pubchem_compound_cid", "pubchem_cid", "cid", "pubchem_id"})
_STRUCTURES = frozenset({"smiles", "inchi", "inchikey", "molblock", "molfile", "ctab", "smi"})
_SEPARATORS = re.compile(r"\s*[;|\n]\s*")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_PREFIXED = (
    ("chembl", re.compile(r"CHEMBL\d{1,9}")),
    ("drugbank", re.compile(r"DB\d{5}")),
    ("chebi", re.compile(r"CHEBI:\d{1,9}")),
    ("zinc", re.compile(r"ZINC\d{6,16}")),
)
_CAS = re.compile(r"(\d{2,7})-(\d{2})-(\d)")
_CID = re.compile(r"[1-9]\d{0,11}")


@dataclass(frozen=True, slots=True)
class Naming:
    """What a record is called.

    Args:
        name: Its name, or empty. Digits alone are no name.
        synonyms: Further names, each once, in order.
        ids: ``(scheme, value)`` pairs, sorted.
        fields: Other fields, folded and bounded, in order, each name once.
    """

    name: str
    synonyms: tuple[str, ...]
    ids: tuple[tuple[str, str], ...]
    fields: tuple[tuple[str, str], ...]


def clean(text: str, limit: int) -> str:
    """Return a text on one line without control characters, at most ``limit`` characters long."""
    if len(text) <= limit and "  " not in text and text.isprintable():
        return text.strip()
    folded = " ".join(_CONTROLS.sub(" ", text[: 4 * limit]).split())
    return folded if len(folded) <= limit else folded[: limit - 1] + "\u2026"


def read_naming(title: str, fields: Iterable[tuple[str, str]]) -> Naming:
    """Return what title and fields of a record say.

    Columns of structures are left out: the structure is given once, in its canonical form.

    Args:
        title: The record's own name, or empty.
        fields: Names and values as the file has them.
    """
    kept = [
        (name, fold_name(name), value)
        for name, value in fields
        if not _STRUCTURES.intersection(fold_name(name).split("_"))
    ]
    by_name: dict[str, str] = {}
    for _, folded, value in kept:
        by_name.setdefault(folded, clean(value, _MAX_NAME_CHARS))
    bare = clean(title, _MAX_NAME_CHARS)
    candidates = [
        *(by_name.get(known, "") for known in _NAMES),
        bare,
        *(by_name.get(known, "") for known in _ID_NAMES),
    ]
    name = next((each for each in candidates if _is_name(each)), "")
    given = [("record", bare)] if bare and not _is_name(bare) else []
    given += [(as_written, value) for as_written, _, value in kept]
    return Naming(
        name=name,
        synonyms=_synonyms(name, bare, kept),
        ids=tuple(sorted(set(_ids(bare, by_name)))),
        fields=_bounded(given),
    )


def tells_names_alone(field: str, value: str, names: frozenset[str]) -> bool:
    """Whether a field is a column of names and holds none but these.

    Args:
        field: Its name, as the file has it.
        value: Its value.
        names: Known names, case folded.
    """
    folded = fold_name(field)
    named = folded in _NAMES or folded in _ID_NAMES or folded in _SYNONYMS or "synonym" in folded
    return named and names.issuperset(
        clean(each, _MAX_NAME_CHARS).casefold() for each in _SEPARATORS.split(value) if each
    )


def _is_name(text: str) -> bool:
    return any(character.isalpha() for character in text)


def _synonyms(name: str, title: str, fields: list[tuple[str, str, str]]) -> tuple[str, ...]:
    found = [title]
    for _, folded, value in fields:
        if folded in _SYNONYMS or "synonym" in folded:
            found += _SEPARATORS.split(value[: _MAX_SYNONYMS * _MAX_NAME_CHARS])
        elif folded in _NAMES:
            found.append(value)
    cleaned = (clean(each, _MAX_NAME_CHARS) for each in found)
    unique = {each.casefold(): each for each in reversed([*cleaned]) if _is_name(each)}
    unique.pop(name.casefold(), None)
    return tuple(reversed(unique.values()))[:_MAX_SYNONYMS]


def _ids(title: str, fields: dict[str, str]) -> Iterator[tuple[str, str]]:
    for value in filter(None, (title, *map(fields.get, _NAMES), *map(fields.get, _ID_NAMES))):
        for scheme, pattern in _PREFIXED:
            if pattern.fullmatch(value):
                yield scheme, value
    for folded, value in fields.items():
        if "cas" in folded.split("_") and _is_cas(value):
            yield "cas", value
        if folded in _CIDS and _CID.fullmatch(value):
            yield "pubchem-cid", value


def _is_cas(text: str) -> bool:
    """Return whether a text is a CAS number: its last digit is the weighted sum of the others."""
    match = _CAS.fullmatch(text)
    if match is None:
        return False
    digits = (match[1] + match[2])[::-1]
    return sum(at * int(digit) for at, digit in enumerate(digits, 1)) % 10 == int(match[3])


def _bounded(fields: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    merged: dict[str, str] = {}
    for name, value in fields:
        key, text = clean(name, _MAX_FIELD_NAME), clean(value, MAX_FIELD_CHARS)
        if not key or not text or (key not in merged and len(merged) >= MAX_FIELDS):
            continue
        before = merged.get(key)
        known = before is None or text in before.split("; ")
        merged[key] = (before or text) if known else clean(f"{before}; {text}", MAX_FIELD_CHARS)
    return tuple(merged.items())
