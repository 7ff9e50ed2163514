"""Every title that names a section, written out by hand: an alias that is dropped is noticed here."""

import pytest

from eagle_biomed.sections import detect_section, section_of_title
from eagle_rag.model.document import SectionKind
from eagle_rag.model.passage import Passage

TITLES = {
    "abstract": (
        "abstract|summary|synopsis|structured abstract|graphical abstract|lay summary"
        "|plain language summary|lay abstract|short abstract|author summary|executive summary"
        "|brief summary|editor s summary|abstract text|abstract of the disclosure|key points"
        "|significance statement|summary of the invention|summary of invention"
        "|brief summary of the invention|summary of the disclosure"
        "|summary of the present invention"
    ),
    "introduction": (
        "introduction|intro|background|background and aims|background and objectives"
        "|background and purpose|background and objective|background and rationale|objective"
        "|objectives|aim|aims|aims and objectives|study aims|hypothesis|rationale|purpose"
        "|introduction and background|background of the invention|technical field"
        "|field of the invention|field|related art|description of the related art"
        "|description of related art|background art|context|importance"
    ),
    "methods": (
        "methods|method|materials|materials and methods|material and methods"
        "|methods and materials|materials methods|method and materials|methodology"
        "|methodologies|patients and methods|subjects and methods|participants and methods"
        "|animals and methods|patients materials and methods|experimental"
        "|experimental procedures|experimental procedure|experimental section"
        "|experimental methods|experimental design|methods design|methods and design"
        "|design and methods|study design|study design and methods"
        "|research design and methods|trial design|design|design setting and participants"
        "|main outcome measures|outcome measures|star methods|online methods"
        "|methods and analysis|statistical analysis|statistical analyses|statistical methods"
        "|data collection|data sources|data extraction|search strategy|methods summary"
        "|eligibility criteria|inclusion criteria|exclusion criteria|arms and interventions"
        "|clinical studies methods|measurements|main outcomes and measures"
    ),
    "results": (
        "results|result|findings|main findings|main results|results and discussion"
        "|results discussion|case report|case presentation|case description"
        "|experimental results|participant flow|outcome results|results section"
        "|data synthesis"
    ),
    "discussion": (
        "discussion|discussions|general discussion|comment|comments"
        "|discussion and conclusion|discussion and conclusions|discussion conclusions"
        "|discussion conclusion|limitations|strengths and limitations|study limitations"
        "|limitations and caveats|interpretation of results"
    ),
    "conclusion": (
        "conclusion|conclusions|concluding remarks|conclusions and discussion"
        "|conclusion and perspectives|conclusions and perspectives|conclusions and relevance"
        "|conclusions and future directions|conclusion and future directions"
        "|conclusion and future perspectives|summary and conclusion|summary and conclusions"
        "|interpretation|implications|future directions|perspectives|significance"
        "|take home message|clinical implications"
    ),
    "claims": (
        "claims|claim|patent claims|what is claimed|what is claimed is|what we claim"
        "|what we claim is|we claim|i claim|the invention claimed is|claims text"
        "|listing of claims|amended claims|independent claims|dependent claims"
    ),
    "indications_and_usage": (
        "indications and usage|indications usage|indication and usage|indications|indication"
        "|indications for use|uses|use|usage|therapeutic indications|indications and uses"
        "|approved indications|purpose and uses|limitations of use"
    ),
    "warnings": (
        "warnings|warning|warnings and precautions|warnings precautions"
        "|warning and precautions|boxed warning|boxed warnings|boxed warning section"
        "|black box warning|box warning|precautions|precaution|general precautions"
        "|warnings and cautions|cautions|caution|special warnings and precautions for use"
        "|special warnings|important safety information|safety warnings|do not use"
        "|ask a doctor before use|ask doctor before use|stop use|stop use and ask a doctor if"
        "|when using this product|when using|keep out of reach of children"
        "|pregnancy or breast feeding|user safety warnings"
    ),
    "dosage": (
        "dosage and administration|dosage administration|dosage|dosing"
        "|dosage forms and strengths|dosage forms strengths|dosage form"
        "|dosing and administration|dosing information|dosage information|recommended dosage"
        "|recommended dose|directions|directions for use|posology"
        "|posology and method of administration|method of administration"
        "|dose and administration|dosage and method of use|dose modifications"
        "|dosage modifications|dosage adjustment|dose adjustment"
    ),
}
# Known only where nothing stands above them.
ALONE = (
    "arms",
    "interventions",
    "intervention",
    "primary outcomes",
    "secondary outcomes",
    "other outcomes",
    "primary outcome",
    "secondary outcome",
    "participants",
    "patients",
    "subjects",
    "study population",
    "setting",
    "settings",
)
# Beginnings of titles that go on.
OPENINGS = (
    ("boxed warning", "warnings"),
    ("warnings and precautions", "warnings"),
    ("indications and usage", "indications_and_usage"),
    ("dosage and administration", "dosage"),
    ("what is claimed", "claims"),
    ("materials and methods", "methods"),
    ("methods", "methods"),
    ("results", "results"),
    ("discussion", "discussion"),
    ("conclusion", "conclusion"),
)
LISTED = [(tag, title) for tag, titles in TITLES.items() for title in titles.split("|")]


def passage(*path: str) -> Passage:
    return Passage("psg1_0", "doc1_0", 0, 0, path, SectionKind.BODY, 0, 5, "Words")


@pytest.mark.parametrize(("tag", "title"), LISTED)
def test_a_listed_title_names_its_section_in_any_case_and_numbered(tag: str, title: str) -> None:
    assert section_of_title(title) == tag
    assert section_of_title(title.upper()) == tag
    assert section_of_title(f"2.1 {title.title()}:") == tag
    assert detect_section(passage(title, "Of the second cohort")) == tag


@pytest.mark.parametrize("title", ALONE)
def test_a_title_of_several_parts_names_a_section_only_alone(title: str) -> None:
    assert section_of_title(title) == ""
    assert detect_section(passage(title)) == "methods"
    assert detect_section(passage("Results", title)) == "results"


@pytest.mark.parametrize(("start", "tag"), OPENINGS)
def test_a_title_that_goes_on_is_known_by_its_beginning(start: str, tag: str) -> None:
    assert section_of_title(f"{start} of zorbanib in adults") == tag
    assert section_of_title(f"{start}ness of zorbanib") == ""


def test_no_title_is_listed_for_two_sections() -> None:
    titles = [title for _, title in LISTED]
    assert len(set(titles)) == len(titles)
