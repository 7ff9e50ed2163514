"""The command line off the plugin's namespace, beside a library of the plugin: byte for byte the core alone.

Two data directories: one was only ever used with the profile ``core``; in the other one the same papers are
in the namespace of the core, and the whole sample is in that of the plugin. Only times are left out of what is
compared.
"""

import io
import os
import re
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from eagle_rag.sample import record_paths, sample_paths
from eagle_rag.surfaces.cli.main import main

_HASHED = (
    *("--set", "collections.eagle_text.encoder=hash"),
    *("--set", "ingest.workers=1"),
)
_PLUGIN = ("--set", "plugins.options.biomed.encoders.eagle_text_biomed=hash")
_CORE = ("--profile", "core")
_ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"
QUERIES = (
    ("AZD9291 resistance by C797S",),
    ("compound HMPL-013",),
    (f"SMILES {_ASPIRIN}",),
    ("VULPEXA prescribing information: warnings about QTc prolongation",),
    ("osimertinib plus savolitinib and Fruzaqla", "--group-by", "passage", "--top-k", "20"),
    ("chest radiograph of a biopsy", "--mode", "dense"),
    ("venetoclax", "--fusion", "weighted", "--offset", "1"),
    ("what becomes of T cells", "--mode", "lexical"),
)
_TIMES = re.compile(rb'"elapsed_ms": (?:null|[0-9.e-]+)')


def eagle(folder: Path, *arguments: str) -> bytes:
    """Run ``eagle`` in this process, without any setting of ours; return what it printed."""
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="utf-8", write_through=True)
    with (
        pytest.MonkeyPatch.context() as patch,
        redirect_stdout(out),
        redirect_stderr(io.StringIO()),
    ):
        for name in [each for each in os.environ if "EAGLE" in each]:
            patch.delenv(name)
        patch.chdir(folder.parent)
        patch.setattr("eagle_rag.surfaces.cli.main.exit_within", lambda *_: None)
        patch.setattr("sys.argv", ["eagle", "--data-dir", str(folder), *_HASHED, *arguments])
        with pytest.raises(SystemExit) as stopped:
            main()
    assert stopped.value.code in {None, 0}
    return raw.getvalue()


def search(folder: Path, profile: tuple[str, ...], *query: str) -> bytes:
    """Return what a search prints, without times."""
    printed = eagle(folder, *profile, "search", *query, "--json", "--explain")
    assert printed.count(b'"elapsed_ms"') == len(_TIMES.findall(printed)) > 0
    return _TIMES.sub(b"", printed)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory of the core alone, with the sample's papers."""
    folder = tmp_path_factory.mktemp("alone") / "data"
    eagle(folder, *_CORE, "ingest", *map(str, sample_paths()))
    return folder


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return one that the plugin has filled with the whole sample, and the core with the papers."""
    folder = tmp_path_factory.mktemp("shared") / "data"
    eagle(folder, *_PLUGIN, "ingest", *map(str, [*sample_paths(), *record_paths()]))
    eagle(folder, *_CORE, "ingest", *map(str, sample_paths()))
    return folder


@pytest.mark.parametrize("query", QUERIES, ids=" ".join)
def test_a_query_off_the_namespace_prints_what_the_core_alone_prints(
    alone: Path, shared: Path, query: tuple[str, ...]
) -> None:
    printed = search(alone, _CORE, *query)
    assert printed.count(b'"rank": ') > 1
    assert search(shared, _CORE, *query) == printed


@pytest.mark.parametrize("query", QUERIES, ids=" ".join)
def test_the_same_query_on_the_namespace_prints_something_else(
    shared: Path, query: tuple[str, ...]
) -> None:
    """The control: else the two directories would be alike because the plugin did nothing."""
    own = search(shared, _PLUGIN, *query)
    assert b" by biomed-" in own
    assert own != search(shared, _CORE, *query)


def test_two_processes_print_the_same_bytes(alone: Path, shared: Path) -> None:
    """As a user runs it, each from a fresh start."""
    query = ("search", "AZD9291 resistance by C797S", "--json", "--explain")
    environ = {name: value for name, value in os.environ.items() if "EAGLE" not in name}
    printed = [
        subprocess.run(  # noqa: S603 - this interpreter, arguments of this file
            [
                *(sys.executable, "-c", "from eagle_rag.surfaces.cli.main import main; main()"),
                *("--data-dir", str(folder), *_HASHED, *_CORE, *query),
            ],
            cwd=folder.parent, env=environ, check=True, capture_output=True, timeout=120,
        ).stdout
        for folder in (alone, shared)
    ]  # fmt: skip
    first, second = (_TIMES.sub(b"", each) for each in printed)
    assert first == second == search(alone, _CORE, query[1])
