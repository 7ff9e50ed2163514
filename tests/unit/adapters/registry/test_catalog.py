"""Tags of documents and kept decisions: what goes beyond the port."""

import pytest

from eagle_rag.adapters.registry import SqlRegistry
from eagle_rag.errors import NotFound, RegistryError
from eagle_rag.model.records import AuditEvent
from eagle_rag.testing.registry_sample import Sample, commit

ONE = Sample("one")


def test_decisions_are_read_newest_first(registry: SqlRegistry) -> None:
    events = [AuditEvent("c", "p", str(at), "d", (("k", "v"),)) for at in range(3)]
    registry.save_audit(events)
    assert registry.audit(limit=2) == (events[2], events[1])


def test_document_tags_are_replaced_sorted_and_outlive_a_version(registry: SqlRegistry) -> None:
    commit(registry, ONE)
    registry.tag_document(ONE.id, [("old", "x")])
    registry.tag_document(ONE.id, [("b", "2"), ("a", "<script>'"), ("b", "2")])
    commit(registry, ONE)
    assert registry.document_tags(ONE.id) == (("a", "<script>'"), ("b", "2"))


def test_g2_document_tags_go_with_the_document(registry: SqlRegistry) -> None:
    commit(registry, ONE)
    registry.tag_document(ONE.id, [("a", "1")])
    registry.delete_document(ONE.id)
    assert registry.document_tags(ONE.id) == ()
    with pytest.raises(NotFound):
        registry.tag_document(ONE.id, [("a", "1")])


def test_text_that_is_not_unicode_is_refused_whole(registry: SqlRegistry) -> None:
    sample = Sample("broken", paragraphs=("half a pair: \ud800",))
    version = registry.begin_version(sample.id, (), namespace=sample.namespace)
    with pytest.raises(RegistryError, match="not Unicode"):
        registry.commit_version(version, sample.version())
    assert registry.find_documents("core") == ()
