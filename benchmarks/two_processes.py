"""One process ingests, another searches in a loop for a minute: no search may fail.

    python benchmarks/two_processes.py CORPUS [--seconds 60] [--encoder hash]

Prints how many searches ran, how many failed, median and 95th percentile with and without the ingest
beside it, and what a second writer is told.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from eagle_rag import EagleError, Engine, SearchRequest, load_settings, open_engine

QUESTIONS = (
    "EGFR T790M resistance",
    "tumour suppressor p53",
    "gene expression in mice",
    "insulin",
)


def search_for(engine: Engine, seconds: float) -> tuple[list[float], list[str]]:
    """Search in a loop; return times in ms and failures."""
    times: list[float] = []
    failures: list[str] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        started = time.perf_counter()
        try:
            engine.search(SearchRequest(QUESTIONS[len(times) % len(QUESTIONS)]))
        except EagleError as error:
            failures.append(str(error))
        times.append((time.perf_counter() - started) * 1000)
    return times, failures


def line(name: str, times: list[float], failures: list[str]) -> str:
    """Return one line of the result."""
    ordered = sorted(times)
    median, late = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.95)]
    return f"{name}: {len(times)} searches, {len(failures)} failed, p50 {median:.1f} ms, p95 {late:.1f} ms"


def main() -> None:
    """Run both processes and exit with 1 when a search failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--encoder", default="hash")
    options = parser.parse_args()
    files = sorted(options.corpus.glob("*.xml"))
    with tempfile.TemporaryDirectory() as scratch:
        overrides = {"data_dir": scratch, "collections.eagle_text.encoder": options.encoder}
        engine = open_engine(load_settings(overrides=overrides))
        engine.ingest(files[:50])
        quiet, failed = search_for(engine, 5)
        print(line("alone", quiet, failed))
        command = [sys.executable, "-m", "eagle_rag.surfaces.cli.main", "--data-dir", scratch]
        command += ["--set", f"collections.eagle_text.encoder={options.encoder}", "ingest"]
        writer = subprocess.Popen([*command, str(options.corpus)], stderr=subprocess.DEVNULL)
        time.sleep(4)
        second = subprocess.run([*command, str(files[0])], capture_output=True, check=False)
        print(f"second writer, exit code {second.returncode}: {second.stderr.decode().strip()}")
        busy, failed = search_for(engine, options.seconds)
        alive = writer.poll() is None
        print(line("beside an ingest", busy, failed))
        print(
            "the ingest was still running at the end" if alive else "the ingest had ended before"
        )
        writer.kill()
        writer.wait()
        engine.close()
    for failure in failed[:5]:
        print(failure)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
