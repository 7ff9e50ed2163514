"""CASES C: what a question may look like, end to end: tokens, arms, fusion."""
# ruff: noqa: RUF001 - look-alike characters are what this file is about

from collections.abc import Callable
from pathlib import Path

import pytest

from eagle_rag.engine import Engine
from eagle_rag.errors import InvalidQuery
from eagle_rag.model.query import SearchMode, SearchRequest
from eagle_rag.testing.articles import write_files

# One paper a spelling; ``noise`` shares the words around them and none of the names.
SPELLINGS = {
    "greek": "Serum TNF-α rose in the treated mice. IFN-γ, IL-1β and NF-κB did not. Given 5 µM.",
    "named": "Serum TNF-alpha rose in the treated mice. IFN-gamma, IL-1beta and NF-kappaB did not.",
    "spaced": "Serum TNF alpha rose in the treated mice. IFN gamma did not.",
    "tied": "Serum TNFα rose in the treated mice. IFNγ did not. Given 5 μM.",
    "noise": "Serum sodium rose in the treated mice. Alpha blockers did not.",
}
# Each identifier with a text that shares its parts but not the whole.
IDENTIFIERS = {
    "IL-2/IL-15": "IL-2 alone, and later IL-15 alone, were given.",
    "BRCA1-WNT5A": "BRCA1 was lost, while WNT5A was kept.",
    "BT-483": "The BT line and 483 others were grown.",
    "p.L858R": "Codon L858 was seen, R was not.",
    "c.35G>A": "At position 35 G was found, not A.",
    "(3R,4S)-1-[4-": "The 3R and the 4S centres, 1 and 4, were set.",
    "vanadium(II)": "Vanadium was weighed, II times.",
    "17β-estradiol": "17 patients took estradiol.",
    "HLA-B*57:01": "HLA-B was typed in 57 patients, 01 excluded.",
    "SACC-111": "SACC cells from 111 donors.",
    "IC50=2.3uM": "The IC50 was low; 2.3 volumes of 1 uM were used.",
    "T790M": "T790 was mutated, not to M.",
    "NCT09900001": "NCT numbers such as 09900002 were listed.",
}
DASHES = ["\u2010", "\u2011", "\u2212"]


@pytest.fixture(scope="module")
def spelled(
    make_shared_engine: Callable[..., Engine], tmp_path_factory: pytest.TempPathFactory
) -> Engine:
    engine = make_shared_engine()
    folder = tmp_path_factory.mktemp("spelled")
    engine.ingest(
        [write_files(folder, {f"{key}.txt": text for key, text in SPELLINGS.items()})],
        kb_name="spelled",
    )
    texts = {}
    for number, (name, parts) in enumerate(IDENTIFIERS.items()):
        texts[f"exact{number:02}.txt"] = f"We describe {name} in detail here, and nothing else."
        texts[f"parts{number:02}.txt"] = parts
    engine.ingest([write_files(folder / "ids", texts)], kb_name="ids")
    return engine


def _found(engine: Engine, query: str, *, kb: str, mode: SearchMode = "lexical") -> list[str]:
    hits = engine.search(SearchRequest(query, top_k=50, kb_names=(kb,), mode=mode)).hits
    names = {record.document_id: record.source_uri for record in engine.documents()}
    return [Path(names[hit.document_id]).stem for hit in hits]


@pytest.mark.parametrize(
    "query", ["TNF-α", "TNF-alpha", "TNF alpha", "TNFα", "tnf-Α", "ＴＮＦ－α"]
)
def test_c1_every_spelling_of_a_greek_name_finds_the_same_papers(
    spelled: Engine, query: str
) -> None:
    assert set(_found(spelled, query, kb="spelled")) >= {"greek", "named", "spaced", "tied"}


@pytest.mark.parametrize(
    ("one", "other"),
    [("TNF-α", "TNFα"), ("IFN-γ", "IFN gamma"), ("IL-1β", "IL-1beta"), ("NF-κB", "NF-kappaB"),
     ("5 \u00b5M", "5 \u03bcM")],
)  # fmt: skip
def test_c1_spellings_rank_the_same_papers_in_the_same_order(
    spelled: Engine, one: str, other: str
) -> None:
    found = _found(spelled, one, kb="spelled")
    assert found
    assert found == _found(spelled, other, kb="spelled")


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
@pytest.mark.parametrize("number", range(len(IDENTIFIERS)))
def test_c2_the_exact_form_of_an_identifier_ranks_first(
    spelled: Engine, number: int, mode: SearchMode
) -> None:
    query = list(IDENTIFIERS)[number]
    assert _found(spelled, query, kb="ids", mode=mode)[0] == f"exact{number:02}"


@pytest.mark.parametrize("number", range(len(IDENTIFIERS)))
def test_c2_the_exact_form_ranks_first_among_other_words(spelled: Engine, number: int) -> None:
    query = f"what is known about {list(IDENTIFIERS)[number]} and mice?"
    assert _found(spelled, query, kb="ids", mode="hybrid")[0] == f"exact{number:02}"


@pytest.mark.parametrize(
    ("part", "name"),
    [("IL-15", "IL-2/IL-15"), ("WNT5A", "BRCA1-WNT5A"), ("estradiol", "17β-estradiol"),
     ("vanadium", "vanadium(II)"), ("HLA-B", "HLA-B*57:01"), ("IC50", "IC50=2.3uM")],
)  # fmt: skip
def test_c2_a_part_of_an_identifier_finds_it(spelled: Engine, part: str, name: str) -> None:
    assert f"exact{list(IDENTIFIERS).index(name):02}" in _found(spelled, part, kb="ids")


@pytest.mark.parametrize(
    ("text", "query"),
    [
        *((f"The cell line BT{dash}483 grew.", "BT-483") for dash in DASHES),
        *(("The cell line BT-483 grew.", f"BT{dash}483") for dash in DASHES),
        ("A dose of 5\u00a0mg daily.", "5 mg"),
        ("A dose of 5\u2009mg daily.", "5 mg"),
        ("Resis\u00adtance was seen.", "resistance"),
        ("An e\ufb03cient \ufb02ow.", "efficient flow"),
        ("The \uff25\uff27\uff26\uff32 gene.", "EGFR"),
        ("Sjo\u0308gren disease.", "Sj\u00f6gren"),
        ("Sj\u00f6gren disease.", "Sjo\u0308gren"),
    ],
)
def test_c3_variants_of_one_character_are_found_and_the_text_is_untouched(
    engine: Engine, tmp_path: Path, text: str, query: str
) -> None:
    engine.ingest([write_files(tmp_path / "in", {"a.txt": f"{text}\n", "b.txt": "Nothing here."})])
    hits = engine.search(SearchRequest(query, mode="lexical")).hits
    assert [hit.text for hit in hits] == [text]
    assert engine.show(hits[0].document_id).text == text


@pytest.mark.parametrize("mode", ["hybrid", "lexical", "dense"])
@pytest.mark.parametrize(
    "query",
    ["?!...", "the of and", "\0", "a\0b", '"', "'", "';-- DROP TABLE documents", "{x}", "$where",
     "{{7*7}}", "%00", "\\", "* OR 1=1", "NEAR(a b)", "a:b", "(", "[[", "\ud800", "🧬", "\u202e"],
)  # fmt: skip
def test_c4_a_strange_query_has_a_defined_answer(
    spelled: Engine, query: str, mode: SearchMode
) -> None:
    before = spelled.stats()
    results = spelled.search(SearchRequest(query, mode=mode))
    assert [hit.rank for hit in results.hits] == list(range(1, len(results.hits) + 1))
    assert spelled.stats() == before


@pytest.mark.parametrize("query", ["?!...", "the of and"])
@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
def test_c4_a_query_without_a_word_to_find_says_so(
    spelled: Engine, query: str, mode: SearchMode
) -> None:
    results = spelled.search(SearchRequest(query, mode=mode))
    assert results.trace.degraded
    assert "no word" in " ".join(event.message for event in results.trace.events)


@pytest.mark.parametrize("query", ["?!...", "the of and", "';--"])
def test_c4_words_nobody_wrote_find_nothing_by_words(spelled: Engine, query: str) -> None:
    assert spelled.search(SearchRequest(query, mode="lexical")).hits == ()


def test_c4_a_query_of_a_megabyte_is_refused_with_its_length(spelled: Engine) -> None:
    with pytest.raises(InvalidQuery, match="1,048,576"):
        spelled.search(SearchRequest("x" * (1 << 20)))


@pytest.mark.parametrize("query", ["", " \t\n"])
def test_c4_an_empty_query_is_refused(spelled: Engine, query: str) -> None:
    with pytest.raises(InvalidQuery, match="empty"):
        spelled.search(SearchRequest(query))


def test_c4_the_longest_query_allowed_is_answered(spelled: Engine) -> None:
    query = ("EGFR T790M " * 2_000)[:20_000]
    assert spelled.search(SearchRequest(query)).hits
