"""Documents by what they are called or about."""

from dataclasses import replace

import pytest

from eagle_rag.ports.registry import Registry
from eagle_rag.testing.registry_sample import NAMESPACE, Sample


def _commit(registry: Registry, key: str, *, about: str = "", title: str = "", **more: str) -> str:
    sample = Sample(key, kb_name=more.get("kb_name", "papers"))
    version = sample.version()
    first, *rest = version.passages
    tags = (("primary_drugs", about), ("stage", "osimertinib")) if about else ()
    metadata = replace(version.document.metadata, title=title or f"Title of {key}")
    number = registry.begin_version(sample.id, sample.collections, namespace=NAMESPACE)
    registry.commit_version(
        number,
        replace(
            version,
            document=replace(version.document, metadata=metadata),
            passages=(replace(first, tags=tags), *rest),
        ),
    )
    return sample.id


@pytest.mark.parametrize("term", ["osimertinib", "Osimertinib", " OSIMERTINIB "])
def test_a_document_is_found_by_a_name_in_a_primary_tag(registry: Registry, term: str) -> None:
    """Whatever its file and title are called; a tag of another name says nothing of the subject."""
    found = _commit(registry, "a", about="savolitinib,osimertinib")
    _commit(registry, "b", about="fruquintinib")
    assert registry.documents_named(NAMESPACE, (term,)) == (found,)


def test_a_part_of_a_tagged_name_names_nothing(registry: Registry) -> None:
    _commit(registry, "a", about="osimertinib")
    assert registry.documents_named(NAMESPACE, ("osimert", "", "x" * 300, "a\0b")) == ()


def test_a_name_in_a_title_counts_when_no_document_is_about_it(registry: Registry) -> None:
    titled = _commit(registry, "a", title="Osimertinib-resistant tumours")
    assert registry.documents_named(NAMESPACE, ("osimertinib",)) == (titled,)
    about = _commit(registry, "b", about="osimertinib")
    assert registry.documents_named(NAMESPACE, ("osimertinib",)) == (about,)


def test_no_more_documents_come_than_asked_for(registry: Registry) -> None:
    ids = sorted(_commit(registry, key, about="osimertinib") for key in "abc")
    assert registry.documents_named(NAMESPACE, ("osimertinib",), limit=2) == tuple(ids[:2])
    assert registry.documents_named(NAMESPACE, ("osimertinib",), limit=0) == ()


@pytest.mark.parametrize("term", ["100%", "a_c", "\\"])
def test_i4_signs_of_patterns_in_a_term_are_themselves(registry: Registry, term: str) -> None:
    _commit(registry, "a", title="1000 abc")
    holds = _commit(registry, "b", title=f"with {term} inside")
    assert registry.documents_named(NAMESPACE, (term,)) == (holds,)


def test_i1_names_are_looked_up_within_the_knowledge_bases(registry: Registry) -> None:
    mine = _commit(registry, "a", about="osimertinib")
    theirs = _commit(registry, "b", about="osimertinib", kb_name="theirs")
    both = registry.documents_named(NAMESPACE, ("osimertinib",))
    assert both == tuple(sorted((mine, theirs)))
    assert registry.documents_named(NAMESPACE, ("osimertinib",), kb_names=("papers",)) == (mine,)
    assert registry.documents_named(NAMESPACE, ("osimertinib",), kb_names=()) == ()
    assert registry.documents_named("elsewhere", ("osimertinib",)) == ()
    assert list(registry.names_of(NAMESPACE, (mine, theirs), kb_names=("theirs",))) == [theirs]


def test_g2_a_replaced_or_deleted_document_is_not_found_by_its_old_names(
    registry: Registry,
) -> None:
    changed = _commit(registry, "a", about="osimertinib")
    gone = _commit(registry, "b", about="osimertinib")
    _commit(registry, "a", about="fruquintinib")
    registry.delete_document(gone)
    assert registry.documents_named(NAMESPACE, ("osimertinib",)) == ()
    assert registry.documents_named(NAMESPACE, ("fruquintinib",)) == (changed,)


def test_e1_two_documents_about_one_drug_are_neither_one_work_nor_linked(
    registry: Registry,
) -> None:
    one, other = (_commit(registry, key, about="osimertinib") for key in "ab")
    works = {each.work_id for each in registry.find_documents(NAMESPACE)}
    assert len(works) == len({one, other})
    assert registry.linked_documents(NAMESPACE, one) == ()


def test_a_document_has_title_file_and_record(registry: Registry) -> None:
    found = _commit(registry, "a", title="On savolitinib")
    (names,) = registry.names_of(NAMESPACE, (found, "absent")).values()
    assert (names.title, names.source_uri, names.member) == ("On savolitinib", "a.xml", "")
