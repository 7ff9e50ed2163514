"""``eagle search``, ``eagle show`` and ``eagle demo``."""

import re
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from eagle_rag.errors import InvalidInput
from eagle_rag.model.filters import AllOf, Compare, Filter, Operator
from eagle_rag.model.query import SearchRequest
from eagle_rag.ops.filters import FIELD_TYPES
from eagle_rag.surfaces.cli.citations import named_by
from eagle_rag.surfaces.cli.hints import warn_of_unknown_kbs, warn_of_unknown_values
from eagle_rag.surfaces.cli.ingest import paths_of, run_ingest
from eagle_rag.surfaces.cli.output import (
    print_json,
    print_results,
    print_rows,
    print_text,
    say,
    visible,
)
from eagle_rag.surfaces.cli.pictures import print_pictures, read_image, write_picture
from eagle_rag.surfaces.schemas import (
    convert_spans,
    document_json,
    passage_json,
    results_json,
    to_json,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from eagle_rag.engine import Engine
    from eagle_rag.model.passage import StoredAsset
    from eagle_rag.model.records import DocumentRecord, DocumentView, PassageRecord
    from eagle_rag.surfaces.cli.session import Session

__all__ = ["parse_filter", "register"]

DEMO_QUESTIONS = (
    "what is known about MET amplification after osimertinib?",
    "EGFR C797S resistance to osimertinib",
    "CAR-T persistence and antigen-negative relapse",
)
RECORD_QUESTIONS = (
    "boxed warning Vulpexa",
    "trial eligibility in acute myeloid leukaemia: CD123 on blasts",
    "compounds similar to aspirin",
    "chest radiograph",
)
_OPERATORS: tuple[tuple[str, Operator], ...] = (
    (">=", "ge"), ("<=", "le"), ("!=", "ne"), ("=", "eq"), (">", "gt"), ("<", "lt"),
)  # fmt: skip

Group = Literal["document", "passage"]
Mode = Literal["hybrid", "lexical", "dense"]
Fusion = Literal["rrf", "weighted", "min-max"]
Unit = Literal["codepoint", "utf16", "byte"]
Offsets = Annotated[Unit, typer.Option(help="Unit of start and end in --json.")]
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
        field = text[:position].strip()
        parts.append(Compare(field, name, _value(field, text[position + len(sign) :].strip())))
    return AllOf(tuple(parts)) if parts else None


def _value(field: str, text: str) -> int | str:
    """Return a number for the fields that hold numbers; ``kb_name=2024`` is text."""
    number = FIELD_TYPES.get(field) is int and re.fullmatch(r"-?[0-9]{1,18}", text)
    return int(text) if number else text


def search(  # noqa: PLR0913 - one parameter an option, as typer wants it
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="The question; - reads it from stdin.")] = "",
    *,
    image: Annotated[
        Path | None, typer.Option(help="A picture to compare with, beside or instead of words.")
    ] = None,
    top_k: Annotated[int | None, typer.Option("--top-k", "-k", help="How many results.")] = None,
    offset: Annotated[int, typer.Option(help="How many results to skip.")] = 0,
    kb: KnowledgeBases = None,
    document: Annotated[
        list[str] | None,
        typer.Option(help="Only this document, by any of its ids; repeat for several."),
    ] = None,
    where: Annotated[
        list[str] | None, typer.Option("--filter", help="Such as year>=2020; repeat for AND.")
    ] = None,
    group_by: Annotated[
        Group, typer.Option(help="One result a document, or passages as they are.")
    ] = "document",
    mode: Annotated[Mode, typer.Option(help="Which arms run.")] = "hybrid",
    fusion: Annotated[Fusion | None, typer.Option(help="How arms are merged.")] = None,
    offsets: Offsets = "codepoint",
    explain: Annotated[
        bool, typer.Option(help="Show how each hit was found: plans, ranks, parts of scores.")
    ] = False,
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
            document_ids=_resolved(engine, document) if document else None,
            filters=parse_filter(where or []),
            group_by=group_by,
            mode=mode,
            fusion=fusion,
            explain=explain,
            image=None if image is None else read_image(image, _most_bytes(engine)),
        )
        results = engine.search(request)
        if not results.hits:
            warn_of_unknown_kbs(engine, request.kb_names)
            warn_of_unknown_values(engine, request.filters)
        if as_json:
            value = results_json(results)
            for hit in value["hits"]:
                _in_unit(engine, hit, hit["document_id"], offsets)
            print_json(value)
        else:
            print_results(results)


def _resolved(engine: "Engine", identifiers: list[str]) -> tuple[str, ...]:
    """Return the ids of every document that the identifiers name; an unknown one is refused."""
    return tuple(
        record.document_id
        for identifier in identifiers
        for record in engine.require_documents(identifier)
    )


def _in_unit(engine: "Engine", value: dict[str, Any], document_id: str, unit: Unit) -> None:
    """Turn the offsets of a document's JSON into another unit, in place."""
    if unit != "codepoint":
        convert_spans(value, partial(engine.convert_offsets, document_id, unit=unit))


def _most_bytes(engine: "Engine") -> int:
    return engine.settings.ingest.max_file_bytes


def show(  # noqa: PLR0913 - one parameter an option, as typer wants it
    context: typer.Context,
    document: Annotated[str, typer.Argument(help="Document id, PMID, PMCID, DOI or another id.")],
    *,
    passage: Annotated[str | None, typer.Option(help="Only this passage.")] = None,
    picture: Annotated[
        str | None, typer.Option(help="Write the picture of this key to --output.")
    ] = None,
    output: Annotated[Path | None, typer.Option(help="File for --picture.")] = None,
    kb: KnowledgeBases = None,
    offsets: Offsets = "codepoint",
    as_json: Json = False,
) -> None:
    """Show a document in reading order, or one passage of it, or write one of its pictures to a file.

    Example: eagle show PMC99000001 --passage psg1_...
    """
    session: Session = context.obj
    kb_names = tuple(kb) if kb else None
    with session.engine() as engine:
        if picture is not None or output is not None:
            write_picture(engine, document, picture, output=output, kb_names=kb_names)
            return
        view = engine.show(document, kb_names=kb_names)
        identity = view.record.document_id
        if passage is None:
            links = _links(engine, identity, kb_names)
            pictures = engine.pictures(identity, kb_names=kb_names)
            if not as_json:
                _print_document(view, links, pictures)
                print_pictures(pictures)
                return
            value = document_json(view, links)
            value["pictures"] = [to_json(item) for item in pictures]
        else:
            record = engine.passage(passage, document_id=identity, kb_names=kb_names)
            if not as_json:
                _print_passage(record)
                return
            value = passage_json(record)
        _in_unit(engine, value, identity, offsets)
        print_json(value)


def _links(
    engine: "Engine", document_id: str, kb_names: tuple[str, ...] | None
) -> list[tuple[str, "DocumentRecord"]]:
    """Return the relation and the record of every document linked with this one."""
    return [
        (relation, record)
        for relation, other in engine.links(document_id, kb_names=kb_names)
        for record in engine.documents(other, kb_names=kb_names)
    ]


def _print_passage(record: "PassageRecord") -> None:
    passage = record.passage
    flag = " RETRACTED" if record.document.retracted else ""
    say(f"{passage.document_id} characters {passage.start}-{passage.end}{flag}")
    print_text(passage.text)


def _print_document(
    view: "DocumentView",
    links: list[tuple[str, "DocumentRecord"]],
    pictures: "Sequence[StoredAsset]",
) -> None:
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
        ("ids", ", ".join(named_by(meta.ids))),
        ("licence", meta.licence),
        ("passages", record.passages),
        *(
            (relation.replace("_", " "), other.metadata.title or other.document_id)
            for relation, other in links
        ),
    ]
    if record.retracted:
        rows.insert(0, ("RETRACTED", "this article was retracted"))
    if any(item.relation == "retraction_of" for item in meta.related):
        rows.insert(0, ("notice", "this document retracts another article"))
    print_rows([(name, value) for name, value in rows if value != ""], title=meta.title)
    print_text("")
    print_text(view.text)
    if view.figures or view.tables or pictures:
        print_text("")
    kept = {item.key for item in pictures}
    for figure in view.figures:
        if figure.graphics or figure.key not in kept:  # else the picture's own line says it all
            graphics = ", ".join(figure.graphics) or "no file"
            print_text(visible(f"[figure {figure.label or figure.key}: {graphics}]"))
    for table in view.tables:
        size = (
            "picture only"
            if table.no_cells
            else f"{len(table.rows)} rows, {len(table.column_paths)} columns"
        )
        print_text(visible(f"[table {table.label or table.key}: {size}]"))


def demo(
    context: typer.Context,
    *,
    corpus: Annotated[
        str | None, typer.Option(help="Your own files instead of the sample corpus.")
    ] = None,
    data_dir: Annotated[
        Path | None, typer.Option(help="Where the demo keeps its index; default .eagle/demo.")
    ] = None,
) -> None:
    """Ingest the sample corpus (or your files) and answer questions with cited passages.

    Example: eagle demo --corpus papers/
    """
    session: Session = context.obj
    # Own files and the sample never share an index: the sample is fiction.
    place = data_dir or Path(str(session.overrides.get("data_dir", ".eagle/demo")))
    folder = place / ("sample" if corpus is None else "corpus")
    session = replace(session, overrides={**session.overrides, "data_dir": str(folder)})
    with session.engine() as engine:
        if corpus is None:
            paths, questions = _sample(engine)
        else:
            paths, questions = paths_of([corpus]), dict.fromkeys(DEMO_QUESTIONS, 3)
        run_ingest(engine, paths, kb_name=None, as_json=False)
        for question, top_k in questions.items():
            print_text(f"\n=== {question}\n")
            print_results(engine.search(SearchRequest(question, top_k=top_k)))
        report = engine.verify()
        print_text(
            f"verified: {report.passages} passages of {report.documents} documents are exactly their"
            f" characters; {len(report.problems)} problems"
        )


def _sample(engine: "Engine") -> tuple[list[Path], dict[str, int]]:
    """Return the sample's files that the settings can read, and how many hits of each question to show."""
    from eagle_rag.sample import RECORDS_NAMESPACE, record_paths, sample_paths

    papers = list(sample_paths())
    if engine.settings.plugins.default_namespace != RECORDS_NAMESPACE:
        return papers, dict.fromkeys(DEMO_QUESTIONS, 3)
    # The second hit of the third question is a retracted paper, and the first compound is aspirin itself.
    shown = dict.fromkeys(DEMO_QUESTIONS, 2) | dict.fromkeys(RECORD_QUESTIONS, 1)
    return [*papers, *record_paths()], shown | {"compounds similar to aspirin": 2}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    commands: tuple[tuple[str, Callable[..., None]], ...] = (
        ("search", search),
        ("show", show),
        ("demo", demo),
    )
    for name, command in commands:
        app.command(name)(command)
