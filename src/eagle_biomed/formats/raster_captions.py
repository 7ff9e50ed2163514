"""What is known of a picture: from a file beside it, from the picture itself, from its name.

A picture that a paper beside it names as its figure is the paper's: ``owner`` finds that paper.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote

from eagle_biomed.formats.images_signs import PICTURE_ENDINGS
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import Companions, Source
from eagle_rag.ops.decoding import decode_text

__all__ = ["Caption", "bare_name", "name_in_words", "owner", "sidecar"]

_MAX_SIDECAR_BYTES = 256 << 10
_MAX_CAPTION = 8000  # characters; longer texts beside a picture are documents, not captions
_MAX_PAPERS = 20
_MAX_PAPER_BYTES = 16 << 20  # of all papers looked into for one picture
_PAPERS = (".xml", ".nxml", ".html", ".htm", ".md")
_OTHER_ENDINGS = frozenset({".pdf", ".docx", ".docm", ".pptx", ".pptm"})
_SIDECARS = (".caption.txt", ".json", ".txt", ".md")
_GRAPHIC = re.compile(
    r"<(?:[\w-]{1,20}:)?(?:graphic|inline-graphic|media|img)\b[^<>]{0,1000}?"
    r"\b(?:href|src)\s*=\s*[\"']([^\"'<>]{1,500})[\"']"
    r"|!\[[^\]\n]{0,2000}\]\(<?([^)\s<>]{1,500})",
    re.IGNORECASE,
)
_JATS = re.compile(r"<(?:[\w-]{1,20}:)?article[\s>]", re.IGNORECASE)
_TEXT_KEYS = ("title", "caption", "modality")


@dataclass(frozen=True, slots=True)
class Caption:
    """What a picture shows.

    Args:
        title: Short name, or empty.
        text: Caption, or empty.
        modality: Kind of image as a sidecar names it, or empty.
    """

    title: str = ""
    text: str = ""
    modality: str = ""


def bare_name(uri: str) -> str:
    """Return a file's own name, without folders and archive."""
    return PurePosixPath(uri.replace("!/", "/")).name


def name_in_words(uri: str) -> str:
    """Return ``Chest film 2`` for ``chest_film-2.png``: the name without ending, in words."""
    name = _stem(bare_name(uri))
    path = PurePosixPath(name)
    stem = path.stem if path.suffix.lower() in _OTHER_ENDINGS else name
    words = " ".join(re.split(r"[\s_\-.+]+", stem)).strip()
    return words[:1].upper() + words[1:]


def sidecar(source: Source) -> Caption | None:
    """Return what a file beside a picture says of it, or ``None``.

    Looked for, in this order: ``x.caption.txt``, ``x.json`` (keys ``title``, ``caption``, ``modality``),
    ``x.txt``, ``x.md``, the same with the picture's ending kept (``x.png.txt``).
    """
    if source.companions is None:
        return None
    name = bare_name(source.uri)
    for ending in _SIDECARS:
        for candidate in dict.fromkeys((_stem(name) + ending, name + ending)):
            found = _read_sidecar(source.companions, candidate)
            if found is not None:
                return found
    return None


def owner(source: Source) -> str:
    """Return the name of the paper beside a picture that names it as its figure, or nothing.

    Of many papers those whose names begin like the picture's are looked into first.
    """
    if source.companions is None:
        return ""
    name = bare_name(source.uri)
    papers = [each for each in source.companions.names() if "/" not in each and _is_paper(each)]
    papers.sort(key=lambda each: (-_shared(each, name), each))
    wanted = _stem(name).casefold()
    left = _MAX_PAPER_BYTES
    for paper in papers[:_MAX_PAPERS]:
        data = source.companions.read(paper)
        if data is None or len(data) > left:
            continue
        left -= len(data)
        if wanted in _graphics(paper, data):
            return paper
    return ""


def _shared(first: str, second: str) -> int:
    """Return how many characters two names begin with in common."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(first), len(second)))


def _is_paper(name: str) -> bool:
    return name.lower().endswith(_PAPERS)


def _graphics(paper: str, data: bytes) -> frozenset[str]:
    """Return the stems of the pictures beside it that a paper shows, in lower case."""
    text = _decoded(paper, data)
    if paper.lower().endswith(("xml",)) and not _JATS.search(text):
        return frozenset()
    return frozenset(_stems(match[1] or match[2] for match in _GRAPHIC.finditer(text)))


def _stems(references: Iterable[str]) -> Iterable[str]:
    for reference in references:
        path = unquote(reference).split("?")[0].removeprefix("./")
        if "/" not in path and ":" not in path:  # another folder's pictures are not beside it
            yield _stem(path).casefold()


def _stem(name: str) -> str:
    """Return a name without an ending of a picture; others are part of it, as in ``pone.0012.g001``."""
    lower = name.lower()
    ending = next((each for each in PICTURE_ENDINGS if lower.endswith(each)), "")
    return name[: len(name) - len(ending)] if ending else name


def _read_sidecar(companions: Companions, name: str) -> Caption | None:
    data = companions.read(name)
    if data is None or not data.strip() or len(data) > _MAX_SIDECAR_BYTES:
        return None
    text = _decoded(name, data)
    if name.lower().endswith(".json"):
        return _json_caption(text)
    paragraphs = " ".join(text.split())
    return Caption(text=paragraphs[:_MAX_CAPTION]) if paragraphs else None


def _json_caption(text: str) -> Caption | None:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(values, dict):
        return None
    lower = {str(key).lower(): value for key, value in values.items()}
    title, caption, modality = (
        " ".join(lower[key].split())[:_MAX_CAPTION] if isinstance(lower.get(key), str) else ""
        for key in _TEXT_KEYS
    )
    return Caption(title, caption, modality) if title or caption or modality else None


def _decoded(name: str, data: bytes) -> str:
    try:
        return decode_text(Source(name, data, ""))[0]
    except UnreadableDocument:
        return ""
