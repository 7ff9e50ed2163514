"""How the command line prints: results to stdout, everything else to stderr."""

import json
import sys
from collections.abc import Iterable
from io import TextIOWrapper

from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid
from rich.text import Text

from eagle_rag.model.document import Refusal
from eagle_rag.model.results import Hit, IngestReport, SearchResults, VerifyReport
from eagle_rag.surfaces.cli.citations import cited_by

__all__ = [
    "PART_OF_DOCUMENT",
    "left_out",
    "prepare_streams",
    "print_json",
    "print_report",
    "print_results",
    "print_rows",
    "print_table",
    "print_text",
    "print_verify",
    "say",
    "stderr_console",
    "visible",
]

PART_OF_DOCUMENT = "part-of-document"
"""Why a picture is refused that a document beside it brings in."""

_SHOWN_REFUSALS = 20
_PIPED_WIDTH = 1 << 16
# Stages whose events explain where hits come from; `plan` is written for --explain alone.
_EXPLAINED = frozenset({"plan", "rerank"})
# Stages whose events are said with every answer: nothing in the scope, no word of the query anywhere.
_SAID = frozenset({"scope", "words"})
# What would move the cursor, colour the screen or forge a line of its own is shown as an escape.
_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))} | {
    ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t",
}  # fmt: skip
_TEXT_CONTROLS = {
    code: shown for code, shown in _CONTROLS.items() if code not in {ord("\n"), ord("\t")}
}


def stderr_console() -> Console:
    """Return the console for progress and messages."""
    return Console(stderr=True, highlight=False, emoji=False)


def _stdout() -> Console:
    # Into a pipe or a file, lines stay whole: whoever reads them folds them.
    piped = not sys.stdout.isatty()
    width = _PIPED_WIDTH if piped else None
    return Console(highlight=False, emoji=False, soft_wrap=piped, width=width)


def prepare_streams() -> None:
    """Write what an output cannot encode as an escape, which JSON reads as it was."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def visible(name: str) -> str:
    """Return a name, a title or a message with its control characters written as escapes."""
    return name.translate(_CONTROLS)


def say(message: str) -> None:
    """Print a message of one line to stderr."""
    stderr_console().print(visible(message), markup=False, soft_wrap=True)


def print_json(value: object) -> None:
    """Print one JSON value as one line."""
    readable = sys.stdout.encoding.lower().replace("-", "") == "utf8"
    sys.stdout.write(json.dumps(value, ensure_ascii=not readable) + "\n")
    sys.stdout.flush()


def print_text(text: str) -> None:
    """Print text as it is, but for control characters other than line breaks and tabs."""
    sys.stdout.write(text.translate(_TEXT_CONTROLS) + "\n")


def print_rows(rows: Iterable[tuple[str, object]], *, title: str = "") -> None:
    """Print name and value pairs."""
    grid = Grid(
        title=Text(visible(title)) if title else None,
        show_header=False,
        box=None,
        title_justify="left",
    )
    grid.add_column(style="bold")
    grid.add_column(overflow="fold")
    for name, value in rows:
        grid.add_row(_plain(name), _plain(str(value)))
    _print_grid(grid)


def print_table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    """Print a table with heads."""
    grid = Grid(box=None)
    for column in columns:
        grid.add_column(_plain(column), overflow="fold")
    for row in rows:
        grid.add_row(*(_plain(cell) for cell in row))
    _print_grid(grid)


def _print_grid(grid: Grid) -> None:
    """Print a grid; into a pipe without the spaces that fill its last column."""
    console = _stdout()
    if console.is_terminal:
        console.print(grid)
        return
    with console.capture() as capture:
        console.print(grid)
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in capture.get().split("\n")[:-1]))


def _plain(text: str) -> str:
    return escape(visible(text))


def print_results(results: SearchResults) -> None:
    """Print hits as citations: document, section, characters, then the passage."""
    console = _stdout()
    for hit in results.hits:
        _print_hit(console, hit)
    if not results.hits:
        console.print("Nothing found.")
    for event in results.trace.events:
        if event.stage in _SAID:
            say(event.message)
    explained = any(event.stage == "plan" for event in results.trace.events)
    for event in results.trace.events:
        if explained and event.stage in _EXPLAINED and not event.degraded:
            console.print(f"{event.stage}: {_plain(event.message)}")
    for event in results.trace.events:
        if event.degraded:
            say(f"degraded: {event.stage}: {event.message}")


def _print_hit(console: Console, hit: Hit) -> None:
    flag = " [bold red]RETRACTED[/]" if hit.retracted else ""
    flag += " [bold]RETRACTION NOTICE[/]" if hit.retracts else ""
    year = f" ({hit.year})" if hit.year else ""
    console.print(f"[bold]{hit.rank}. {_plain(hit.title or hit.document_id)}[/]{year}{flag}")
    source = ", ".join(name for name in (*cited_by(hit.ids), hit.journal) if name)
    if source:
        console.print(f"   {_plain(source)}")
    section = " > ".join(hit.section_path) or hit.section_kind
    place = "" if section == "body" else f"{_plain(section)} | "  # which says nothing of where
    console.print(
        f"   [dim]{place}characters {hit.start}-{hit.end} of {hit.document_id}"
        f" | {hit.passage_id} | score {hit.score:.4f}[/]"
    )
    console.print(_highlighted(hit))
    for link in hit.linked:
        console.print(f"   [dim]{link.kind}: {_plain(link.label or link.key)}[/]")
    for key in hit.pictures:
        console.print(f"   [dim]found by picture {_plain(key)}[/]")
    for arm in hit.arms:
        console.print(f"   [dim]{_plain(arm.arm)}: rank {arm.rank}, score {arm.score:.4f}[/]")
    if hit.parts:
        parts = ", ".join(f"{name} {value:.4f}" for name, value in hit.parts)
        console.print(f"   [dim]parts: {_plain(parts)}[/]")
    console.print()


def _highlighted(hit: Hit) -> Text:
    shown = hit.text.translate(_TEXT_CONTROLS)
    text = Text(shown)
    if hit.clause is not None and shown == hit.text:  # else its offsets are others
        text.stylize("italic", hit.clause.start - hit.start, hit.clause.end - hit.start)
        for term in hit.clause.terms:
            text.stylize("bold green", term.start - hit.start, term.end - hit.start)
    lines = text.split("\n", allow_blank=True)
    return Text("\n").join(Text("   ") + line if line else line for line in lines)


def print_report(report: IngestReport) -> None:
    """Print what became of an ingest."""
    refused = left_out(report)
    parts = len(report.refused) - len(refused)
    say(
        f"{len(report.added)} added, {len(report.replaced)} replaced, {report.unchanged} unchanged,"
        f" {len(report.duplicates)} duplicate, {len(refused)} refused,"
        f" {len(report.deleted)} deleted; {report.passages} passages written"
    )
    if report.pictures:
        lost = report.pictures_unreadable
        unread = f", {lost} could not be decoded" if lost else ""
        say(f"{report.pictures} pictures kept, {report.pictures_embedded} of them searchable by"
            f" their looks{unread}")  # fmt: skip
    if report.truncated:
        say(f"{report.truncated} passages were longer than the encoder's window; the rest of them is"
            " searched by words only")  # fmt: skip
    if report.recovered:
        say(f"{report.recovered} half-written versions of an interrupted run were cleared")
    if parts:
        be = "file is a picture" if parts == 1 else "files are pictures"
        say(f"{parts} {be} that a document beside shows, and kept with it")
    for refusal in refused[:_SHOWN_REFUSALS]:
        member = f"#{refusal.member}" if refusal.member else ""
        remedy = f" ({refusal.remedy})" if refusal.remedy else ""
        say(f"refused {refusal.source_uri}{member}: {refusal.reason}: {refusal.message}{remedy}")
    if len(refused) > _SHOWN_REFUSALS:
        say(f"... and {len(refused) - _SHOWN_REFUSALS} more; --json lists all")


def left_out(report: IngestReport) -> tuple[Refusal, ...]:
    """Return what was refused for good: not the files that came in as part of another document."""
    return tuple(each for each in report.refused if each.reason != PART_OF_DOCUMENT)


def print_verify(report: VerifyReport) -> None:
    """Print what verify proved."""
    console = _stdout()
    console.print(
        f"{report.documents} documents, {report.passages} passages proved, {report.rows} rows compared"
    )
    for problem in report.problems:
        state = " (repaired)" if problem.repaired else ""
        line = f"{problem.kind}{state}: {problem.where}: {problem.message}"
        console.print(visible(line), markup=False)
    console.print(
        "clean" if report.clean else "NOT clean; `eagle verify --repair` fixes what it can"
    )
