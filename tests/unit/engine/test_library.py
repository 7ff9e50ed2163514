"""Live documents and passages as plugins see them."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from eagle_rag.adapters.lance.indexes import DenseIndex
from eagle_rag.adapters.lance.store import LanceStore
from eagle_rag.engine import Engine
from eagle_rag.engine.library import EngineLibrary, LibraryServices
from eagle_rag.model.filters import OneOf
from eagle_rag.model.records import LiveState
from eagle_rag.testing.articles import write_files
from eagle_rag.testing.store_rows import make_row, make_schema

_ROWS, _DIM = 400, 16


class FakeRegistry:
    """Every document is live."""

    def live_states(self, document_ids: Sequence[str]) -> dict[str, LiveState]:
        return {each: LiveState(1, each, retracted=False) for each in document_ids}


@pytest.mark.parametrize(
    "index", [DenseIndex(), DenseIndex(flat_rows=0, exact_floats=0)], ids=["none", "hnsw"]
)
def test_the_cosines_of_given_passages_are_exact_whatever_the_index(
    tmp_path: Path, index: DenseIndex
) -> None:
    """Tier 1 scores candidates by this: a passage that an index would miss must not be lost."""
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(_ROWS, _DIM)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    store = LanceStore(tmp_path / "store", index=index)
    schema = make_schema("text", dim=_DIM)
    store.ensure(schema)
    store.upsert("text", [make_row(f"r{at}", row, "x") for at, row in enumerate(vectors)])
    store.optimize("text")
    query = vectors[0]
    library = EngineLibrary(
        LibraryServices(
            registry=FakeRegistry,  # type: ignore[arg-type]  # what nearest asks
            store=lambda: store,
            schema=lambda _: schema,
            encode=lambda *_: query,
            namespace="n",
        )
    )
    worst = np.argsort(vectors @ query)[:50]
    ids = tuple(f"r{at}-p" for at in worst)
    hits = library.nearest("text", "q", limit=len(ids), where=OneOf("passage_id", ids))
    store.close()
    found = {hit.passage_id: hit.score for hit in hits}
    assert found == {
        f"r{at}-p": pytest.approx(float(vectors[at] @ query), abs=1e-6) for at in worst
    }


def test_i1_texts_are_those_of_live_passages_in_the_scope(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    engine = make_engine({"store.kind": "memory"})
    ids: list[str] = []
    for kb, word in (("one", "Kinase"), ("two", "Ligase")):
        folder = write_files(tmp_path / kb, {f"{kb}.txt": f"{word} fell.\n"})
        (document,) = engine.ingest([folder], kb_name=kb).added
        ids.append(engine.show(document).passages[0].id)
    texts = engine._library.texts
    asked = [ids[1], "absent", ids[0]]
    assert [each.text for each in texts(asked).values()] == ["Ligase fell.", "Kinase fell."]
    assert list(texts(asked, kb_names=("one",))) == [ids[0]]
    assert texts(asked, kb_names=()) == {}
    engine.delete(texts(asked)[ids[0]].document_id)
    assert list(texts(asked)) == [ids[1]]


def test_plugins_get_texts_in_the_main_process_alone(engine: Engine) -> None:
    from eagle_rag.engine.services import plugin_services

    assert plugin_services(engine.settings).texts is None
    assert plugin_services(engine.settings, texts=engine._library).texts is engine._library
