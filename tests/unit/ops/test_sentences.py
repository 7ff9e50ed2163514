"""Where sentences end."""

import pytest

from eagle_rag.ops.sentences import boundaries, nearest_boundary, sentence_spans


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    "sentence",
    [
        "As Fig. 2A shows, it grew.",
        "We compared A vs. Placebo arms.",
        "Smith et al. Found it first.",
        "Strains of E. coli grew.",
        "It was given i.v. Daily doses followed.",
        "It differed, p = .03 at most.",
        "It differed (p < 0.05) at 37.5 degrees.",
        "Sample No. 4 was lost.",
        "Dr. Smith and Prof. Jones agreed.",
        "Some, e.g. BRCA1, were lost.",
        "One gene, i.e. EGFR, was lost.",
        "It took approx. 5 days, ca. 20 in all.",
        "J. R. Smith wrote it.",
        "Candida spp. Albicans was found.",
        "It was given s.c. Twice a day.",
        "It was ... unclear.",
        "See Eq. 3 and Refs. 4 and 5.",
        "From Jan. 5 to Oct. 7.",
        "The U.S. Food and Drug Administration agreed.",
        "Staphylococcus sp. nov. was new.",
        "1. Introduction to it.",
        "It was p=1.6 \u00d7 10^-4 there.",
        "It was 2.67 \u00b1 1.69 there.",
        "It weighed 3.5 Kilograms.",
        "The St. Louis company.",
    ],
)
def test_d5_abbreviations_do_not_end_a_sentence(sentence: str) -> None:
    assert split(sentence) == [sentence]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("It fell. The rest rose.", ["It fell.", "The rest rose."]),
        ("It fell.^12,13 The rest.", ["It fell.^12,13", "The rest."]),
        ("It fell.^[4] The rest.", ["It fell.^[4]", "The rest."]),
        ("It fell.[12] The rest.", ["It fell.[12]", "The rest."]),
        ("It fell. [1,2] The rest.", ["It fell. [1,2]", "The rest."]),
        ("It resisted.12 The rest.", ["It resisted.12", "The rest."]),
        ("\u201cIt fell.\u201d The rest.", ["\u201cIt fell.\u201d", "The rest."]),
        ("(It fell.) The rest.", ["(It fell.)", "The rest."]),
        ("Is it? Yes! No.", ["Is it?", "Yes!", "No."]),
        ("It waited\u2026 Then it fell.", ["It waited\u2026", "Then it fell."]),
        ("In 2010. 12 mice died.", ["In 2010.", "12 mice died."]),
        ("It grew. p53 was lost.", ["It grew.", "p53 was lost."]),
        ("Given vitamin C. The rest.", ["Given vitamin C.", "The rest."]),
        ("Given i.v. The mice died.", ["Given i.v.", "The mice died."]),
        ("Genes, etc. However, no.", ["Genes, etc.", "However, no."]),
        ("It was lost. \u03b2-Catenin rose.", ["It was lost.", "\u03b2-Catenin rose."]),
        ("One\n\ntwo\n \nthree", ["One", "two", "three"]),
        ("After 15 ms. The rest.", ["After 15 ms.", "The rest."]),
        ("For 5 min. Recovered cells.", ["For 5 min.", "Recovered cells."]),
        ("Every 12 h. Calves drank.", ["Every 12 h.", "Calves drank."]),
        ("It fell. \u2022 The rest.", ["It fell.", "\u2022 The rest."]),
        ("Moved at 5 nm/s. WT motors.", ["Moved at 5 nm/s.", "WT motors."]),
        ("(a) Mice died. (b,c) Rats lived.", ["(a) Mice died.", "(b,c) Rats lived."]),
        ("One.\nTwo.", ["One.", "Two."]),
        ("\u7b2c\u4e00\u3002\u7b2c\u4e8c\uff01", ["\u7b2c\u4e00\u3002", "\u7b2c\u4e8c\uff01"]),
        ("  It fell.  ", ["It fell."]),
        ("It fell. (The rest.)", ["It fell.", "(The rest.)"]),
    ],
)
def test_d5_sentences_end_where_a_reader_ends_them(text: str, parts: list[str]) -> None:
    assert split(text) == parts


@pytest.mark.parametrize("text", ["", " \n\t ", "\u2003"])
def test_h1_white_space_has_no_sentence(text: str) -> None:
    assert sentence_spans(text) == []


def test_a_stretch_gives_what_the_whole_gives() -> None:
    text = "One rose. Two fell (Fig. 3). Three stayed. Four left."
    whole = list(boundaries(text, 0, len(text)))
    assert list(boundaries(text, 10, 45)) == [cut for cut in whole if cut[0] > 10 and cut[1] < 45]


def test_the_nearest_boundary_is_the_nearest_of_all() -> None:
    text = "One rose. Two fell. Three stayed. Four left."
    assert nearest_boundary(text, 0, len(text), ideal=21) == (19, 20)
    assert nearest_boundary(text, 0, 8, ideal=4) is None


@pytest.mark.parametrize("unit", [".", ". ", ".)", ".^1", "\n", "a. ", ". [1", "\u3002", ".1,"])
@pytest.mark.timeout(60)  # quadratic time would be hours
def test_c4_a_megabyte_of_anything_takes_linear_time(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    spans = sentence_spans(text)
    assert spans == sorted(spans)
