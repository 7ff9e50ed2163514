"""``eagle search``, ``eagle show`` and ``eagle demo``."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from eagle_rag.errors import InvalidInput
from eagle_rag.model.filters import AllOf, Compare, Filter, Operator
from eagle_rag.model.query import SearchRequest
from eagle_rag.model.results import SearchResults
from eagle_rag.surfaces.cli.ingest import run_ingest
from eagle_rag.surfaces.cli.output import print_json, print_results, print_rows, print_text, say
from eagle_rag.surfaces.schemas import document_json, passage_json, results_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from eagle_rag.engine import Engine
    from eagle_rag.model.records import DocumentView
    from eagle_rag.surfaces.cli.session import Session

__all__ = ["parse_filter", "register"]

DEMO_QUESTIONS = (
    "what is known about MET amplification after osimertinib?",
    "EGFR C797S resistance to osimertinib",
    "CAR-T persistence and antigen-negative relapse",
)
_OPERATORS: tuple[tuple[str, Operator], ...] = (
    (">=", "ge"), ("<=", "le"), ("!=", "ne"), ("=", "eq"), (">", "gt"), ("<", "lt"),
)  # fmt: skip

Group = Literal["document", "passage"]
Mode = Literal["hybrid", "lexical", "dense"]
Fusion = Literal["rrf", "weighted", "min-max"]
Unit = Literal["codepoint", "utf16", "byte"]
Json = Annotated[bool, typer.Option("--json", help="One JSON value on stdout.")]
KnowledgeBases = Annotated[
    list[str] | None, typer.Option("--kb", help="Only this knowledge base; repeat for several.")
]


def parse_filter(texts: list[str]) -> Filter | None:
    """Turn ``year>=2020`` and the like into a filter; several are joined by AND.

    Raises:
        InvalidInput: A text has no operator or no field.
    """
    parts: list[Filter] = []
    for text in texts:
        found = min(
            (
                (text.find(sign), -len(sign), sign, name)
                for sign, name in _OPERATORS
                if sign in text
            ),
            default=None,
        )
        if found is None or found[0] == 0:
            message = f"a filter is FIELD OPERATOR VALUE, got {text!r}"
            raise InvalidInput(message, remedy="for example year>=2020 or section_kind=results")
        position, _, sign, name = found
        value = text[position + len(sign) :].strip()
        field = text[:position].strip()
        parts.append(Compare(field, name, int(value) if value.lstrip("-").isdigit() else value))
    return AllOf(tuple(parts)) if parts else None


def search(  # noqa: PLR0913 - one parameter an option, as typer wants it
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="The question; - reads it from stdin.")],
    *,
    top_k: Annotated[int | None, typer.Option("--top-k", "-k", help="How many results.")] = None,
    offset: Annotated[int, typer.Option(help="How many results to skip.")] = 0,
    kb: KnowledgeBases = None,
    document: Annotated[
        list[str] | None, typer.Option(help="Only this document id; repeat for several.")
    ] = None,
    where: Annotated[
        list[str] | None, typer.Option("--filter", help="Such as year>=2020; repeat for AND.")
    ] = None,
    group_by: Annotated[
        Group, typer.Option(help="One result a document, or passages as they are.")
    ] = "document",
    mode: Annotated[Mode, typer.Option(help="Which arms run.")] = "hybrid",
    fusion: Annotated[Fusion | None, typer.Option(help="How arms are merged.")] = None,
    offsets: Annotated[Unit, typer.Option(help="Unit of start and end in --json.")] = "codepoint",
    explain: Annotated[bool, typer.Option(help="Show every arm's rank and score.")] = False,
    as_json: Json = False,
) -> None:
    """Search, and print passages with document, section and characters.

    Example: eagle search "EGFR C797S resistance to osimertinib" --top-k 3 --explain
    """
    session: Session = context.obj
    with session.engine() as engine:
        request = SearchRequest(
            query=sys.stdin.read() if question == "-" else question,
            top_k=engine.settings.search.top_k if top_k is None else top_k,
            offset=offset,
            kb_names=tuple(kb) if kb else None,
            document_ids=tuple(document) if document else None,
            filters=parse_filter(where or []),
            group_by=group_by,
            mode=mode,
            fusion=fusion,
            explain=explain,
        )
        results = engine.search(request)
        if as_json:
            print_json(results_json(results, _in_unit(engine, results, offsets)))
        else:
            print_results(results)


def _in_unit(
    engine: "Engine", results: SearchResults, unit: Unit
) -> dict[str, tuple[int, int]] | None:
    if unit == "codepoint":
        return None
    spans = {hit.passage_id: (hit.document_id, hit.start, hit.end) for hit in results.hits}
    return engine.convert_offsets(spans, unit=unit)


def show(
    context: typer.Context,
    document: Annotated[str, typer.Argument(help="Document id, PMID, PMCID or DOI.")],
    *,
    passage: Annotated[str | None, typer.Option(help="Only this passage.")] = None,
    kb: KnowledgeBases = None,
    as_json: Json = False,
) -> None:
    """Show a document in reading order, or one passage of it.

    Example: eagle show PMC99000001 --passage psg1_...
    """
    session: Session = context.obj
    kb_names = tuple(kb) if kb else None
    with session.engine() as engine:
        view = engine.show(document, kb_names=kb_names)
        if passage is not None:
            record = engine.passage(
                passage, document_id=view.record.document_id, kb_names=kb_names
            )
            if as_json:
                print_json(passage_json(record))
            else:
                say(
                    f"{record.passage.document_id} characters {record.passage.start}-{record.passage.end}"
                )
                print_text(record.passage.text)
        elif as_json:
            print_json(document_json(view))
        else:
            _print_document(view)


def _print_document(view: "DocumentView") -> None:
    record, meta = view.record, view.record.metadata
    authors = ", ".join(
        author.group or f"{author.given} {author.family}".strip() for author in meta.authors
    )
    rows: list[tuple[str, object]] = [
        ("document", record.document_id),
        ("knowledge base", record.kb_name),
        ("version", record.version),
        ("source", record.source_uri),
        ("authors", authors),
        ("journal", meta.journal),
        ("published", meta.published),
        ("ids", " ".join(part for part in (meta.ids.pmcid, meta.ids.pmid, meta.ids.doi) if part)),
        ("licence", meta.licence),
        ("passages", record.passages),
    ]
    if record.retracted:
        rows.insert(0, ("RETRACTED", "this article was retracted"))
    print_rows([(name, value) for name, value in rows if value != ""], title=meta.title)
    print_text("")
    print_text(view.text)
    for figure in view.figures:
        print_text(
            f"\n[figure {figure.label or figure.key}: {', '.join(figure.graphics) or 'no file'}]"
        )
    for table in view.tables:
        size = (
            "picture only"
            if table.no_cells
            else f"{len(table.rows)} rows, {len(table.column_paths)} columns"
        )
        print_text(f"[table {table.label or table.key}: {size}]")


def demo(
    context: typer.Context,
    *,
    corpus: Annotated[
        Path | None, typer.Option(help="Your own files instead of the sample corpus.")
    ] = None,
    data_dir: Annotated[Path, typer.Option(help="Where the demo keeps its index.")] = Path(
        ".eagle/demo"
    ),
) -> None:
    """Ingest the sample corpus (or your files) and answer three questions with cited passages.

    Example: eagle demo --corpus papers/
    """
    session: Session = context.obj
    from eagle_rag.sample import sample_paths

    paths = sample_paths() if corpus is None else (corpus,)
    # Own files and the sample never share an index: the sample is fiction.
    folder = data_dir / ("sample" if corpus is None else "corpus")
    session = replace(session, overrides={**session.overrides, "data_dir": str(folder)})
    with session.engine() as engine:
        run_ingest(engine, list(paths), kb_name=None, as_json=False)
        for question in DEMO_QUESTIONS:
            print_text(f"\n=== {question}\n")
            print_results(engine.search(SearchRequest(question, top_k=3)))
        report = engine.verify()
        print_text(
            f"verified: {report.passages} passages of {report.documents} documents are exactly their"
            f" characters; {len(report.problems)} problems"
        )


def register(app: typer.Typer) -> None:
    """Add the commands."""
    commands: tuple[tuple[str, Callable[..., None]], ...] = (
        ("search", search),
        ("show", show),
        ("demo", demo),
    )
    for name, command in commands:
        app.command(name)(command)
