"""A lexicon compiled to disk: found again by the digest of its content, opened without reading it.

A compiled lexicon is a folder: ``names.sqlite`` (entities and names), ``fingerprints.npy`` (mapped, so that
processes share it) and ``manifest.json``, written last. It is written beside its place and renamed; one
that is damaged is built again.
"""

import hashlib
import json
import logging
import os
import shutil
import sqlite3
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import numpy as np

from eagle_biomed.entity_names import normalise
from eagle_biomed.lexicon_guards import lexicon_guard
from eagle_biomed.lexicon_source import LexiconEntry, LexiconSource
from eagle_biomed.matching import (
    MAX_NAME_CHARS,
    MAX_NAME_PARTS,
    Form,
    count_parts,
    fingerprints_of,
)
from eagle_rag.errors import ConfigurationError

__all__ = ["LexiconReport", "StoredEntity", "StoredLexicon", "default_cache_dir", "open_lexicon"]

_LOG: Final = logging.getLogger(__name__)
_FORMAT: Final = 1  # of the folder; another number is another folder
_DATABASE: Final = "names.sqlite"
_FINGERPRINTS: Final = "fingerprints.npy"
_MANIFEST: Final = "manifest.json"
_BATCH: Final = 20_000
_AMBIGUOUS: Final = 2  # HR and SD are genes in HGNC, and statistics in articles
_CACHED_FORMS: Final = 1 << 16
_TABLES: Final = """
CREATE TABLE entities (id INTEGER PRIMARY KEY, key TEXT, name TEXT, cui TEXT, kind TEXT);
CREATE UNIQUE INDEX entity_cui ON entities (cui) WHERE cui != '';
CREATE TABLE names (fingerprint INTEGER, entity INTEGER, alias INTEGER, name TEXT);
"""
_INDEXES: Final = """
CREATE INDEX name_fingerprint ON names (fingerprint);
CREATE INDEX name_entity ON names (entity);
CREATE INDEX entity_key ON entities (key);
"""
_FORMS: Final = """
SELECT n.name, e.name, e.kind FROM names n JOIN entities e ON e.id = n.entity
WHERE n.fingerprint = ? ORDER BY n.alias, e.id, n.rowid
"""
_DAMAGED: Final = (OSError, ValueError, KeyError, TypeError, EOFError, sqlite3.DatabaseError)

Name = tuple[str, str, int, int]  # key, name, entity, whether it is an alias


@dataclass(frozen=True, slots=True)
class LexiconReport:
    """What became of a lexicon.

    Args:
        source: Its name.
        licence: Its terms.
        entities: Entities stored.
        names: Names stored.
        skipped: Rows and names left out, by reason.
    """

    source: str
    licence: str
    entities: int = 0
    names: int = 0
    skipped: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class StoredEntity:
    """An entity of a lexicon; aliases in the order of the lexicon."""

    name: str
    key: str
    cui: str
    kind: str
    aliases: tuple[str, ...]


def default_cache_dir() -> Path:
    """Return the folder of compiled lexica below the user's cache folder."""
    root = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(root) if root else Path.home() / ".cache") / "eagle-rag" / "lexica"


class StoredLexicon:
    """A compiled lexicon, read-only; safe to share among threads.

    Args:
        folder: Where it is.

    Raises:
        OSError: It is not there.
        ValueError: It is damaged, or of another format; also the other errors of ``_DAMAGED``.
    """

    def __init__(self, folder: Path) -> None:
        manifest: Mapping[str, Any] = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        for name in (_DATABASE, _FINGERPRINTS):
            if _digest(folder / name) != manifest["files"][name]:
                message = f"{name} is damaged"
                raise ValueError(message)
        self.report = LexiconReport(
            manifest["source"],
            manifest["licence"],
            manifest["entities"],
            manifest["names"],
            tuple((reason, count) for reason, count in manifest["skipped"].items()),
        )
        self.parts = int(manifest["parts"])
        self.fingerprints = np.load(folder / _FINGERPRINTS, mmap_mode="r", allow_pickle=False)
        self._uri = f"file:{quote(str(folder / _DATABASE))}?mode=ro&immutable=1"
        self._local = threading.local()
        self._cached = lru_cache(maxsize=_CACHED_FORMS)(self._read_forms)

    def forms(self, fingerprint: int, key: str) -> Sequence[Form]:
        """Return the forms with this key, canonical names first."""
        return self._cached(fingerprint, key)

    def by_key(self, key: str) -> tuple[StoredEntity, ...]:
        """Return the entities whose canonical name has this key, in order of the lexicon."""
        return self._entities("WHERE key = ? ORDER BY id", (key,))

    def by_name(self, key: str) -> tuple[StoredEntity, ...]:
        """Return the entities one of whose names has this key: canonical names first.

        A name that is too short or too long to be looked for in a text is known here when it is canonical.
        """
        [fingerprint] = fingerprints_of([key]).tolist() if 0 < len(key) <= MAX_NAME_CHARS else [0]
        keys = dict.fromkeys([key, *(_key(form.entity) for form in self.forms(fingerprint, key))])
        return tuple(entity for canonical in keys for entity in self.by_key(canonical))

    def names(self) -> Iterator[tuple[str, str]]:
        """Yield key and canonical name of every entity, in order of the lexicon."""
        yield from self._connection().execute("SELECT key, name FROM entities ORDER BY id")

    def _entities(self, where: str, values: tuple[str, ...]) -> tuple[StoredEntity, ...]:
        connection = self._connection()
        found = connection.execute(
            f"SELECT id, name, key, cui, kind FROM entities {where}",  # noqa: S608 - clauses of this module
            values,
        ).fetchall()
        aliases = "SELECT name FROM names WHERE entity = ? AND alias ORDER BY rowid"
        return tuple(
            StoredEntity(
                name,
                key,
                cui,
                kind,
                tuple(row[0] for row in connection.execute(aliases, (number,))),
            )
            for number, name, key, cui, kind in found
        )

    def _read_forms(self, fingerprint: int, key: str) -> tuple[Form, ...]:
        forms = []
        for name, entity, kind in self._connection().execute(_FORMS, (_signed(fingerprint),)):
            normal = normalise(name)
            if normal.key == key:
                forms.append(Form(entity, normal.ties, guard=lexicon_guard(name, kind)))
        return tuple(forms)

    def _connection(self) -> sqlite3.Connection:
        """Return this thread's connection; a process that was forked opens its own."""
        owner = getattr(self._local, "owner", None)
        if owner is None or owner[0] != os.getpid():
            owner = (os.getpid(), sqlite3.connect(self._uri, uri=True))
            self._local.owner = owner
        connection: sqlite3.Connection = owner[1]
        return connection


def open_lexicon(
    source: LexiconSource, cache_dir: Path, *, digest: str | None = None
) -> StoredLexicon | None:
    """Return a compiled lexicon, compiling it when the cache does not have it; ``None`` when it is empty.

    Args:
        source: The lexicon.
        cache_dir: Folder of compiled lexica; made when absent.
        digest: ``source.digest()``, when the caller knows it.

    Raises:
        ConfigurationError: The cache cannot be written.
        InvalidInput: The lexicon is not what it should be.
    """
    digest = source.digest() if digest is None else digest
    if not digest:
        return None
    folder = cache_dir / f"{source.name}-{digest[:32]}-{_FORMAT}"
    if folder.is_dir():
        try:
            return StoredLexicon(folder)
        except _DAMAGED as error:
            _LOG.warning("the compiled lexicon %s is built again: %s", folder, error)
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
        building = Path(tempfile.mkdtemp(prefix=".building-", dir=cache_dir))
        try:
            _compile(source, building)
            _publish(building, folder)
        finally:
            shutil.rmtree(building, ignore_errors=True)
        return StoredLexicon(folder)
    except (OSError, sqlite3.OperationalError) as error:
        message = f"the lexicon {source.name!r} cannot be stored in {cache_dir}: {error}"
        raise ConfigurationError(message, remedy="set `cache_dir` to a writable folder") from error


def _publish(building: Path, folder: Path) -> None:
    """Move a finished folder to its place; what stands there is another process's twin, or damaged."""
    for _ in range(3):
        try:
            building.rename(folder)
        except OSError:
            try:
                StoredLexicon(folder)
            except _DAMAGED:
                aside = Path(tempfile.mkdtemp(prefix=".damaged-", dir=folder.parent))
                if folder.exists():
                    folder.rename(aside / folder.name)
                shutil.rmtree(aside, ignore_errors=True)
            else:
                return
        else:
            return


def _compile(source: LexiconSource, folder: Path) -> None:
    skipped: Counter[str] = Counter()
    database = sqlite3.connect(folder / _DATABASE)
    try:
        database.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + _TABLES)
        writer = _Writer(database, skipped)
        for entry in source.entries(skipped):
            writer.add(entry)
        writer.flush()
        database.executescript(_INDEXES)
        fingerprints = np.fromiter(
            (row[0] for row in database.execute("SELECT fingerprint FROM names")),
            dtype=np.int64,
            count=writer.names,
        ).view(np.uint64)
        fingerprints.sort()
        np.save(folder / _FINGERPRINTS, fingerprints, allow_pickle=False)
        database.commit()
    finally:
        database.close()
    manifest = {
        "source": source.name,
        "licence": source.licence,
        "entities": writer.entities,
        "names": writer.names,
        "parts": writer.parts,
        "skipped": dict(sorted(skipped.items())),
        "files": {name: _digest(folder / name) for name in (_DATABASE, _FINGERPRINTS)},
    }
    (folder / _MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")


class _Writer:
    """Writes entities in batches."""

    def __init__(self, database: sqlite3.Connection, skipped: Counter[str]) -> None:
        self._database = database
        self._skipped = skipped
        self._waiting: list[Name] = []
        self.entities = self.names = self.parts = 0

    def add(self, entry: LexiconEntry) -> None:
        number, is_new = self._entity(entry)
        seen: set[str] = set()
        for name in (entry.name, *entry.aliases):
            written = " ".join(name.split())
            if written not in seen:
                seen.add(written)
                self._name(written, number, alias=not is_new or name is not entry.name)
        if len(self._waiting) >= _BATCH:
            self.flush()

    def _entity(self, entry: LexiconEntry) -> tuple[int, bool]:
        """Return the entity's number, and whether it is new: a concept may come in pieces."""
        done = self._database.execute(
            "INSERT INTO entities (id, key, name, cui, kind) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (cui) WHERE cui != '' DO NOTHING",
            (self.entities, _key(entry.name), entry.name, entry.cui, entry.kind),
        )
        if done.rowcount:
            self.entities += 1
            return self.entities - 1, True
        [number] = self._database.execute(
            "SELECT id FROM entities WHERE cui = ?", (entry.cui,)
        ).fetchone()
        return int(number), False

    def _name(self, name: str, entity: int, *, alias: bool) -> None:
        normal = normalise(name)
        parts = count_parts(normal)
        if len(normal.key) <= _AMBIGUOUS or not any(map(str.isalpha, normal.key)):
            self._skipped["name of two characters or without a letter"] += 1
        elif len(normal.key) > MAX_NAME_CHARS or parts > MAX_NAME_PARTS:
            self._skipped["name too long to stand in prose"] += 1
        else:
            self.parts = max(self.parts, parts)
            self._waiting.append((normal.key, name, entity, int(alias)))

    def flush(self) -> None:
        values = fingerprints_of([key for key, *_ in self._waiting]).view(np.int64).tolist()
        self._database.executemany(
            "INSERT INTO names (fingerprint, name, entity, alias) VALUES (?, ?, ?, ?)",
            (
                (value, name, entity, alias)
                for value, (_, name, entity, alias) in zip(values, self._waiting, strict=True)
            ),
        )
        self.names += len(self._waiting)
        self._waiting.clear()


def _key(name: str) -> str:
    return normalise(name).key


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value
