"""The one place where a missing ``documents`` extra is noticed."""

from importlib import import_module
from types import ModuleType

from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import Source

__all__ = ["load_reader"]


def load_reader(source: Source, module: str) -> ModuleType:
    """Return a module of this package that imports a library of the extra.

    Args:
        source: What is to be read.
        module: Full name of the module.

    Raises:
        UnreadableDocument: ``extra-missing`` when the library is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise UnreadableDocument(
            source.uri, "extra-missing", f"reading it needs the library {error.name!r}",
            remedy="pip install 'eagle-rag[documents]'",
        ) from error  # fmt: skip
