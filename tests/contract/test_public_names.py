"""What a module says it exports exists, and what others use of it is exported."""

import ast
import importlib
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

import eagle_rag

SOURCE = Path(str(eagle_rag.__file__)).parent


def _modules() -> list[str]:
    # Migration scripts are run by Alembic, one by one; importing them is its business.
    files = (file for file in SOURCE.rglob("*.py") if "migrations" not in file.parts)
    parts = (file.relative_to(SOURCE).with_suffix("").parts for file in files)
    names = {".".join(("eagle_rag", *each)).removesuffix(".__init__") for each in parts}
    return sorted(names - {"eagle_rag"})


@cache
def _tree(name: str) -> ast.Module:
    path = SOURCE.joinpath(*name.split(".")[1:])
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(file.read_text(encoding="utf-8"))


def _exported(name: str) -> list[str] | None:
    for node in _tree(name).body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign):
            targets = [node.target]
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            value = getattr(node, "value", None)
            names: list[str] = ast.literal_eval(value) if value is not None else []
            return names
    return None


def _imported(name: str) -> ModuleType:
    return importlib.import_module(name)


@pytest.mark.parametrize("name", _modules())
def test_a_module_exports_sorted_names_that_exist(name: str) -> None:
    exported = _exported(name)
    if exported is None:
        body = [node for node in _tree(name).body if not isinstance(node, ast.Expr)]
        assert not body, f"{name} has no __all__"
        return
    assert len(exported) == len(set(exported))
    module = _imported(name)
    missing = [each for each in exported if not hasattr(module, each)]
    assert not missing


@pytest.mark.parametrize("name", _modules())
def test_modules_take_from_each_other_only_what_is_exported(name: str) -> None:
    modules = set(_modules())
    for node in ast.walk(_tree(name)):
        if not isinstance(node, ast.ImportFrom) or node.module not in modules:
            continue
        exported = _exported(node.module) or []
        taken = [each.name for each in node.names if f"{node.module}.{each.name}" not in modules]
        hidden = [each for each in taken if each not in exported]
        assert not hidden, f"{name} takes {hidden} of {node.module}"


def test_the_package_lists_its_lazy_names() -> None:
    assert set(dir(eagle_rag)) == set(eagle_rag.__all__)


@pytest.mark.parametrize("name", eagle_rag.__all__)
def test_every_public_name_loads(name: str) -> None:
    assert getattr(eagle_rag, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'absent'"):
        _ = eagle_rag.absent
