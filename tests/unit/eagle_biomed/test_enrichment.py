"""Tags of the ``chunk`` hook."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from eagle_biomed.enrichment import MAX_DRUGS, enrich_passages, tag, with_tags
from eagle_rag.model.document import ParsedDocument, SectionKind
from eagle_rag.model.metadata import DocumentMetadata
from eagle_rag.model.passage import Passage


class Words:
    """Every word of a list is a drug; says what it was asked."""

    def __init__(self, *known: str) -> None:
        self.known = known
        self.asked: list[str] = []

    def match_drug_entities(self, text: str) -> Sequence[str]:
        self.asked.append(text)
        lower = text.lower()
        return sorted((name for name in self.known if name in lower), key=lower.index)


def document(uri: str = "a.txt", *, member: str = "", title: str = "") -> ParsedDocument:
    metadata = DocumentMetadata(title=title)
    return ParsedDocument(uri, member, "0" * 64, "jats", metadata, "Prose.")


def passage(text: str = "Prose.", *path: str, ordinal: int = 0) -> Passage:
    path = path or ("Methods",)
    return Passage(
        f"psg1_{ordinal}", "doc1_a", ordinal, 0, path, SectionKind.BODY, 0, len(text), text
    )


def test_section_type_and_drugs_are_stamped_and_nothing_else_changes() -> None:
    given = replace(passage("We gave aspirin."), tags=(("zebra", "yes"),))
    (found,) = enrich_passages(document(), [given], Words("aspirin"))
    assert found.tags == (
        ("biomed_doc_type", "research"),
        ("biomed_section", "methods"),
        ("primary_drugs", "aspirin"),
        ("zebra", "yes"),
    )
    assert replace(found, tags=given.tags) == given


def test_a_passage_without_drugs_has_no_drug_tag() -> None:
    (found,) = enrich_passages(document(), [passage()], Words("aspirin"))
    assert tag(found, "primary_drugs") == ""
    assert "primary_drugs" not in dict(found.tags)


def test_drugs_come_from_name_path_text_member_and_title_in_that_order() -> None:
    words = Words("one", "two", "three", "four", "five")
    source = document("in/five.xml", member="two", title="Of one and five")
    (found,) = enrich_passages(source, [passage("Of three.", "Results", "Four")], words)
    assert tag(found, "primary_drugs") == "five,four,three,two,one"


def test_drugs_are_capped() -> None:
    names = [f"drug{letter}" for letter in "abcdefghijkl"]
    (found,) = enrich_passages(document(), [passage(" ".join(names))], Words(*names))
    assert tag(found, "primary_drugs").split(",") == names[:MAX_DRUGS]
    assert MAX_DRUGS == 8


def test_only_the_first_512_characters_of_a_passage_count() -> None:
    text = "x" * 505 + " aspirin imatinib"
    (found,) = enrich_passages(document(), [passage(text)], Words("aspirin", "imatinib"))
    assert tag(found, "primary_drugs") == ""
    (found,) = enrich_passages(document(), [passage(text[4:])], Words("aspirin", "imatinib"))
    assert tag(found, "primary_drugs") == "aspirin"


def test_each_passage_has_the_drugs_of_its_own_path_and_text() -> None:
    passages = [passage("aspirin"), passage("x", "Imatinib", ordinal=1), passage("y", ordinal=2)]
    found = enrich_passages(document(), passages, Words("aspirin", "imatinib"))
    assert [tag(each, "primary_drugs") for each in found] == ["aspirin", "imatinib", ""]


def test_what_passages_share_is_read_once() -> None:
    words = Words("aspirin")
    passages = [passage(f"text {number}", ordinal=number) for number in range(50)]
    enrich_passages(document("name.xml", title="title"), passages, words)
    assert [words.asked.count(text) for text in ("name.xml", "title", "Methods")] == [1, 1, 1]


def test_a_name_that_would_read_as_two_is_left_out() -> None:
    (found,) = enrich_passages(
        document(), [passage("2,4-d and aspirin")], Words("2,4-d", "aspirin")
    )
    assert tag(found, "primary_drugs") == "aspirin"


def test_a_document_without_passages_stays_empty() -> None:
    assert enrich_passages(document(), [], Words()) == ()


@pytest.mark.parametrize("value", ["", "new"])
def test_tags_that_are_there_are_kept(value: str) -> None:
    given = replace(passage(), tags=(("a", "old"),))
    assert with_tags(given, {"a": value, "b": ""}) == given
