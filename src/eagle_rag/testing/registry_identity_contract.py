"""What a registry must do with works, retraction and links; part of ``RegistryContract``."""

from itertools import permutations

import pytest

from eagle_rag.model.document import Identity
from eagle_rag.model.metadata import Identifiers, RelatedArticle
from eagle_rag.ports.registry import Registry
from eagle_rag.testing.registry_sample import NAMESPACE, Sample, commit

__all__ = ["RegistryIdentityContract"]

_PUBMED = Sample("pubmed", ids=Identifiers(pmid="100"))
_FULL_TEXT = Sample("pmc", ids=Identifiers(pmcid="PMC100", doi="10.1/a"))
_BRIDGE = Sample("bridge", ids=Identifiers(pmid="100", doi="10.1/a"))
_ARTICLE = Sample("article", ids=Identifiers(pmid="5", doi="10.1/five"))


def _notice(key: str, relation: str, ids: Identifiers, *, kb_name: str = "papers") -> Sample:
    """Return an article that names another."""
    return Sample(key, related=(RelatedArticle(relation, ids),), kb_name=kb_name)


_RETRACTION = _notice("notice", "retraction_of", Identifiers(doi="10.1/five"))


class RegistryIdentityContract:
    """Which documents are one work, and which are retracted."""

    # Works

    def test_e1_documents_that_share_an_identifier_are_one_work(self, registry: Registry) -> None:
        """The PubMed record and the full text of one article list each other."""
        one = commit(registry, Sample("one", ids=Identifiers(pmid="9", doi="10.1/x")))
        other = commit(registry, Sample("other", ids=Identifiers(pmcid="PMC9", doi="10.1/x")))
        assert _work(registry, one) == _work(registry, other)
        assert _versions(registry, one) == (other,)

    @pytest.mark.parametrize(
        "order", list(permutations((_PUBMED, _FULL_TEXT, _BRIDGE))), ids=lambda _: ""
    )
    def test_e1_a_document_that_bridges_two_works_makes_them_one(
        self, registry: Registry, order: tuple[Sample, ...]
    ) -> None:
        """Whatever the order they come in."""
        ids = [commit(registry, sample) for sample in order]
        assert len({_work(registry, document_id) for document_id in ids}) == 1
        assert _versions(registry, ids[0]) == tuple(sorted(ids[1:]))
        assert registry.stats(NAMESPACE).works == 1

    def test_e1_a_work_falls_apart_when_its_bridge_goes(self, registry: Registry) -> None:
        """What only a deleted document held together is not one work."""
        for sample in (_PUBMED, _FULL_TEXT, _BRIDGE):
            commit(registry, sample)
        registry.delete_document(_BRIDGE.id)
        assert _versions(registry, _PUBMED.id) == ()
        assert registry.stats(NAMESPACE).works == 2

    @pytest.mark.parametrize("relation", ["preprint_of", "has_preprint", "update_of"])
    @pytest.mark.parametrize("named_first", [True, False])
    def test_e1_a_preprint_is_one_work_with_its_article(
        self,
        registry: Registry,
        relation: str,
        named_first: bool,  # noqa: FBT001 - parametrised
    ) -> None:
        """The link may be stated by either, and either may come first."""
        namer = _notice("namer", relation, _ARTICLE.ids)
        for sample in (_ARTICLE, namer) if named_first else (namer, _ARTICLE):
            commit(registry, sample)
        assert _versions(registry, _ARTICLE.id) == (namer.id,)

    def test_e1_an_erratum_is_a_work_of_its_own(self, registry: Registry) -> None:
        """It is linked with the article, not a version of it."""
        commit(registry, _ARTICLE)
        erratum = commit(registry, _notice("erratum", "erratum_of", _ARTICLE.ids))
        assert _work(registry, erratum) != _work(registry, _ARTICLE.id)

    def test_e1_a_new_version_with_other_identifiers_leaves_its_work(
        self, registry: Registry
    ) -> None:
        """Ids corrected by the publisher undo a wrong join."""
        commit(registry, _PUBMED)
        commit(registry, _BRIDGE)
        commit(registry, Sample("bridge", ids=Identifiers(pmid="101")))
        assert _versions(registry, _PUBMED.id) == ()

    def test_e2_main_text_and_supplement_are_different_documents(self, registry: Registry) -> None:
        """Both can be read; neither replaces the other."""
        ids = Identifiers(doi="10.1/main")
        main = commit(registry, Sample("main", ids=ids))
        supplement = commit(registry, Sample("main/supplement", paragraphs=("S1.",), ids=ids))
        assert main != supplement
        assert registry.live_versions((main, supplement)) == {main: 1, supplement: 1}

    def test_e3_the_highest_edition_of_a_work_supersedes_the_others(
        self, registry: Registry
    ) -> None:
        """All stay readable; deleting the newest brings the one before it back."""
        for edition in (2, 1, 3):
            commit(registry, _label(edition))
        ids = [_label(edition).id for edition in (1, 2, 3)]
        assert _superseded(registry, ids) == ids[:2]
        assert _versions(registry, ids[0]) == tuple(sorted(ids[1:]))
        registry.delete_document(ids[2])
        assert _superseded(registry, ids[:2]) == ids[:1]

    def test_e3_a_work_without_editions_supersedes_nothing(self, registry: Registry) -> None:
        """A record and its full text are both served."""
        ids = [commit(registry, sample) for sample in (_PUBMED, _BRIDGE)]
        assert _superseded(registry, ids) == []

    @pytest.mark.parametrize(
        "typed", ["label-set:AB-12", "ab-12", " AB-12 ", "LABEL-SET:ab-12"], ids=repr
    )
    def test_e3_a_document_is_found_by_the_name_of_its_work(
        self, registry: Registry, typed: str
    ) -> None:
        """With or without the scheme, in any case."""
        ids = [commit(registry, _label(edition)) for edition in (1, 2)]
        found = registry.find_documents(NAMESPACE, identifier=typed)
        assert [record.document_id for record in found] == sorted(ids)
        assert {record.edition for record in found} == {1, 2}

    def test_a_document_is_found_by_any_other_id_with_its_scheme(self, registry: Registry) -> None:
        """Without the scheme such an id is not unique."""
        other = (("parent-key", "ABC-1"), ("publisher-id", "7"))
        document_id = commit(registry, Sample("compound", ids=Identifiers(other=other)))
        found = registry.find_documents(NAMESPACE, identifier="parent-key:ABC-1")
        assert [record.document_id for record in found] == [document_id]
        assert registry.find_documents(NAMESPACE, identifier="ABC-1") == ()

    def test_documents_of_a_format_are_listed_by_id(self, registry: Registry) -> None:
        """In scope only."""
        ids = [commit(registry, sample) for sample in (_ARTICLE, _PUBMED)]
        commit(registry, Sample("elsewhere", kb_name="notes"))
        listed = [
            each.document_id
            for each in registry.of_format(NAMESPACE, "jats", kb_names=("papers",))
        ]
        assert listed == sorted(ids)
        versions = registry.versions_of_format(NAMESPACE, "jats", kb_names=("papers",))
        assert versions == dict.fromkeys(ids, 1)
        assert registry.versions_of_format(NAMESPACE, "jats", kb_names=()) == {}
        assert list(registry.of_format(NAMESPACE, "text")) == []
        assert list(registry.of_format(NAMESPACE, "jats", kb_names=())) == []

    def test_the_generation_changes_with_every_change(self, registry: Registry) -> None:
        """A plugin's own index is stale when the number is another."""
        seen = [registry.generation(NAMESPACE)]
        for step in (
            lambda: commit(registry, _ARTICLE),
            lambda: commit(registry, _ARTICLE),
            lambda: commit(registry, _PUBMED),
            lambda: registry.delete_document(_PUBMED.id),
        ):
            step()
            seen.append(registry.generation(NAMESPACE))
        assert len(set(seen)) == len(seen)
        commit(registry, Sample("other", namespace="elsewhere"))
        assert registry.generation(NAMESPACE) == seen[-1]

    def test_live_documents_are_counted_by_namespace(self, registry: Registry) -> None:
        """Whoever looks into the wrong place is told where the documents are."""
        assert registry.namespaces() == {}
        commit(registry, _ARTICLE)
        commit(registry, _ARTICLE)
        commit(registry, Sample("other", namespace="elsewhere"))
        gone = commit(registry, Sample("gone", namespace="empty"))
        registry.delete_document(gone)
        assert registry.namespaces() == {NAMESPACE: 1, "elsewhere": 1}

    def test_i6_a_work_stays_in_its_knowledge_base(self, registry: Registry) -> None:
        """What one team uploads is not listed to another."""
        mine = commit(registry, _ARTICLE)
        commit(registry, Sample("article", ids=_ARTICLE.ids, kb_name="theirs"))
        assert _versions(registry, mine) == ()

    # Retraction

    @pytest.mark.parametrize("notice_first", [True, False])
    def test_a10_f1_a_retraction_notice_marks_the_article_it_names(
        self,
        registry: Registry,
        notice_first: bool,  # noqa: FBT001 - parametrised
    ) -> None:
        """Whichever comes first; the notice itself is not retracted."""
        order = (_RETRACTION, _ARTICLE) if notice_first else (_ARTICLE, _RETRACTION)
        for sample in order:
            commit(registry, sample)
        assert _retracted(registry) == {_ARTICLE.id}
        assert registry.stats(NAMESPACE).retracted == 1

    def test_f1_the_mark_is_in_passages_and_live_states(self, registry: Registry) -> None:
        """A search flags it without asking again."""
        commit(registry, _ARTICLE)
        commit(registry, _RETRACTION)
        passage = _ARTICLE.version().passages[0].id
        assert registry.passages(NAMESPACE, (passage,))[0].document.retracted
        assert registry.live_states((_ARTICLE.id,))[_ARTICLE.id].retracted

    def test_a10_deleting_the_notice_unmarks_the_article(self, registry: Registry) -> None:
        """A notice ingested by mistake leaves no trace."""
        commit(registry, _ARTICLE)
        commit(registry, _RETRACTION)
        registry.delete_document(_RETRACTION.id)
        assert _retracted(registry) == set()

    def test_a10_one_of_two_notices_keeps_the_mark(self, registry: Registry) -> None:
        """The article is retracted as long as anybody says so."""
        by_pmid = _notice("second", "retraction_of", Identifiers(pmid="5"))
        for sample in (_ARTICLE, _RETRACTION, by_pmid):
            commit(registry, sample)
        registry.delete_document(_RETRACTION.id)
        assert _retracted(registry) == {_ARTICLE.id}

    def test_a10_a_replaced_notice_marks_what_it_names_now(self, registry: Registry) -> None:
        """A corrected notice frees the article it named wrongly."""
        right = Sample("right", ids=Identifiers(pmid="6"))
        for sample in (_ARTICLE, right, _RETRACTION):
            commit(registry, sample)
        commit(registry, _notice("notice", "retraction_of", right.ids))
        assert _retracted(registry) == {right.id}

    def test_a10_the_mark_outlives_a_new_version_of_the_article(self, registry: Registry) -> None:
        """Ingesting the article again does not unretract it."""
        commit(registry, _ARTICLE)
        commit(registry, _RETRACTION)
        commit(registry, _ARTICLE)
        assert _retracted(registry) == {_ARTICLE.id}

    def test_f1_an_article_may_say_that_it_is_retracted(self, registry: Registry) -> None:
        """By its own mark, or by naming the notice."""
        commit(registry, Sample("marked", retracted=True))
        commit(registry, _notice("names", "retracted_by", Identifiers(pmid="77")))
        commit(registry, Sample("sound"))
        assert registry.stats(NAMESPACE).retracted == 2

    def test_i6_a_notice_marks_nothing_in_another_knowledge_base(self, registry: Registry) -> None:
        """Or anybody could have another team's papers marked."""
        commit(registry, _ARTICLE)
        commit(
            registry,
            _notice("notice", "retraction_of", Identifiers(doi="10.1/five"), kb_name="theirs"),
        )
        assert _retracted(registry) == set()


def _label(edition: int) -> Sample:
    identity = Identity(f"ab-12/{edition}", "label-set:AB-12", edition)
    return Sample(f"label {edition}", identity=identity)


def _superseded(registry: Registry, document_ids: list[str]) -> list[str]:
    states = registry.live_states(document_ids)
    return [each for each in document_ids if states[each].superseded]


def _work(registry: Registry, document_id: str) -> str:
    return registry.view(NAMESPACE, document_id).record.work_id


def _versions(registry: Registry, document_id: str) -> tuple[str, ...]:
    passage = registry.view(NAMESPACE, document_id).passages[0].id
    return registry.passages(NAMESPACE, (passage,))[0].versions


def _retracted(registry: Registry) -> set[str]:
    return {
        record.document_id for record in registry.find_documents(NAMESPACE) if record.retracted
    }
