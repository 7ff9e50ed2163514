"""Every error of Eagle-RAG.

::

    EagleError
    |-- InvalidInput (ValueError)        a value, query, filter or file the caller gave is wrong
    |   |-- InvalidQuery                 a search request that has no defined answer
    |   |-- InvalidFilter                an unknown field or operator in a filter
    |   `-- UnreadableDocument           a file that gives no document: corrupt, hostile, too large
    |-- UnknownName (LookupError)        an encoder, collection, plugin or format nobody registered
    |-- NotFound (LookupError)           a document or passage that is absent, or not the caller's
    |-- ConfigurationError               settings that contradict themselves or name unknown keys
    |   `-- PluginError                  a plugin that cannot be loaded or breaks the contract
    |       `-- HookFailed               a hook implementation raised; names plugin and hook
    |-- VectorSpaceMismatch (ValueError) vectors of another encoder, or an index without a spec
    |-- EncoderLoadError                 weights that are missing or do not load
    |-- EncoderUnavailable               a remote encoder that does not answer
    |-- StoreError                       the vector store refused or failed
    |-- RegistryError                    the SQL registry refused or failed
    `-- IndexLocked                      another process writes to this index; names the holder
"""

__all__ = [
    "ConfigurationError",
    "EagleError",
    "EncoderLoadError",
    "EncoderUnavailable",
    "HookFailed",
    "IndexLocked",
    "InvalidFilter",
    "InvalidInput",
    "InvalidQuery",
    "NotFound",
    "PluginError",
    "RegistryError",
    "StoreError",
    "UnknownName",
    "UnreadableDocument",
    "VectorSpaceMismatch",
]


class EagleError(Exception):
    """Root of every error this package raises on purpose.

    Args:
        message: What was wrong, with the value, in one sentence.
        remedy: What to do about it, in one sentence; empty when the message says it.
    """

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message, remedy)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        """Return the message followed by the remedy."""
        return f"{self.message}. {self.remedy}" if self.remedy else self.message

    def __reduce__(self) -> tuple[object, ...]:
        """Survive the trip from a worker process, whatever arguments a subclass takes."""
        return _rebuild, (type(self), self.args, dict(self.__dict__))


def _rebuild(
    kind: type[EagleError], args: tuple[object, ...], state: dict[str, object]
) -> EagleError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


class InvalidInput(EagleError, ValueError):
    """A value the caller gave is wrong."""


class InvalidQuery(InvalidInput):
    """A search request has no defined answer."""


class InvalidFilter(InvalidInput):
    """A filter names an unknown field or operator."""


class UnreadableDocument(InvalidInput):
    """A file gives no document.

    Args:
        source: The file, as the user named it.
        reason: A short machine-readable reason, such as ``entity-declaration`` or ``too-large``.
        message: What was wrong.
        remedy: What to do about it.
    """

    def __init__(self, source: str, reason: str, message: str, *, remedy: str = "") -> None:
        super().__init__(f"{source}: {message}", remedy=remedy)
        self.source = source
        self.reason = reason
        self.detail = message

    def __reduce__(self) -> tuple[object, ...]:
        """Survive the trip from a worker process."""
        return _rebuild_unreadable, (self.source, self.reason, self.detail, self.remedy)


def _rebuild_unreadable(source: str, reason: str, detail: str, remedy: str) -> UnreadableDocument:
    return UnreadableDocument(source, reason, detail, remedy=remedy)


class UnknownName(EagleError, LookupError):
    """A name nobody registered.

    Args:
        kind: What kind of thing was looked up, such as ``encoder``.
        name: The unknown name.
        known: The names that exist, sorted.
        remedy: For example the extra that would bring it.
    """

    def __init__(self, kind: str, name: str, known: tuple[str, ...], *, remedy: str = "") -> None:
        listing = ", ".join(known) or "none"
        super().__init__(f"unknown {kind} {name!r}; known: {listing}", remedy=remedy)
        self.kind = kind
        self.name = name
        self.known = known


class NotFound(EagleError, LookupError):
    """A document or passage is absent, or belongs to somebody else: the two look the same."""


class ConfigurationError(EagleError):
    """Settings contradict themselves or name unknown keys."""


class PluginError(ConfigurationError):
    """A plugin cannot be loaded or breaks the plugin contract."""


class HookFailed(PluginError):
    """A hook implementation raised.

    Args:
        plugin: The plugin's name.
        hook: The hook's name.
        error: What it raised.
    """

    def __init__(self, plugin: str, hook: str, error: Exception) -> None:
        super().__init__(
            f"plugin {plugin!r} failed in hook {hook!r}: {type(error).__name__}: {error}"
        )
        self.plugin = plugin
        self.hook = hook
        self.error = error

    def __reduce__(self) -> tuple[object, ...]:
        """Leave what a plugin raised behind: nobody promised that it can be pickled."""
        state = self.__dict__ | {
            "error": RuntimeError(f"{type(self.error).__name__}: {self.error}")
        }
        return _rebuild, (type(self), self.args, state)


class VectorSpaceMismatch(EagleError, ValueError):
    """Vectors of one space meet an index of another, or an index that records none."""


class EncoderLoadError(EagleError):
    """Weights are missing or do not load."""


class EncoderUnavailable(EagleError):
    """A remote encoder does not answer."""


class StoreError(EagleError):
    """The vector store refused or failed."""


class RegistryError(EagleError):
    """The SQL registry refused or failed."""


class IndexLocked(EagleError):
    """Another process writes to this index.

    Args:
        path: The lock file.
        holder: Who holds it, for example ``pid 4711 on host a since 2026-11-30T02:14:00+00:00``.
    """

    def __init__(self, path: str, holder: str) -> None:
        super().__init__(
            f"the index is being written by {holder}",
            remedy=f"wait until it ends, or stop that process; the lock is {path}",
        )
        self.path = path
        self.holder = holder
