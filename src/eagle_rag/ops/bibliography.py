"""Bibliographies of text without markup: where they begin, and what their entries say."""

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import accumulate
from math import log

from eagle_rag.model.document import Reference
from eagle_rag.ops.identifiers import normalize_doi, normalize_pmcid

__all__ = [
    "FEATURES",
    "Feature",
    "count_features",
    "find_bibliography",
    "is_reference_heading",
    "read_entry",
    "split_entries",
]


@dataclass(frozen=True, slots=True)
class Feature:
    """A pattern that is more frequent in one of prose and bibliographies than in the other.

    Args:
        name: For people.
        pattern: What is counted.
        prose: Matches per 1,000 characters of prose.
        references: Matches per 1,000 characters of reference lists.
    """

    name: str
    pattern: re.Pattern[str]
    prose: float
    references: float

    @property
    def weight(self) -> float:
        """Logarithm of the ratio of the two rates: what one match says."""
        return log(self.references / self.prose)


# Rates were counted by ``benchmarks/bibliography.py --fit`` on 888 articles, half of those that the
# data set has; the report there is about the other half. Two were set by hand, because what is
# printed of JATS depends on the style sheet: identifiers, and names of publishers.
FEATURES: tuple[Feature, ...] = (
    Feature(
        "initials",
        # From the start of a name, and no further than a name goes: one long line is read once.
        re.compile(r"(?<!\w)[A-Z][\w'\u2019-]{1,60}+,? (?:[A-Z]\.?[ -]?){1,3}(?=[,;:.&]| and\b)"),
        0.138,
        20.9,
    ),
    Feature("year-volume", re.compile(r"\b(?:19|20)\d\d[a-z]?[;,] ?\d"), 0.023, 3.08),
    Feature(
        "year-in-brackets",
        re.compile(r"(?<=[.\w,)] )\((?:19|20)\d\d[a-z]?\)(?=[.,:;]| [A-Z\"\u201c])"),
        0.012,
        1.92,
    ),
    Feature(
        "volume-pages",
        re.compile(r"\b\d{1,4} ?(?:\(\w[^()\n]{0,12}\) ?)?[:,] ?[eESL]?\d+(?:[-\u2013]\w?\d+)?"),
        0.334,
        4.94,
    ),
    Feature(
        "identifier",
        re.compile(r"\b10\.\d{4,9}/\S|\bPMID\b|\bPMC\d{4}|\bdoi\b|https?://"),
        0.62,
        5.0,
    ),
    Feature("et-al", re.compile(r"\bet al\b"), 0.97, 0.3),
    Feature(
        "numbered",
        re.compile(r"^[ \t]*(?:\[\d{1,3}\]|\d{1,3}[.)])[ \t]+[A-Z]", re.MULTILINE),
        0.01,
        3.45,
    ),
    Feature(
        "abbreviation",
        re.compile(
            r"\b(?:J|Proc|Ann|Am|Eur|Int|Clin|Nat|Br|Arch|Natl|Acad|Sci|Res|Med|Oncol|Biol|Chem|Genet|Immunol|Rev|Engl|PLoS|BMC|Mol|Biochem|Biophys|Pharmacol|Exp|Microbiol|Neurosci|Physiol|Psychol|Surg|Ther|Dis|Assoc|Soc|Lett|Phys)\b\.?(?= |\.)"
        ),
        0.017,
        3.3,
    ),
    Feature(
        "page-range", re.compile(r"(?<![\d.])\d{1,5}[-\u2013]\d{1,5}(?=[.;]|\s|$)"), 0.17, 4.6
    ),
    Feature(
        "title-journal",
        re.compile(r"[a-z)][.?] [A-Z][\w ]{2,40}[.,]? ?(?:\(?(?:19|20)\d\d|\d+)"),
        0.49,
        3.8,
    ),
    Feature(
        "publisher",
        re.compile(
            r"\b(?:[Ee]ds?\.|[Ee]ditors?\b|Press\b|Publish\w+|Springer|Elsevier|Wiley|University Press|In:|pp\.|[Vv]ol\.|Available (?:from|at))"
        ),
        0.005,
        0.05,
    ),
    Feature(
        "function-word",
        re.compile(
            r"\b(?:was|were|is|are|we|We|our|this|This|these|These|that|which|have|has|had|been|be|not|than|it|they|each|using|both|as|at|or|also|may|can|all|such)\b"
        ),
        13.3,
        1.07,
    ),
    Feature("capital-word", re.compile(r"\b[A-Z][a-z]"), 14.4, 42.8),
    Feature(
        "figure-call",
        re.compile(r"\b(?:Fig|Figs|Figure|Figures|Table|Tables)\b|\bP ?[<=]|%"),
        1.64,
        0.05,
    ),
)

_HEADING = re.compile(
    r"(?:\d+(?:\.\d+)*\.?|[IVX]+\.)?\s*"
    r"(?:references?(?: cited| list)?|list of references|bibliography|literature(?: cited)?"
    r"|works cited|cited literature|references? and (?:notes|recommended reading)"
    r"|notes and references|selected references)\s*[.:]?",
    re.IGNORECASE,
)
_MAX_HEADING = 60
_HEADING_BEFORE = 400
_MAX_ENTRY = 700
_MIN_ENTRIES = 2
_UNIT_BREAK = re.compile(r"\n+|(?<=[.\])])[ \t]+(?=[\[\dA-Z])")
_LINE = re.compile(r"[^\n]+")
_NUMBERED_ENTRY = re.compile(r"(?:^|\n)[ \t]*(?=(?:\[\d{1,4}\]|\d{1,4}[.)])[ \t])")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_AUTHOR_LINE = re.compile(
    r"(?<=[.\d/\w])\n(?=[A-Z][\w'\u2019-]+,? (?:[A-Z]\.?[ -]?){1,3}[,.:&( ])"
)
_PER_CHARACTER = -sum(f.references - f.prose for f in FEATURES) / 1000

MIN_SCORE = 100.0
"""Nats a suffix must score: about three entries. A single one is more often a line such as "Cite
this article as" than a bibliography."""

MIN_YEARS = 2.0
"""Years per 1,000 characters of a bibliography; entries are 100 to 300 characters long."""

MAX_TAIL_CHARS = 600
"""A publisher's note or a line about reprints may follow a bibliography; more is an appendix."""

MAX_WEIGHT = 3.0
"""No single match says more than 20 : 1, because matches of one entry are not independent."""
_LABEL = re.compile(r"\[(\w{1,6})\]\s*|\((\d{1,4})\)\s+|(\d{1,4})[.)\]]\s+|(\d{1,4})\s+(?=[A-Z])")
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>]+")
_PMID = re.compile(
    r"\bPMID\b:?\s*(\d{1,8})\b|pubmed(?:\.ncbi\.nlm\.nih\.gov|/pubmed)?/(\d{1,8})\b"
)
_PMCID = re.compile(r"\bPMC\d{4,9}\b", re.IGNORECASE)
_YEAR = re.compile(r"(?<![\d/.-])(?:1[89]|20)\d\d(?![\d/-])")
_YEAR_IN_PLACE = re.compile(r"\(((?:1[89]|20)\d\d)[a-z]?\)|\b((?:1[89]|20)\d\d)[a-z]?\s*[;.:,]")


def is_reference_heading(title: str) -> bool:
    """Whether a heading announces a bibliography, such as ``References`` or ``5. Literature cited``."""
    return len(title) <= _MAX_HEADING and _HEADING.fullmatch(title.strip()) is not None


def count_features(text: str) -> tuple[int, ...]:
    """Return how often each of ``FEATURES`` occurs in a text."""
    return tuple(sum(1 for _ in f.pattern.finditer(text)) for f in FEATURES)


def find_bibliography(text: str) -> int | None:
    """Return where the bibliography at the end of a text begins, or ``None`` when there is none.

    The text is cut into units (lines, and sentences of long lines). Matches of each feature are
    taken as Poisson counts whose rates differ between prose and reference lists, so that a stretch
    of text scores

        sum over features (matches * ln(references / prose)
                           - characters / 1000 * (references - prose))

    which is the logarithm of the likelihood ratio "bibliography : prose". The answer is the earliest
    suffix with the largest score, moved to a heading such as "References" close by or else to the
    start of its line. ``None`` when its score is below ``MIN_SCORE``, when it has fewer than
    ``MIN_YEARS`` years per 1,000 characters, or when more than ``MAX_TAIL_CHARS`` of prose follow:
    prose is never given up to get rid of references. Time grows linearly with the text.
    """
    starts = _unit_starts(text)
    scores = _unit_scores(text, starts)
    first, last, best = _best_suffix(scores)
    if best < MIN_SCORE:
        return None
    end = starts[last + 1] if last + 1 < len(starts) else len(text)
    at = _first_entry(text, starts, starts[first])
    years = [match.start() for match in _YEAR.finditer(text, at)]
    too_few = len(years) * 1000 < MIN_YEARS * (end - at)
    if too_few or len(text[end:].strip()) > MAX_TAIL_CHARS:
        return None
    heading = _heading_near(text, at, years)
    return _line_near(text, at, starts=starts, scores=scores) if heading is None else heading


def _best_suffix(scores: list[float]) -> tuple[int, int, float]:
    """Return first and last unit of the best-scoring suffix without what follows its peak."""
    suffixes = list(accumulate(reversed(scores)))
    best = max(suffixes)
    first = len(scores) - 1 - max(n for n, value in enumerate(suffixes) if value == best)
    prefixes = list(accumulate(scores[first:]))
    return first, first + prefixes.index(max(prefixes)), best


def _first_entry(text: str, starts: list[int], at: int) -> int:
    """Return ``at``, or the unit shortly before the first year when that is far away.

    Acknowledgements that list names look like authors; an entry has a year within its length.
    """
    year = _YEAR.search(text, at)
    if year is None or year.start() - at <= _MAX_ENTRY:
        return at
    nearest = bisect_right(starts, year.start() - _MAX_ENTRY // 2)
    return starts[min(nearest, bisect_right(starts, year.start()) - 1)]


def _unit_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in _UNIT_BREAK.finditer(text) if match.end() < len(text))]


def _unit_scores(text: str, starts: list[int]) -> list[float]:
    ends = [*starts[1:], len(text)]
    scores = [_PER_CHARACTER * (end - start) for start, end in zip(starts, ends, strict=True)]
    for feature in FEATURES:
        weight = max(-MAX_WEIGHT, min(MAX_WEIGHT, feature.weight))
        for match in feature.pattern.finditer(text):
            scores[bisect_right(starts, match.start()) - 1] += weight
    return scores


def _heading_near(text: str, at: int, years: list[int]) -> int | None:
    """Return the last heading of a bibliography before which hardly any entry can stand.

    Args:
        text: The whole text.
        at: Where the list seems to begin.
        years: Where years stand from there on.
    """
    found = None
    for match in _LINE.finditer(text, text.rfind("\n", 0, max(0, at - _HEADING_BEFORE)) + 1):
        if not is_reference_heading(match.group()):
            continue
        before = bisect_left(years, match.start())
        if before * 1000 >= MIN_YEARS * max(_HEADING_BEFORE, match.start() - at):
            break
        found = match.start()
    return found


def _line_near(text: str, at: int, *, starts: list[int], scores: list[float]) -> int:
    """Return the start of the line of the first unit, or the next line when it ends prose."""
    line = text.rfind("\n", 0, at) + 1
    newline = text.find("\n", at)
    after = len(starts) if newline < 0 else bisect_right(starts, newline)
    if line == at or after == len(starts):  # the whole list is on the line of the last prose
        return at
    unit = bisect_right(starts, line) - 1
    return line if sum(scores[unit:after]) >= 0 else starts[after]


def split_entries(text: str) -> tuple[str, ...]:
    """Return the entries of a bibliography that ``find_bibliography`` cut off, without its heading.

    Entries begin at numbers, else after blank lines, else at lines that look like authors.
    """
    lines = text.strip().splitlines()
    if lines and is_reference_heading(lines[0]):
        lines = lines[1:]
    body = "\n".join(lines).strip()
    if not body:
        return ()
    for pattern in (_NUMBERED_ENTRY, _BLANK_LINE, _AUTHOR_LINE):
        entries = [entry.strip() for entry in pattern.split(body)]
        entries = [" ".join(entry.split()) for entry in entries if entry]
        if len(entries) >= _MIN_ENTRIES:
            return tuple(entries)
    return (" ".join(body.split()),)


def read_entry(raw: str, *, key: str) -> Reference:
    """Return one entry of a bibliography with the label, year and ids that its text shows.

    Args:
        raw: The entry, white space as it comes.
        key: ``Reference.key`` to give it.
    """
    text = " ".join(raw.split())
    label = ""
    match = _LABEL.match(text)
    if match is not None:
        label = next(group for group in match.groups() if group)
        text = text[match.end() :]
    doi = _DOI.search(text)
    pmid = _PMID.search(text)
    pmcid = _PMCID.search(text)
    return Reference(
        key=key,
        label=label,
        raw=text,
        year=_year(text),
        pmid=next((group for group in pmid.groups() if group), "") if pmid else "",
        pmcid=normalize_pmcid(pmcid.group()) if pmcid else "",
        doi=normalize_doi(doi.group()) if doi else "",
    )


def _year(text: str) -> int | None:
    """Return the year in its usual place (``(2016)``, ``2016;``), else the first one anywhere."""
    placed = _YEAR_IN_PLACE.search(text)
    if placed is not None:
        return int(placed.group(1) or placed.group(2))
    anywhere = _YEAR.search(text)
    return int(anywhere.group()) if anywhere else None
