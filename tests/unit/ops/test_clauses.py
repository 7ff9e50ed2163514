"""The clause that answers."""

import pytest

from eagle_rag.ops.clauses import best_clause, clause_spans
from eagle_rag.ops.tokens import tokenize

TEXT = (
    "Gefitinib was given to all patients; the EGFR T790M mutation arose in half of them, "
    "and overall survival was longer in the others. Nothing else of EGFR was seen."
)


@pytest.mark.parametrize(
    ("query", "clause"),
    [
        ("EGFR T790M", "the EGFR T790M mutation arose in half of them,"),
        ("overall survival", "and overall survival was longer in the others."),
        ("gefitinib", "Gefitinib was given to all patients;"),
        ("anything else of EGFR", "Nothing else of EGFR was seen."),
        ("EGFR", "the EGFR T790M mutation arose in half of them,"),
    ],
)
def test_the_clause_with_most_of_the_query_wins_and_the_first_of_equals(
    query: str, clause: str
) -> None:
    match = best_clause(TEXT, 0, tokenize(query))
    assert match is not None
    assert match.text == clause


def test_d4_offsets_of_clause_and_terms_are_into_the_document() -> None:
    source = "x" * 100 + TEXT
    match = best_clause(TEXT, 100, tokenize("EGFR T790M"))
    assert match is not None
    assert source[match.start : match.end] == match.text
    assert [source[term.start : term.end] for term in match.terms] == ["EGFR", "T790M"]


def test_an_identifier_is_one_term_as_the_source_writes_it() -> None:
    text = "Levels of TNF\u2010\u03b1 rose."
    match = best_clause(text, 0, tokenize("TNF alpha"))
    assert match is not None
    assert [(term.term, text[term.start : term.end]) for term in match.terms] == [
        ("tnfalpha", "TNF\u2010\u03b1")
    ]


def test_every_occurrence_of_a_term_in_the_clause_is_given() -> None:
    match = best_clause("MET and MET again.", 5, ["met"])
    assert match is not None
    assert [(term.start, term.end) for term in match.terms] == [(5, 8), (13, 16)]


@pytest.mark.parametrize("tokens", [[], ["absent"]])
def test_no_term_in_the_passage_gives_no_clause(tokens: list[str]) -> None:
    assert best_clause(TEXT, 0, tokens) is None


def test_a_rare_form_outweighs_two_plain_letters() -> None:
    text = "It was seen in groups a b of the study; the level of IL-2 was higher than before."
    match = best_clause(text, 0, ["b", "il2"])
    assert match is not None
    assert match.text.startswith("the level")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Genes such as A, B, and C were lost.", 1),
        ("The first group of mice was fed, while the second group was not.", 2),
        ("The first group of mice was fed \u2013 the second group of mice was not.", 2),
        ("We saw in all the groups of mice that the treatment had no effect.", 2),
        ("The result of all that was clear: the treatment had no effect.", 2),
        ("", 0),
    ],
)
def test_sentences_are_divided_where_a_clause_begins(text: str, count: int) -> None:
    assert len(clause_spans(text)) == count


@pytest.mark.parametrize(
    ("query", "text", "terms"),
    [
        ("p.L858R", "The p.T790M change was found.", []),
        ("p.L858R EGFR", "The EGFR p.T790M change was found.", ["EGFR"]),
        ("p.L858R", "The p.T790M and p.L858R changes were found.", ["p.L858R"]),
        ("L858R p", "The p.L858R change was found.", ["p", "L858R"]),
        ("IL-2", "Levels of CCL-2 and IL-6 rose.", ["IL"]),
        ("HLA-B*57:01", "Carriers of HLA-B*15:01 were few.", ["HLA"]),
        ("vitamin B 6", "Of vitamin B 6 little is known.", ["vitamin", "B", "6"]),
        ("2", "Levels of IL-2 rose.", ["2"]),
    ],
)
def test_a_letter_or_number_of_a_name_is_marked_only_with_the_rest_of_the_name(
    query: str, text: str, terms: list[str]
) -> None:
    match = best_clause(text, 0, tokenize(query))
    marked = [text[term.start : term.end] for term in match.terms] if match else []
    assert marked == terms
