"""CASES I: what a caller may see, filters, and names that look like code."""

import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eagle_rag.engine import Engine
from eagle_rag.errors import InvalidFilter, NotFound
from eagle_rag.model.filters import AllOf, AnyOf, Compare, Filter, OneOf
from eagle_rag.model.query import SearchMode, SearchRequest
from eagle_rag.testing.articles import jats_article, write_files

MODES: tuple[SearchMode, ...] = ("hybrid", "lexical", "dense")
HOSTILE = (
    "<script>alert(1)</script>", "'; DROP TABLE documents; --", '" OR 1=1 --', "../../etc/passwd",
    "{{7*7}}", "${jndi:ldap://x}", "%s %n", "[bold red]x[/]", "[/]", ":smile:", "a\\b", "`id`",
)  # fmt: skip


@pytest.fixture(scope="module")
def shared(
    make_shared_engine: Callable[..., Engine], tmp_path_factory: pytest.TempPathFactory
) -> Engine:
    """Twenty papers: kb by parity, years 2010 to 2029."""
    engine = make_shared_engine()
    for kb in ("even", "odd"):
        numbers = range(0 if kb == "even" else 1, 20, 2)
        files = {
            f"{n:02}.xml": jats_article(
                f"Paper {n}",
                {"Methods": ["We used kinase."], "Results": [f"Kinase {n} fell."]},
                ids={"doi": f"10.5555/{n}"},
                year=2010 + n,
            )
            for n in numbers
        }
        engine.ingest([write_files(tmp_path_factory.mktemp(kb), dict(files))], kb_name=kb)
    return engine


def _search(engine: Engine, **more: Any) -> list[int]:
    request = SearchRequest("kinase fell", **{"top_k": 50, **more})
    return [int(hit.title.split()[1]) for hit in engine.search(request).hits]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("scope", ["kb_names", "document_ids"])
def test_i1_an_empty_allowed_list_finds_nothing(
    shared: Engine, scope: str, mode: SearchMode
) -> None:
    assert _search(shared, mode=mode, **{scope: ()}) == []


@pytest.mark.parametrize("empty", [OneOf("year", ()), AnyOf(())])
def test_i1_an_empty_filter_list_finds_nothing(shared: Engine, empty: Filter) -> None:
    assert _search(shared, filters=empty) == []


def test_i1_reading_with_an_empty_allowed_list_is_not_found(shared: Engine) -> None:
    hit = shared.search(SearchRequest("kinase")).hits[0]
    with pytest.raises(NotFound):
        shared.show(hit.document_id, kb_names=())
    with pytest.raises(NotFound):
        shared.passage(hit.passage_id, kb_names=())
    with pytest.raises(NotFound):
        shared.delete(hit.document_id, kb_names=())
    assert shared.documents(kb_names=()) == ()
    assert shared.stats(kb_names=()).documents == 0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "where",
    [
        Compare("colour", "eq", "red"),
        Compare("text; --", "eq", "red"),
        Compare("vector", "eq", "red"),
        Compare("year", "like", 2020),  # type: ignore[arg-type]  # an unknown operator is the point
        Compare("year", "ge", "2020"),
        Compare("kb_name", "eq", 7),
        AllOf((Compare("year", "ge", 2020), AnyOf((OneOf("colour", ("red",)),)))),
    ],
)
def test_i2_an_unknown_field_operator_or_type_is_refused(
    shared: Engine, where: Filter, mode: SearchMode
) -> None:
    with pytest.raises(InvalidFilter):
        _search(shared, filters=where, mode=mode)


@pytest.mark.parametrize("mode", MODES)
def test_i3_two_filters_are_joined_by_and(shared: Engine, mode: SearchMode) -> None:
    where = AllOf((Compare("year", "ge", 2015), Compare("year", "lt", 2020)))
    assert sorted(_search(shared, filters=where, mode=mode)) == [5, 6, 7, 8, 9]
    assert sorted(_search(shared, filters=where, kb_names=("odd",), mode=mode)) == [5, 7, 9]


def test_i3_a_filter_on_the_section_holds_for_every_passage(shared: Engine) -> None:
    where = Compare("section_kind", "eq", "results")
    hits = shared.search(
        SearchRequest("we used kinase", top_k=50, filters=where, group_by="passage")
    ).hits
    assert len(hits) == 20
    assert {hit.section_kind for hit in hits} == {"results"}


@pytest.mark.parametrize("mode", MODES)
def test_i3_pages_of_a_filtered_search_are_the_whole_in_order(
    shared: Engine, mode: SearchMode
) -> None:
    where = Compare("year", "ge", 2013)
    whole = _search(shared, filters=where, mode=mode)
    pages = [
        _search(shared, filters=where, mode=mode, top_k=5, offset=offset)
        for offset in range(0, 20, 5)
    ]
    assert [number for page in pages for number in page] == whole
    assert sorted(whole) == list(range(3, 20))


@pytest.mark.parametrize("hostile", HOSTILE)
def test_i4_names_that_look_like_code_are_stored_and_found_as_data(
    engine: Engine, tmp_path: Path, hostile: str
) -> None:
    article = jats_article(hostile, [f"{hostile} said the kinase."])
    name = f"n{hostile.replace('/', '_')}.xml"
    report = engine.ingest([write_files(tmp_path / "in", {name: article})], kb_name=hostile)
    hit = engine.search(SearchRequest("kinase", kb_names=(hostile,))).hits[0]
    assert (hit.title, hit.kb_name) == (hostile, hostile)
    assert hit.text == f"{hostile} said the kinase."
    assert engine.show(report.added[0]).record.source_uri == f"in/{name}"
    assert engine.search(SearchRequest("kinase", kb_names=(f"{hostile}x",))).hits == ()
    assert (
        engine.search(SearchRequest(hostile, filters=Compare("kb_name", "ne", hostile))).hits == ()
    )
    assert engine.verify().clean


def test_i4_a_file_name_that_is_no_utf_8_is_shown_escaped(engine: Engine, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "in", {"b\udcff.txt": "Kinase.\n"})
    assert len(engine.ingest([folder]).added) == 1
    assert engine.documents()[0].source_uri == "in/b\\udcff.txt"


def _tar(path: Path, members: list[tarfile.TarInfo]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for member in members:
            archive.addfile(member, io.BytesIO(b"x" * member.size))
        good = tarfile.TarInfo("good.txt")
        good.size = 7
        archive.addfile(good, io.BytesIO(b"Kinase."))
    return path


def _member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    member.size = 4 if kind == tarfile.REGTYPE else 0
    return member


@pytest.mark.parametrize(
    ("member", "reason"),
    [
        (_member("../outside.txt"), "unsafe-path"),
        (_member("a/../../outside.txt"), "unsafe-path"),
        (_member("/outside.txt"), "unsafe-path"),
        (_member("..\\outside.txt"), "unsafe-path"),
        (_member("C:\\outside.txt"), "unsafe-path"),
        (_member("link.txt", tarfile.SYMTYPE, "/etc/passwd"), "link"),
        (_member("link.txt", tarfile.LNKTYPE, "/etc/passwd"), "link"),
        (_member("device", tarfile.CHRTYPE), "link"),
        (_member("pipe", tarfile.FIFOTYPE), "link"),
    ],
    ids=lambda value: value.name if isinstance(value, tarfile.TarInfo) else value,
)
def test_i5_a_hostile_archive_member_is_refused_and_nothing_is_written(
    engine: Engine, tmp_path: Path, member: tarfile.TarInfo, reason: str
) -> None:
    inside = tmp_path / "deep" / "in"
    inside.mkdir(parents=True)
    archive = _tar(inside / "a.tar.gz", [member])
    engine.store.collections()
    before = sorted(tmp_path.glob("**/*.txt"))
    report = engine.ingest([archive])
    assert [refusal.reason for refusal in report.refused] == [reason]
    assert len(report.added) == 1
    assert sorted(tmp_path.glob("**/*.txt")) == before == []


def test_i5_a_zip_bomb_is_refused_and_the_batch_goes_on(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    engine = make_engine({"ingest.max_file_bytes": 1 << 20, "ingest.max_archive_bytes": 3 << 20})
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(20):
            archive.writestr(f"{number}.txt", b"0" * (8 << 20))
    good = write_files(tmp_path / "in", {"a.txt": "Kinase.\n"})
    report = engine.ingest([tmp_path / "bomb.zip", good])
    reasons = [refusal.reason for refusal in report.refused]
    assert reasons == ["too-large", "too-large", "too-large", "archive-too-large"]
    assert len(report.added) == 1


@pytest.mark.parametrize(
    "other", [{"workspace": "theirs"}, {}], ids=["workspace", "knowledge base"]
)
def test_i6_what_is_anothers_looks_absent(
    make_engine: Callable[..., Engine], tmp_path: Path, other: dict[str, object]
) -> None:
    mine = make_engine()
    mine.ingest([write_files(tmp_path / "in", {"a.txt": "Kinase.\n"})], kb_name="mine")
    document = mine.documents()[0].document_id
    passage = mine.show(document).passages[0].id
    asked = make_engine(other) if other else mine
    allowed = None if other else ("theirs",)
    calls: list[tuple[Callable[..., object], str, str]] = [
        (asked.show, "doc1_0", document), (asked.passage, "psg1_0", passage),
        (asked.delete, "doc1_0", document),
    ]  # fmt: skip
    for call, absent, present in calls:
        with pytest.raises(NotFound) as nothing:
            call(absent, kb_names=allowed)
        with pytest.raises(NotFound) as hidden:
            call(present, kb_names=allowed)
        assert str(hidden.value) == str(nothing.value).replace(absent, present)
    assert asked.search(SearchRequest("kinase", kb_names=allowed)).hits == ()
    assert asked.documents(kb_names=allowed) == ()
    with pytest.raises(NotFound):
        asked.convert_offsets(document, [(0, 1)], unit="byte", kb_names=allowed)


def test_i6_two_workspaces_of_one_folder_do_not_clear_each_others_rows(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    folder = write_files(tmp_path / "in", {"a.txt": "Kinase.\n"})
    mine, theirs = make_engine(), make_engine({"workspace": "theirs"})
    mine.ingest([folder])
    theirs.ingest([folder])
    theirs.delete(theirs.documents()[0].document_id)
    assert mine.verify().clean
    assert len(mine.search(SearchRequest("kinase")).hits) == 1
