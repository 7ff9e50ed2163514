"""Compound search: the compound itself first, its forms marked, nothing that is gone or out of sight."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from eagle_biomed.compound_hits import Question
from eagle_biomed.compound_search import CompoundSearch
from eagle_biomed.entities import Entity, ResolvedEntity
from eagle_rag.errors import InvalidInput, InvalidQuery
from eagle_rag.model.collection import StoreHit

if TYPE_CHECKING:
    from tests.unit.eagle_biomed.conftest import FakeLibrary

    from eagle_biomed.compound_hits import Mode
    from eagle_biomed.compound_search import CompoundAnswer

Make = Callable[..., "FakeLibrary"]
MODES: "tuple[Mode, ...]" = ("learned", "similar", "substructure", "exact")
ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"
SODIUM = "CC(=O)Oc1ccccc1C(=O)[O-].[Na+]"
SET = (
    (ASPIRIN, "aspirin"),
    (SODIUM, "aspirin sodium"),
    ("O=C(O)c1ccccc1O", "salicylic acid"),
    ("CC(=O)Nc1ccc(O)cc1", "paracetamol"),
    ("C[C@H](N)C(=O)O", "L-alanine"),
    ("C[C@@H](N)C(=O)O", "D-alanine"),
    ("CCO", "ethanol"),
)


class Names:
    """An ontology of one compound and an antibody."""

    entities: Mapping[str, Entity] = {
        "caffeine": Entity("caffeine", "drug"),
        "trastuzumab": Entity("trastuzumab", "drug"),
    }

    def smiles_of(self, name: str) -> str:
        return "Cn1c(=O)c2c(ncn2C)n(C)c1=O" if name == "caffeine" else ""

    def resolve_entity(self, entity: str) -> ResolvedEntity:
        return ResolvedEntity(entity, found=entity in self.entities)


def _search(library: "FakeLibrary") -> CompoundSearch:
    return CompoundSearch(library, None, names=Names, encoder=lambda: "enc")


def _ask(
    library: "FakeLibrary", text: str, mode: "Mode" = "similar", top_k: int = 5
) -> "CompoundAnswer":
    return _search(library).search(Question(text, mode, top_k), library)


def _found(answer: "CompoundAnswer") -> list[tuple[str, str]]:
    return [(hit.match, hit.name) for hit in answer.hits]


@pytest.mark.parametrize("mode", MODES)
def test_o2_the_compound_itself_is_first_and_its_salt_is_marked(
    make_library: Make, mode: "Mode"
) -> None:
    found = _found(_ask(make_library(*SET), ASPIRIN, mode))
    assert found[:2] == [("exact", "aspirin"), ("parent", "aspirin sodium")]


@pytest.mark.parametrize("mode", MODES)
def test_o2_asked_for_the_salt_the_salt_is_first(make_library: Make, mode: "Mode") -> None:
    found = _found(_ask(make_library(*SET), SODIUM, mode))
    assert found[0] == ("exact", "aspirin sodium")
    assert ("parent", "aspirin") in found or mode == "substructure"


def test_o2_enantiomers_are_told_apart_in_exact_and_found_in_similar(make_library: Make) -> None:
    library = make_library(*SET)
    assert _found(_ask(library, "C[C@H](N)C(=O)O", "exact")) == [("exact", "L-alanine")]
    similar = _ask(library, "C[C@H](N)C(=O)O", top_k=2)
    assert _found(similar) == [("exact", "L-alanine"), ("similar", "D-alanine")]
    assert similar.hits[1].score == 1.0


def test_a_hit_is_a_passage_that_holds_the_structure(make_library: Make) -> None:
    library = make_library(*SET)
    for hit in _ask(library, ASPIRIN, top_k=7).hits:
        text = library.texts[hit.document_id][hit.start : hit.end]
        assert text.startswith(f"SMILES: {hit.smiles}\n")
        assert hit.compound_id == hit.inchikey


def test_o2_a_structure_without_inchikey_is_found_by_itself(make_library: Make) -> None:
    library = make_library("*c1ccccc1", "c1ccccc1")
    answer = _ask(library, "*c1ccccc1", "exact")
    assert [(hit.match, hit.inchikey) for hit in answer.hits] == [("exact", "")]
    assert len(answer.hits[0].compound_id) == 64


def test_the_parts_of_a_pattern_are_found_smallest_first(make_library: Make) -> None:
    found = _found(_ask(make_library(*SET), "[CX3](=O)[OX2H1]", "substructure", 10))
    names = [name for _, name in found]
    assert set(names[:2]) == {"L-alanine", "D-alanine"}
    assert names[2:] == ["salicylic acid", "aspirin", "aspirin sodium"]


@pytest.mark.parametrize("mode", ["similar", "substructure"])
def test_g2_what_was_deleted_behind_the_index_is_not_returned(
    make_library: Make, mode: "Mode"
) -> None:
    library = make_library(*SET)
    search = _search(library)
    question = Question("O=C(O)c1ccccc1O", mode, 7)
    before = len(search.search(question, library).hits)
    gone = next(key for key, r in library.records.items() if r.metadata.title == "aspirin sodium")
    del library.records[gone]  # and the generation stays
    after = search.search(question, library).hits
    assert len(after) == before - 1
    assert gone not in {hit.document_id for hit in after}


def test_g2_what_changed_behind_the_index_is_read_again(make_library: Make) -> None:
    library = make_library(*SET)
    search = _search(library)
    question = Question("CCO", "similar", 7)
    search.search(question, library)
    library.add("CCO", "spirit")
    library.changes -= 1
    hits = search.search(Question("CCCO", "similar", 7), library).hits
    assert "spirit" in {hit.name for hit in hits}


@pytest.mark.parametrize("mode", MODES)
def test_i6_a_caller_gets_nothing_of_what_is_hidden(make_library: Make, mode: "Mode") -> None:
    library = make_library()
    for number in range(1, 30):
        library.add("C" * number + "O", f"theirs {number}", kb="theirs")
    mine = library.add("OCCO", "mine", kb="mine")
    search = _search(library)
    answer = search.search(Question("CCO", mode, 5), library.narrowed("mine"))
    assert {hit.document_id for hit in answer.hits} <= {mine}
    assert (len(answer.hits) == 1) == (mode != "exact")


def test_a_caller_who_sees_little_does_not_cause_a_look_at_everything(make_library: Make) -> None:
    library = make_library()
    for number in range(1, 200):
        library.add("C" * number + "O", kb="theirs")
    mine = library.add("OCCO", "mine", kb="mine")
    search, narrowed = _search(library), library.narrowed("mine")
    asked: list[str] = []
    narrowed.asked = asked
    hits = search.search(Question("CCCO", "similar", 5), narrowed).hits
    assert [hit.document_id for hit in hits] == [mine]
    assert len(asked) < 10


def test_i6_a_hidden_name_is_unknown_and_not_suggested(make_library: Make) -> None:
    library = make_library()
    library.add("CCO", "hiddenol", kb="theirs")
    search, narrowed = _search(library), library.narrowed("mine")
    for text in ("hiddenol", "hiddenoll", "LFQSCWFLJHTTHZ-UHFFFAOYSA-N"):
        with pytest.raises(InvalidInput) as caught:
            search.search(Question(text), narrowed)
        assert "mean hiddenol" not in str(caught.value)


def test_only_the_knowledge_base_asked_for_is_searched(make_library: Make) -> None:
    library = make_library()
    library.add("CCO", "one", kb="a")
    library.add("CCO", "two", kb="b")
    for mode in MODES:
        question = Question("CCO", mode, 5, ("b",))
        assert [h.name for h in _search(library).search(question, library).hits] == ["two"]


def test_the_encoders_order_is_kept_behind_the_compound_itself(make_library: Make) -> None:
    library = make_library(*SET)
    ids = {r.metadata.title: key for key, r in library.records.items()}
    library.filled = True
    library.rows = tuple(
        StoreHit(f"r{rank}", f"psg1_{ids[name]}", ids[name], 1, "a", 1 - rank / 10, rank)
        for rank, name in enumerate(("ethanol", "aspirin", "paracetamol"), start=1)
    )
    answer = _ask(library, ASPIRIN, "learned")
    assert _found(answer) == [
        ("exact", "aspirin"),
        ("parent", "aspirin sodium"),
        ("encoder", "ethanol"),
        ("encoder", "paracetamol"),
    ]
    assert (answer.mode, answer.encoder, answer.collection) == ("learned", "enc", "eagle_chemical")
    assert answer.hits[2].score == pytest.approx(0.9)


def test_without_an_encoder_fingerprints_answer_and_it_is_said(make_library: Make) -> None:
    library = make_library(*SET)
    answer = _ask(library, ASPIRIN, "learned")
    assert answer.mode == "similar"
    assert answer.hits == _ask(library, ASPIRIN, "similar").hits
    assert "eagle_chemical could not be searched" in answer.notes[0]


def test_a_name_of_the_ontology_or_of_a_compound_is_looked_up(make_library: Make) -> None:
    library = make_library(*SET)
    assert _ask(library, "caffeine").smiles == "Cn1c(=O)c2c(ncn2C)n(C)c1=O"
    named = _ask(library, "Salicylic Acid", "exact")
    assert _found(named) == [("exact", "salicylic acid")]
    assert "of the library" in named.notes[0]


def test_what_is_neither_structure_nor_name_is_refused(make_library: Make) -> None:
    library = make_library(*SET)
    with pytest.raises(InvalidInput, match="did you mean ethanol"):
        _ask(library, "ethanoll")
    with pytest.raises(InvalidQuery, match="neither SMILES nor SMARTS"):
        _ask(library, "[C", "substructure")


@pytest.mark.parametrize("mode", MODES)
def test_a_known_antibody_is_told_to_have_no_structure(make_library: Make, mode: "Mode") -> None:
    with pytest.raises(InvalidInput, match=r"'trastuzumab' is known \(drug\), without"):
        _ask(make_library(*SET), "trastuzumab", mode)


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("learned", "not among the library's compounds; these are its neighbours"),
        ("similar", "not among the library's compounds; these are its neighbours"),
        ("exact", "the compound itself is not among the library's compounds"),
    ],
)
def test_a_compound_that_is_not_there_is_told(make_library: Make, mode: "Mode", said: str) -> None:
    assert _ask(make_library(*SET), "caffeine", mode).notes[-1].endswith(said)


def test_other_forms_of_a_compound_that_is_not_there_are_told(make_library: Make) -> None:
    library = make_library(SODIUM)
    forms = "the compound itself is not among the library's compounds; these are its other forms"
    assert _ask(library, ASPIRIN, "exact").notes == (forms,)
    assert _ask(library, ASPIRIN, "similar").notes == (forms,)
    library.add("CCO")
    assert _ask(library, ASPIRIN, "similar").notes == (f"{forms} and its neighbours",)


@pytest.mark.parametrize("mode", ["similar", "exact"])
@pytest.mark.parametrize("text", [ASPIRIN, "*c1ccccc1"])
def test_of_a_compound_that_is_there_nothing_is_told(
    make_library: Make, mode: "Mode", text: str
) -> None:
    assert _ask(make_library(*SET, "*c1ccccc1"), text, mode).notes == ()


def test_a_compound_of_another_knowledge_base_is_not_among_those_asked_for(
    make_library: Make,
) -> None:
    library = make_library("CCO")
    library.add("CCCO", kb="b")
    answer = _search(library).search(Question("CCO", "similar", 5, ("b",)), library)
    said = "the compound itself is not among the compounds of b; these are its neighbours"
    assert answer.notes == (said,)


def test_hydrogens_of_a_smiles_part_are_said_not_to_count(make_library: Make) -> None:
    library = make_library(*SET)
    asked = _ask(library, "C(=O)[OH]", "substructure")
    assert "write 'SMARTS: ...'" in asked.notes[0]
    assert _ask(library, "SMARTS: C(=O)[OH]", "substructure").notes == ()


def test_eight_threads_get_one_answer(make_library: Make) -> None:
    library = make_library(*SET)
    search = _search(library)
    questions = [Question(ASPIRIN, mode, 5) for mode in MODES] * 6
    alone = [search.search(question, library) for question in questions]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda each: search.search(each, library), questions))
    assert together == alone


@pytest.mark.parametrize("text", ["c1ccccc1*", "SMARTS: [#6]1~[#6]~[#6]~[#6]~[#6]~[#6]1"])
def test_open_ends_and_any_atoms_are_found_and_counted(make_library: Make, text: str) -> None:
    """An open end is any atom; the score is the share of the molecule that the query covers."""
    hits = _ask(make_library(*SET), text, "substructure", 10).hits
    shares = {hit.name: hit.score for hit in hits}
    atoms = text.count("c") + text.count("#6") + text.count("*")
    assert shares["salicylic acid"] == pytest.approx(atoms / 10)
    assert "ethanol" not in shares
