"""Kill an ingest at random moments and prove that nothing acknowledged is ever lost.

    python benchmarks/kill_rounds.py CORPUS [--rounds 50] [--files 60] [--seed 7] [--encoder hash]

Each round changes two thirds of the files (every seventh round: starts on an empty index), starts
``eagle ingest --json``, kills it (SIGKILL) at a random moment of its writing, starts it again to its end,
and checks: ``eagle verify`` is clean, and every document that was acknowledged is live in the version
acknowledged or a later one. Rounds go on until ``--rounds`` kills have hit.
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
from threading import Timer

import numpy as np

FRESH_EVERY = 7  # every so many rounds start on an empty index


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


def run(command: list[str], *, kill_after_s: float | None = None) -> tuple[str, bool, float]:
    """Run a command, or kill it some seconds after its first line of output.

    Returns:
        Its output, whether it was killed, and the seconds from its first line to its end.
    """
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    output = process.stdout
    if output is None:
        sys.exit("no output to read")
    first = output.readline()
    started = time.monotonic()
    killed = False
    timer = Timer(kill_after_s or 600, process.send_signal, (signal.SIGKILL,))
    timer.start()
    rest = output.read()
    killed = process.wait() == -signal.SIGKILL
    timer.cancel()
    return (first + rest).decode(), killed, time.monotonic() - started


def change(folder: Path, rng: np.random.Generator) -> int:
    """Change a word of two thirds of the files, so that they are new versions; return how many."""
    files = sorted(folder.glob("*.xml"))
    chosen = rng.choice(len(files), size=2 * len(files) // 3, replace=False)
    for position in chosen:
        text = files[position].read_text("utf-8")
        mark = f"revised{int(rng.integers(1_000_000))} "
        changed = re.sub(r"(<p(?: [^>]*)?>)", rf"\g<1>{mark}", text, count=1)
        files[position].write_text(changed, "utf-8")
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
        output, _, span = run(command)
        promised, killed, rounds = acknowledged(output), 0, 0
        while killed < options.rounds and rounds < 2 * options.rounds:
            rounds += 1
            if rounds % FRESH_EVERY == 0:
                shutil.rmtree(index)
                promised = {}
            changed = change(folder, rng)
            output, was_killed, _ = run(command, kill_after_s=float(rng.uniform(0.0, span)))
            killed += was_killed
            promised.update(acknowledged(output))
            half = len(acknowledged(output))
            # The restart clears what the kill left and must find everything that was promised.
            output, _, span = run(command)
            promised.update(acknowledged(output))
            found = check(index, options.encoder, promised)
            failures.extend(f"round {rounds}: {problem}" for problem in found)
            print(
                f"round {rounds}: {'killed' if was_killed else 'ended'} after {half} of {changed}"
                f" changed documents, {len(promised)} promised, {len(found)} problems",
                flush=True,
            )
    print(f"{rounds} rounds, {killed} killed, {len(failures)} problems")
    for failure in failures[:20]:
        print(failure)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
