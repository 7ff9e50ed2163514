"""Properties of entity matching on random text."""

import re

from hypothesis import given
from hypothesis import strategies as st

from eagle_biomed.entity_names import key_of, normalise
from eagle_biomed.matching import FirstForms, Form, Matcher, fingerprints_of

_NAMES = (
    "EGFR", "VEGFR", "TNF-\u03b1", "PD-L1", "PD-1", "IL-6", "CDK4/6", "breast cancer", "cancer",
    "NF-\u03baB", "non-small cell lung cancer", "MET", "\u03b2-catenin", "Alzheimer's disease",
)  # fmt: skip
_FORMS = [(normalise(name), Form(name, normalise(name).ties, loose=True)) for name in _NAMES]
_MATCHER = Matcher([FirstForms(_FORMS)])
_KEYS = {key_of(name) for name in _NAMES}

_PIECES = st.sampled_from(
    [*_NAMES, "TNF alpha", "PDL1", "PD\u2011L1", "egfr", "IL6", "a", "is", "1", "s", " ", " ", "-",
     "\n", "\n\n", "'", ".", ",", "(", "é", "e\u0301", "\u00ad", "\u03b1", "beta", "²", "ﬁ", "突", "ß", "İ"]
)  # fmt: skip
_TEXTS = st.one_of(
    st.text(max_size=80),
    st.lists(_PIECES, max_size=30).map("".join),
    st.lists(_PIECES, max_size=30).map(" ".join),
)


@given(_TEXTS)
def test_every_hit_reads_as_a_known_name_and_none_overlap(text: str) -> None:
    last = 0
    for hit in _MATCHER.hits(text):
        assert last <= hit.start < hit.end <= len(text)
        assert key_of(text[hit.start : hit.end]) == key_of(hit.entity)
        last = hit.end


@given(_TEXTS)
def test_offsets_of_a_normal_text_are_inside_the_source_and_in_order(text: str) -> None:
    normal = normalise(text)
    length = len(normal.key)
    assert len(normal.starts) == len(normal.ends) == len(normal.ties) == length
    assert len(normal.begins) == length
    assert len(normal.stops) == length + 1
    assert list(normal.starts) == sorted(normal.starts)
    assert all(0 <= s < e <= len(text) for s, e in zip(normal.starts, normal.ends, strict=True))


@given(_TEXTS)
def test_every_hit_has_a_known_key(text: str) -> None:
    assert {key_of(text[h.start : h.end]) for h in _MATCHER.hits(text)} <= _KEYS


@given(_TEXTS, st.sampled_from(_NAMES))
def test_a_name_on_a_line_of_its_own_is_found_whatever_stands_around(text: str, name: str) -> None:
    before = f"{text}\n\n"
    whole = f"{before}{name}\n\n{text}"
    assert (name, len(before), len(before) + len(name)) in _MATCHER.hits(whole)


@given(st.text("abEGFRVMT12 .,", max_size=40))
def test_plain_words_agree_with_the_letter_boundaries_of_the_reference(text: str) -> None:
    names = ("EGFR", "VEGFR", "MET", "GFR")
    forms = [(normalise(n), Form(n, normalise(n).ties, loose=True)) for n in names]
    expected = {
        match.span()
        for match in re.finditer(r"(?i)(?<![a-z])(?:VEGFR|EGFR|GFR|MET)(?![a-z])", text)
    }
    found = {(hit.start, hit.end) for hit in Matcher([FirstForms(forms)]).hits(text)}
    assert found == expected


@given(st.lists(st.text(min_size=1, max_size=30), max_size=30))
def test_a_fingerprint_is_that_of_the_key_alone(keys: list[str]) -> None:
    together = fingerprints_of(keys).tolist()
    assert together == [fingerprints_of([key]).tolist()[0] for key in keys]
