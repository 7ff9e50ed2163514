"""Coded concepts of DICOM files: their meaning comes from the standard's dictionary.

A file gives code, scheme and a meaning in free text. That text is never shown: it is looked up in
pydicom's copy of the context groups (PS3.16) by code and scheme, so nothing that somebody typed is
shown. A code that is not there is dropped.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache

from pydicom.dataset import Dataset
from pydicom.sequence import Sequence
from pydicom.sr._snomed_dict import mapping as snomed_mapping
from pydicom.sr.codedict import codes

from eagle_biomed.formats.dicom_values import element_of, text_of

__all__ = ["code_meaning", "first_meaning", "items_of", "meanings_of"]

_MAX_ITEMS = 5000
_OLD_SNOMED = frozenset({"SRT", "SNM3", "99SDM"})
_KIND = re.compile(
    r"(?:\s*\((?:body structure|finding|disorder|procedure|organ|qualifier value)\))+$"
)


@cache
def _dictionary() -> Mapping[tuple[str, str], tuple[str, ...]]:
    """Return the meanings of each code, the shortest first: some codes have several."""
    found: dict[tuple[str, str], set[str]] = {}
    for scheme in codes.schemes():
        for code in getattr(codes, scheme).concepts.values():
            found.setdefault((scheme, code.value), set()).add(code.meaning)
    return {
        code: tuple(sorted(meanings, key=lambda text: (len(text), text)))
        for code, meanings in found.items()
    }


def _plain(meaning: str) -> str:
    """Return "Liver" for "Liver structure (body structure)", the full name in SNOMED CT."""
    name = _KIND.sub("", meaning)
    if name == meaning:
        return meaning
    name = name.removesuffix(" structure").removeprefix("Structure of ")
    return name[:1].upper() + name[1:]


def code_meaning(item: Dataset) -> str:
    """Return the dictionary's meaning of a code item, or nothing when it is unknown."""
    value = text_of(item, "CodeValue")
    scheme = text_of(item, "CodingSchemeDesignator")
    if scheme in _OLD_SNOMED and value in snomed_mapping["SRT"]:
        scheme, value = "SCT", snomed_mapping["SRT"][value]
    meanings = _dictionary().get((scheme, value), ())
    # Of several meanings the file's own is taken, but in the dictionary's words.
    own = text_of(item, "CodeMeaning").casefold()
    chosen = next((each for each in meanings if each.casefold() == own), "".join(meanings[:1]))
    return _plain(chosen)


def items_of(dataset: Dataset, keyword: str) -> Iterator[Dataset]:
    """Yield the first items of a sequence; nothing when it is absent or not a sequence."""
    value = element_of(dataset, keyword)
    if isinstance(value, Sequence):
        yield from value[:_MAX_ITEMS]


def meanings_of(dataset: Dataset, keyword: str) -> tuple[str, ...]:
    """Return the known meanings of a code sequence, in order, repeats removed."""
    found = (code_meaning(item) for item in items_of(dataset, keyword))
    return tuple(dict.fromkeys(filter(None, found)))


def first_meaning(dataset: Dataset, keyword: str) -> str:
    """Return the first known meaning of a code sequence, or nothing."""
    return next(iter(meanings_of(dataset, keyword)), "")
