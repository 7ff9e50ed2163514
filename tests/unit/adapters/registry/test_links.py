"""Errata, republications and other links between live documents."""

import pytest

from eagle_rag.adapters.registry import SqlRegistry
from eagle_rag.errors import NotFound
from eagle_rag.model.metadata import Identifiers, RelatedArticle
from eagle_rag.testing.registry_sample import NAMESPACE, Sample, commit

ARTICLE = Sample("article", ids=Identifiers(pmid="5", doi="10.1/five"))


def naming(key: str, relation: str, ids: Identifiers) -> Sample:
    return Sample(key, related=(RelatedArticle(relation, ids),))


@pytest.mark.parametrize(
    ("relation", "reverse"),
    [
        ("erratum_of", "erratum_in"),
        ("republished_from", "republished_in"),
        ("expression_of_concern_for", "expression_of_concern_in"),
        ("retraction_of", "retracted_by"),
    ],
)
def test_a10_a_link_is_seen_from_both_ends(
    registry: SqlRegistry, relation: str, reverse: str
) -> None:
    other = commit(registry, naming("other", relation, ARTICLE.ids))
    commit(registry, ARTICLE)
    assert registry.linked_documents(NAMESPACE, other) == ((relation, ARTICLE.id),)
    assert registry.linked_documents(NAMESPACE, ARTICLE.id) == ((reverse, other),)


def test_a_link_to_what_is_not_there_is_not_listed(registry: SqlRegistry) -> None:
    other = commit(registry, naming("other", "erratum_of", Identifiers(pmid="404")))
    assert registry.linked_documents(NAMESPACE, other) == ()


def test_a_document_that_names_itself_is_not_linked_with_itself(registry: SqlRegistry) -> None:
    ids = Identifiers(pmid="5")
    related = (RelatedArticle("retraction_of", ids),)
    itself = commit(registry, Sample("itself", ids=ids, related=related))
    assert registry.linked_documents(NAMESPACE, itself) == ()
    assert registry.stats(NAMESPACE).retracted == 0


def test_i6_links_of_a_document_out_of_scope_look_absent(registry: SqlRegistry) -> None:
    commit(registry, ARTICLE)
    with pytest.raises(NotFound):
        registry.linked_documents(NAMESPACE, ARTICLE.id, kb_names=())
