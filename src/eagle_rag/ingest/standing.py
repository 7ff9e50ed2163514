"""Which of several texts of one document stands: the one of the highest edition.

A source that was set aside behind a newer edition is noted as read behind that version of the document:
it is skipped while that version stands, and read again when it is replaced or deleted.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from eagle_rag.ingest.prepare import PreparedDocument
from eagle_rag.model.records import DocumentRecord
from eagle_rag.ports.registry import Registry

__all__ = ["Editions", "behind_message", "edition_of", "is_settled", "standing_records"]

_BEHIND = " behind "


def standing_records(documents: Iterable[PreparedDocument]) -> dict[str, PreparedDocument]:
    """Return which of a source's records with one key stands: the first of the highest edition."""
    standing: dict[str, PreparedDocument] = {}
    for each in documents:
        if each.document.identity is not None:
            other = standing.setdefault(each.document_id, each)
            if edition_of(each) > edition_of(other):
                standing[each.document_id] = each
    return standing


def edition_of(prepared: PreparedDocument) -> int:
    """Return the edition a document states; 0 for none."""
    identity = prepared.document.identity
    return 0 if identity is None else identity.edition


def behind_message(prepared: PreparedDocument, stands: DocumentRecord) -> str:
    """Return why a document was set aside, and how to have it all the same."""
    return (
        f"edition {edition_of(prepared)} is older than edition {stands.edition} of"
        f" {stands.source_uri}, which stands; to take this one, delete"
        f" {stands.document_id} first"
    )


class Editions:
    """Finds newer editions during one ingest, and remembers which sources stand behind them.

    Args:
        registry: Where documents live.
        namespace: The registry's namespace.
        kb_name: The knowledge base.
    """

    def __init__(self, registry: Registry, namespace: str, kb_name: str) -> None:
        self._registry = registry
        self._namespace = namespace
        self._kb_name = kb_name
        self._behind: dict[str, dict[str, int]] = {}
        self._replaced: list[DocumentRecord] = []

    def newer(self, prepared: PreparedDocument, source_uri: str) -> DocumentRecord | None:
        """Return what is live of this document in a newer edition; ``None`` lets it be written.

        Raises:
            RegistryError: The live record is damaged.
        """
        edition = edition_of(prepared)
        if not edition:
            return None
        found = self._registry.find_documents(
            self._namespace, kb_names=(self._kb_name,), identifier=prepared.document_id
        )
        stands = found[0] if found else None
        if stands is not None and stands.edition > edition:
            self._behind.setdefault(source_uri, {})[stands.document_id] = stands.version
            return stands
        if stands is not None and 0 < stands.edition < edition:
            self._replaced.append(stands)
        return None

    def note_of(self, source_uri: str, config_digest: str) -> str:
        """Return what to note as the settings of a source that was read to its end."""
        return _note(config_digest, self._behind.get(source_uri, {}))

    def note_replaced(self) -> None:
        """Note the sources of what newer editions replaced as read behind those.

        Else they would count as unchanged after the newer one is deleted, and could not come back.
        """
        live = self._registry.live_versions([each.document_id for each in self._replaced])
        if not live:
            return
        known = self._registry.sources(self._namespace, self._kb_name)
        for old in self._replaced:
            digest, noted = known.get(old.source_uri, ("", ""))
            if digest == old.source_digest and old.document_id in live:
                behind = {**_behind(noted), old.document_id: live[old.document_id]}
                note = (digest, _note(_settings(noted), behind))
                known[old.source_uri] = note
                self._registry.record_source(self._namespace, self._kb_name, old.source_uri, note)


def is_settled(
    noted: tuple[str, str] | None,
    digests: tuple[str, str],
    live_versions: Callable[[Sequence[str]], Mapping[str, int]],
) -> bool:
    """Return whether reading a source again would change nothing.

    Args:
        noted: Its digest and what ``Editions.note_of`` gave; ``None`` when it was never read to its end.
        digests: Its digest and that of the settings, now.
        live_versions: Gives the live versions of documents.
    """
    if noted is None or (noted[0], _settings(noted[1])) != digests:
        return False
    behind = _behind(noted[1])
    return not behind or dict(live_versions(sorted(behind))) == behind


def _note(config_digest: str, behind: Mapping[str, int]) -> str:
    if not behind:
        return config_digest
    versions = " ".join(f"{identity}@{behind[identity]}" for identity in sorted(behind))
    return f"{config_digest}{_BEHIND}{versions}"


def _settings(noted: str) -> str:
    return noted.partition(_BEHIND)[0]


def _behind(noted: str) -> dict[str, int]:
    parted = (each.rpartition("@") for each in noted.partition(_BEHIND)[2].split())
    return {identity: int(version) for identity, _, version in parted}
