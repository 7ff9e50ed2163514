"""Labels, trials and patents as they are published: every file of the data sets, and known facts."""

import hashlib
import os
from collections import Counter
from pathlib import Path

import pytest

from eagle_biomed.formats.catalog import FormatTools
from eagle_biomed.formats.selector import biomed_format_selector, format_card
from eagle_rag.adapters.documents.xml import read_xml
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import ParsedDocument, SectionKind, Source

_TOOLS = FormatTools(read_xml)
_OURS = ("spl", "openfda-label", "ctgov", "patent")


def _folder(name: str) -> Path:
    folder = os.environ.get("EAGLE_RAG_TEST_DATA")
    if not folder or not (Path(folder) / name).is_dir():
        pytest.skip(f"EAGLE_RAG_TEST_DATA names no folder with the unpacked data set {name}")
    return Path(folder) / name


def _read(path: Path) -> tuple[str | None, tuple[ParsedDocument, ...]]:
    """Return the format of a file when it is one of ours, and its documents."""
    data = path.read_bytes()
    name = biomed_format_selector(Source(path.name, data, ""))
    card = format_card(name or "")
    if card is None or name not in _OURS:
        return None, ()
    source = Source(path.name, data, hashlib.sha256(data).hexdigest(), name)
    try:
        outcome = card.parser()(source, _TOOLS)
    except UnreadableDocument as error:
        return error.reason, ()
    assert outcome.refusals == ()
    return name, outcome.documents


def _check(document: ParsedDocument) -> None:
    """Hold the invariants of ``Block`` and ``Table``."""
    end = 0
    for block in document.blocks:
        text = document.text[block.start : block.end]
        section = document.sections[block.section]
        assert text == text.strip() != ""
        assert document.text[end : block.start].strip() == ""
        assert section.start <= block.start < block.end <= section.end
        end = block.end
    assert end == len(document.text)
    for table in document.tables:
        assert {len(row) for row in table.rows} <= {len(table.column_paths)}
        assert len(table.row_paths) == len(table.rows)
    assert len({table.key for table in document.tables}) == len(document.tables)
    assert len({name for name, _ in document.metadata.properties}) == len(
        document.metadata.properties
    )
    assert document.warnings == () or document.source_uri.startswith("pftaps")


def _all(name: str) -> tuple[Counter[str | None], dict[str, ParsedDocument]]:
    """Return how many files had each fate, and the first document of each file."""
    counts: Counter[str | None] = Counter()
    documents: dict[str, ParsedDocument] = {}
    for path in sorted(_folder(name).rglob("*")):
        if path.is_file():
            fate, found = _read(path)
            counts[fate] += 1
            for document in found:
                _check(document)
                documents.setdefault(path.name, document)
    return counts, documents


def test_every_published_label_is_read_and_nothing_else_is_taken_for_one() -> None:
    counts, documents = _all("labels_fda_spl")
    assert counts["spl"] == len(documents) == 7
    assert set(counts) == {"spl", None}


def test_o4_the_boxed_warning_and_the_tables_of_a_published_label_are_kept() -> None:
    path = next(_folder("labels_fda_spl").rglob("humira.xml"))
    document = _read(path)[1][0]
    boxed = [one for one in document.sections if one.kind is SectionKind.BOXED_TEXT]
    assert boxed[0].path == ("WARNING: SERIOUS INFECTIONS AND MALIGNANCY",)
    assert "tuberculosis" in document.text[boxed[0].start : boxed[0].end]
    assert len(document.tables) == path.read_bytes().count(b"<table") == 18
    reactions = next(one for one in document.tables if one.label == "Table 1")
    assert ("Sinusitis", "11%", "9%") in reactions.rows
    assert ("unii", "FYS6T7F842") in document.metadata.ids.other


def test_every_published_trial_is_read_in_each_of_its_formats() -> None:
    counts, documents = _all("trials_aact_ctgov")
    assert counts["ctgov"] == len(documents) == 95
    assert set(counts) == {"ctgov", None}


def test_the_numbers_of_a_published_trial_are_in_its_tables_and_in_its_text() -> None:
    path = next(_folder("trials_aact_ctgov").rglob("NCT01642004.xml"))
    document = _read(path)[1][0]
    values = {cell for table in document.tables for row in table.rows for cell in row}
    assert "9.23 (7.33 to 13.27)" in values
    assert "Hazard Ratio (HR) 0.59 (96.85% CI 0.43 to 0.81). P-value 0.0002" in document.text
    assert dict(document.metadata.properties)["phase"] == "PHASE3"


def test_one_trial_says_the_same_in_version_1_and_in_the_legacy_xml() -> None:
    folder = _folder("trials_aact_ctgov")
    old, new = (
        _read(next(folder.rglob(f"NCT02028676.{ending}")))[1][0] for ending in ("xml", "json")
    )
    assert [section.path for section in old.sections] == [section.path for section in new.sections]
    same = [a.rows == b.rows for a, b in zip(old.tables, new.tables, strict=True)]
    assert sum(same) >= len(same) - 2


def test_every_published_patent_is_read_in_each_of_its_dialects() -> None:
    counts, documents = _all("patents_uspto")
    assert counts["patent"] == len(documents) == 9
    assert set(counts) == {"patent", None}
    assert documents["ipgD0701016.xml"].metadata.title.startswith("Cheese")


@pytest.mark.parametrize(
    ("name", "claims"),
    [
        ("ipg08672134.xml", 43),
        ("pg06442728.xml", 35),
        ("pa20010031492.xml", 17),
        ("pftaps057006474.txt", 20),
    ],
)
def test_published_patents_have_all_their_claims(name: str, claims: int) -> None:
    path = next(_folder("patents_uspto").rglob(name))
    document = _read(path)[1][0]
    texts = [
        document.text[block.start : block.end]
        for block in document.blocks
        if document.sections[block.section].path == ("Claims",)
    ]
    assert sum(text[:1].isdigit() for text in texts) == claims
