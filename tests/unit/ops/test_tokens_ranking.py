"""What the tokens do to BM25: the exact form of an identifier comes first, its parts are found."""

import math
from collections import Counter

import pytest

from eagle_rag.ops.tokens import tokenize

BACKGROUND = [
    "The patients were treated with a standard dose for two weeks and then followed.",
    "Cells were grown in medium with serum, and their number was counted every day.",
    "Expression of the gene was lower in tumours than in normal tissue of the lung.",
]


def rank(query: str, documents: list[str]) -> list[tuple[int, float]]:
    """Return ``(document, score)`` by BM25 as the stores define it (k1 1.2, b 0.75)."""
    bags = [Counter(tokenize(text)) for text in documents]
    mean = sum(bag.total() for bag in bags) / len(bags)
    scores = []
    for number, bag in enumerate(bags):
        score = 0.0
        for token in tokenize(query):
            held = sum(token in other for other in bags)
            idf = math.log(1 + (len(bags) - held + 0.5) / (held + 0.5))
            norm = 1.2 * (0.25 + 0.75 * bag.total() / mean)
            score += idf * bag[token] * 2.2 / (bag[token] + norm)
        scores.append((number, score))
    return sorted(scores, key=lambda item: -item[1])


@pytest.mark.parametrize(
    ("written", "rivals"),
    [
        ("IL-2/IL-15", ["IL-2 and IL-2 but no IL-15", "IL-15, IL-15, IL-2"]),
        ("BRCA1-WNT5A", ["WNT5A and BRCA1", "BRCA1 BRCA1 BRCA1"]),
        ("BT-483", ["BT and 483", "BT-484", "483 BT 483 BT"]),
        ("p.L858R", ["p value of L858Q", "L858R L858R", "p.L861Q"]),
        ("c.35G>A", ["c.35G>T", "35 G and A", "c.34G>A"]),
        ("(3R,4S)-1-[4-", ["(3S,4R)-1-[4-", "3R and 4S, 1 and 4"]),
        ("vanadium(II)", ["vanadium(III)", "vanadium, type II", "vanadium vanadium"]),
        ("17\u03b2-estradiol", ["17\u03b1-estradiol", "estradiol estradiol", "17 beta blockers"]),
        ("HLA-B*57:01", ["HLA-B*57:02", "HLA-A*57:01", "HLA HLA B B 57 57 01"]),
        ("SACC-111", ["SACC-112", "SACC SACC 111 111"]),
        ("IC50=2.3uM", ["IC50=2.4uM", "IC50 IC50 2.3 and 2.3", "uM uM 2.3"]),
        ("TNF-\u03b1", ["TNF-\u03b2", "TNF TNF", "alpha alpha"]),
        ("EGFR T790M", ["EGFR EGFR EGFR", "T790A of EGFR", "VEGFR"]),
        ("CD4+", ["CD4 CD4 CD4-", "CD8+"]),
    ],
)
def test_c2_the_exact_form_ranks_first(written: str, rivals: list[str]) -> None:
    documents = [*(f"We saw {rival} in patients." for rival in rivals), *BACKGROUND]
    documents.append(f"We saw {written} in patients.")
    ranking = rank(written, documents)
    assert ranking[0][0] == len(documents) - 1
    assert ranking[0][1] > ranking[1][1]


@pytest.mark.parametrize(
    ("part", "written"),
    [
        ("T790M", "EGFR T790M"),
        ("IL-15", "IL-2/IL-15"),
        ("WNT5A", "BRCA1-WNT5A"),
        ("L858R", "p.L858R"),
        ("35G>A", "c.35G>A"),
        ("B*57:01", "HLA-B*57:01"),
        ("estradiol", "17\u03b2-estradiol"),
        ("vanadium", "vanadium(II)"),
        ("IC50", "IC50=2.3uM"),
        ("PD-L1", "anti-PD-L1"),
        ("TNF\u03b1", "TNF-alpha-induced"),
        ("CD25", "CD4+CD25+"),
    ],
)
def test_c2_a_part_finds_the_identifier(part: str, written: str) -> None:
    documents = [*BACKGROUND, f"We saw {written} in patients."]
    ranking = rank(part, documents)
    assert ranking[0][0] == len(documents) - 1
    assert ranking[1][1] == 0


@pytest.mark.parametrize(
    "query", ["TNF-\u03b1", "TNF-alpha", "TNF alpha", "TNF\u03b1", "TNFalpha"]
)
def test_c1_every_spelling_finds_every_spelling_alike(query: str) -> None:
    spellings = ["TNF-\u03b1", "TNF-alpha", "TNF alpha", "TNF\u03b1", "TNFalpha"]
    ranking = rank(query, [*(f"We saw {spelling} rise." for spelling in spellings), *BACKGROUND])
    scores = [score for number, score in ranking if number < len(spellings)]
    assert min(scores) > 0
    assert len(set(scores)) == 1
