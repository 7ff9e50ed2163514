"""Names from MRCONSO.RRF: which rows count, how they merge, how they are stored."""

from collections import Counter
from pathlib import Path

import pytest

from eagle_biomed.entities import Ontology
from eagle_biomed.lexicon_source import LexiconEntry
from eagle_biomed.lexicon_store import open_lexicon
from eagle_biomed.mrconso import Mrconso
from eagle_biomed.ontology_file import read_ontology_file

_YAML = b"""
entities:
  EGFR: {type: gene, aliases: [ErbB1], cui: C0034802, pathways: [MAPK], related_drugs: [osimertinib]}
"""


def _row(
    cui: str, name: str, *, lat: str = "ENG", ispref: str = "Y", ts: str = "S", stt: str = "VO"
) -> str:
    return f"{cui}|{lat}|{ts}|L1|{stt}|S1|{ispref}|A1||M1|D1|MSH|ET|D1|{name}|0|N|256|\n"


def _write(path: Path, *rows: str) -> Mrconso:
    path.write_text("".join(rows), encoding="utf-8")
    return Mrconso(str(path))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "MRCONSO.RRF"


def _ontology(source: Mrconso, folder: Path) -> Ontology:
    lexicon = open_lexicon(source, folder)
    return Ontology(read_ontology_file(_YAML), [lexicon] if lexicon is not None else [])


def test_only_preferred_english_rows_count_and_the_rest_is_counted(path: Path) -> None:
    source = _write(
        path,
        _row("C1", "Myasthenia gravis", ts="P", stt="PF"),
        _row("C1", "Erb-Goldflam disease"),
        _row("C1", "Miastenia gravis", lat="SPA"),
        _row("C1", "MG disease", ispref="N"),
    )
    skipped: Counter[str] = Counter()
    assert list(source.entries(skipped)) == [
        LexiconEntry("Myasthenia gravis", ("Erb-Goldflam disease",), cui="C1")
    ]
    assert skipped == {"not English": 1, "not preferred": 1}


def test_the_preferred_form_of_the_preferred_term_is_the_canonical_name(path: Path) -> None:
    source = _write(path, _row("C1", "Second"), _row("C1", "First", ts="P", stt="PF"))
    assert list(source.entries(Counter())) == [LexiconEntry("First", ("Second",), cui="C1")]


def test_bad_rows_are_counted_and_the_rest_loads(path: Path, tmp_path: Path) -> None:
    good = _row("C1", "Myasthenia gravis").encode()
    path.write_bytes(
        b"C1|ENG|short\n"
        + _row("C2", "bad \xe9").encode("latin-1")
        + b"\n"
        + _row("", "no concept").encode()
        + _row("C3", " ").encode()
        + b"C4|ENG|" + b"x" * 200_000 + b"\n"
        + good
    )  # fmt: skip
    lexicon = open_lexicon(Mrconso(str(path)), tmp_path / "cache")
    assert lexicon is not None
    assert lexicon.report.entities == lexicon.report.names == 1
    assert dict(lexicon.report.skipped) == {
        "wrong number of columns": 1,
        "not UTF-8": 1,
        "empty line": 1,
        "no concept or no name": 2,
        "line too long": 1,
    }


def test_an_absent_file_is_an_empty_lexicon(path: Path, tmp_path: Path) -> None:
    source = Mrconso(str(path))
    assert source.digest() == ""
    assert list(source.entries(Counter())) == []
    assert open_lexicon(source, tmp_path / "cache") is None


def test_names_merge_into_an_entity_of_the_same_canonical_name(path: Path, tmp_path: Path) -> None:
    source = _write(
        path,
        _row("C0034802", "EGF-R", ts="P", stt="PF"),
        _row("C0034802", "Epidermal Growth Factor Receptor"),
        _row("C0034802", "erbb-1"),
    )
    ontology = _ontology(source, tmp_path / "cache")
    known = ontology.resolve_entity("epidermal growth factor receptor")
    assert (known.entity, known.cui) == ("EGFR", "C0034802")
    assert known.aliases == ("ErbB1", "Epidermal Growth Factor Receptor")
    assert known.pathways == ("MAPK",)
    assert ontology.match_entities("the Epidermal growth factor receptor") == ("EGFR",)
    assert len(ontology.entities) == 1


def test_a_new_concept_is_an_entity_without_links(path: Path, tmp_path: Path) -> None:
    source = _write(path, _row("C1", "Myasthenia gravis"), _row("C1", "Erb-Goldflam disease"))
    ontology = _ontology(source, tmp_path / "cache")
    known = ontology.resolve_entity("Erb Goldflam disease")
    assert (known.entity, known.found, known.cui) == ("Myasthenia gravis", True, "C1")
    assert known.pathways == known.related_drugs == ()
    entity = ontology.entities["myasthenia gravis"]
    assert (entity.kind, entity.source) == ("", "mrconso")
    assert list(ontology.entities) == ["EGFR", "Myasthenia gravis"]


def test_the_ontologys_names_win_over_those_of_umls(path: Path, tmp_path: Path) -> None:
    source = _write(path, _row("C9", "Some receptor"), _row("C9", "ErbB1"))
    ontology = _ontology(source, tmp_path / "cache")
    assert ontology.match_entities("ErbB1 and Some receptor") == ("EGFR", "Some receptor")
    assert ontology.resolve_entity("ErbB1").entity == "EGFR"


def test_a_concept_whose_rows_are_apart_is_one_entity(path: Path, tmp_path: Path) -> None:
    source = _write(
        path, _row("C1", "Myasthenia"), _row("C2", "Asthma"), _row("C1", "Erb disease")
    )
    ontology = _ontology(source, tmp_path / "cache")
    assert ontology.resolve_entity("Erb disease").entity == "Myasthenia"
    assert ontology.resolve_entity("Myasthenia").aliases == ("Erb disease",)


def test_a_concept_with_very_many_names_is_one_entity(path: Path, tmp_path: Path) -> None:
    source = _write(path, *(_row("C1", f"Name number {n} of it") for n in range(2_500)))
    lexicon = open_lexicon(source, tmp_path / "cache")
    assert lexicon is not None
    assert (lexicon.report.entities, lexicon.report.names) == (1, 2_500)
    assert len(lexicon.by_name("namenumber2499ofit")[0].aliases) == 2_499


def test_the_rows_of_the_manual_are_read_as_they_stand(path: Path) -> None:
    """The columns of a real row: the string is the fifteenth."""
    path.write_text(
        "C0000005|ENG|P|L0000005|PF|S0007492|Y|A26634265||M0019694|D012711|MSH|PEP|D012711|"
        "(131)I-Macroaggregated Albumin|0|N|256|\n"
    )
    [entry] = Mrconso(str(path)).entries(Counter())
    assert (entry.name, entry.cui) == ("(131)I-Macroaggregated Albumin", "C0000005")


def test_a_changed_file_has_another_digest(path: Path) -> None:
    before = _write(path, _row("C1", "Myasthenia")).digest()
    assert Mrconso(str(path)).digest() == before
    assert _write(path, _row("C1", "Myasthenia gravis")).digest() != before


_EMPTY = b"""
entities:
  MET: {type: gene, aliases: [c-MET, HGFR], guard: case}
  CAT: {type: gene, aliases: [catalase], guard: case}
  savolitinib: {type: drug, aliases: [volitinib]}
  EGFR: {type: gene, aliases: [ErbB1, HGFR], cui: C0034802}
"""


def _cui(path: Path, folder: Path, name: str, *rows: str) -> str:
    lexicon = open_lexicon(_write(path, *rows), folder)
    assert lexicon is not None
    return Ontology(read_ontology_file(_EMPTY), [lexicon]).resolve_entity(name).cui


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("savolitinib", [_row("C7", "Savolitinib")]),
        ("savolitinib", [_row("C7", "Volitinib")]),
        ("savolitinib", [_row("C7", "savolitinib"), _row("C8", "volitinib")]),
        ("MET", [_row("C7", "MET gene"), _row("C8", "Met")]),
        ("CAT", [_row("C7", "Catalase"), _row("C8", "Cat")]),
    ],
)
def test_an_entity_without_a_concept_takes_the_one_that_is_named_like_it(
    path: Path, tmp_path: Path, name: str, rows: list[str]
) -> None:
    assert _cui(path, tmp_path / "cache", name, *rows) == "C7"


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("savolitinib", [_row("C7", "Other"), _row("C7", "savolitinib")]),
        ("savolitinib", [_row("C7", "savolitinib"), _row("C8", "Savolitinib")]),
        ("MET", [_row("C7", "HGFR")]),
        ("CAT", [_row("C7", "Cat")]),
        ("savolitinib", [_row("C0034802", "savolitinib")]),
    ],
    ids=["a synonym only", "two concepts", "an alias of two", "another word", "another's concept"],
)
def test_a_concept_that_is_not_plain_fills_nothing(
    path: Path, tmp_path: Path, name: str, rows: list[str]
) -> None:
    assert _cui(path, tmp_path / "cache", name, *rows) == ""


def test_a_concept_of_the_file_is_kept(path: Path, tmp_path: Path) -> None:
    rows = [_row("C7", "EGFR"), _row("C8", "EGFR gene")]
    assert _cui(path, tmp_path / "cache", "EGFR", *rows) == "C0034802"
