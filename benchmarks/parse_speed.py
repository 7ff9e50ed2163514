"""Compare parsing speed: lxml alone, Eagle-RAG, pubmed_parser, docling; documents per CPU-second.

Every contestant reads the same files in a process of its own, one after the other, in interleaved
rounds; the best round of each counts, because noise only ever slows down. Time is CPU time of the
process (all its threads), start-up and imports aside.

- ``lxml``: the XML parser alone (no DTD, no entities): the limit for all others.
- ``eagle``: text, spans, tables, references, sentences and passages.
- ``pubmed_parser``: ``parse_pubmed_paragraph(all_paragraph=True)``, ``parse_pubmed_caption`` and
  ``parse_pubmed_table(return_xml=False)``: everything of it that yields prose, with the options that
  yield all of it. With its default (``all_paragraph=False``) it leaves out paragraphs without citation.
- ``docling``: its JATS backend (``JatsDocumentBackend.convert``), without its other pipelines.

The other parsers live in an environment of their own, which this makes (no torch is needed):

    python benchmarks/parse_speed.py --setup .venv-bench
    python benchmarks/parse_speed.py FOLDER --others .venv-bench

The prose of each is what it returns as running text, in characters, references aside as far as it
tells them apart.
"""

import argparse
import json
import subprocess
import sys
import time
import venv
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

__all__ = ["CONTESTANTS", "main", "run_contestant"]

_PACKAGES = ("pubmed_parser==0.5.1", "docling-slim[format-xml-jats]==2.143.0", "lxml>=6.0")
_OURS = ("lxml", "eagle")
Yield = tuple[int, int, int]  # characters of prose, tables, calls that raised
Reader = Callable[[Path], Yield]
CONTESTANTS = ("lxml", "eagle", "pubmed_parser", "docling")


def _lxml() -> Reader:
    from lxml import etree

    parser = etree.XMLParser(load_dtd=False, no_network=True, resolve_entities=False)

    def read(path: Path) -> Yield:
        etree.fromstring(path.read_bytes(), parser)
        return 0, 0, 0

    return read


def _eagle() -> Reader:
    from eagle_rag.adapters.documents.jats import JatsParser
    from eagle_rag.model.document import Source
    from eagle_rag.ops.chunking import cut_passages

    parser = JatsParser()

    def read(path: Path) -> Yield:
        data = path.read_bytes()
        # The file's digest is for telling what is unchanged; it is taken while reading, not parsing.
        outcome = parser.parse(Source(path.name, data, path.name, "jats"))
        passages = [p for d in outcome.documents for p in cut_passages(d, path.name)]
        return sum(len(p.text) for p in passages), sum(len(d.tables) for d in outcome.documents), 0

    return read


def _pubmed_parser() -> Reader:
    import pubmed_parser  # type: ignore[import-not-found,unused-ignore]  # lives in .venv-bench

    def read(path: Path) -> Yield:
        name = str(path)
        paragraphs = pubmed_parser.parse_pubmed_paragraph(name, all_paragraph=True)
        parts: list[Any] = []
        calls: tuple[Callable[[], Any], ...] = (
            partial(pubmed_parser.parse_pubmed_caption, name),
            partial(pubmed_parser.parse_pubmed_table, name, return_xml=False),
        )
        for call in calls:
            # Figures without an id and captions it does not foresee make it raise; the rest counts.
            try:
                parts.append(call() or ())
            except (AttributeError, KeyError, UnboundLocalError, TypeError, IndexError):
                parts.append(None)
        captions, tables = parts
        prose = sum(len(p["text"]) for p in paragraphs)
        prose += sum(len(c["fig_caption"] or "") for c in captions or ())
        prose += sum(len(t["caption"] or "") for t in tables or ())
        return prose, len(tables or ()), parts.count(None)

    return read


def _docling() -> Reader:
    import logging

    from docling.backend.xml.jats_backend import JatsDocumentBackend  # type: ignore[import-not-found,unused-ignore]  # lives in .venv-bench
    from docling.datamodel.base_models import InputFormat  # type: ignore[import-not-found,unused-ignore]  # lives in .venv-bench
    from docling.datamodel.document import InputDocument  # type: ignore[import-not-found,unused-ignore]  # lives in .venv-bench

    logging.disable(logging.WARNING)

    def read(path: Path) -> Yield:
        source = InputDocument(
            path_or_stream=path, format=InputFormat.XML_JATS, backend=JatsDocumentBackend
        )
        document = source._backend.convert()  # noqa: SLF001 - docling has no public way to one backend
        return _docling_prose(document), len(document.tables), 0

    return read


def _docling_prose(document: Any) -> int:  # noqa: ANN401 - docling's document
    """Return the characters before the reference list, which docling keeps as list items."""
    count = 0
    for item in document.texts:
        if item.label == "section_header" and item.text.strip().lower() == "references":
            break
        count += len(item.text)
    return count


_READERS = {"lxml": _lxml, "eagle": _eagle, "pubmed_parser": _pubmed_parser, "docling": _docling}


def run_contestant(name: str, files: Sequence[Path]) -> dict[str, float]:
    """Return CPU seconds, documents, refused documents, characters of prose and tables."""
    read = _READERS[name]()
    prose = tables = raised = failed = 0
    with suppress(Exception):
        read(files[0])
    start = time.process_time()
    for path in files:
        try:
            characters, grids, lost = read(path)
        except Exception:  # noqa: BLE001 - somebody else's parser: whatever it raises is a failure
            failed += 1
            continue
        prose += characters
        tables += grids
        raised += lost
    seconds = time.process_time() - start
    return {
        "seconds": seconds,
        "documents": len(files),
        "failed": failed,
        "raised": raised,
        "prose": prose,
        "tables": tables,
    }


def _files(folder: Path, limit: int) -> list[Path]:
    return sorted(p for s in ("*.xml", "*.nxml") for p in folder.rglob(s))[:limit]


def _measure(name: str, options: argparse.Namespace) -> dict[str, float]:
    """Run one contestant in a process of its interpreter."""
    python = sys.executable if name in _OURS else str(options.others / "bin" / "python")
    command = [python, str(Path(__file__).resolve()), str(options.folder), "--child", name]
    command += ["--limit", str(options.limit)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return result


def _setup(folder: Path) -> int:
    venv.create(folder, with_pip=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", *_PACKAGES]
    return subprocess.run(pip, check=False).returncode


def _report(best: dict[str, dict[str, float]]) -> None:
    ours = best["eagle"]
    speed = {name: r["documents"] / r["seconds"] for name, r in best.items()}
    for name, result in best.items():
        share = 100 * result["prose"] / ours["prose"] if result["prose"] else 0.0
        print(
            f"{name:14} {speed[name]:8.1f} documents per CPU-second   eagle is"
            f" {speed['eagle'] / speed[name]:6.2f} times as fast   prose {share:6.1f} % of eagle's"
            f"   tables {int(result['tables'])}   failed {int(result['failed'])}"
            f"   calls that raised {int(result['raised'])}"
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark and return the exit code."""
    parser = argparse.ArgumentParser(description="Parsing speed, one process each.")
    parser.add_argument("folder", type=Path, nargs="?", help="folder of JATS files")
    parser.add_argument(
        "--setup", type=Path, help="make the environment of the other parsers here"
    )
    parser.add_argument("--others", type=Path, help="environment with pubmed_parser and docling")
    parser.add_argument("--limit", type=int, default=500, help="first N files by name")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--child", choices=CONTESTANTS, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.setup:
        return _setup(options.setup)
    files = _files(options.folder, options.limit) if options.folder else []
    if not files:
        print("give a folder with .xml or .nxml files, or --setup FOLDER", file=sys.stderr)
        return 2
    if options.child:
        print(json.dumps(run_contestant(options.child, files)))
        return 0
    names = CONTESTANTS if options.others else _OURS
    best: dict[str, dict[str, float]] = {}
    for number in range(options.rounds):
        for name in names:
            result = _measure(name, options)
            if name not in best or result["seconds"] < best[name]["seconds"]:
                best[name] = result
        print(f"round {number + 1} of {options.rounds} done", file=sys.stderr)
    print(f"{len(files)} files, best of {options.rounds} interleaved rounds")
    _report(best)
    return 0


if __name__ == "__main__":
    sys.exit(main())
