"""Works, whatever the order documents come in."""

from itertools import permutations
from pathlib import Path

from eagle_rag.adapters.registry import SqlRegistry, open_registry
from eagle_rag.adapters.registry.works import work_id_of
from eagle_rag.model.metadata import Identifiers, RelatedArticle
from eagle_rag.testing.registry_sample import NAMESPACE, Sample, commit

SCOPE = ("core", "papers")
CHAIN = (
    Sample("a", ids=Identifiers(pmid="1", doi="10.1/x")),
    Sample("b", ids=Identifiers(pmcid="PMC2", doi="10.1/x")),
    Sample("c", ids=Identifiers(pmcid="PMC2")),
    Sample("d", related=(RelatedArticle("preprint_of", Identifiers(pmid="1")),)),
)


def works_of(registry: SqlRegistry) -> dict[str, str]:
    return {r.document_id: r.work_id for r in registry.find_documents(NAMESPACE)}


def test_e1_the_id_of_a_work_does_not_depend_on_who_came_first(tmp_path: Path) -> None:
    found = set()
    for number, order in enumerate(permutations(CHAIN[:3])):
        registry = open_registry(f"sqlite:///{tmp_path / str(number)}.db")
        for sample in order:
            commit(registry, sample)
        found.add(frozenset(works_of(registry).values()))
        registry.close()
    assert found == {frozenset({work_id_of(SCOPE, ("pmid:1", "pmcid:PMC2"))})}


def test_e1_deleting_gives_the_works_that_ingesting_without_it_gives(
    registry: SqlRegistry, tmp_path: Path
) -> None:
    for sample in CHAIN:
        commit(registry, sample)
    registry.delete_document(CHAIN[1].id)
    without = open_registry(f"sqlite:///{tmp_path / 'without.db'}")
    for sample in (CHAIN[3], CHAIN[2], CHAIN[0]):
        commit(without, sample)
    assert works_of(registry) == works_of(without)
    without.close()


def test_two_scopes_never_share_a_work_id() -> None:
    assert work_id_of(("a", "bc"), ("k",)) != work_id_of(("ab", "c"), ("k",))


def test_identifiers_of_other_schemes_join_nothing(registry: SqlRegistry) -> None:
    for key in ("one", "two"):
        commit(registry, Sample(key, ids=Identifiers(other=(("publisher-id", "7"),))))
    assert len(set(works_of(registry).values())) == 2


def test_one_scheme_is_not_taken_for_another(registry: SqlRegistry) -> None:
    commit(registry, Sample("one", ids=Identifiers(pmid="7")))
    commit(registry, Sample("two", ids=Identifiers(other=(("pmid-like", "7"),))))
    found = registry.find_documents(NAMESPACE, identifier="7")
    assert [record.source_uri for record in found] == ["one.xml"]
