"""Section kinds: from ``sec-type`` first, then from the words of the title."""

import re

from eagle_rag.model.document import SectionKind

__all__ = ["section_kind"]

_KINDS = {
    SectionKind.INTRODUCTION: (
        "intro|introduction|background|background and aims|background and objectives|objective"
        "|objectives|aim|aims|rationale|purpose|introduction and background|main introduction"
    ),
    SectionKind.METHODS: (
        "methods|method|materials|subjects|materials and methods|material and methods"
        "|methods and materials|materials methods|methods design|methods and design"
        "|patients and methods|subjects and methods|participants and methods|methodology"
        "|experimental|experimental procedures|experimental procedure|experimental section"
        "|experimental methods|experimental design|study design|design and methods"
        "|research design and methods|methods and analysis|design|star methods|online methods"
        "|patients materials and methods|methods subjects|statistical analysis"
    ),
    SectionKind.RESULTS: (
        "results|result|findings|results and discussion|results discussion|intro results"
        "|case presentation|case report|case description|case|cases"
    ),
    SectionKind.DISCUSSION: (
        "discussion|discussions|comment|discussion and conclusion|discussion and conclusions"
        "|discussion conclusions|conclusions and discussion|general discussion"
    ),
    SectionKind.CONCLUSION: (
        "conclusion|conclusions|concluding remarks|summary and conclusion"
        "|summary and conclusions|conclusions and perspectives|conclusion and perspectives"
        "|conclusions and future directions|conclusion and future directions|interpretation"
    ),
    SectionKind.ACKNOWLEDGEMENTS: (
        "acknowledgements|acknowledgments|acknowledgement|acknowledgment|ack"
    ),
    SectionKind.APPENDIX: "appendix|appendices",
    SectionKind.BACK: (
        "competing interests|competing interest|conflict of interest|conflicts of interest"
        "|conflict of interest statement|declaration of competing interest|disclosure"
        "|disclosures|conflict|coi statement|authors contributions|author contributions"
        "|authors information|author information|pre publication history|prepublication history"
        "|supporting information|supplementary material|supplementary materials"
        "|supplementary information|supplementary data|supplemental material"
        "|electronic supplementary material|additional file|additional files"
        "|additional information|abbreviations|list of abbreviations|data availability"
        "|data availability statement|availability of data and materials|datasets|funding"
        "|funding information|funding statement|financial support|ethics statement"
        "|ethics approval and consent to participate|consent for publication|publisher s note"
        "|trial registration|clinicaltrial|trialreg|data accessibility"
    ),
}
_BY_WORDS = {words: kind for kind, listed in _KINDS.items() for words in listed.split("|")}
# With its numbering, no longer title of a subsection is in the table.
_LONGEST = max(map(len, _BY_WORDS)) + len("10.10.10. ")
# Openings that decide for a top-level section whose title goes on ("Methods: the TORCH trial").
_BY_OPENING = (
    ("materials and methods", SectionKind.METHODS),
    ("patients and methods", SectionKind.METHODS),
    ("methods", SectionKind.METHODS),
    ("results", SectionKind.RESULTS),
    ("discussion", SectionKind.DISCUSSION),
    ("conclusion", SectionKind.CONCLUSION),
    ("introduction", SectionKind.INTRODUCTION),
    ("appendix", SectionKind.APPENDIX),
)
_NUMBERING = re.compile(r"^(?:\d+(?:\.\d+)*|[ivx]+)\s*[.):]?\s+(?=\S)|^\d+(?:\.\d+)*\.?(?=[a-z])")
_NOT_WORDS = re.compile(r"[^a-z0-9]+")


def section_kind(
    sec_type: str | None, title: str, *, inherited: SectionKind, top_level: bool
) -> SectionKind:
    """Return what a section is.

    Args:
        sec_type: The publisher's ``sec-type``, such as ``materials|methods``.
        title: Its title, or empty.
        inherited: Kind of the section around it, which stands when nothing else is said.
        top_level: Nothing but the body or back is around it, so the title's first words count too.
    """
    if sec_type:
        kind = _BY_WORDS.get(_words(sec_type))
        if kind is not None:
            return kind
    if title and (top_level or len(title) <= _LONGEST):
        lower = title.lower()
        kind = _BY_WORDS.get(lower)
        if kind is not None:
            return kind
        words = _words(_NUMBERING.sub("", lower))
        kind = _BY_WORDS.get(words)
        if kind is not None:
            return kind
        if top_level:
            for opening, kind in _BY_OPENING:
                if words.startswith(opening):
                    return kind
    return inherited


def _words(text: str) -> str:
    words = _NOT_WORDS.sub(" ", text.lower().replace("&", " and ").replace("\u2019", " "))
    return words.strip().replace("  ", " ")
