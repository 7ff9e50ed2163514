"""What a reader sees of records and pictures: the plugin's formats through the commands."""

import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from eagle_rag.testing.articles import jats_article, write_files

Eagle = Callable[..., Any]
TRIAL = {
    "protocolSection": {
        "identificationModule": {
            "nctId": "NCT99990001",
            "orgStudyIdInfo": {"id": "ZB-1"},
            "briefTitle": "Zorbanib in foxes",
        },
        "descriptionModule": {"briefSummary": "Zorbanib is given to foxes at rest."},
    }
}
TABLE = "name,smiles,comment\nzorbane,C1CCCCC1CCCCCl,made up\n"


@pytest.fixture
def biomed(eagle: Eagle, monkeypatch: pytest.MonkeyPatch) -> Eagle:
    """Return ``eagle`` with the plugin, every encoder a hash."""
    monkeypatch.setenv("EAGLE_RAG_PROFILE", "embedded")
    setting = "plugins.options.biomed.encoders.eagle_text_biomed=hash"
    return lambda *arguments: eagle("--set", setting, *arguments)


def _png() -> bytes:
    stream = BytesIO()
    Image.linear_gradient("L").resize((64, 64)).save(stream, "PNG")
    return stream.getvalue()


def test_a_trial_shows_its_number_and_is_found_by_what_was_printed(
    biomed: Eagle, tmp_path: Path
) -> None:
    write_files(tmp_path / "in", {"t.json": json.dumps(TRIAL)})
    assert biomed("ingest", "in").code == 0

    lines = biomed("search", "zorbanib foxes", "-k", "1").out.splitlines()
    shown = biomed("show", lines[1].strip()).out.splitlines()

    assert lines[1] == "   nct:NCT99990001"
    assert shown[0] == "Zorbanib in foxes"
    assert [line.split() for line in shown if line.startswith(" ids ")] == [
        ["ids", "nct:NCT99990001,", "org-study:ZB-1"]
    ]
    assert all(line == line.rstrip() for line in shown)


def test_a_compound_shows_its_inchikey_and_its_name_once_below_the_title(
    biomed: Eagle, tmp_path: Path
) -> None:
    write_files(tmp_path / "in", {"c.csv": TABLE})
    assert biomed("ingest", "in").code == 0

    out = biomed("search", "zorbane", "-k", "1").out
    ids = biomed("search", "zorbane", "-k", "1", "--json").json["hits"][0]["ids"]["other"]

    assert out.splitlines()[1] == f"   inchikey:{dict(ids)['inchikey']}"
    assert out.splitlines()[2].startswith("   characters "), "a card has no section to name"
    assert out.count("zorbane") == 2
    assert "comment: made up" in out
    assert biomed("verify").code == 0


def test_a_picture_that_is_kept_is_not_said_to_have_no_file(biomed: Eagle, tmp_path: Path) -> None:
    write_files(tmp_path / "in", {"fox.png": _png()})
    biomed("ingest", "in")
    document = biomed("search", "fox", "--json").json["hits"][0]["document_id"]

    out = biomed("show", document).out

    assert "no file" not in out
    assert out.count("[figure") + out.count("[picture") == 1


def test_pictures_of_a_paper_beside_them_are_told_in_one_line_and_refuse_nothing(
    biomed: Eagle, tmp_path: Path
) -> None:
    paper = jats_article("Foxes", ["They rest."], ids={"doi": "10.5555/1"}).decode()
    figures = "".join(
        f'<fig id="f{n}"><graphic xlink:href="f{n}.png"/></fig>' for n in (1, 2)
    )  # fmt: skip
    paper = paper.replace("</body>", f"{figures}</body>")
    write_files(tmp_path / "in", {"p.xml": paper, "f1.png": _png(), "f2.png": _png()})

    done = biomed("ingest", "in")

    assert done.code == 0
    assert ", 0 refused," in done.err
    assert "2 files are pictures that a document beside shows" in done.err
    assert biomed("ingest", "in", "--json").lines[-1]["refused"] != []
