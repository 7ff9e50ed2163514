"""Pictures from a package to a hit and back to nothing (CASES G1 to G4, I4, I6)."""

import io
import json
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from eagle_rag.engine import Engine
from eagle_rag.errors import InvalidQuery, NotFound
from eagle_rag.model.filters import Compare
from eagle_rag.model.passage import StoredPassage
from eagle_rag.model.query import SearchRequest
from eagle_rag.model.results import IngestEvent
from eagle_rag.testing.articles import jats_article, write_files
from eagle_rag.testing.picture_plugin import COLOURS, UNFILLED

PLUGIN = {
    "plugins.enabled": ["eye"],
    "plugins.default_namespace": "eye",
    "store.kind": "memory",
}
Open = Callable[..., Engine]


def picture(colour: tuple[int, int, int], form: str = "PNG") -> bytes:
    """Return a small picture of one colour."""
    stream = io.BytesIO()
    Image.new("RGB", (8, 8), colour).save(stream, form)
    return stream.getvalue()


RED, GREEN, BLUE = picture((255, 0, 0)), picture((0, 255, 0), "JPEG"), picture((0, 0, 255))


def paper(*figures: tuple[str, str, str], text: str = "Kinase fell.") -> bytes:
    """Return an article with figures: id, caption, file."""
    made = "".join(
        f'<fig id="{key}"><label>Figure</label><caption><p>{caption}</p></caption>'
        f'<graphic xlink:href="{name}"/></fig>'
        for key, caption, name in figures
    )
    article = jats_article("Paper", {"Results": [text, "More."]}, ids={"doi": "10.5555/1"})
    return article.replace(b"</sec></body>", f"{made}</sec></body>".encode())


PACKAGE = {
    "p/a.xml": paper(("f1", "Stained one way.", "fig1.tif"), ("f2", "Other stain.", "fig2")),
    "p/fig1.png": RED,
    "p/fig2": GREEN,
}


def as_folder(place: Path, files: Mapping[str, bytes]) -> Path:
    """Return the folder with the files; pictures stand where no parser looks at them."""
    return write_files(place / "in", files) / "p" / "a.xml"


def as_zip(place: Path, files: Mapping[str, bytes]) -> Path:
    """Return them zipped."""
    with zipfile.ZipFile(place / "in.zip", "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return place / "in.zip"


def as_tar(place: Path, files: Mapping[str, bytes]) -> Path:
    """Return them in a tar archive."""
    with tarfile.open(place / "in.tar.xz", "w:xz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return place / "in.tar.xz"


@pytest.fixture
def with_eyes(
    make_engine: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Engine]:
    """Open engines with the plugin that knows colours, installed for this test alone."""
    info = tmp_path / "site" / "eye-1.dist-info"
    entry = "[eagle_rag.plugins]\neye = eagle_rag.testing.picture_plugin:PicturePlugin\n"
    write_files(info, {"METADATA": "Name: eye\nVersion: 1\n", "entry_points.txt": entry})
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    return lambda overrides=None: make_engine({**PLUGIN, **(overrides or {})})


@pytest.fixture
def engine(with_eyes: Open, tmp_path: Path) -> Engine:
    """Return an engine that holds the package."""
    engine = with_eyes()
    engine.ingest([as_folder(tmp_path, PACKAGE)])
    return engine


def rows(engine: Engine) -> list[StoredPassage]:
    """Return the rows of pictures."""
    found = [row for batch in engine.store.scan(COLOURS) for row in batch]
    return sorted(found, key=lambda row: dict(row.extra)["image_id"] or "")


def found_by(engine: Engine, request: SearchRequest) -> dict[tuple[str, ...], int]:
    """Return the rank that the pictures' arm gives each hit found through pictures."""
    hits = engine.search(replace(request, group_by="passage")).hits
    return {
        hit.pictures: arm.rank for hit in hits for arm in hit.arms if arm.arm == f"{COLOURS}/dense"
    }


def kept_files(engine: Engine) -> list[Path]:
    """Return the files of pictures."""
    folder = engine.settings.data_dir / "assets"
    return sorted(path for path in folder.rglob("*") if path.is_file())


def kinds(engine: Engine) -> list[str]:
    """Return the kind of each problem."""
    return [problem.kind for problem in engine.verify().problems]


@pytest.mark.parametrize("make", [as_folder, as_zip, as_tar])
def test_a_package_gives_rows_that_words_and_pictures_find(
    with_eyes: Open, tmp_path: Path, make: Callable[[Path, Mapping[str, bytes]], Path]
) -> None:
    engine = with_eyes()
    report = engine.ingest([make(tmp_path, PACKAGE)])
    assert (report.pictures, report.pictures_embedded, report.pictures_unreadable) == (2, 2, 0)
    for row, key, caption in zip(rows(engine), ("f1", "f2"), ("Stained", "Other"), strict=True):
        assert row.row_id == f"{row.passage_id}#{key}@1"
        assert row.text == engine.show(row.document_id).text[row.start : row.end]
        assert caption in row.text
    assert found_by(engine, SearchRequest("red", explain=True)) == {("f1",): 1, ("f2",): 2}
    by_picture = SearchRequest("", image=GREEN, explain=True)
    assert found_by(engine, by_picture) == {("f2",): 1, ("f1",): 2}
    assert engine.search(by_picture).hits[0].section_kind == "caption"
    assert engine.verify().clean


def test_a_row_of_a_picture_says_what_it_is_of(engine: Engine) -> None:
    row = rows(engine)[0]
    extra = dict(row.extra)
    (kept, _) = engine.pictures("10.5555/1")
    assert extra == {
        "image_id": "f1",
        "image_path": kept.file,
        "parent_section": row.path,
        "content_summary": "Figure Stained one way.",
    }
    assert row.chunk_type == "picture"
    assert engine.picture("10.5555/1", "f1") == RED


def test_words_beside_a_picture_run_the_arms_of_words_too(engine: Engine) -> None:
    hits = engine.search(SearchRequest("kinase", image=RED, group_by="passage", explain=True)).hits
    arms = {arm.arm for hit in hits for arm in hit.arms}
    assert {"eagle_text/lexical", "eagle_text/dense", f"{COLOURS}/dense"} <= arms


def test_a_picture_alone_runs_no_arm_of_words(engine: Engine) -> None:
    results = engine.search(SearchRequest("", image=RED, explain=True, group_by="passage"))
    arms = {arm.arm for hit in results.hits for arm in hit.arms}
    assert arms == {f"{COLOURS}/dense", f"{COLOURS}/plan", "fused"}
    assert not results.trace.degraded


def test_several_pictures_of_one_passage_are_one_hit_with_all_of_them(
    with_eyes: Open, tmp_path: Path
) -> None:
    engine = with_eyes()
    article = PACKAGE["p/a.xml"].replace(
        b'xlink:href="fig1.tif"/>', b'xlink:href="fig1.tif"/><graphic xlink:href="fig2"/>'
    )
    engine.ingest([as_folder(tmp_path, {**PACKAGE, "p/a.xml": article})])
    assert [item.key for item in engine.pictures("10.5555/1")] == ["f1", "f1#2"]
    hits = engine.search(SearchRequest("", image=GREEN, group_by="passage")).hits
    assert [hit.pictures for hit in hits] == [("f1#2", "f1")]
    assert engine.verify().clean


def test_a_plan_for_a_collection_that_nothing_fills_is_dropped_and_said(engine: Engine) -> None:
    events = engine.search(SearchRequest("red")).trace.events
    messages = [event.message for event in events if event.degraded]
    assert messages == [f"no encoder fills collection '{UNFILLED}' in this profile"]


def test_a_plan_that_takes_no_words_is_dropped(with_eyes: Open, tmp_path: Path) -> None:
    engine = with_eyes({"plugins.options.eye.words": False})
    engine.ingest([as_folder(tmp_path, PACKAGE)])
    results = engine.search(SearchRequest("red"))
    assert all(hit.pictures == () for hit in results.hits)
    degraded = [event.message for event in results.trace.events if event.degraded]
    assert any("colours takes no words" in message for message in degraded)
    assert engine.search(SearchRequest("", image=RED)).hits[0].pictures[:1] == ("f1",)


@pytest.mark.parametrize(
    ("request_", "what"),
    [
        (SearchRequest("", image=b"no picture"), "none that can be read"),
        (SearchRequest("", image=b""), "none that can be read"),
        (SearchRequest("", image=RED, mode="lexical"), "holds no words"),
        (SearchRequest(" "), "the query is empty"),
    ],
)
def test_h1_a_query_without_an_answer_is_refused(
    engine: Engine, request_: SearchRequest, what: str
) -> None:
    with pytest.raises(InvalidQuery, match=what):
        engine.search(request_)


def test_h1_a_picture_too_large_is_refused(with_eyes: Open) -> None:
    engine = with_eyes({"ingest.max_file_bytes": 10})
    with pytest.raises(InvalidQuery, match="at most 10 are allowed"):
        engine.search(SearchRequest("", image=RED))


def test_g1_a_new_version_without_a_picture_leaves_none_behind(
    engine: Engine, tmp_path: Path
) -> None:
    article = paper(("f2", "Other stain.", "fig2"), text="Kinase rose.")
    report = engine.ingest([as_folder(tmp_path, {**PACKAGE, "p/a.xml": article})])
    assert (len(report.replaced), report.pictures) == (1, 1)
    assert [row.row_id.partition("#")[2] for row in rows(engine)] == ["f2@2"]
    assert len(kept_files(engine)) == 2  # the picture and the index
    with pytest.raises(NotFound, match="has no picture 'f1'"):
        engine.picture("10.5555/1", "f1")
    assert engine.verify().clean


def test_g1_an_unchanged_source_stands_for_its_pictures(engine: Engine, tmp_path: Path) -> None:
    report = engine.ingest([as_folder(tmp_path, {**PACKAGE, "p/fig1.png": BLUE})])
    assert (report.unchanged, report.pictures) == (1, 0)
    assert engine.picture("10.5555/1", "f1") == RED


def test_g2_a_deleted_document_leaves_no_row_and_no_file(engine: Engine) -> None:
    engine.delete("10.5555/1")
    assert rows(engine) == []
    assert kept_files(engine) == []
    assert engine.search(SearchRequest("", image=RED)).hits == ()
    assert engine.verify().clean


def test_g3_a_document_deleted_while_it_is_written_leaves_no_picture(
    engine: Engine, tmp_path: Path
) -> None:
    changed = PACKAGE["p/a.xml"].replace(b"fell", b"rose")
    write_files(tmp_path / "in2", {**PACKAGE, "p/a.xml": changed})

    def on_event(event: IngestEvent) -> None:
        if event.kind == "warning":
            engine.delete("10.5555/1")

    write_files(tmp_path / "in2", {"p/fig2": b"\xff\xd8\xff broken"})
    report = engine.ingest([tmp_path / "in2" / "p" / "a.xml"], on_event=on_event)
    assert [item.reason for item in report.refused] == ["deleted"]
    assert kept_files(engine) == []
    assert rows(engine) == []
    assert engine.verify().clean


_KILLED = """
import os, sys
from pathlib import Path
from eagle_rag.adapters.assets import AssetFolder
from eagle_rag.engine import open_engine
from eagle_rag.kernel.settings import load_settings
from eagle_rag.testing.articles import write_files

put = AssetFolder.put
def put_and_die(*arguments):
    put(*arguments)
    os._exit(9)
if __name__ == "__main__":
    AssetFolder.put = put_and_die
    overrides = {"profile": "core", "data_dir": sys.argv[1], "collections.eagle_text.encoder": "hash"}
    open_engine(load_settings(overrides=overrides, environ={})).ingest([Path(sys.argv[2])])
"""


def test_g4_pictures_written_before_a_kill_are_cleared_and_written_again(
    make_engine: Open, tmp_path: Path
) -> None:
    source = as_folder(tmp_path, PACKAGE)
    script = tmp_path / "killed.py"
    script.write_text(_KILLED)
    command = [sys.executable, str(script), str(tmp_path / "index"), str(source)]
    assert subprocess.run(command, check=False, timeout=120).returncode == 9  # noqa: S603 - our own interpreter
    engine = make_engine()
    assert len(kept_files(engine)) == 3
    assert kinds(engine) == ["pending-version"]
    report = engine.ingest([source])
    assert (report.recovered, len(report.added), report.pictures) == (1, 1, 2)
    assert len(kept_files(engine)) == 3
    assert engine.verify().clean


def test_a_picture_that_cannot_be_decoded_is_kept_and_counted(
    with_eyes: Open, tmp_path: Path
) -> None:
    engine = with_eyes()
    broken = RED[:40] + b"\0" * 20
    events: list[IngestEvent] = []
    files = {**PACKAGE, "p/fig1.png": broken}
    report = engine.ingest([as_folder(tmp_path, files)], on_event=events.append)
    assert len(report.added) == 1
    assert (report.pictures, report.pictures_embedded, report.pictures_unreadable) == (2, 1, 1)
    assert [event.message.partition(":")[0] for event in events if event.kind == "warning"] == [
        "picture f1 is kept and cannot be searched"
    ]
    assert engine.picture("10.5555/1", "f1") == broken
    assert engine.verify().clean


def test_a_picture_nobody_decides_on_is_kept(with_eyes: Open, tmp_path: Path) -> None:
    engine = with_eyes()
    article = paper(("f1", "To nowhere.", "fig1"))
    report = engine.ingest([as_folder(tmp_path, {**PACKAGE, "p/a.xml": article})])
    assert (report.pictures, report.pictures_embedded) == (1, 0)
    assert rows(engine) == []
    assert engine.verify().clean


def test_a_decision_for_a_collection_that_nothing_fills_refuses_the_document(
    with_eyes: Open, tmp_path: Path
) -> None:
    engine = with_eyes()
    article = paper(("f1", "An unfilled one.", "fig1"))
    report = engine.ingest([as_folder(tmp_path, {**PACKAGE, "p/a.xml": article})])
    assert [item.reason for item in report.refused] == ["plugin-failed"]
    assert UNFILLED in report.refused[0].message
    assert kept_files(engine) == []
    assert engine.verify().clean


def test_a_collection_that_nothing_fills_is_said_by_doctor_and_is_no_failure(
    engine: Engine,
) -> None:
    checks = {check.name: check for check in engine.doctor()}
    unfilled = checks[f"collection {UNFILLED}"]
    assert unfilled.ok
    assert "no encoder fills it" in unfilled.message
    assert checks[f"collection {COLOURS}"].ok
    assert UNFILLED not in engine.store.collections()


def test_more_pictures_than_allowed_are_left_out_and_said(with_eyes: Open, tmp_path: Path) -> None:
    engine = with_eyes({"ingest.max_pictures": 1})
    events: list[IngestEvent] = []
    report = engine.ingest([as_folder(tmp_path, PACKAGE)], on_event=events.append)
    assert report.pictures == 1
    (warning,) = [event.message for event in events if event.kind == "warning"]
    assert warning.startswith("of more pictures than ingest.max_pictures (1)")
    assert warning.endswith("1 are kept")


def test_pictures_of_a_package_in_worker_processes(with_eyes: Open, tmp_path: Path) -> None:
    engine = with_eyes({"ingest.workers": 1})
    files: dict[str, bytes] = {}
    for number in range(40):
        article = PACKAGE["p/a.xml"].replace(b"10.5555/1", f"10.5555/{number}".encode())
        files[f"{number}/a.xml"] = article.replace(b"fell", f"fell {number}".encode())
        files[f"{number}/fig1.png"] = RED
    report = engine.ingest([as_zip(tmp_path, files)])
    assert (len(report.added), report.pictures) == (40, 40)
    assert engine.verify().clean


def test_a_missing_row_of_a_picture_is_found_and_written_again(engine: Engine) -> None:
    before = rows(engine)
    engine.store.delete(COLOURS, Compare("row_id", "eq", before[0].row_id))
    assert kinds(engine) == ["missing-row"]
    assert engine.verify(repair=True).clean
    assert rows(engine) == before


def test_a_row_of_a_picture_that_is_not_there_is_found_and_removed(engine: Engine) -> None:
    before = rows(engine)
    stray = replace(before[0], row_id=f"{before[0].passage_id}#f9@1")
    engine.store.upsert(COLOURS, [stray])
    assert kinds(engine) == ["extra-row"]
    assert engine.verify(repair=True).clean
    assert rows(engine) == before


def test_a_lost_picture_is_found(engine: Engine) -> None:
    next(path for path in kept_files(engine) if path.suffix == ".png").unlink()
    assert kinds(engine) == ["damaged-picture"]
    assert not engine.verify(repair=True).clean


def test_a_lost_folder_of_pictures_is_found(engine: Engine) -> None:
    shutil.rmtree(engine.settings.data_dir / "assets")
    assert set(kinds(engine)) == {"extra-row", "missing-picture"}


def test_pictures_of_nobody_are_found_and_removed(engine: Engine) -> None:
    (place,) = {path.parent.parent.parent for path in kept_files(engine)}
    write_files(place, {"doc1_other/3/x.png": RED, "doc1_other/.half-4/x.png": RED})
    assert kinds(engine) == ["orphan-picture", "orphan-picture"]
    assert engine.verify(repair=True).clean
    assert kinds(engine) == []
    assert len(kept_files(engine)) == 3


def test_i6_pictures_of_another_knowledge_base_are_absent(engine: Engine) -> None:
    with pytest.raises(NotFound, match="no document"):
        engine.picture("10.5555/1", "f1", kb_names=("other",))
    with pytest.raises(NotFound, match="no document"):
        engine.pictures("10.5555/1", kb_names=())
    assert engine.search(SearchRequest("", image=RED, kb_names=("other",))).hits == ()


def test_i4_a_key_is_data(with_eyes: Open, tmp_path: Path) -> None:
    engine = with_eyes()
    article = paper(("../../x'; DROP", "Stained.", "fig1"))
    engine.ingest([as_folder(tmp_path, {**PACKAGE, "p/a.xml": article})])
    hit = engine.search(SearchRequest("", image=RED)).hits[0]
    assert hit.pictures == ("../../x'; DROP",)
    assert engine.picture(hit.document_id, hit.pictures[0]) == RED
    assert engine.verify().clean


def test_the_command_line_lists_writes_and_searches_by_pictures(
    with_eyes: Open,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from eagle_rag.surfaces.cli.main import main

    with_eyes({"store.kind": "lancedb"}).ingest([as_folder(tmp_path, PACKAGE)])
    shared = ["--data-dir", str(tmp_path / "index"), "--set", "collections.eagle_text.encoder=hash",
              "--set", "plugins.enabled=[eye]", "--set", "plugins.default_namespace=eye"]  # fmt: skip

    def run(*words: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["eagle", *shared, *words])
        with pytest.raises(SystemExit) as stopped:
            main()
        return int(str(stopped.value.code)), capsys.readouterr().out

    image = tmp_path / "red.png"
    image.write_bytes(RED)
    code, out = run("search", "--image", str(image), "--json")
    assert (code, json.loads(out)["hits"][0]["pictures"][:1]) == (0, ["f1"])
    assert "[picture f1: image/png" in run("show", "10.5555/1")[1]
    assert [
        item["key"] for item in json.loads(run("show", "10.5555/1", "--json")[1])["pictures"]
    ] == ["f1", "f2"]
    target = tmp_path / "out.png"
    assert run("show", "10.5555/1", "--picture", "f1", "--output", str(target))[0] == 0
    assert target.read_bytes() == RED
    assert run("show", "10.5555/1", "--picture", "f1", "--output", str(target))[0] == 2
    assert run("show", "10.5555/1", "--picture", "f1")[0] == 2
    assert run("search", "--image", str(tmp_path / "absent.png"))[0] == 2
    image.write_bytes(b"no picture")
    assert run("search", "--image", str(image))[0] == 2
    assert run("doctor")[0] == 0
    assert "filled by nothing in this profile" in run("plugins")[1]
