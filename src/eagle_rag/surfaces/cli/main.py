"""The ``eagle`` command: options to requests, results to text or JSON, errors to exit codes.

Exit codes: 0 done; 1 failed; 2 wrong usage or input; 3 done in part (something was refused, or verify
found a problem); 4 another process writes to the index.
"""

import sys
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
from eagle_rag.surfaces.cli import inspect, library, query
from eagle_rag.surfaces.cli.output import prepare_streams, say
from eagle_rag.surfaces.cli.session import Session

__all__ = ["app", "main"]

app = typer.Typer(
    name="eagle",
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


def main() -> None:
    """Run the command line and turn errors into one line and an exit code."""
    prepare_streams()
    try:
        app(prog_name="eagle")
    except IndexLocked as error:
        say(f"eagle: {error}")
        sys.exit(4)
    except (InvalidInput, NotFound, UnknownName, ConfigurationError) as error:
        say(f"eagle: {error}")
        sys.exit(2)
    except (EagleError, OSError) as error:
        say(f"eagle: {error}")
        sys.exit(1)


if __name__ == "__main__":
    main()
