"""Throw damaged and hostile files at every parser, and see that each ends in documents or a typed refusal.

    python benchmarks/fuzz_parsers.py [--inputs 2000] [--formats pdf,docx] [--data FOLDER] [--save FOLDER]
    python benchmarks/fuzz_parsers.py --formats pdf --seed 17

For each format: its valid files, the same under every other format's file name, files built to hurt
(``fuzz_seeds.py``), then mutations (``eagle_rag.testing.mutations``) of small valid files until ``--inputs``
inputs are done. Files of ``--data`` (else of the folder in ``EAGLE_RAG_TEST_DATA``) serve too, the 40 smallest
of each format: XML and JSON up to 48 KiB, others up to 64 KiB, lists, tables and plain text cut to 8 KiB.

Every input goes the way of the product, ``prepare_source`` with the biomedical plugin: format selector,
parser, passages with their tags, pictures; in a process with 2 GiB of address space (``RLIMIT_AS``). It fails
when the process dies, or needs more than 10 s of CPU time (``RLIMIT_CPU``) or 60 s on the clock, when
anything but a typed refusal is raised (what the hook bus caught from a plugin counts too, and so does
``MemoryError``), or when a document breaks the contract of offsets and blocks.

Input N of a format is made by a generator seeded with the format and N alone: ``--seed N`` runs that one and
says what happened, with the same ``--data``. It prints a line a format (inputs, documents, refusals by reason, slowest in CPU seconds,
most memory, bytes that libraries wrote to stderr) and ends with exit code 1 when anything failed.
"""

import argparse
import os
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np
from fuzz_process import Result, Runner, fuzz_settings, serve
from fuzz_seeds import HOSTILE, seed_files

from eagle_rag.engine.compose import build_kernel
from eagle_rag.model.document import Source
from eagle_rag.testing.mutations import mutate

__all__ = ["Corpus", "Input", "gather", "inputs_of", "main", "mutated"]

CONTAINED = ("built: pdf/forms-24",)
"""Inputs whose process may die: PDFium draws 2**24 letters. The product reads PDF in worker processes only
(``isolated_pipelines`` of the plugin), within ``ingest.max_worker_bytes``, and refuses the file.
"""
_SMALL = 64 << 10
_MOST_FILES = 40
_LARGEST = 48 << 10
_LIST = 8 << 10
_WHOLE = (".xml", ".nxml", ".json")  # cut, they would be refused at sight
_CUT = (".sdf", ".smi", ".csv", ".tsv", ".pdb", ".txt", ".html", ".md")
_MOST_BYTES = dict.fromkeys(_WHOLE, _LARGEST) | dict.fromkeys(_CUT, 1 << 40)


@dataclass(frozen=True, slots=True)
class Input:
    """One input: its number in its format's run, how it was made, and the file."""

    number: int
    how: str
    name: str
    data: bytes


@dataclass(slots=True)
class Corpus:
    """The files of one format that inputs are made from."""

    seeds: list[tuple[str, bytes]] = field(default_factory=list)
    hostile: list[tuple[str, str, Callable[[], bytes]]] = field(default_factory=list)


def gather(data: Path | None) -> dict[str, Corpus]:
    """Return what inputs are made from, by format: built files, and those of a folder of real ones."""
    corpora: dict[str, Corpus] = {}
    for label, (name, content) in seed_files().items():
        corpora.setdefault(label.partition("/")[0], Corpus()).seeds.append((name, content))
    for label, (name, make) in HOSTILE.items():
        corpora[label.partition("/")[0]].hostile.append((label, name, make))
    if data is not None:
        _gather_real(data, corpora)
    return corpora


def _gather_real(folder: Path, corpora: dict[str, Corpus]) -> None:
    """Add the smallest real files of each format, spread over the folders they are in."""
    select = build_kernel(fuzz_settings()).bus.bind("biomed").ingest_route_selectors
    taken: Counter[tuple[str, Path]] = Counter()
    built = {name: len(corpus.seeds) for name, corpus in corpora.items()}
    paths = (path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)
    for path in sorted(paths, key=lambda each: (each.stat().st_size, str(each))):
        if path.stat().st_size > _MOST_BYTES.get(path.suffix, _SMALL):
            continue
        with path.open("rb") as stream:
            content = stream.read(_LIST if path.suffix in _CUT else _SMALL)
        found = select(Source(path.name, content, "")) or ""
        corpus = corpora.get(found)
        if corpus is None or taken[found, path.parent] >= 5:
            continue
        if len(corpus.seeds) < built[found] + _MOST_FILES:
            taken[found, path.parent] += 1
            corpus.seeds.append((path.name, content))


def inputs_of(
    format_name: str, corpora: dict[str, Corpus], count: int
) -> Iterator[Callable[[], Input]]:
    """Yield makers of inputs: the fixed ones, however many they are, then mutations up to ``count``."""
    corpus = corpora[format_name]
    donors = [content for each in corpora.values() for _, content in each.seeds[:3]]
    fixed = [("as it is", name, content) for name, content in corpus.seeds]
    fixed += _misnamed(corpus, corpora)
    for number, (how, name, content) in enumerate(fixed):
        yield partial(Input, number, how, name, content)
    for number, (label, name, make) in enumerate(corpus.hostile, len(fixed)):
        yield partial(_built, number, label, name, make=make)
    for number in range(len(fixed) + len(corpus.hostile), count):
        yield partial(mutated, number, format_name, corpus.seeds, donors=donors)


def _built(number: int, label: str, name: str, *, make: Callable[[], bytes]) -> Input:
    return Input(number, f"built: {label}", name, make())


def _misnamed(corpus: Corpus, corpora: dict[str, Corpus]) -> list[tuple[str, str, bytes]]:
    names = [each.seeds[0][0] for each in corpora.values()]
    return [("other name", name, corpus.seeds[0][1]) for name in (*names, "x", "X.DAT")]


def mutated(
    number: int, format_name: str, seeds: list[tuple[str, bytes]], *, donors: list[bytes]
) -> Input:
    """Return mutated input N of a format: a seed, mutated by a generator of the format and N."""
    rng = np.random.default_rng([zlib.crc32(format_name.encode()), number])
    name, content = seeds[int(rng.integers(len(seeds)))]
    mutation = mutate(content, rng, donors)
    return Input(number, f"{name}: {mutation.name}", name, mutation.data)


@dataclass(slots=True)
class Tally:
    """What came of one format's inputs."""

    inputs: int = 0
    documents: int = 0
    given: int = 0
    noise: int = 0
    noisy: int = 0
    slowest: Result = field(default_factory=Result)
    slowest_how: str = ""
    peak_mib: float = 0.0
    refusals: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[Input, Result]] = field(default_factory=list)

    def add(self, given: Input, result: Result) -> None:
        """Count one result."""
        self.inputs += 1
        self.documents += result.documents
        self.given += result.documents > 0
        self.noise += result.noise
        self.noisy += result.noise > 0
        self.refusals.update(set(result.refusals))
        self.peak_mib = max(self.peak_mib, result.peak_mib)
        if result.cpu_s > self.slowest.cpu_s:
            self.slowest, self.slowest_how = result, f"{given.number}, {given.how}"
        if result.problem:
            self.failures.append((given, result))

    def line(self, name: str) -> str:
        """Return the line of the table."""
        reasons = ", ".join(f"{reason} {count}" for reason, count in self.refusals.most_common())
        return (
            f"{name:14} {self.inputs:6} {self.given:9} {self.documents:9} {len(self.failures):6} "
            f"{self.slowest.cpu_s:8.2f} {self.peak_mib:8.0f} {self.noisy:6}  {reasons}"
            f"\n{'':14} slowest: {self.slowest_how}"
        )


def _fuzz(name: str, makers: Iterator[Callable[[], Input]], save: Path | None) -> Tally:
    tally, runner = Tally(), Runner()
    for make in makers:
        given = make()
        result = runner.run(given.name, given.data)
        if result.problem and given.how in CONTAINED:
            result = replace(result, problem="", refusals=("killed-worker",))
        tally.add(given, result)
        if result.problem:
            last = result.problem.strip().splitlines()[-1]
            print(f"FAILED {name} --seed {given.number} ({given.how}): {last[:300]}", flush=True)
            if save is not None:
                save.mkdir(parents=True, exist_ok=True)
                (save / f"{name}-{given.number}-{Path(given.name).name}").write_bytes(given.data)
    runner.close()
    return tally


def _one(name: str, makers: Iterator[Callable[[], Input]], number: int) -> int:
    """Run one input and say all about it."""
    make = next((make for at, make in enumerate(makers) if at == number), None)
    if make is None:
        sys.exit(f"--seed must be below --inputs, got {number}")
    given = make()
    runner = Runner()
    result = runner.run(given.name, given.data)
    runner.close()
    print(f"{name} {given.number}: {given.name}, {given.how}, {len(given.data)} bytes")
    print(result)
    print(result.problem or "nothing failed")
    return 1 if result.problem else 0


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--inputs", type=int, default=2000, help="of each format")
    parser.add_argument("--formats", default="", help="comma-separated; all unless given")
    parser.add_argument("--data", type=Path, default=None, help="folder of real files")
    parser.add_argument("--save", type=Path, default=None, help="folder for inputs that fail")
    parser.add_argument("--seed", type=int, default=None, help="run this input of one format")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.serve:
        serve()
        return 0
    environment = os.environ.get("EAGLE_RAG_TEST_DATA", "")
    corpora = gather(options.data or (Path(environment) if environment else None))
    names = options.formats.split(",") if options.formats else list(corpora)
    unknown = sorted(set(names) - set(corpora))
    if unknown:
        sys.exit(f"unknown formats {unknown}; known: {', '.join(corpora)}")
    if options.seed is not None:
        return _one(names[0], inputs_of(names[0], corpora, options.inputs), options.seed)
    tallies: dict[str, Tally] = {}
    for name in names:
        tallies[name] = _fuzz(name, inputs_of(name, corpora, options.inputs), options.save)
        print(tallies[name].line(name), flush=True)
    return _report(tallies)


def _report(tallies: dict[str, Tally]) -> int:
    print(
        f"\n{'format':14} {'inputs':>6} {'read':>9} {'documents':>9} {'failed':>6} {'slowest':>8} {'peak MiB':>8} {'noisy':>6}"
        "  refusals by reason (inputs)"
    )
    for name, tally in tallies.items():
        print(tally.line(name))
    failed = sum(len(tally.failures) for tally in tallies.values())
    print(f"\n{sum(t.inputs for t in tallies.values())} inputs, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
