"""Pictures on the command line: reading one to search by, listing and writing those kept."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from eagle_rag.errors import InvalidInput
from eagle_rag.model.passage import StoredAsset
from eagle_rag.surfaces.cli.output import print_text, say, visible

if TYPE_CHECKING:
    from eagle_rag.engine import Engine

__all__ = ["print_pictures", "read_image", "write_picture"]


def read_image(path: Path, most_bytes: int) -> bytes:
    """Return the bytes of a picture to search by; what they are is checked by the search.

    Raises:
        InvalidInput: It is absent, no file, or larger than ``most_bytes``.
    """
    try:
        if not path.is_file():
            message = f"--image {path}: no such file"
            raise InvalidInput(message, remedy="check the path")
        with path.open("rb") as stream:
            data = stream.read(most_bytes + 1)
    except OSError as error:
        message = f"--image {path} cannot be read: {error.strerror}"
        raise InvalidInput(message, remedy="check its permissions") from error
    if len(data) > most_bytes:
        message = f"--image {path} has more than {most_bytes:,} bytes"
        raise InvalidInput(message, remedy="scale it down, or raise ingest.max_file_bytes")
    return data


def print_pictures(pictures: Sequence[StoredAsset]) -> None:
    """Print one line a picture."""
    for item in pictures:
        places = ", ".join(place.collection for place in item.places) or "not searched by looks"
        print_text(
            visible(f"[picture {item.key}: {item.media_type}, {item.size_bytes} bytes, {places}]")
        )


def write_picture(
    engine: "Engine",
    document: str,
    key: str | None,
    *,
    output: Path | None,
    kb_names: tuple[str, ...] | None,
) -> None:
    """Write one picture of a document to a file that is not there yet.

    Raises:
        InvalidInput: Key or file is not given, or the file is there.
        NotFound: There is no such document or picture.
    """
    if key is None or output is None:
        message = "--picture and --output belong together"
        raise InvalidInput(message, remedy="for example --picture fig1 --output fig1.png")
    data = engine.picture(document, key, kb_names=kb_names)
    try:
        with output.open("xb") as stream:
            stream.write(data)
    except FileExistsError as error:
        message = f"--output {output} is there already"
        raise InvalidInput(message, remedy="name another file") from error
    say(f"wrote {len(data)} bytes to {output}")
