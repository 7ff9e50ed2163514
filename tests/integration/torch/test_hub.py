"""Hub ids: downloaded once from a hub on this machine, then read from the cache alone."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from eagle_rag.adapters.encoders.runtimes import open_text, open_visual
from eagle_rag.errors import EncoderLoadError
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.encoding import TextRecipe, VisualRecipe

pytestmark = pytest.mark.torch
ID, REVISION = "lab/tiny-bert", "0" * 39 + "1"
Find = Callable[[str], Path]
# In a process of its own, because the hub's library reads its environment when it is imported.
SCRIPT = """
import json, sys
from eagle_rag.adapters.encoders.runtimes import open_text
from eagle_rag.errors import EncoderLoadError
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.encoding import TextRecipe
from eagle_rag.testing.tiny_checkpoints import define_torchvision_operators

define_torchvision_operators()
card = EncoderCard("tiny", "text", 32, "torch", checkpoint=sys.argv[1], max_tokens=48)
encoder, said = open_text(card, TextRecipe()), []
for step in sys.argv[2:]:
    try:
        said.append(encoder.spec.digest if step == "spec" else encoder.encode_query("drug").spec.digest)
    except EncoderLoadError as error:
        said.append(str(error))
print(json.dumps(said))
"""


class _Hub(ThreadingHTTPServer):
    """The part of a model hub's interface that a download uses."""

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.folder = folder
        self.asked: list[str] = []
        self.fetched: list[str] = []


class _Answer(BaseHTTPRequestHandler):
    server: _Hub

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _answer(self, *, body: bool) -> None:
        path = self.path.partition("?")[0]
        self.server.asked.append(path)
        files = {file.name: file.read_bytes() for file in self.server.folder.iterdir()}
        name = path.rpartition("/")[2]
        if path.startswith(f"/api/models/{ID}/tree/"):
            entries = [
                {"type": "file", "path": key, "size": len(data), "oid": _oid(data)}
                for key, data in sorted(files.items())
            ]
            self._send(json.dumps(entries).encode(), body=body)
        elif path.startswith(f"/api/models/{ID}"):
            siblings = [{"rfilename": key} for key in sorted(files)]
            info = {"id": ID, "modelId": ID, "sha": REVISION, "siblings": siblings}
            self._send(json.dumps(info).encode(), body=body)
        elif path.startswith(f"/{ID}/resolve/") and name in files:
            if body:
                self.server.fetched.append(name)
            self._send(files[name], body=body)
        else:
            self.send_error(404)

    def _send(self, data: bytes, *, body: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("ETag", f'"{_oid(data)}"')
        self.send_header("X-Repo-Commit", REVISION)
        self.end_headers()
        if body:
            self.wfile.write(data)


def _oid(data: bytes) -> str:
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()


@pytest.fixture
def hub(checkpoint: Find, tmp_path: Path) -> Iterator[_Hub]:
    folder = tmp_path / "repository"
    folder.mkdir()
    for path in checkpoint("bert").iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    for name in ("README.md", "tf_model.h5", "pytorch_model.bin"):
        (folder / name).write_bytes(b"nothing that is loaded")
    server = _Hub(folder)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def _run(reference: str, *steps: str, cache: Path, hub: _Hub | None) -> list[str]:
    port = 9 if hub is None else hub.server_address[1]
    more = {
        "HF_ENDPOINT": f"http://127.0.0.1:{port}",
        "HF_HOME": str(cache),
        "HF_HUB_OFFLINE": "1" if hub is None else "0",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_XET": "1",
        "NO_PROXY": "127.0.0.1",
    }
    result = subprocess.run(  # noqa: S603 - our own interpreter and script
        [sys.executable, "-c", SCRIPT, reference, *steps],
        env=os.environ | more,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    said: list[str] = json.loads(result.stdout.splitlines()[-1])
    return said


def test_hub_id_is_downloaded_once_and_then_read_from_the_cache(
    hub: _Hub, tmp_path: Path, checkpoint: Find
) -> None:
    cache = tmp_path / "cache"
    before, encoded, after = _run(ID, "spec", "encode", "spec", cache=cache, hub=hub)
    assert "was not downloaded yet" in before
    assert f"hf download {ID}" in before
    card = EncoderCard("t", "text", 32, "torch", checkpoint=str(checkpoint("bert")))
    assert encoded == after == open_text(card, TextRecipe()).spec.digest
    # The weights in the format that is loaded, and what belongs to them: nothing else.
    assert sorted(hub.fetched) == [
        "config.json",
        "model.safetensors",
        "tokenizer_config.json",
        "vocab.txt",
    ]
    hub.asked.clear()
    assert _run(ID, "spec", "encode", cache=cache, hub=hub) == [after, after]
    assert hub.asked == []


def test_failed_download_names_checkpoint_and_remedy(hub: _Hub, tmp_path: Path) -> None:
    (absent,) = _run("lab/absent", "encode", cache=tmp_path / "cache", hub=hub)
    assert "lab/absent cannot be downloaded" in absent
    (offline,) = _run(ID, "encode", cache=tmp_path / "other", hub=None)
    assert f"{ID} cannot be downloaded" in offline
    assert "name a folder that holds the checkpoint" in offline


def test_repository_without_weights_is_refused(hub: _Hub, tmp_path: Path) -> None:
    for name in ("model.safetensors", "pytorch_model.bin"):
        (hub.folder / name).unlink()
    (said,) = _run(ID, "encode", cache=tmp_path / "cache", hub=hub)
    assert "has no weights that can be loaded" in said


def test_offline_hub_id_is_a_load_error() -> None:
    card = EncoderCard("t", "text", 32, "torch", checkpoint="lab/never-downloaded")
    encoder = open_text(card, TextRecipe())
    with pytest.raises(EncoderLoadError, match="lab/never-downloaded cannot be downloaded"):
        encoder.encode_query("a")
    with pytest.raises(EncoderLoadError, match="hf download lab/never-downloaded"):
        encoder.spec.digest  # noqa: B018 - reading it raises


def test_prefix_of_open_clip_is_understood() -> None:
    card = EncoderCard("t", "visual", 32, "torch", checkpoint="hf-hub:lab/clip", queries_text=True)
    encoder = open_visual(card, VisualRecipe(backend="open_clip"))
    with pytest.raises(EncoderLoadError, match="hf download lab/clip"):
        encoder.spec.digest  # noqa: B018 - reading it raises


def test_architecture_without_weights_takes_those_of_the_tag() -> None:
    """open_clip knows which repository holds them."""
    card = EncoderCard("t", "visual", 512, "torch", queries_text=True)
    encoder = open_visual(card, VisualRecipe(backend="open_clip"))
    with pytest.raises(EncoderLoadError, match=r"hf download timm/vit_base_patch16_clip"):
        encoder.spec.digest  # noqa: B018 - reading it raises


@pytest.mark.parametrize("reference", ["no such folder", "a/b/c", "", "../up"])
def test_what_is_neither_folder_nor_id_is_refused(reference: str) -> None:
    card = EncoderCard("t", "text", 32, "torch", checkpoint=reference)
    with pytest.raises(EncoderLoadError, match="neither a folder nor a hub id"):
        open_text(card, TextRecipe()).encode_query("a")
