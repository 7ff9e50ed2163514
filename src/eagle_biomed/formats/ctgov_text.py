"""A trial as text: sections a reader knows from the registry, and the results as tables and prose."""

from collections.abc import Iterable

from eagle_biomed.formats.ctgov_prose import criteria_heading, pieces
from eagle_biomed.formats.ctgov_results_text import write_results
from eagle_biomed.formats.ctgov_trial import Arm, Intervention, Outcome, Trial, words
from eagle_biomed.formats.sectioned import SectionedText
from eagle_rag.model.document import BlockKind, SectionKind

__all__ = ["write_trial"]

_METHODS = SectionKind.METHODS
_CRITERIA = "Eligibility Criteria"


def write_trial(trial: Trial, text: SectionedText) -> None:
    """Write everything a trial says."""
    text.title(trial.title or trial.nct_id)
    _long(trial, text, "Brief Summary", SectionKind.ABSTRACT, trial.summary)
    _long(trial, text, "Detailed Description", SectionKind.BODY, trial.description)
    _list(text, "Conditions", SectionKind.BODY, trial.conditions)
    _list(text, "Keywords", SectionKind.BODY, trial.keywords)
    _list(text, "Interventions", _METHODS, map(_intervention, trial.interventions))
    _list(text, "Arms", _METHODS, map(_arm, trial.arms))
    for rank in ("PRIMARY", "SECONDARY", "OTHER"):
        ranked = [_outcome(one) for one in trial.outcomes if one.rank == rank]
        _list(text, f"{words(rank)} Outcomes", _METHODS, ranked)
    _list(text, "Design", _METHODS, _design(trial))
    _eligibility(trial, text)
    _list(text, "Sponsor", SectionKind.BODY, _sponsor(trial))
    _list(text, "Locations", SectionKind.BODY, ["; ".join(trial.countries)])
    if trial.results is not None:
        write_results(trial.results, text)
    # In the text, so that a question that names the trial finds it.
    _list(
        text, "Registration", SectionKind.BODY, [f"ClinicalTrials.gov identifier: {trial.nct_id}"]
    )


def _long(trial: Trial, text: SectionedText, title: str, kind: SectionKind, content: str) -> None:
    opened = False
    for piece in pieces(content, wrapped=trial.wrapped):
        if not opened:
            text.open((title,), kind, heading=title)
            opened = True
        text.block(piece.kind, piece.text)


def _list(text: SectionedText, title: str, kind: SectionKind, items: Iterable[str]) -> None:
    listed = [item for item in items if item]
    if listed:
        text.open((title,), kind, heading=title)
    for item in listed:
        text.block(BlockKind.LIST_ITEM, item)


def _sentences(*parts: str) -> str:
    """Return the parts as sentences in one paragraph."""
    said = [part for part in parts if part]
    ended = [
        part if part.endswith((".", "!", "?", ":", ";")) else f"{part}." for part in said[:-1]
    ]
    return " ".join((*ended, *said[-1:]))


def _intervention(one: Intervention) -> str:
    named = f"{words(one.kind)}: {one.name}" if one.kind else one.name
    others = one.other_names and f"Other names: {'; '.join(one.other_names)}"
    return _sentences(named, others or "", one.description)


def _arm(one: Arm) -> str:
    label = f"{one.label} ({words(one.kind)})" if one.kind else one.label
    given = one.interventions and f"Interventions: {'; '.join(one.interventions)}"
    return _sentences(label, one.description, given or "")


def _outcome(one: Outcome) -> str:
    return _sentences(
        one.measure, one.description, one.time_frame and f"Time frame: {one.time_frame}"
    )


def _design(trial: Trial) -> Iterable[str]:
    enrolled = trial.enrollment
    if enrolled and trial.enrollment_type:
        enrolled = f"{enrolled} ({words(trial.enrollment_type).lower()})"
    named = (
        ("Study type", words(trial.study_type)),
        ("Phase", " / ".join(map(words, trial.phase.split("/")))),
        ("Allocation", words(trial.allocation)),
        ("Model", words(trial.model)),
        ("Masking", words(trial.masking)),
        ("Primary purpose", words(trial.purpose)),
        ("Time perspective", words(trial.time_perspective)),
        ("Enrollment", enrolled),
        ("Status", words(trial.status)),
        ("Why stopped", trial.why_stopped),
        ("Start", trial.date("start")),
        ("Primary completion", trial.date("primary_completion")),
        ("Completion", trial.date("completion")),
    )
    return (f"{name}: {value}" for name, value in named if value)


def _sponsor(trial: Trial) -> Iterable[str]:
    sponsor = trial.sponsor
    if sponsor and trial.sponsor_class:
        sponsor = f"{sponsor} ({words(trial.sponsor_class)})"
    named = (
        ("Lead sponsor", sponsor),
        ("Collaborators", "; ".join(trial.collaborators)),
    )
    return (f"{name}: {value}" for name, value in named if value)


def _eligibility(trial: Trial, text: SectionedText) -> None:
    """Write who may take part; what the text calls inclusion and exclusion are subsections."""
    ages = [age and f"{name} age: {age}" for name, age in _ages(trial)]
    who = (
        trial.sex and f"Sex: {words(trial.sex)}",
        *ages,
        trial.healthy and f"Healthy volunteers: {trial.healthy}",
        trial.sampling and f"Sampling: {words(trial.sampling)}",
    )
    said = list(pieces(trial.criteria, wrapped=trial.wrapped))
    if not (said or any(who) or trial.population):
        return
    text.open((_CRITERIA,), _METHODS, heading=_CRITERIA)
    text.paragraph("; ".join(filter(None, who)))
    text.paragraph(trial.population)
    for piece in said:
        half = criteria_heading(piece.text)
        if half is None:
            text.block(piece.kind, piece.text)
            continue
        title, heading, rest = half
        text.open((_CRITERIA, title), _METHODS, heading=heading)
        text.block(piece.kind, rest)


def _ages(trial: Trial) -> tuple[tuple[str, str], ...]:
    return (("Minimum", trial.minimum_age), ("Maximum", trial.maximum_age))
