"""The commands: exit codes, what goes to stdout and what to stderr, never a traceback."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eagle_rag.adapters.lock import WriterLock
from eagle_rag.testing.articles import jats_article, write_files

RETRACTION = {"retracted-article": "10.5555/1"}
FILES = {
    "a.xml": jats_article(
        "Kinase one", {"Results": ["Kinase inhibitors help."]},
        ids={"doi": "10.5555/1", "pmcid": "PMC91"}, year=2019,
    ),
    "b.xml": jats_article("Kinase two", ["Kinase inhibitors harm."], ids={"doi": "10.5555/2"}, year=2021),
    "c.xml": jats_article("Retraction: kinase one", ["It is retracted."], ids={"doi": "10.5555/3"},
                          article_type="retraction", related=RETRACTION),
}  # fmt: skip


Eagle = Callable[..., Any]  # gives code, out, err, json and lines


@pytest.fixture
def filled(eagle: Eagle, tmp_path: Path) -> Eagle:
    """Return ``eagle`` with three papers ingested."""
    write_files(tmp_path / "in", FILES)
    assert eagle("ingest", "in").code == 0
    return eagle


def test_ingest_reports_to_stderr_and_exits_with_0(eagle: Eagle, tmp_path: Path) -> None:
    write_files(tmp_path / "in", FILES)
    done = eagle("ingest", "in")
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("3 added, 0 replaced, 0 unchanged, 0 duplicate, 0 refused")


def test_ingest_exits_with_3_when_something_was_refused_and_says_why(
    eagle: Eagle, tmp_path: Path
) -> None:
    write_files(tmp_path / "in", {**FILES, "d.xml": "<article><front>"})
    done = eagle("ingest", "in")
    assert done.code == 3
    assert "refused in/d.xml: xml-syntax" in done.err


def test_ingest_json_is_one_event_a_line_and_the_report_last(eagle: Eagle, tmp_path: Path) -> None:
    write_files(tmp_path / "in", {**FILES, "d.xml": "<article><front>"})
    done = eagle("ingest", "in", "--json")
    events = done.lines
    assert [event["event"] for event in events].count("committed") == 3
    committed = next(event for event in events if event["event"] == "committed")
    assert committed.keys() == {"event", "source_uri", "document_id", "version", "passages"}
    assert events[-1]["event"] == "report"
    assert len(events[-1]["added"]) == 3
    assert events[-1]["refused"][0]["reason"] == "xml-syntax"


def test_ingest_again_reports_everything_unchanged(filled: Eagle) -> None:
    report = filled("ingest", "in", "--json").lines[-1]
    assert (report["unchanged"], report["added"], report["replaced"]) == (3, [], [])


def test_search_prints_document_section_characters_and_text(filled: Eagle) -> None:
    done = filled("search", "kinase inhibitors help", "-k", "1")
    assert done.code == 0
    assert "1. Kinase one (2019) RETRACTED" in done.out
    assert "Results | characters " in done.out
    assert "Kinase inhibitors help." in done.out


def test_f1_search_tells_the_notice_from_the_paper(filled: Eagle) -> None:
    assert "RETRACTION NOTICE" in filled("search", "retracted").out.splitlines()[0]


def test_search_json_is_one_value(filled: Eagle) -> None:
    found = filled("search", "kinase inhibitors", "--json", "--explain").json
    assert found.keys() == {"query", "degraded", "hits", "trace"}
    assert found["hits"][0]["arms"]
    assert [hit["rank"] for hit in found["hits"]] == list(range(1, len(found["hits"]) + 1))


def test_search_explains_plans_ranks_and_parts(filled: Eagle) -> None:
    options = ("--explain", "--fusion", "weighted", "--group-by", "passage")
    done = filled("search", "kinase inhibitors", *options)
    lines = [line.strip() for line in done.out.splitlines()]
    names = [line.partition(":")[0] for line in lines if ": rank " in line][:4]
    assert names == [
        *(f"eagle_text/{arm}" for arm in ("lexical", "dense", "plan")),
        "fused",
    ]
    assert any(line.startswith("parts: combined ") and ", sparse " in line for line in lines)
    assert lines[-1].startswith("plan: eagle_text with hash by core-default: ")
    hit = filled("search", "kinase inhibitors", *options, "--json").json["hits"][0]
    parts = dict(hit["parts"])
    assert parts["combined"] == pytest.approx(0.5 * parts["dense"] + 0.5 * parts["sparse"])
    plain = filled("search", "kinase inhibitors", "--fusion", "weighted", "--json").json
    assert plain["hits"][0]["parts"] == []
    assert "plan" not in {event["stage"] for event in plain["trace"]}


@pytest.mark.parametrize(
    ("filters", "titles"),
    [
        (["year>=2020"], {"Kinase two", "Retraction: kinase one"}),
        (["year=2019"], {"Kinase one"}),
        (["year!=2019", "year<2024"], {"Kinase two"}),
        (["section_kind=results"], {"Kinase one"}),
        (["kb_name=2024"], set()),
        (["year > 2019", "year < 2022"], {"Kinase two"}),
    ],
)
def test_i3_filters_of_the_command_line_are_joined_by_and(
    filled: Eagle, filters: list[str], titles: set[str]
) -> None:
    options = [option for text in filters for option in ("--filter", text)]
    hits = filled("search", "kinase", *options, "--json").json["hits"]
    assert {hit["title"] for hit in hits} == titles


@pytest.mark.parametrize(
    "text",
    ["year", "=2020", "colour=red", "year>=x", "year=--5", "year=\u00b2", "year=", "kb_name~x"],
)
def test_i2_a_filter_without_a_meaning_is_refused_with_exit_code_2(
    filled: Eagle, text: str
) -> None:
    done = filled("search", "kinase", "--filter", text)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("eagle: ")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["search", ""], 2, "the query is empty"),
        (["search", "x", "-k", "0"], 2, "top_k must be at least 1, got 0"),
        (["search", "x", "-k", "many"], 2, "valid integer"),
        (["search", "x", "--mode", "psychic"], 2, "psychic"),
        (["search"], 2, "the query is empty"),
        (["show", "PMC1"], 2, "no document 'PMC1'"),
        (["delete", "PMC1"], 2, "no document 'PMC1'"),
        (["ingest"], 2, "Missing argument"),
        (["ingest", "in", "--kb", ""], 2, "needs a name"),
        (["nonsense"], 2, "nonsense"),
        (["--nonsense", "stats"], 2, "nonsense"),
        (["--set", "x", "stats"], 2, "--set takes key=value, got 'x'"),
        (["--set", "a=[1", "stats"], 2, "YAML"),
        (["--set", "search.tpo_k=1", "stats"], 2, "tpo_k"),
        (["--set", "search.top_k=none", "stats"], 2, "top_k"),
        (["--profile", "psychic", "stats"], 2, "psychic"),
        (["--config", "absent.yaml", "stats"], 2, "absent.yaml"),
        (["--data-dir", "taken", "stats"], 1, "taken"),
        (["--set", "collections.eagle_text.encoder=gpt", "stats"], 2, "gpt"),
        (["--set", "plugins.enabled=[absent]", "stats"], 2, "absent"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_wrong_usage_gives_one_line_and_an_exit_code(
    eagle: Eagle, tmp_path: Path, arguments: list[str], code: int, said: str
) -> None:
    write_files(tmp_path, {"taken": "a file where a folder should be"})
    done = eagle(*arguments)
    assert (done.code, done.out) == (code, "")
    assert said in done.err


def test_g7_a_second_writer_exits_with_4_and_names_the_first(
    filled: Eagle, tmp_path: Path
) -> None:
    with WriterLock(tmp_path / "index" / "writer.lock"):
        for command in (["ingest", "in"], ["delete", "PMC91"], ["verify"]):
            done = filled(*command)
            assert done.code == 4
            assert f"pid {os.getpid()} on host" in done.err
        assert filled("search", "kinase").code == 0


def test_show_prints_the_whole_text_or_one_passage(filled: Eagle) -> None:
    whole = filled("show", "PMC91")
    assert "RETRACTED" in whole.out
    assert "Kinase inhibitors help." in whole.out
    passage = filled("show", "10.5555/1", "--json").json["passages"][0]
    alone = filled("show", "10.5555/1", "--passage", passage["id"])
    assert alone.out == f"{passage['text']}\n"
    assert "RETRACTED" in alone.err
    assert filled("show", "10.5555/2", "--passage", passage["id"]).code == 2


@pytest.mark.parametrize("order", [("p.xml", "e.xml"), ("e.xml", "p.xml")])
def test_a10_show_names_the_erratum_and_the_paper_it_corrects(
    eagle: Eagle, tmp_path: Path, order: tuple[str, str]
) -> None:
    corrects = {"corrected-article": "10.5555/8"}
    files = {
        "p.xml": jats_article("Kinase [eight]", ["It fell."], ids={"doi": "10.5555/8"}),
        "e.xml": jats_article("", ["It rose."], ids={"doi": "10.5555/9"},
                              article_type="correction", related=corrects),
    }  # fmt: skip
    for name in order:
        write_files(tmp_path / "in", {name: files[name]})
        assert eagle("ingest", f"in/{name}").code == 0
    paper = eagle("show", "10.5555/8", "--json").json
    erratum = eagle("show", "10.5555/9", "--json").json
    identity, other = (value["record"]["document_id"] for value in (paper, erratum))
    assert paper["links"] == [{"relation": "erratum_in", "document_id": other, "title": ""}]
    assert erratum["links"] == [
        {"relation": "erratum_of", "document_id": identity, "title": "Kinase [eight]"}
    ]
    head, text = eagle("show", "10.5555/8").out.split("\n\n", 1)
    assert re.search(rf"erratum in +{other}", head), (
        "an erratum without a title is named by its id"
    )
    assert "It fell." in text
    assert re.search(r"erratum of +Kinase \[eight\]", eagle("show", "10.5555/9").out)


def test_show_of_a_paper_without_links_lists_none(filled: Eagle) -> None:
    assert filled("show", "10.5555/2", "--json").json["links"] == []
    assert [link["relation"] for link in filled("show", "PMC91", "--json").json["links"]] == [
        "retracted_by"
    ]


def test_show_prints_only_documents_of_the_knowledge_base_asked_for(filled: Eagle) -> None:
    assert filled("show", "PMC91", "--kb", "default").code == 0
    assert filled("show", "PMC91", "--kb", "other").code == 2


def test_delete_prints_what_it_deleted(filled: Eagle) -> None:
    done = filled("delete", "PMC91", "10.5555/2", "--json")
    assert [line["event"] for line in done.lines] == ["deleted", "deleted"]
    assert filled("stats", "--json").json["documents"] == 1


def test_verify_says_clean_or_exits_with_3(
    filled: Eagle, make_engine: Callable[..., Any], tmp_path: Path
) -> None:
    assert filled("verify").out.endswith("clean\n")
    engine = make_engine({"data_dir": str(tmp_path / "index")})
    identity = engine.documents()[0].document_id
    engine.registry.delete_document(identity)
    found = filled("verify", "--json")
    assert found.code == 3
    assert not found.json["clean"]
    assert filled("verify").out.splitlines()[-1].startswith("NOT clean")
    assert filled("verify", "--repair").code == 0
    assert filled("verify").code == 0


def test_stats_plugins_doctor_and_config_print_text_and_json(filled: Eagle) -> None:
    assert filled("stats", "--json").json["documents"] == 3
    assert "documents" in filled("stats").out
    assert filled("plugins", "--json").json["plugins"][0]["name"] == "core"
    assert "minilm" in filled("plugins").out
    checks = filled("doctor", "--json")
    assert (checks.code, all(check["ok"] for check in checks.json)) == (0, True)
    assert "ok   versions" in filled("doctor").out
    shown = filled("config", "show", "--json").json
    assert shown["origins"]["data_dir"] == "flag"
    assert "data_dir" in filled("config", "show").out


def test_doctor_exits_with_3_when_something_is_wrong(filled: Eagle) -> None:
    done = filled("--set", "collections.eagle_text.encoder=minilm", "doctor")
    assert done.code == 3
    assert "FAIL collection eagle_text" in done.out


def test_i4_text_that_looks_like_markup_is_printed_as_it_is(eagle: Eagle, tmp_path: Path) -> None:
    title = "[/] [bold]kinase[/bold] :smile: <script>"
    body = {"[red]Results[/red] :smile:": ["Kinase [/] [link=x]fell[/link] :smile:."]}
    write_files(tmp_path / "in", {"[x].xml": jats_article(title, body, ids={"doi": "10.5555/9"})})
    assert eagle("ingest", "in", "--kb", "[/]").code == 0
    found = eagle("search", "kinase").out
    shown = eagle("show", "10.5555/9").out
    for expected in (title, "Kinase [/] [link=x]fell[/link] :smile:."):
        assert expected in found
        assert expected in shown
    assert "[red]Results[/red] :smile:" in found
    assert "in/[x].xml" in shown
    assert "knowledge base [/]" in eagle("stats").out


def test_a_question_is_read_from_stdin(filled: Eagle, monkeypatch: pytest.MonkeyPatch) -> None:
    class Input:
        def read(self) -> str:
            return "kinase\0 inhibitors"

    monkeypatch.setattr("sys.stdin", Input())
    found = filled("search", "-", "--json").json
    assert found["query"] == "kinase\0 inhibitors"
    assert found["hits"]


def test_c4_a_question_that_is_no_utf_8_is_answered(filled: Eagle) -> None:
    assert filled("search", "kinase \udcff", "--json").code == 0
    assert filled("search", "kinase \udcff").code == 0
    assert filled("show", "\udcff").code == 2


def test_what_was_refused_is_refused_again_and_never_called_unchanged(
    eagle: Eagle, tmp_path: Path
) -> None:
    write_files(tmp_path / "in", {**FILES, "d.xml": "<article><front>"})
    eagle("ingest", "in")
    again = eagle("ingest", "in")
    assert again.code == 3
    assert again.err.startswith("0 added, 0 replaced, 3 unchanged, 0 duplicate, 1 refused")


def test_search_takes_a_document_by_any_of_its_identifiers(filled: Eagle) -> None:
    found = filled("search", "kinase", "--document", "PMC91", "--json").json
    assert [hit["ids"]["doi"] for hit in found["hits"]] == ["10.5555/1"]
    unknown = filled("search", "kinase", "--document", "PMC404")
    assert unknown.code == 2
    assert "no document 'PMC404'" in unknown.err


def test_search_in_an_unknown_knowledge_base_says_which_there_are(filled: Eagle) -> None:
    found = filled("search", "kinase", "--kb", "nowhere")
    assert found.out == "Nothing found.\n"
    assert "no knowledge base nowhere; there are: default" in found.err


def test_every_paragraph_of_a_hit_is_indented(eagle: Eagle, tmp_path: Path) -> None:
    write_files(tmp_path / "in", {"a.xml": jats_article("T", ["Kinase one.", "Kinase two."])})
    eagle("ingest", "in")
    lines = eagle("search", "kinase").out.splitlines()
    assert "   Kinase one." in lines
    assert "   Kinase two." in lines
    assert lines[lines.index("   Kinase one.") + 1] == "", "a line of spaces is no empty line"


def test_the_demo_keeps_its_index_where_the_data_folder_is(eagle: Eagle, tmp_path: Path) -> None:
    done = eagle("demo")
    assert done.code == 0
    assert done.out.count("=== ") == 3
    assert (tmp_path / "index" / "sample" / "registry.db").exists()
