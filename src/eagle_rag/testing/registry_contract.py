"""What every registry must do: subclass ``RegistryContract`` and override its fixtures."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from eagle_rag.errors import NotFound, RegistryError
from eagle_rag.model.collection import CollectionSchema
from eagle_rag.model.metadata import Identifiers
from eagle_rag.model.passage import VectorSpec
from eagle_rag.model.records import AuditEvent, NewVersion
from eagle_rag.ports.registry import Registry
from eagle_rag.testing.registry_identity_contract import RegistryIdentityContract
from eagle_rag.testing.registry_sample import NAMESPACE, Sample, commit, rich_version, text_of

__all__ = ["RegistryContract"]

_ONE = Sample("one", ids=Identifiers(pmid="1", pmcid="PMC1", doi="10.1234/one(a)<b>;c"))
_TWO = Sample("two", kb_name="notes", digest="d2", collections=("eagle_text", "labels"))
_RICH = Sample("rich")


class RegistryContract(RegistryIdentityContract):
    """Versions, scopes, reading, sources and the rest.

    Override ``registry`` with an empty registry, and ``reopen`` where yours outlives its object.
    """

    @pytest.fixture
    def registry(self) -> Registry:
        """Return an empty registry."""
        message = "override the registry fixture"
        raise NotImplementedError(message)

    @pytest.fixture
    def reopen(self) -> Callable[[Registry], Registry]:
        """Return a function that opens again what a registry wrote."""
        return lambda registry: registry

    # Versions

    def test_a_committed_document_is_read_back_whole(
        self, registry: Registry, reopen: Callable[[Registry], Registry]
    ) -> None:
        """Every field of every part, from another connection."""
        new = rich_version(_RICH)
        registry.commit_version(
            registry.begin_version(_RICH.id, ("eagle_text",), namespace=NAMESPACE), new
        )
        view = reopen(registry).view(NAMESPACE, _RICH.id)
        assert view.record.metadata == new.document.metadata
        assert view.passages == new.passages
        for part in ("text", "sections", "figures", "tables", "citations", "blocks"):
            assert getattr(view, part) == getattr(new.document, part)
        assert registry.references(_RICH.id) == new.document.references

    def test_a_record_names_where_the_document_came_from(self, registry: Registry) -> None:
        """Unchanged files are known by these."""
        commit(registry, _ONE)
        record = registry.find_documents(NAMESPACE)[0]
        assert (record.document_id, record.version, record.kb_name) == (_ONE.id, 1, "papers")
        assert (record.source_uri, record.digest, record.config_digest) == (
            "one.xml",
            "d1",
            "config",
        )
        assert record.passages == 2

    def test_a_begun_version_is_pending_and_not_served(self, registry: Registry) -> None:
        """Half a document is never found."""
        registry.begin_version(_ONE.id, ("b", "a"), namespace=NAMESPACE)
        assert registry.live_versions((_ONE.id,)) == {}
        pending = registry.pending(NAMESPACE)
        assert [(p.version, p.collections, p.state) for p in pending] == [
            (1, ("a", "b"), "writing")
        ]

    def test_a_replaced_version_is_pending_until_its_rows_are_gone(
        self, registry: Registry
    ) -> None:
        """The store is cleaned up after the registry has switched."""
        commit(registry, _ONE)
        commit(registry, _ONE)
        assert registry.live_versions((_ONE.id,)) == {_ONE.id: 2}
        assert [(p.version, p.state) for p in registry.pending(NAMESPACE)] == [(1, "clearing")]
        registry.clear_pending(_ONE.id, 1)
        assert registry.pending(NAMESPACE) == ()

    def test_clearing_leaves_the_live_version(self, registry: Registry) -> None:
        """A wrong call does not lose a document."""
        commit(registry, _ONE)
        registry.clear_pending(_ONE.id, 1)
        registry.clear_pending(_ONE.id, 7)
        assert registry.live_versions((_ONE.id,)) == {_ONE.id: 1}

    def test_g1_fewer_passages_leave_none_behind(self, registry: Registry) -> None:
        """The old version's passages are gone with it."""
        commit(registry, _ONE)
        old = _ONE.version().passages
        commit(registry, replace(_ONE, paragraphs=("First passage.",)))
        found = registry.passages(NAMESPACE, [passage.id for passage in old])
        assert [record.passage.text for record in found] == ["First passage."]
        assert registry.stats(NAMESPACE).passages == 1

    def test_a_version_that_was_not_begun_is_refused(self, registry: Registry) -> None:
        """Its rows would not be known as pending after a crash."""
        with pytest.raises(RegistryError, match="begun"):
            registry.commit_version(1, _ONE.version())
        assert registry.find_documents(NAMESPACE) == ()

    def test_a_version_is_committed_once(self, registry: Registry) -> None:
        """The second commit is a mistake of the caller."""
        commit(registry, _ONE)
        with pytest.raises(RegistryError, match="live"):
            registry.commit_version(1, _ONE.version())

    def test_an_older_version_does_not_replace_a_newer_one(self, registry: Registry) -> None:
        """A writer that was overtaken must not bring the old text back."""
        first = registry.begin_version(_ONE.id, (), namespace=NAMESPACE)
        second = registry.begin_version(_ONE.id, (), namespace=NAMESPACE)
        registry.commit_version(second, replace(_ONE, paragraphs=("New.",)).version())
        with pytest.raises(RegistryError):
            registry.commit_version(first, _ONE.version())
        assert text_of(registry, _ONE) == "New."

    def test_a_passage_that_is_not_its_characters_is_refused(self, registry: Registry) -> None:
        """``text == document_text[start:end]`` is what this product is for."""
        new = _ONE.version()
        wrong = replace(new, passages=(replace(new.passages[0], start=1),))
        version = registry.begin_version(_ONE.id, (), namespace=NAMESPACE)
        with pytest.raises(RegistryError, match="is not the text at 1:14"):
            registry.commit_version(version, wrong)
        assert registry.live_versions((_ONE.id,)) == {}

    @pytest.mark.parametrize(
        ("change", "reason"),
        [({"document_id": "other"}, "belongs to 'other'"), ({"section": 7}, "section 7")],
    )
    def test_a_passage_of_something_else_is_refused(
        self, registry: Registry, change: dict[str, object], reason: str
    ) -> None:
        """Another document's, or one of a section that is not there."""
        new = _ONE.version()
        wrong = replace(new.passages[0], **change)  # type: ignore[arg-type]  # parametrised
        version = registry.begin_version(_ONE.id, (), namespace=NAMESPACE)
        with pytest.raises(RegistryError, match=reason):
            registry.commit_version(version, replace(new, passages=(wrong,)))

    def test_i6_a_document_id_of_another_knowledge_base_is_refused(
        self, registry: Registry
    ) -> None:
        """One team must not overwrite another's document."""
        commit(registry, _ONE)
        version = registry.begin_version(_ONE.id, (), namespace=NAMESPACE)
        with pytest.raises(RegistryError, match="another knowledge base"):
            registry.commit_version(version, replace(_ONE.version(), kb_name="notes"))
        assert registry.stats(NAMESPACE).by_kb == (("papers", 1),)

    def test_g4_a_pending_version_is_known_in_its_own_namespace_only(
        self, registry: Registry
    ) -> None:
        """Its rows are in that namespace's store: another must not forget it unseen."""
        other = replace(_TWO, namespace="other")
        registry.begin_version(_ONE.id, (), namespace=NAMESPACE)
        commit(registry, other)
        commit(registry, other)
        assert [(p.document_id, p.version, p.namespace) for p in registry.pending(NAMESPACE)] == [
            (_ONE.id, 1, NAMESPACE)
        ]
        assert [(p.document_id, p.version, p.namespace) for p in registry.pending("other")] == [
            (other.id, 1, "other")
        ]
        assert registry.pending("absent") == ()

    def test_a_version_is_committed_in_the_namespace_it_was_begun_in(
        self, registry: Registry
    ) -> None:
        """Its rows would be in one store and its document in another."""
        version = registry.begin_version(_ONE.id, (), namespace="other")
        with pytest.raises(
            RegistryError, match=f"begun in namespace 'other', not in {NAMESPACE!r}"
        ):
            registry.commit_version(version, _ONE.version())
        assert registry.live_versions((_ONE.id,)) == {}

    # Deletion

    def test_g2_a_deleted_document_is_found_nowhere(self, registry: Registry) -> None:
        """By no way of asking."""
        commit(registry, _ONE)
        registry.delete_document(_ONE.id)
        assert registry.find_documents(NAMESPACE) == ()
        assert registry.find_documents(NAMESPACE, identifier="1") == ()
        assert registry.passages(NAMESPACE, [p.id for p in _ONE.version().passages]) == ()
        assert registry.by_digest(NAMESPACE, "papers", "d1") is None
        assert registry.references(_ONE.id) == ()
        assert list(registry.iter_live()) == []
        assert registry.collections_used(NAMESPACE) == ()
        assert registry.stats(NAMESPACE).documents == 0

    def test_g2_its_rows_become_pending(self, registry: Registry) -> None:
        """So that the store is cleared even after a crash."""
        commit(registry, _ONE)
        registry.delete_document(_ONE.id)
        assert [(p.version, p.collections, p.state) for p in registry.pending(NAMESPACE)] == [
            (1, ("eagle_text",), "clearing")
        ]

    def test_g3_a_document_deleted_while_it_is_indexed_anew_stays_deleted(
        self, registry: Registry
    ) -> None:
        """The version begun before cannot be committed."""
        commit(registry, _ONE)
        version = registry.begin_version(_ONE.id, ("eagle_text",), namespace=NAMESPACE)
        registry.delete_document(_ONE.id)
        with pytest.raises(RegistryError, match="deleted"):
            registry.commit_version(version, _ONE.version())
        assert registry.live_versions((_ONE.id,)) == {}
        assert [(p.version, p.state) for p in registry.pending(NAMESPACE)] == [
            (1, "clearing"),
            (2, "clearing"),
        ]

    def test_g3_a_version_number_is_never_used_again(self, registry: Registry) -> None:
        """Rows that a crash left behind cannot be taken for those of a later version."""
        commit(registry, _ONE)
        registry.delete_document(_ONE.id)
        registry.clear_pending(_ONE.id, 1)
        assert registry.begin_version(_ONE.id, (), namespace=NAMESPACE) == 2

    def test_deleting_what_is_not_there_says_so(self, registry: Registry) -> None:
        """Also what was deleted before."""
        with pytest.raises(NotFound, match="no document 'absent'"):
            registry.delete_document("absent")

    # Scopes

    def test_g8_the_same_file_in_two_knowledge_bases_is_two_documents(
        self, registry: Registry
    ) -> None:
        """Deleting one leaves the other."""
        mine, theirs = commit(registry, _ONE), commit(registry, replace(_ONE, kb_name="notes"))
        registry.delete_document(mine)
        assert [r.document_id for r in registry.find_documents(NAMESPACE)] == [theirs]

    def test_i1_no_knowledge_bases_means_nothing_is_found(self, registry: Registry) -> None:
        """An empty list is never no filter."""
        commit(registry, _ONE)
        passage = _ONE.version().passages[0].id
        assert registry.find_documents(NAMESPACE, kb_names=()) == ()
        assert registry.passages(NAMESPACE, (passage,), kb_names=()) == ()
        assert registry.stats(NAMESPACE, kb_names=()).documents == 0
        assert registry.collections_used(NAMESPACE, ()) == ()
        with pytest.raises(NotFound):
            registry.view(NAMESPACE, _ONE.id, kb_names=())

    @pytest.mark.parametrize(
        ("namespace", "kb_names"),
        [(NAMESPACE, ("notes",)), ("other", None), ("other", ("papers",))],
    )
    def test_i6_what_is_out_of_scope_looks_absent(
        self, registry: Registry, namespace: str, kb_names: tuple[str, ...] | None
    ) -> None:
        """By id, by identifier, by passage, in counts."""
        commit(registry, _ONE)
        passage = _ONE.version().passages[0].id
        for identifier in (None, _ONE.id, "PMC1"):
            assert (
                registry.find_documents(namespace, kb_names=kb_names, identifier=identifier) == ()
            )
        assert registry.passages(namespace, (passage,), kb_names=kb_names) == ()
        assert registry.stats(namespace, kb_names=kb_names).passages == 0
        assert registry.collections_used(namespace, kb_names) == ()
        with pytest.raises(NotFound):
            registry.view(namespace, _ONE.id, kb_names=kb_names)

    def test_several_knowledge_bases_are_read_together(self, registry: Registry) -> None:
        """In the order of document ids."""
        ids = sorted(commit(registry, sample) for sample in (_ONE, _TWO))
        both = registry.find_documents(NAMESPACE, kb_names=("notes", "papers"))
        assert [record.document_id for record in both] == ids

    # Finding

    @pytest.mark.parametrize(
        "written",
        [
            "1",
            "PMID: 1",
            "pmc1",
            "PMC1",
            "https://doi.org/10.1234/ONE(a)<b>;c",
            "doi:10.1234/one(a)<b>;c",
        ],
    )
    def test_a13_an_identifier_is_found_in_any_spelling(
        self, registry: Registry, written: str
    ) -> None:
        """With and without prefix, in any case."""
        commit(registry, _ONE)
        commit(registry, _TWO)
        found = registry.find_documents(NAMESPACE, identifier=written)
        assert [record.document_id for record in found] == [_ONE.id]

    def test_a_document_is_found_by_its_id_and_not_by_what_it_cites(
        self, registry: Registry
    ) -> None:
        """The pmid of a reference is not the document's."""
        registry.commit_version(
            registry.begin_version(_RICH.id, (), namespace=NAMESPACE), rich_version(_RICH)
        )
        found = registry.find_documents(NAMESPACE, identifier=_RICH.id)
        assert [record.document_id for record in found] == [_RICH.id]
        assert registry.find_documents(NAMESPACE, identifier="11") == ()
        assert registry.find_documents(NAMESPACE, identifier="8") == ()

    @pytest.mark.parametrize(
        "hostile", ["' OR 1=1 --", "%", "_", "\x00", "\ud800", "", "{x}", "1; DROP"]
    )
    def test_i4_a_hostile_identifier_finds_nothing(self, registry: Registry, hostile: str) -> None:
        """It is a value, never a part of a statement."""
        commit(registry, _ONE)
        assert registry.find_documents(NAMESPACE, identifier=hostile) == ()
        assert registry.passages(NAMESPACE, (hostile,)) == ()
        with pytest.raises(NotFound):
            registry.view(NAMESPACE, hostile)

    # Passages

    def test_d1_a_passage_is_its_characters_of_the_document(self, registry: Registry) -> None:
        """Through astral characters, combining marks, tabs and NUL."""
        new = rich_version(_RICH)
        registry.commit_version(registry.begin_version(_RICH.id, (), namespace=NAMESPACE), new)
        found = registry.passages(NAMESPACE, [passage.id for passage in new.passages])
        assert tuple(record.passage for record in found) == new.passages

    @pytest.mark.parametrize("length", [1, 4095, 4096, 4097, 8192, 20_000])
    def test_d1_long_texts_are_cut_at_the_right_characters(
        self, registry: Registry, length: int
    ) -> None:
        """Wherever a registry may split a text."""
        text = "".join(chr(0x1F600 + at % 50) for at in range(length))
        sample = Sample("long", paragraphs=("x" * 4090, text, "end"))
        commit(registry, sample)
        ids = [passage.id for passage in sample.version().passages]
        found = registry.passages(NAMESPACE, ids)
        assert [record.passage.text for record in found] == list(sample.paragraphs)
        assert text_of(registry, sample) == "\n\n".join(sample.paragraphs)

    def test_passages_come_in_the_order_asked_for(self, registry: Registry) -> None:
        """Absent ones are left out."""
        for sample in (_ONE, _TWO):
            commit(registry, sample)
        first, second = (passage.id for passage in _ONE.version().passages)
        other = _TWO.version().passages[0].id
        found = registry.passages(NAMESPACE, (second, "absent", other, first))
        assert [record.passage.id for record in found] == [second, other, first]
        assert registry.passages(NAMESPACE, ()) == ()

    def test_a_thousand_passages_are_read_at_once(self, registry: Registry) -> None:
        """More ids than one statement takes."""
        sample = Sample("many", paragraphs=tuple(f"Passage {at}." for at in range(1000)))
        commit(registry, sample)
        ids = [passage.id for passage in sample.version().passages]
        assert len(registry.passages(NAMESPACE, ids)) == 1000

    def test_a_caption_belongs_to_its_figure_or_table(self, registry: Registry) -> None:
        """And prose to none."""
        new = rich_version(_RICH)
        registry.commit_version(registry.begin_version(_RICH.id, (), namespace=NAMESPACE), new)
        found = registry.passages(NAMESPACE, [passage.id for passage in new.passages])
        linked = [([f.key for f in record.figures], record.tables) for record in found]
        assert linked == [([], ()), (["F1"], ()), ([], (("T1", "Table 1"),))]

    # Live documents

    def test_live_versions_of_many_documents(self, registry: Registry) -> None:
        """More ids than one statement takes; absent ones are missing."""
        one = commit(registry, _ONE)
        absent = [f"absent-{at}" for at in range(2000)]
        assert registry.live_versions([*absent, one, one]) == {one: 1}
        states = registry.live_states([*absent, one])
        assert [(key, state.version, state.retracted) for key, state in states.items()] == [
            (one, 1, False)
        ]

    def test_iter_live_is_ordered_and_keeps_to_a_namespace(self, registry: Registry) -> None:
        """``None`` is every namespace."""
        here = [commit(registry, Sample(f"s{at}")) for at in range(5)]
        there = commit(registry, Sample("s", namespace="other"))
        assert list(registry.iter_live(NAMESPACE)) == [(each, 1) for each in sorted(here)]
        assert list(registry.iter_live()) == [(each, 1) for each in sorted([*here, there])]

    def test_a_record_is_found_by_its_digest(self, registry: Registry) -> None:
        """In its own knowledge base only."""
        one = commit(registry, _ONE)
        found = registry.by_digest(NAMESPACE, "papers", "d1")
        assert found is not None
        assert found.document_id == one
        assert registry.by_digest(NAMESPACE, "notes", "d1") is None

    def test_a_source_is_listed_once_it_was_read_to_its_end(self, registry: Registry) -> None:
        """And with the digests of the last time."""
        registry.record_source(NAMESPACE, "papers", "a.xml", ("s1", "c1"))
        registry.record_source(NAMESPACE, "papers", "a.xml", ("s2", "c1"))
        assert registry.sources(NAMESPACE, "papers") == {"a.xml": ("s2", "c1")}
        assert registry.sources(NAMESPACE, "notes") == {}

    def test_g4_a_source_that_is_being_read_anew_is_not_unchanged(
        self, registry: Registry
    ) -> None:
        """A crash half way, and the old file put back: it must be read again."""
        commit(registry, _ONE)
        registry.record_source(NAMESPACE, "papers", "one.xml", ("d1", "config"))
        commit(registry, replace(_ONE, digest="d9"))
        assert registry.sources(NAMESPACE, "papers") == {}

    def test_g1_committing_the_same_source_again_keeps_it_listed(self, registry: Registry) -> None:
        """A file of many records stays unchanged while one of them is repaired."""
        commit(registry, _ONE)
        registry.record_source(NAMESPACE, "papers", "one.xml", ("d1", "config"))
        commit(registry, _ONE)
        assert registry.sources(NAMESPACE, "papers") == {"one.xml": ("d1", "config")}

    def test_g2_the_source_of_a_deleted_document_can_be_read_again(
        self, registry: Registry
    ) -> None:
        """Or a document deleted by mistake could not be brought back."""
        commit(registry, _ONE)
        registry.record_source(NAMESPACE, "papers", "one.xml", ("d1", "config"))
        registry.delete_document(_ONE.id)
        assert registry.sources(NAMESPACE, "papers") == {}

    # Indexes, decisions, counts

    def test_k4_an_index_is_recorded_with_its_vector_space(
        self, registry: Registry, reopen: Callable[[Registry], Registry]
    ) -> None:
        """The last record of a name stands."""
        spec = VectorSpec("minilm", "a" * 64, 384, query_prefix="query: ")
        labels = CollectionSchema("labels", spec, hybrid=False, extra_fields=("drug", "mesh"))
        registry.save_index(labels)
        registry.save_index(CollectionSchema("eagle_text", replace(spec, encoder="old")))
        registry.save_index(CollectionSchema("eagle_text", spec))
        assert reopen(registry).indexes() == (CollectionSchema("eagle_text", spec), labels)

    def test_collections_used_are_those_of_live_documents(self, registry: Registry) -> None:
        """A collection is forgotten with the last document written to it."""
        commit(registry, _ONE)
        commit(registry, _TWO)
        assert registry.collections_used(NAMESPACE) == ("eagle_text", "labels")
        assert registry.collections_used(NAMESPACE, ("papers",)) == ("eagle_text",)
        commit(registry, replace(_TWO, collections=("eagle_text",)))
        assert registry.collections_used(NAMESPACE) == ("eagle_text",)

    def test_collections_of_documents_are_their_own_within_the_scope(
        self, registry: Registry
    ) -> None:
        """An absent document has none, nor has one of another knowledge base."""
        commit(registry, _ONE)
        commit(registry, _TWO)

        def used(*ids: str, kb_names: tuple[str, ...] | None = None) -> tuple[str, ...]:
            return registry.collections_used(NAMESPACE, kb_names, document_ids=ids)

        assert used(_ONE.id) == ("eagle_text",)
        assert used(_TWO.id, "absent") == ("eagle_text", "labels")
        assert used(_TWO.id, kb_names=("papers",)) == ()
        assert used() == used("absent") == used(_ONE.id, kb_names=()) == ()
        assert registry.collections_used("other", document_ids=(_ONE.id,)) == ()

    def test_decisions_are_kept(self, registry: Registry) -> None:
        """Also none, and text of any kind."""
        registry.save_audit(())
        registry.save_audit([AuditEvent("route_query", "core", "q'; --", "all", (("k", "v"),))])

    def test_stats_count_what_is_live(self, registry: Registry) -> None:
        """Zero for an empty registry."""
        assert registry.stats(NAMESPACE).documents == 0
        new: NewVersion = replace(rich_version(_RICH), truncated=2)
        registry.commit_version(registry.begin_version(_RICH.id, (), namespace=NAMESPACE), new)
        commit(registry, _TWO)
        stats = registry.stats(NAMESPACE)
        assert (stats.documents, stats.works, stats.passages) == (2, 2, 5)
        assert (stats.references, stats.citations) == (2, 2)
        assert (stats.figures, stats.tables, stats.truncated) == (2, 2, 2)
        assert stats.by_kb == (("notes", 1), ("papers", 1))
        assert stats.by_format == (("jats", 2),)
