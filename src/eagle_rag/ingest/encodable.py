"""Whether a document can be written at all: a lone surrogate has no UTF-8, so no store takes it.

XML cannot hold one, but an escape in YAML or JSON can, and a plugin may read anything.
"""

from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import Any

from eagle_rag.model.document import ParsedDocument, Reference, Table

__all__ = ["find_surrogate"]

_flat = chain.from_iterable
_of_reference: Callable[[Reference], tuple[str, ...]] = attrgetter(
    "key", "label", "raw", "title", "pmid", "pmcid", "doi"
)


def find_surrogate(document: ParsedDocument) -> str | None:
    """Return what part of a document holds a lone surrogate, in words; ``None`` for none."""
    about = (document.metadata, document.warnings, document.member)
    # Each part is joined and looked at in one call: it has hundreds of strings.
    parts: tuple[tuple[str, Iterable[str]], ...] = (
        ("its text", (document.text,)),
        ("its metadata", _strings_in(about)),
        ("a section title", _flat(section.path for section in document.sections)),
        ("a table", _flat(map(_of_table, document.tables))),
        ("a figure", _flat((f.key, f.label, *f.graphics) for f in document.figures)),
        ("a reference", _flat(map(_of_reference, document.references))),
    )
    for name, strings in parts:
        joined = " ".join(strings)  # apart: two halves must not make a whole
        if not joined.isascii() and not _is_encodable(joined):
            return name
    return None


def _of_table(table: Table) -> Iterable[str]:
    cells = _flat(chain(table.rows, table.column_paths, table.row_paths))
    return chain((table.key, table.label), table.graphics, cells)


def _strings_in(value: object) -> list[str]:
    """Return every string inside a value, in no order."""
    strings: list[str] = []
    left: list[Any] = [value]
    while left:
        item = left.pop()
        kind = type(item)
        if kind is str:
            strings.append(item)
        elif kind is tuple:
            left += item
        elif item is not None:
            left += _inside(kind)(item)  # type: ignore[arg-type]  # mypy sees no __hash__ of a type
    return strings


@lru_cache(maxsize=64)
def _inside(kind: type) -> Callable[[Any], Iterable[object]]:
    """Return what gives the contents of a value of this type: nothing, unless it may hold strings."""
    if issubclass(kind, (tuple, list)):
        return iter
    if issubclass(kind, str):
        return lambda item: (str.__str__(item),)
    names = [field.name for field in fields(kind)] if is_dataclass(kind) else []
    if len(names) > 1:
        return attrgetter(*names)
    # Of one name attrgetter gives the bare value.
    return lambda item: [getattr(item, name) for name in names]


def _is_encodable(text: str) -> bool:
    try:
        text.encode("utf-16-le")  # as strict as UTF-8, and several times as fast
    except UnicodeEncodeError:
        return False
    return True
