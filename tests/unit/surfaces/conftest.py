"""The command line, run in this process."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from eagle_rag.surfaces.cli.main import main


@dataclass(frozen=True)
class Outcome:
    """What a run left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON value on stdout."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        """The JSON values on stdout, one a line."""
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def eagle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Outcome]:
    """Run ``eagle`` in this process, with the hashing encoder, on an index below ``tmp_path``."""
    monkeypatch.chdir(tmp_path)
    # It would end the process of the tests.
    monkeypatch.setattr("eagle_rag.surfaces.cli.main.exit_within", lambda *_: None)
    for name in list(os.environ):
        if name.startswith("EAGLE_RAG_") or name == "PLUGIN_NAMESPACE":
            monkeypatch.delenv(name)
    monkeypatch.setenv("EAGLE_RAG_PROFILE", "core")

    def run(*arguments: str) -> Outcome:
        options = ["--data-dir", "index", "--set", "collections.eagle_text.encoder=hash"]
        monkeypatch.setattr("sys.argv", ["eagle", *options, *arguments])
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return Outcome(code, out, err)

    return run
