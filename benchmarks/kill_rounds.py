"""Kill an ingest at random moments and prove that nothing acknowledged is ever lost.

    python benchmarks/kill_rounds.py CORPUS [--rounds 50] [--files 60] [--seed 7] [--encoder hash]

Each round starts ``eagle ingest --json`` on a growing part of CORPUS, kills it (SIGKILL) at a random
moment, and checks every document that was acknowledged so far. Half of the rounds also change files, so
that replacements are interrupted too. After the last round one ingest runs to its end, and
``eagle verify`` must be clean: every document there once, none half.
"""

import argparse
import json
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np


def eagle(index: Path, encoder: str, *arguments: str) -> list[str]:
    """Return the command line of one call."""
    program = [sys.executable, "-m", "eagle_rag.surfaces.cli.main", "--data-dir", str(index)]
    return [*program, "--set", f"collections.eagle_text.encoder={encoder}", *arguments]


def acknowledged(output: str) -> dict[str, int]:
    """Return ``document id -> version`` of every committed line that arrived whole."""
    found: dict[str, int] = {}
    for line in output.splitlines():
        if line.startswith("{") and line.endswith("}"):
            event = json.loads(line)
            if event["event"] == "committed":
                found[event["document_id"]] = event["version"]
    return found


def run_and_kill(command: list[str], after_s: float) -> tuple[str, bool]:
    """Start a command, kill it after some seconds; return its output and whether it was killed."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        output, _ = process.communicate(timeout=after_s)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        output, _ = process.communicate()
        return output.decode(), True
    return output.decode(), False


def change(folder: Path, rng: np.random.Generator) -> int:
    """Change one word of a few files, so that they are new versions; return how many."""
    files = sorted(folder.glob("*.xml"))
    chosen = rng.choice(len(files), size=min(3, len(files)), replace=False)
    for position in chosen:
        text = files[position].read_text("utf-8")
        mark = f"revised{int(rng.integers(1_000_000))} "
        files[position].write_text(
            re.sub(r"(<p(?: [^>]*)?>)", rf"\g<1>{mark}", text, count=1), "utf-8"
        )
    return len(chosen)


def check(index: Path, encoder: str, promised: dict[str, int]) -> list[str]:
    """Return what is wrong: unclean index, or promised documents that are not there."""
    done = subprocess.run(
        eagle(index, encoder, "verify", "--json"), capture_output=True, check=False
    )
    report = json.loads(done.stdout.decode().splitlines()[-1])
    problems = [f"{item['kind']}: {item['message']}" for item in report["problems"]]
    from eagle_rag import load_settings, open_engine

    overrides = {"data_dir": str(index), "collections.eagle_text.encoder": encoder}
    engine = open_engine(load_settings(overrides=overrides))
    live = {record.document_id: record.version for record in engine.documents()}
    engine.close()
    problems.extend(
        f"{identity} was acknowledged as version {version}, live is {live.get(identity)}"
        for identity, version in promised.items()
        if live.get(identity, 0) < version
    )
    return problems


def main() -> None:
    """Run the rounds and exit with 1 when anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--files", type=int, default=60)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--encoder", default="hash")
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    failures: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        folder, index = Path(scratch, "papers"), Path(scratch, "index")
        folder.mkdir()
        for source in sorted(options.corpus.glob("*.xml"))[: options.files]:
            shutil.copy(source, folder)
        command = eagle(index, options.encoder, "ingest", "--json", str(folder))
        started = time.monotonic()
        promised = acknowledged(run_and_kill(command, 600)[0])
        span = time.monotonic() - started
        shutil.rmtree(index)
        promised, killed = {}, 0
        for number in range(options.rounds):
            changed = change(folder, rng) if number % 2 else 0
            if number % 10 == 9:
                shutil.rmtree(index)
                promised = {}
            output, was_killed = run_and_kill(command, float(rng.uniform(0.3, 1.1)) * span)
            killed += was_killed
            promised.update(acknowledged(output))
            print(
                f"round {number + 1}: {'killed' if was_killed else 'ended'}, {changed} files changed,"
                f" {len(promised)} documents promised",
                flush=True,
            )
            # A restart clears what the kill left; it may be killed later, so it is part of the test.
            run_and_kill(command, 600)
            found = check(index, options.encoder, promised)
            failures.extend(f"round {number + 1}: {problem}" for problem in found)
    print(f"{options.rounds} rounds, {killed} killed, {len(failures)} problems")
    for failure in failures[:20]:
        print(failure)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
