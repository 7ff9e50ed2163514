"""House style 5 and 15: files, functions and protocols stay small."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted(
    path
    for folder in ("src", "tests", "benchmarks", "plugins_template")
    for path in (ROOT / folder).rglob("*.py")
)
MOST_FILE_LINES = 500
MOST_FUNCTION_LINES = 80
MOST_PROTOCOL_METHODS = 6


def _relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@pytest.mark.parametrize("path", FILES, ids=_relative)
def test_files_and_functions_stay_small(path: Path) -> None:
    source = path.read_text("utf-8")
    assert source.count("\n") <= MOST_FILE_LINES
    long = [
        f"{function.name} at line {function.lineno}"
        for function in _functions(ast.parse(source))
        if (function.end_lineno or 0) - function.lineno + 1 > MOST_FUNCTION_LINES
    ]
    assert long == []


def test_protocols_have_at_most_six_methods() -> None:
    large = []
    for path in sorted((ROOT / "src" / "eagle_rag" / "ports").glob("*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and any(
                "Protocol" in ast.dump(b) for b in node.bases
            ):
                methods = [item for item in node.body if isinstance(item, ast.FunctionDef)]
                if len(methods) > MOST_PROTOCOL_METHODS:
                    large.append(f"{path.name}: {node.name} has {len(methods)}")
    assert large == []


def test_everything_imported_outside_the_standard_library_is_declared() -> None:
    """A bare machine gets what the project names, nothing more."""
    import sys
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    optional = [*extras["documents"], *extras["torch"], *extras["lexica"]]
    declared = {
        requirement.split(">")[0].split("=")[0].split("<")[0].strip().lower().replace("-", "_")
        for requirement in [*project["dependencies"], *optional]
    }
    names = {
        "pyyaml": "yaml",
        "markdown_it_py": "markdown_it",
        "open_clip_torch": "open_clip",
        "pillow": "PIL",
        "python_docx": "docx",
        "python_pptx": "pptx",
    }
    known = {names.get(name, name) for name in declared} | set(sys.stdlib_module_names)
    missing: set[str] = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            modules = (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
            missing.update(module.split(".")[0] for module in modules)
    undeclared = missing - known - {"eagle_rag", "eagle_biomed", "pytest", "hypothesis"}
    assert undeclared == set()
