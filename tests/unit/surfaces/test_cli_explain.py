"""What ``eagle search --explain`` shows of a biomedical hit, in text and in JSON."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from eagle_rag.testing.articles import write_files

Eagle = Callable[..., Any]
OSIMERTINIB = "CN1C=C(C2=CC=CC=C21)C3=NC(=NC=C3)NC4=C(C=C(C(=C4)NC(=O)C=C)N(C)CCN(C)C)OC"
FILES: dict[str, str | bytes] = {
    "a.md": "# Resistance to osimertinib\n\n## Results\n\nC797S arose in a fifth of patients.\n",
    "b.md": "# Resistance to imatinib\n\n## Results\n\nT315I arose in a third of patients.\n",
    "c.md": "# TAGRISSO tablets\n\n## Dosage and administration\n\nTake 80 mg of osimertinib daily.\n",
    "d.md": "# Elunate\n\n## Results\n\nDaily intake gave control of disease.\n",
    "e.md": "# Trial of HMPL capsules\n\n## Results\n\nThe trial of HMPL capsules was small.\n",
    "f.csv": f"name,smiles\nosimertinib,{OSIMERTINIB}\n",
}
RERANKED = {"ce_norm", "entity", "final", "fused", "section", "xdrug"}


@dataclass(frozen=True)
class Shown:
    """A hit as it is explained: ranks by arm, parts of the score, both as they are shown."""

    title: str
    ranks: dict[str, int]
    parts: dict[str, float]


@pytest.fixture
def library(eagle: Eagle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Eagle:
    """Return what searches a small library with explanation, as ``library(query, *options)``."""
    monkeypatch.setenv("EAGLE_RAG_PROFILE", "embedded")
    text = ("--set", "plugins.options.biomed.encoders.eagle_text_biomed=hash")
    write_files(tmp_path / "in", FILES)
    assert eagle(*text, "ingest", "in").code == 0

    def search(query: str, *options: str, settings: tuple[str, ...] = ()) -> Any:
        given = [part for setting in settings for part in ("--set", setting)]
        done = eagle(*text, *given, "search", query, "--explain", "-k", "9", *options)
        assert done.code == 0
        return done

    return search


def in_text(out: str) -> tuple[list[Shown], list[str]]:
    """Return the hits and the plans that were printed."""
    hits: list[Shown] = []
    for line in out.splitlines():
        if title := re.fullmatch(r"\d+\. (.+?)", line):
            hits.append(Shown(title[1], {}, {}))
        elif arm := re.fullmatch(r"   (\S+): rank (\d+), score -?\d+\.\d{4}", line):
            hits[-1].ranks[arm[1]] = int(arm[2])
        elif line.startswith("   parts: "):
            pairs = line.removeprefix("   parts: ").split(", ")
            hits[-1].parts.update((name, float(value)) for name, value in map(str.split, pairs))
    return hits, [line for line in out.splitlines() if line.startswith("plan: ")]


def in_json(value: Any) -> tuple[list[Shown], list[str]]:
    """Return the hits and the plans of the JSON, numbers as text would show them."""
    hits = [
        Shown(
            hit["title"],
            {arm["arm"]: arm["rank"] for arm in hit["arms"]},
            {name: round(number, 4) for name, number in hit["parts"]},
        )
        for hit in value["hits"]
    ]
    events = value["trace"]
    return hits, [f"plan: {each['message']}" for each in events if each["stage"] == "plan"]


def both(library: Eagle, query: str, *options: str, **more: Any) -> tuple[list[Shown], list[str]]:
    """Return what text and JSON alike show."""
    text = in_text(library(query, *options, **more).out)
    assert text == in_json(library(query, *options, "--json", **more).json)
    return text


def test_a_hit_shows_the_rank_in_every_arm_and_the_parts_of_its_score(library: Eagle) -> None:
    hits, plans = both(library, "resistance to osimertinib: dosage")

    assert all(hit.parts.keys() >= RERANKED for hit in hits)
    ranks = {hit.title: hit.ranks for hit in hits}
    assert ranks["Resistance to osimertinib"].keys() == {
        *(f"eagle_text_biomed/{arm}" for arm in ("dense", "lexical", "plan", "rerank/biomed")),
        *("fused", "rerank_merged/biomed"),
    }
    assert sorted(found["rerank_merged/biomed"] for found in ranks.values()) == [
        *range(1, len(hits) + 1)
    ]
    parts = {hit.title: hit.parts for hit in hits}
    assert [parts["TAGRISSO tablets"][name] for name in ("entity", "section", "xdrug")] == [
        1,
        1,
        0,
    ]
    assert [parts["Resistance to imatinib"][name] for name in ("entity", "section", "xdrug")] == [
        0,
        0,
        1,
    ]
    assert plans[0] == (
        "plan: eagle_text_biomed with hash by biomed-drug_entity:text+general (always): 6 candidates"
    )


def test_an_injected_hit_shows_that_it_is_one_and_what_the_supplement_gave(library: Eagle) -> None:
    """One row an arm; ``Elunate`` is a name of the drug that no word of the query is."""
    hits, _ = both(
        library,
        "HMPL-013 trial capsules",
        settings=("plugins.options.biomed.collection_recall_top_k=1",),
    )

    elunate = next(hit for hit in hits if hit.title == "Elunate")
    assert elunate.parts["injected"] == 1.0
    assert elunate.parts["supplement"] >= 2.0  # twice the entity
    assert elunate.ranks.keys() == {"supplement/biomed", "inject/biomed", "rerank_merged/biomed"}
    other = next(hit for hit in hits if hit.title == "Trial of HMPL capsules")
    assert not {"injected", "supplement"} & other.parts.keys()


def test_a_compound_shows_the_cosine_of_its_structure(library: Eagle) -> None:
    (first, *others), plans = both(library, "compound osimertinib")

    assert first.title == "osimertinib"
    assert first.parts["chemical"] == 1.0
    assert first.parts["final"] < 1.0
    assert first.ranks["eagle_chemical/dense"] == 1
    assert all("chemical" not in hit.parts for hit in others)
    assert (
        "plan: eagle_chemical with morgan by biomed-chemical:text+general+chemical"
        " (the query is about compounds): 1 candidates"
    ) in plans


def test_fusion_by_score_shows_what_it_combined(library: Eagle) -> None:
    settings = ("router.fusion=weighted", "router.hybrid_alpha=0.75")
    hits, _ = both(library, "resistance to osimertinib", settings=settings)

    assert len(hits) > 1
    for hit in hits:
        combined = 0.75 * hit.parts["dense"] + 0.25 * hit.parts["sparse"]
        assert hit.parts["combined"] == pytest.approx(combined, abs=1e-4)
        assert hit.parts.keys() >= RERANKED
    assert max(hit.parts["sparse"] for hit in hits) == 1.0


def test_where_two_plans_found_a_hit_each_shows_what_it_combined(library: Eagle) -> None:
    (first, *_), _ = both(library, "compound osimertinib", settings=("router.fusion=weighted",))

    parts = first.parts
    combined = 0.5 * parts["eagle_text_biomed/dense"] + 0.5 * parts["eagle_text_biomed/sparse"]
    assert parts["eagle_text_biomed/combined"] == pytest.approx(combined, abs=1e-4)
    assert "combined" not in parts
