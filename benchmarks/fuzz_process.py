"""The process of ``fuzz_parsers.py`` that parses, its limits, what is checked there, and who starts it."""

import hashlib
import os
import pickle
import resource
import selectors
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from eagle_rag import load_settings
from eagle_rag.engine.compose import build_kernel
from eagle_rag.errors import EagleError, HookFailed
from eagle_rag.ingest.parse import parse_source
from eagle_rag.ingest.prepare import PrepareConfig, PreparedDocument, prepare_source
from eagle_rag.ingest.route import route_source
from eagle_rag.kernel.bus import BoundBus
from eagle_rag.kernel.settings import Settings
from eagle_rag.model.document import ParsedDocument, Source

__all__ = ["Result", "Runner", "broken_document", "fuzz_settings", "serve"]

MEMORY_BYTES = 2 << 30
CPU_S = 10
WALL_S = 60.0


@dataclass(frozen=True, slots=True)
class Result:
    """What one input came to.

    Args:
        pipeline: Which parser read it.
        documents: How many documents it gave.
        refusals: Reasons of its refusals.
        problem: What failed; empty when nothing did.
        cpu_s: CPU seconds of the process.
        peak_mib: Most memory of the process, resident, while it ran.
        noise: Bytes on stderr.
    """

    pipeline: str = ""
    documents: int = 0
    refusals: tuple[str, ...] = ()
    problem: str = ""
    cpu_s: float = 0.0
    peak_mib: float = 0.0
    noise: int = 0


# -- the process that parses --------------------------------------------------------------------------


def fuzz_settings() -> Settings:
    """Return the settings of an instance with the biomedical plugin."""
    overrides = {"plugins.enabled": ["biomed"], "plugins.default_namespace": "biomed"}
    return load_settings(overrides=overrides, environ={})


def _config(settings: Settings) -> PrepareConfig:
    return PrepareConfig(
        namespace="biomed",
        kb_name="fuzz",
        target_chars=settings.passages.target_chars,
        lexical_context="title+section",
        dense_context="title",
        refuse_abstracts=False,
    )


def serve() -> None:
    """Read inputs from stdin and write results to stdout until stdin ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not mix with the answers
    settings = fuzz_settings()
    bus = build_kernel(settings).bus.bind("biomed")
    config = _config(settings)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _send(answers, Result())
    while (given := _receive(sys.stdin.buffer)) is not None:
        name, data = given
        source = Source(name, data, hashlib.sha256(data).hexdigest())
        used = time.process_time()
        limit = int(used) + CPU_S + 1
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
        _reset_peak()
        noise = os.fstat(2).st_size
        result = _run(bus, source, config)
        _send(
            answers,
            replace(
                result,
                cpu_s=time.process_time() - used,
                peak_mib=_peak_mib(),
                noise=os.fstat(2).st_size - noise,
            ),
        )


def _run(bus: BoundBus, source: Source, config: PrepareConfig) -> Result:
    try:
        prepared = prepare_source(bus, source, config)
        pickle.dumps(prepared, protocol=pickle.HIGHEST_PROTOCOL)  # it goes to another process
    except Exception:  # noqa: BLE001 - to find what is raised is what this is for
        return Result(problem=traceback.format_exc())
    problems = [broken_document(each) for each in prepared.documents]
    failed = [each.message for each in prepared.refusals if each.reason == "plugin-failed"]
    if failed:
        problems.append(f"{failed[0]}\n{_trace(bus, source)}")
    untold = [each for each in prepared.refusals if not (each.reason and each.message)]
    if untold or not (prepared.documents or prepared.refusals or prepared.deleted_pmids):
        problems.append("gave neither document nor a refusal with reason and message")
    return Result(
        pipeline=prepared.documents[0].document.format if prepared.documents else "",
        documents=len(prepared.documents),
        refusals=tuple(each.reason for each in prepared.refusals),
        problem="\n".join(filter(None, problems)),
    )


def _trace(bus: BoundBus, source: Source) -> str:
    """Parse again and return the traceback of what a plugin raised; empty when parsing goes well."""
    try:
        parse_source(bus, route_source(bus, source))
    except HookFailed as error:
        return "".join(traceback.format_exception(error.error))
    except EagleError as error:
        return "".join(traceback.format_exception(error))
    return ""


def broken_document(prepared: PreparedDocument) -> str:
    """Return which promise of ``ParsedDocument`` or ``Passage`` a document breaks; empty for none."""
    broken = (*_broken_passages(prepared), *_broken_floats(prepared.document))
    return next(iter((*broken, *_broken_blocks(prepared.document))), "")


def _broken_passages(prepared: PreparedDocument) -> Iterator[str]:
    text = prepared.document.text
    if not prepared.passages:
        yield "a document without passages"
    for passage in prepared.passages:
        if text[passage.start : passage.end] != passage.text:
            yield f"passage {passage.ordinal} is not text[{passage.start}:{passage.end}]"


def _broken_floats(document: ParsedDocument) -> Iterator[str]:
    for each in (*document.figures, *document.tables):
        span = each.caption
        if span is not None and not 0 <= span.start < span.end <= len(document.text):
            yield f"the caption of {each.key} is [{span.start}, {span.end})"
    for table in document.tables:
        widths = {len(row) for row in table.rows} | ({len(table.column_paths)} - {0})
        if len(widths) > 1:
            yield f"table {table.key} is not a rectangle"
    for kind in (document.figures, document.tables):
        if len({each.key for each in kind}) != len(kind):
            yield "two figures, or two tables, have one key"


def _broken_blocks(document: ParsedDocument) -> Iterator[str]:
    text, position = document.text, 0
    for number, block in enumerate(document.blocks):
        shown = text[block.start : block.end]
        if not position <= block.start < block.end <= len(text):
            yield f"block {number} [{block.start}, {block.end}) is out of order"
        if shown != shown.strip():
            yield f"block {number} begins or ends with white space"
        if text[position : block.start].strip():
            yield f"text before block {number} is in no block"
        if not 0 <= block.section < len(document.sections):
            yield f"block {number} is in no section"
        position = block.end
    if text[position:].strip():
        yield "text after the last block is in no block"


def _reset_peak() -> None:
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return  # not Linux: the peak is that of all inputs so far


def _peak_mib() -> float:
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def _send(stream: IO[bytes], value: object) -> None:
    packed = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(struct.pack("<Q", len(packed)) + packed)
    stream.flush()


def _receive(stream: IO[bytes]) -> tuple[str, bytes] | None:
    head = stream.read(8)
    if len(head) < 8:
        return None
    value: tuple[str, bytes] = pickle.loads(stream.read(struct.unpack("<Q", head)[0]))  # noqa: S301 - our own
    return value


# -- the process that makes inputs --------------------------------------------------------------------


class Runner:
    """A parsing process, started again when one ends."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the runner

    def run(self, name: str, data: bytes) -> Result:
        """Return what an input came to, or how the process ended."""
        process = self._process or self._start()
        assert process.stdin is not None  # noqa: S101 - it is piped
        try:
            _send(process.stdin, (name, data))
        except BrokenPipeError:
            return self._ended(process)
        return self._answer(process, WALL_S) or self._ended(process)

    def close(self) -> None:
        """End the process and close its files."""
        if self._process is not None:
            self._let_go(self._process)
        self._stderr.close()

    def _let_go(self, process: subprocess.Popen[bytes]) -> None:
        self._process = None
        with process:  # closes its pipes and waits
            pass

    def _start(self) -> subprocess.Popen[bytes]:
        command = [
            sys.executable,
            "-W",
            "ignore",
            str(Path(__file__).resolve().with_name("fuzz_parsers.py")),
            "--serve",
        ]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr, bufsize=0
        )
        self._process = process
        if self._answer(process, 120.0) is None:
            sys.exit(f"the parsing process did not start: {self._said()}")
        return process

    def _answer(self, process: subprocess.Popen[bytes], wait_s: float) -> Result | None:
        assert process.stdout is not None  # noqa: S101 - it is piped
        with selectors.DefaultSelector() as waiting:
            waiting.register(process.stdout, selectors.EVENT_READ)
            if not waiting.select(wait_s):
                return None
        head = process.stdout.read(8)
        if len(head) < 8:
            return None
        left, parts = struct.unpack("<Q", head)[0], []
        while left and (part := process.stdout.read(left)):
            parts.append(part)
            left -= len(part)
        answer: Result = pickle.loads(b"".join(parts))  # noqa: S301 - our own
        return answer

    def _ended(self, process: subprocess.Popen[bytes]) -> Result:
        # A process that is dying has closed its pipe, and may not be reaped yet.
        slow = False
        try:
            code = process.wait(1)
        except subprocess.TimeoutExpired:
            slow = True
            process.kill()
            code = process.wait()
        self._let_go(process)
        if slow or code == -signal.SIGXCPU:
            return Result(
                problem=f"took more than {CPU_S} s of CPU or {WALL_S:.0f} s", cpu_s=CPU_S
            )
        return Result(problem=f"the process died with code {code}: {self._said()}")

    def _said(self) -> str:
        self._stderr.seek(0)
        return self._stderr.read()[-600:].decode("utf-8", "replace")
