"""Fixtures every test may use, and the guard that keeps tests off the network."""

import ipaddress
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from eagle_rag.kernel.audit import AuditLog
from eagle_rag.kernel.bus import HookBus
from eagle_rag.kernel.plugins import Implementation, hook_parameters

if TYPE_CHECKING:
    from eagle_rag.engine import Engine
    from eagle_rag.kernel.bus import BoundBus


# Most tests are of the core alone; those of the default profile and of the plugin say so.
os.environ["EAGLE_RAG_PROFILE"] = "core"


@contextmanager
def _opener(folder: Path) -> Iterator[Callable[..., "Engine"]]:
    # The store takes seconds to import, and most tests do without.
    from eagle_rag.engine import open_engine
    from eagle_rag.kernel.settings import load_settings

    opened: list[Engine] = []

    def make(overrides: dict[str, object] | None = None) -> "Engine":
        engine = open_engine(
            load_settings(
                overrides={
                    "profile": "core",
                    "data_dir": str(folder / "index"),
                    "collections.eagle_text.encoder": "hash",
                    **(overrides or {}),
                },
                environ={},
            )
        )
        opened.append(engine)
        return engine

    yield make
    for engine in opened:
        engine.close()


@pytest.fixture
def make_engine(tmp_path: Path) -> Iterator[Callable[..., "Engine"]]:
    """Open engines of the core on one index below ``tmp_path``, with the hashing encoder; closed at the end.

    ``make_engine({"search.retracted": "hide"})`` takes setting overrides by dotted key.
    """
    with _opener(tmp_path) as make:
        yield make


@pytest.fixture(scope="module")
def make_shared_engine(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[..., "Engine"]]:
    """Open engines as ``make_engine`` does, on one index for all tests of a module."""
    with _opener(tmp_path_factory.mktemp("shared")) as make:
        yield make


@pytest.fixture
def engine(make_engine: Callable[..., "Engine"]) -> "Engine":
    """Return an engine on an empty index."""
    return make_engine()


@pytest.fixture
def make_bus() -> Callable[..., "BoundBus"]:
    """Make a bus of functions: ``make_bus(chunk=lambda document, passages: passages)``.

    Each function is a plugin of its own, named ``lab-<hook>``. With ``core`` the implementations of an
    engine come after them.
    """

    def make(core: "Engine | None" = None, **functions: Callable[..., object]) -> "BoundBus":
        own = [
            Implementation(hook, f"lab-{hook}", "core", 100, function, hook_parameters(hook))
            for hook, function in functions.items()
        ]
        others = () if core is None else core.kernel.loaded.implementations
        return HookBus((*own, *others), AuditLog(10)).bind("core")

    return make


@pytest.fixture(autouse=True)
def _no_network(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail a test without a ``network`` marker that connects anywhere but this machine."""
    if request.node.get_closest_marker("network") is not None:
        return
    for name in ("connect", "connect_ex"):
        original = getattr(socket.socket, name)

        def guarded(
            self: socket.socket,
            address: object,
            original: Callable[[socket.socket, object], object] = original,
        ) -> object:
            if self.family in {socket.AF_INET, socket.AF_INET6} and not _is_loopback(address):
                pytest.fail(f"this test connects to {address!r} without the network marker")
            return original(self, address)

        monkeypatch.setattr(socket.socket, name, guarded)


def _is_loopback(address: object) -> bool:
    host = address[0] if isinstance(address, tuple) else address
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(str(host)).is_loopback
    except ValueError:
        return False
