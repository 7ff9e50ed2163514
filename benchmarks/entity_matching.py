"""Find entities in real text with a lexicon of 200,000 names, and compile a UMLS file of any size.

    python benchmarks/entity_matching.py FOLDER [--names 200000] [--megabytes 20]
    python benchmarks/entity_matching.py --mrconso ROWS

The first reads the text of XML files (tags taken out, nothing else) and prints seconds to compile the
lexicon and to open it again, megabytes of text a minute of CPU time on one core, and entities by source,
each counted once a text.
The lexicon is HGNC and the MeSH diseases (extra ``lexica``), filled up with names made of theirs: a number
or a word after each. Exit code 1 below 20 MB a minute.

The second writes a file in the format of MRCONSO.RRF with rows in four languages, compiles it and prints
seconds, rows a second, sizes and the most memory the process held.
"""

import argparse
import re
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from eagle_biomed.entities import Ontology, open_ontology
from eagle_biomed.lexica import chosen_sources
from eagle_biomed.lexicon_packages import HgncGenes, MeshDiseases
from eagle_biomed.lexicon_store import open_lexicon
from eagle_biomed.mrconso import Mrconso

__all__ = ["main"]

_TAGS = re.compile(r"<[^>]+>")
_ENDINGS = ("syndrome", "protein", "variant", "complex", "deficiency", "type 2")
_BAR_MB_A_MINUTE = 20.0


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _texts(folder: Path, limit_bytes: int) -> Iterator[str]:
    size = 0
    for path in sorted(p for s in ("*.xml", "*.nxml") for p in folder.rglob(s)):
        text = _TAGS.sub(" ", path.read_text(encoding="utf-8", errors="replace"))
        yield text
        size += len(text.encode())
        if size >= limit_bytes:
            return


def _made_names(count: int) -> Iterator[str]:
    """Yield names made of the real ones, until there are enough."""
    skipped: Counter[str] = Counter()
    real = [e.name for source in (HgncGenes(), MeshDiseases()) for e in source.entries(skipped)]
    made = (f"{name} {ending}" for ending in _ENDINGS for name in real)
    return islice(made, max(count, 0))


def _open(names: int, folder: Path) -> tuple[Ontology, int, float, float]:
    """Return the ontology, how many names its lexica have, and the seconds to compile and to reopen them."""
    start = time.perf_counter()
    real = sum(
        lexicon.report.names
        for source in (HgncGenes(), MeshDiseases())
        if (lexicon := open_lexicon(source, folder)) is not None
    )
    table = folder / "made.tsv"
    table.write_text("name\n" + "\n".join(_made_names(names - real)) + "\n", encoding="utf-8")
    cache = folder / "lexica"
    options = {"lexica": ["hgnc", "mesh-diseases", {"tsv": str(table)}], "cache_dir": str(cache)}
    start = time.perf_counter()
    ontology = open_ontology(options)
    compiled = time.perf_counter() - start
    start = time.perf_counter()
    again = (
        folder / "again"
    )  # another name: an ontology of the same folder is built once a process
    again.symlink_to(cache)
    open_ontology({**options, "cache_dir": str(again)})
    opened = time.perf_counter() - start
    lexica = (open_lexicon(source, cache) for source in chosen_sources(options))
    count = sum(lexicon.report.names for lexicon in lexica if lexicon is not None)
    return ontology, count, compiled, opened


def _measure_text(options: argparse.Namespace) -> int:
    texts = list(_texts(options.folder, int(options.megabytes * 1e6)))
    with tempfile.TemporaryDirectory() as folder:
        before = _peak_mb()
        ontology, names, compiled, opened = _open(options.names, Path(folder))
        print(f"{names} names: compiled in {compiled:.1f} s, opened again in {opened:.2f} s")
        print(f"memory: {before:.0f} MB before, at most {_peak_mb():.0f} MB while compiling")
        sources: Counter[str] = Counter()
        found: Counter[str] = Counter()
        size = sum(len(text.encode()) for text in texts)
        start = time.process_time()
        for text in texts:
            found.update(ontology.match_entities(text))
        seconds = time.process_time() - start
        for name, count in found.items():
            sources[ontology.entities[name].source] += count
        speed = size / 1e6 / seconds * 60
        print(f"{len(texts)} texts, {size / 1e6:.1f} MB in {seconds:.1f} CPU seconds")
        print(f"{speed:.0f} MB a minute on one core (bar: {_BAR_MB_A_MINUTE:.0f})")
        print(f"at most {_peak_mb():.0f} MB")
        print("entities: " + ", ".join(f"{name} {n}" for name, n in sorted(sources.items())))
        if options.show:
            print(
                "\n".join(f"{count:7} {name}" for name, count in found.most_common(options.show))
            )
    return 0 if speed >= _BAR_MB_A_MINUTE else 1


def _row(number: int) -> str:
    """Return one row: five a concept, one of them in another language, one not preferred."""
    concept, place = divmod(number, 5)
    language = ("ENG", "ENG", "ENG", "ENG", "SPA")[place]
    preferred = "N" if place == 3 else "Y"
    status, form = ("P", "PF") if place == 0 else ("S", "VO")
    name = f"Synthetic {_ENDINGS[concept % 6]} {concept} form {place} of tissue {concept % 977}"
    return (
        f"C{concept:07}|{language}|{status}|L{number:07}|{form}|S{number:07}|{preferred}|A{number:08}"
        f"||M{concept:07}|D{concept:06}|MSH|ET|D{concept:06}|{name}|0|N|256|\n"
    )


def _measure_mrconso(rows: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "MRCONSO.RRF"
        with path.open("w", encoding="utf-8") as file:
            for number in range(rows):
                file.write(_row(number))
        before = _peak_mb()
        start = time.perf_counter()
        lexicon = open_lexicon(Mrconso(str(path)), Path(folder) / "lexica")
        seconds = time.perf_counter() - start
        stored = sum(p.stat().st_size for p in (Path(folder) / "lexica").rglob("*.*"))
        print(f"{rows} rows, {path.stat().st_size / 1e6:.0f} MB, in {seconds:.0f} s")
        print(f"{rows / seconds:.0f} rows a second; stored in {stored / 1e6:.0f} MB")
        print(f"memory: {before:.0f} MB before, at most {_peak_mb():.0f} MB")
        print(lexicon.report if lexicon is not None else "nothing found")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark and return the exit code."""
    parser = argparse.ArgumentParser(description="Entity matching and compiling lexica.")
    parser.add_argument("folder", type=Path, nargs="?", help="folder of XML files")
    parser.add_argument("--names", type=int, default=200_000)
    parser.add_argument("--megabytes", type=float, default=20.0, help="text to read")
    parser.add_argument("--show", type=int, default=0, help="list the N most frequent entities")
    parser.add_argument("--mrconso", type=int, metavar="ROWS", help="compile a made file instead")
    options = parser.parse_args(arguments)
    if options.mrconso:
        return _measure_mrconso(options.mrconso)
    if options.folder is None or not any(options.folder.rglob("*.*ml")):
        print("give a folder with .xml or .nxml files, or --mrconso ROWS", file=sys.stderr)
        return 2
    return _measure_text(options)


if __name__ == "__main__":
    sys.exit(main())
