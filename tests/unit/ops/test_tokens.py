"""The tokenizer that index and query share."""

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from eagle_rag.ops.tokens import (
    MAX_TOKEN_CHARS,
    STOP_WORDS,
    lexemes,
    stem,
    tokenize,
    tokenize_spans,
)


@pytest.mark.parametrize(
    "spelling",
    [
        "TNF-alpha",
        "TNF alpha",
        "TNF\u03b1",
        "TNFalpha",
        "tnf-\u03b1",
        "TNF\u2010\u03b1",
        "TNF\xa0\u03b1",
    ],
)
def test_c1_all_spellings_of_tnf_alpha_give_the_same_tokens(spelling: str) -> None:
    assert tokenize(spelling) == tokenize("TNF-\u03b1") == ["tnfalpha", "tnf", "alpha"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("IL-1\u03b2", "IL-1 beta"),
        ("IL-1\u03b2", "IL-1-beta"),
        ("IFN-\u03b3", "IFN gamma"),
        ("NF-\u03baB", "NF-kappa B"),
        ("NF-\u03baB", "NF\u03baB"),
        ("2.3 \u00b5M", "2.3 \u03bcM"),
        ("2.3 \u00b5M", "2.3 uM"),
        ("2.3 \u00b5M", "2.3 microM"),
        ("\u0391\u03b2 T cells", "\u03b1\u03b2 T cells"),
        ("\u03c3\u03c2", "\u03c3\u03c3"),
    ],
)
def test_c1_greek_letters_and_their_names_meet(one: str, other: str) -> None:
    assert tokenize(one) == tokenize(other)


@pytest.mark.parametrize(
    "spelling",
    ["NF-kappaB", "NFkappaB", "NF-kappa B", "NF\u03baB", "NF \u03baB", "NF kappaB", "nf kappa b"],
)
def test_c1_all_spellings_of_nf_kappa_b_give_the_same_tokens(spelling: str) -> None:
    assert tokenize(spelling) == tokenize("NF-\u03baB")
    assert "nfkappab" in tokenize(spelling)


def test_c1_a_lone_micro_sign_is_the_letter_mu() -> None:
    assert tokenize("\u00b5-opioid")[1:] == tokenize("mu-opioid")[1:]


@pytest.mark.parametrize(
    ("written", "exact", "parts"),
    [
        ("IL-2/IL-15", "il2/il15", {"il2", "il15", "il", "2", "15"}),
        ("BRCA1-WNT5A", "brca1wnt5a", {"brca1", "wnt5a"}),
        ("BT-483", "bt483", {"bt", "483"}),
        ("p.L858R", "p.l858r", {"l858r"}),
        ("p.(L858R)", "p.l858r", {"l858r"}),
        ("c.35G>A", "c.35g>a", {"35g>a"}),
        ("(3R,4S)-1-[4-", "3r,4s1-4", {"3r,4s", "3r", "4s", "1", "4"}),
        ("vanadium(II)", "vanadiumii", {"vanadium", "ii"}),
        ("17\u03b2-estradiol", "17betaestradiol", {"17beta", "beta", "estradiol"}),
        ("HLA-B*57:01", "hlab*57:01", {"hla", "b*57:01", "57", "01"}),
        ("SACC-111", "sacc111", {"sacc", "111"}),
        ("IC50=2.3uM", "ic50=2.3um", {"ic50", "2.3um", "2.3", "um"}),
        ("NCT01234567", "nct01234567", set()),
        ("rs1234567", "rs1234567", set()),
        ("MDA-MB-231", "mdamb231", {"mda", "mb", "231", "mdamb", "mb231"}),
        ("5mg", "5mg", {"5", "mg"}),
        ("10^6", "10^6", {"10", "6"}),
        ("10\u207b\u2076", "10^-6", {"10", "6"}),
        ("CD4+", "cd4+", {"cd4"}),
        ("CD4(+)", "cd4+", {"cd4"}),
        ("CD4^+", "cd4+", {"cd4"}),
        ("CD4+CD25+", "cd4+cd25+", {"cd4+", "cd25+", "cd4", "cd25"}),
        ("10.1016/S0140-6736(10)60456-7", "10.1016/s0140-6736(10)60456-7", set()),
        ("anti-PD-L1", "antipdl1", {"anti", "pdl1", "pd", "l1"}),
        ("1,790", "1790", set()),
        ("1.73 m^2", "1.73", {"m2", "m", "2"}),
        ("Ca^2+", "ca2+", {"ca"}),
        ("min^-1", "min-1", {"min", "1"}),
        ("5\u2032-UTR", "5utr", {"5", "utr"}),
    ],
)
def test_c2_identifiers_are_kept_whole_and_their_parts_can_be_found(
    written: str, exact: str, parts: set[str]
) -> None:
    tokens = tokenize(written)
    assert tokens[0] == exact
    assert parts <= set(tokens)


def test_c2_a_mutation_is_found_with_and_without_its_gene() -> None:
    assert tokenize("EGFR T790M") == ["egfr", "t790m"]
    assert tokenize("T790M") == ["t790m"]


def test_c2_a_doi_behind_a_prefix_or_in_a_link_is_the_same_token() -> None:
    doi = "10.1371/journal.pone.0123456"
    for text in (f"doi:{doi}.", f"https://doi.org/{doi}", f"({doi})"):
        assert doi in tokenize(text)


def test_c2_two_numbers_never_merge_into_another_number() -> None:
    assert "13" not in tokenize("1-3")
    assert "106" not in tokenize("10\u2076")
    assert tokenize("0.05") == ["0.05"]


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("co\u00adoperate", "cooperate"),
        ("BT\u2010483", "BT-483"),
        ("BT\u2011483", "BT-483"),
        ("BT\u2212483", "BT-483"),
        ("a\ufb01ne \ufb02ow", "afine flow"),
        ("\uff34\uff2e\uff26\uff0d\u03b1", "TNF-\u03b1"),
        ("nai\u0308ve", "na\u00efve"),
        ("na\u00efve", "naive"),
        ("lung\u00a0cancer", "lung cancer"),
        ("lung\u2009cancer", "lung cancer"),
        ("gly\u200bcine", "glycine"),
        ("5\u2032-UTR", "5'-UTR"),
        ("5\u2019-UTR", "5'-UTR"),
        ("Alzheimer\u2019s", "Alzheimer's"),
        ("\u212b", "\u00e5"),
    ],
)
def test_c3_typographic_variants_search_alike(written: str, plain: str) -> None:
    assert tokenize(written) == tokenize(plain)


@pytest.mark.parametrize(
    "query", ["", "   ", "?!...;--", "the of and", "\x00", "'\"", "()[]{}", "\u0301\u200b", "^+"]
)
def test_c4_a_query_without_words_has_no_tokens(query: str) -> None:
    assert tokenize(query) == []
    assert lexemes(query) == ""


def test_c4_query_syntax_is_text() -> None:
    tokens = tokenize('"; DROP TABLE x;-- {y} $where\x00')
    assert tokens == ["drop", stem("table"), "x", "y"]


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "a-",
        "10.1234/",
        "(",
        "a(",
        "\u0301",
        "1,",
        "1.2",
        "TNF alpha ",
        "kappa b ",
        "a'",
        "^+",
        "\u03b1",
    ],
)
@pytest.mark.timeout(60)  # quadratic time would be hours
def test_c4_a_megabyte_of_anything_takes_linear_time(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    tokens = tokenize(text)
    assert all(len(token) <= 2 * MAX_TOKEN_CHARS for token in set(tokens))


def test_c5_a_name_inside_a_longer_name_is_another_token() -> None:
    assert "egfr" not in tokenize("VEGFR")
    assert "met" not in tokenize("metastatic")


def test_spans_point_at_the_words_as_written() -> None:
    text = "The TNF\u2010\u03b1 e\u0301tude, CD4\u207a."
    spelled = {token: text[start:end] for token, start, end in tokenize_spans(text)}
    assert spelled == {
        "tnfalpha": "TNF\u2010\u03b1",
        "tnf": "TNF",
        "alpha": "\u03b1",
        "etud": "e\u0301tude",
        "cd4+": "CD4\u207a",
        "cd4": "CD4",
    }


def test_a_possessive_ending_is_dropped() -> None:
    assert tokenize("Parkinson's") == tokenize("Parkinson")
    assert tokenize("don't") == ["dont"]


def test_dotted_abbreviations_are_their_letters() -> None:
    assert tokenize("i.v.") == tokenize("iv") == ["iv"]


def test_a_raised_citation_number_does_not_change_the_word() -> None:
    assert tokenize("resistance^12") == [stem("resistance"), "12"]
    assert tokenize("IL-6^12") == [*tokenize("IL-6"), "12"]
    assert tokenize("IL-10^3,4") == [*tokenize("IL-10"), *tokenize("3,4")]
    assert tokenize("resistance.^12 The")[0] == stem("resistance")


def test_a_lost_space_after_a_sentence_does_not_glue_two_words() -> None:
    assert tokenize("(cells).[12] Mice") == ["cell", "12", "mice"]


def test_identifiers_are_not_stemmed() -> None:
    assert tokenize("SOX2s A549s ies") == ["sox2s", "a549s", stem("ies")]


def test_words_are_stemmed_alike_in_any_case() -> None:
    assert tokenize("Mutations MUTATED mutation") == ["mutat"] * 3


def test_threads_do_not_mix_up_each_others_stems() -> None:
    """Search arms and uploads tokenize at the same time, and a wrong stem would stay in the cache."""
    words = ["generalizations", "metastatic", "receptors", "inhibition", "happiness"]
    expected = [stem.__wrapped__(word) for word in words] * 400
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(stem.__wrapped__, words * 400)) == expected
    finally:
        sys.setswitchinterval(interval)


def test_stop_words_spare_names() -> None:
    assert not STOP_WORDS & {"all", "no", "who", "can", "not", "met", "her", "i"}


def test_a_greek_word_stays_a_word() -> None:
    assert tokenize("\u03bb\u03cc\u03b3\u03bf\u03c2") == ["\u03bb\u03bf\u03b3\u03bf\u03c3"]


def test_a_very_long_word_is_cut_and_a_long_tied_form_gives_its_parts() -> None:
    assert tokenize("q" * 100) == ["q" * 64, "q" * 36]
    chain = "-".join(f"w{number}xxxxxxxxxx" for number in range(9))
    tokens = tokenize(chain)
    assert "w3xxxxxxxxxx" in tokens
    assert max(map(len, tokens)) <= MAX_TOKEN_CHARS


def test_the_examples_in_the_docs_are_what_the_code_gives() -> None:
    page = Path(__file__).parents[3] / "docs" / "tokens.md"
    rows = re.findall(
        r"^\| `(.+?)` \| `(.+?)` \|$", page.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(rows) > 20
    assert [(text, " ".join(tokenize(text))) for text, _ in rows] == rows
