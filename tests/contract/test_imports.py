"""Importing the package, or asking the command line for help, loads nothing heavy."""

import importlib.util
import subprocess
import sys

import pytest

HEAVY = (
    "torch",
    "transformers",
    "onnxruntime",
    "tokenizers",
    "lancedb",
    "pyarrow",
    "sqlalchemy",
    "alembic",
    "fastapi",
    "starlette",
    "httpx",
    "mcp",
    "lxml",
    "eagle_biomed",
    "eagle_echo",
)
_CLI = "eagle_rag.surfaces.cli.main"
_REPORT = "import sys; print('LOADED', *sorted({name.partition('.')[0] for name in sys.modules}))"
_HELP = """
import runpy
import sys
sys.argv = ["eagle", "--help"]
try:
    runpy.run_module("eagle_rag.surfaces.cli.main", run_name="__main__", alter_sys=True)
except SystemExit as error:
    assert not error.code, error.code
"""


def _loaded(script: str) -> set[str]:
    result = subprocess.run(  # noqa: S603 - our own interpreter and script
        [sys.executable, "-W", "error", "-c", f"{script}\n{_REPORT}"],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    line = result.stdout.splitlines()[-1]
    assert line.startswith("LOADED "), result.stdout
    return set(line.split()[1:])


def test_importing_the_package_loads_nothing_heavy() -> None:
    loaded = _loaded("import eagle_rag; dir(eagle_rag)")
    assert loaded.isdisjoint({*HEAVY, "pydantic_settings", "pydantic", "numpy", "pluggy"})


def test_reading_settings_loads_no_store_and_no_model() -> None:
    assert _loaded("import eagle_rag; eagle_rag.load_settings(environ={})").isdisjoint(HEAVY)


def test_kernel_and_stages_load_nothing_heavy() -> None:
    modules = "bus", "plugins", "core_plugin", "encoders", "collections", "audit"
    script = "\n".join(f"import eagle_rag.kernel.{module}" for module in modules)
    assert _loaded(script).isdisjoint(HEAVY)


@pytest.mark.skipif(
    importlib.util.find_spec("eagle_rag.surfaces.cli") is None
    or importlib.util.find_spec(_CLI) is None,
    reason="the command line is not there",
)
def test_asking_the_command_line_for_help_loads_nothing_heavy() -> None:
    assert _loaded(_HELP).isdisjoint(HEAVY)
