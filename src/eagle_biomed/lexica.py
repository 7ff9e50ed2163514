"""Choose larger lexica behind one interface; none is used unless ``lexica`` names it."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

from eagle_biomed.lexicon_source import LexiconSource
from eagle_rag.errors import ConfigurationError, UnknownName

__all__ = ["MRCONSO_VARIABLE", "chosen_sources"]

MRCONSO_VARIABLE: Final = "EAGLE_BIOMED_UMLS_MRCONSO_PATH"
"""Names a UMLS MRCONSO.RRF file; set, it is used without being listed in ``lexica``."""

_KNOWN: Final = ("hgnc", "mesh-diseases", "mrconso", "{tsv: PATH}")


def chosen_sources(options: Mapping[str, Any]) -> tuple[LexiconSource, ...]:
    """Return the lexica that the options and the environment ask for, in order.

    Args:
        options: ``plugins.options.biomed``: ``lexica`` and ``mrconso_path``.

    Raises:
        ConfigurationError: ``lexica`` is not a list, or a source lacks its file or package.
        UnknownName: No such source.
    """
    chosen = options.get("lexica", ())
    if isinstance(chosen, str) or not isinstance(chosen, Sequence):
        message = f"`lexica` must be a list, got {chosen!r}"
        raise ConfigurationError(message, remedy=f"list any of {', '.join(_KNOWN)}")
    path = os.environ.get(MRCONSO_VARIABLE, "") or str(options.get("mrconso_path", "") or "")
    wanted: list[object] = list(chosen)
    if path and "mrconso" not in wanted:
        wanted.append("mrconso")
    return tuple(_source(item, path) for item in wanted)


def _source(item: object, mrconso_path: str) -> LexiconSource:
    if isinstance(item, Mapping) and set(item) == {"tsv"}:
        from eagle_biomed.lexicon_tsv import TsvLexicon

        return TsvLexicon(str(item["tsv"]))
    if item == "mrconso":
        from eagle_biomed.mrconso import Mrconso

        if not mrconso_path:
            message = "the lexicon 'mrconso' has no file"
            remedy = f"set {MRCONSO_VARIABLE} or `mrconso_path` to MRCONSO.RRF"
            raise ConfigurationError(message, remedy=remedy)
        return Mrconso(mrconso_path)
    if isinstance(item, str) and item in {"hgnc", "mesh-diseases"}:
        from eagle_biomed.lexicon_packages import HgncGenes, MeshDiseases

        return HgncGenes() if item == "hgnc" else MeshDiseases()
    kind = "lexicon"
    raise UnknownName(kind, str(item), _KNOWN)
