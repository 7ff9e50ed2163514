"""The ``eagle`` command: options to requests, results to text or JSON, errors to exit codes.

Exit codes: 0 done; 1 failed; 2 wrong usage or input; 3 done in part (something was refused, or verify
found a problem); 4 another process writes to the index; 130 and 143 interrupted.
"""

import errno
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from eagle_rag.errors import (
    ConfigurationError,
    EagleError,
    IndexLocked,
    InvalidInput,
    NotFound,
    UnknownName,
)
from eagle_rag.surfaces.cli import inspect, library, models, plugin_commands, query
from eagle_rag.surfaces.cli.output import prepare_streams, say
from eagle_rag.surfaces.cli.session import Session
from eagle_rag.surfaces.cli.signals import Stopped, exit_within, stop_signals

__all__ = ["app", "main"]

_GRACE_SECONDS = 5.0  # for workers to finish what they read; what counts is closed by then
_FAILED, _WRONG_INPUT, _LOCKED = 1, 2, 4
_OS_REMEDIES = {
    errno.ENOSPC: "free some space on the disk of {where}",
    errno.EDQUOT: "free some space on the disk of {where}",
    errno.EROFS: "{where} is on a disk that is read-only: name another place, with --data-dir",
    errno.EACCES: "allow this user to read and write {where}, or name another place",
    errno.EPERM: "allow this user to read and write {where}, or name another place",
    errno.ENOTDIR: "{where} leads through a file: name a folder, with --data-dir",
    errno.EEXIST: "{where} is a file: name a folder, with --data-dir",
}

app = typer.Typer(
    name="eagle",
    cls=plugin_commands.PluginGroup,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Biomedical retrieval whose answer is a passage that can be checked.\n\n"
    "Example: eagle ingest papers/ && eagle search 'MET amplification after osimertinib'",
)


@app.callback()
def configure(
    context: typer.Context,
    config: Annotated[
        Path | None, typer.Option(help="Settings file (YAML); default eagle.yaml if there is one.")
    ] = None,
    data_dir: Annotated[
        Path | None, typer.Option(help="Where the index lives; default .eagle.")
    ] = None,
    profile: Annotated[
        str | None, typer.Option(help="embedded, literature or core; plugins bring more.")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="One setting, such as search.top_k=5.")
    ] = None,
) -> None:
    """Remember the options that every command shares."""
    context.obj = Session.from_options(config, data_dir, profile, tuple(settings or ()))


query.register(app)
library.register(app)
inspect.register(app)
models.register(app)
plugin_commands.register(app)


def main() -> None:
    """Run the command line and turn errors into one line and an exit code."""
    prepare_streams()
    code = _run()
    try:
        sys.stdout.flush()
    except OSError as error:
        code = _failed(error)
    sys.exit(code)


def _run() -> int:
    code = 0
    try:
        with stop_signals():
            app(prog_name="eagle")
    except Stopped as stop:
        goes_on = "; what was committed stays, run it again to go on"
        say(f"eagle: interrupted{goes_on if {'ingest', 'demo'} & set(sys.argv) else ''}")
        code = int(str(stop.code))
        exit_within(_GRACE_SECONDS, code)
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except EagleError as error:
        _say_error(error)
        code = _code_of(error)
    except OSError as error:
        code = _failed(error)
    return code


def _code_of(error: EagleError) -> int:
    if isinstance(error, IndexLocked):
        return _LOCKED
    wrong_input = (InvalidInput, NotFound, UnknownName, ConfigurationError)
    return _WRONG_INPUT if isinstance(error, wrong_input) else _FAILED


def _say_error(error: object) -> None:
    say("eagle: " + " ".join(str(error).split("\n")))


def _failed(error: OSError) -> int:
    """Say what the operating system refused; what is left of the output is given up."""
    where = str(error.filename) if error.filename else "the output and the index"
    remedy = _OS_REMEDIES.get(error.errno or 0, "check {where}").format(where=where)
    if error.errno != errno.EPIPE:  # nobody reads any more, which is the reader's choice
        _say_error(f"{error}. {remedy}")
    with suppress(OSError, ValueError):
        # Else Python tries to write it again at the end, and fails again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return _FAILED


if __name__ == "__main__":
    main()
