"""Pictures of a document's figures and tables, from the files beside its source."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from eagle_rag.model.document import Companions, Figure, ParsedDocument, Source, Span, Table
from eagle_rag.model.passage import VisualAsset
from eagle_rag.ops.pictures import picture_type

__all__ = ["PictureLimits", "extract_pictures"]

_ENDINGS = (".jpg", ".jpeg", ".png", ".gif", ".tif", ".tiff", ".bmp", ".webp")
"""Tried in this order: where a file is there in several forms, the one that publishers show."""

_FOLDERS = frozenset(
    {"figures", "figure", "figs", "fig", "images", "image", "img", "graphics", "pictures", "media"}
)
"""Folders where a bare name is looked for; any other may be another paper's, with a figure so named."""

_NEVER = (
    ".xml", ".nxml", ".html", ".htm", ".txt", ".md", ".json", ".pdf", ".csv", ".tsv", ".gz", ".zip",
)  # fmt: skip
"""Endings that no picture has, so that a folder of papers costs little to look through."""


@dataclass(frozen=True, slots=True)
class PictureLimits:
    """How many pictures of one document are taken in.

    Args:
        count: Most pictures.
        total_bytes: Most bytes of all of them together.
    """

    count: int = 200
    total_bytes: int = 64 << 20


def extract_pictures(
    document: ParsedDocument, source: Source, limits: PictureLimits
) -> tuple[VisualAsset, ...]:
    """Return the pictures that figures and tables name and that lie beside the source.

    A file is found by its exact name, then by its stem with an ending of a picture or with none; beside
    the source, or in a folder there that is named ``figures``, ``images`` and the like or as the source
    is. What it is, its first bytes say; what is no picture is left out, and so is a file that two figures name,
    the second time. The first picture of a figure has the figure's key, the others ``key#2`` and on.

    Args:
        document: The document.
        source: Where it came from.
        limits: The first picture beyond them is still returned, so that the caller sees there are more. As
            many bytes that turn out to be no pictures end the search too.
    """
    if source.companions is None:
        return ()
    shelf = _Shelf(source.companions, _FOLDERS | {_bare_stem(source.uri)})
    found: list[VisualAsset] = []
    total = 0
    for key, caption, graphics in _floats(document):
        number = 0
        for graphic in graphics:
            data = shelf.take(graphic)
            if shelf.wasted_bytes > limits.total_bytes:
                return tuple(found)
            if data is None:
                continue
            number += 1
            name = key if number == 1 else f"{key}#{number}"
            found.append(VisualAsset(name, picture_type(data), data, caption))
            total += len(data)
            if len(found) > limits.count or total > limits.total_bytes:
                return tuple(found)
    return tuple(found)


def _floats(document: ParsedDocument) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    floats: tuple[Figure | Table, ...] = (*document.figures, *document.tables)
    for each in floats:
        if each.graphics:
            yield each.key, _caption(document, each.caption), each.graphics


def _caption(document: ParsedDocument, span: Span | None) -> str:
    return "" if span is None else document.text[span.start : span.end]


class _Shelf:
    """The files beside a source, each taken once; counts the bytes that were no picture."""

    def __init__(self, companions: Companions, folders: frozenset[str]) -> None:
        self._companions = companions
        self._folders = folders
        self._taken: set[str] = set()
        self._names: dict[str, str] | None = None
        self._is_listed = False
        self.wasted_bytes = 0

    def take(self, graphic: str) -> bytes | None:
        """Return the picture a document names so, or ``None``."""
        if not graphic or ":" in graphic:  # another place, such as https://
            return None
        stem = _stem(graphic)
        if stem in self._taken:  # the same picture in another form
            return None
        for name in self._candidates(graphic, stem):
            data = self._companions.read(name)
            if data is not None and picture_type(data):
                self._taken.add(stem)
                return data
            self.wasted_bytes += 0 if data is None else len(data)
        return None

    def _candidates(self, graphic: str, stem: str) -> Iterator[str]:
        """Yield names to ask for, the likeliest first."""
        spellings = (graphic, *(stem + ending for ending in _ENDINGS), stem)
        if graphic != stem:
            spellings += tuple(graphic + ending for ending in _ENDINGS)
        listed = self._listed()
        if not self._is_listed:  # too many files to list, or none: they may be there all the same
            yield from dict.fromkeys(spellings)
            return
        names: dict[str, None] = {}
        for spelling in (*spellings, *(PurePosixPath(each).name for each in spellings)):
            found = listed.get(spelling) or listed.get(spelling.casefold())
            if found is not None:
                names[found] = None
        yield from names

    def _listed(self) -> dict[str, str]:
        """Return what is there by name, by bare name in a folder of pictures, by both in lower case."""
        if self._names is None:
            self._names = {}
            for name in self._companions.names():
                self._is_listed = True
                if name.endswith(_NEVER):
                    continue
                folder, _, bare = name.rpartition("/")
                known = not folder or folder.casefold() in self._folders
                for spelling in (name, bare) if known else (name,):
                    self._names.setdefault(spelling, name)
                    self._names.setdefault(spelling.casefold(), name)
        return self._names


def _bare_stem(uri: str) -> str:
    return PurePosixPath(uri.replace("!/", "/")).stem.casefold()


def _stem(graphic: str) -> str:
    """Return a name without an ending of a picture; others are part of it, as in ``pone.0012.g001``."""
    lower = graphic.lower()
    ending = next((each for each in _ENDINGS if lower.endswith(each)), "")
    return graphic[: len(graphic) - len(ending)] if ending else graphic
