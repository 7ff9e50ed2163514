"""Check hits that somebody handed on: is every passage still what its document says?

    eagle search "EGFR C797S resistance" --json > hits.json
    python examples/check_hits.py hits.json

Looks each hit up by document and characters in the index of the working directory. Exit code 1 when
a passage is not there any more, or when its document was retracted since.
"""

import json
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from eagle_rag import EagleError, Engine, open_engine


def problem(engine: Engine, hit: dict[str, Any]) -> str:
    """Return what is wrong with a hit, or nothing."""
    try:
        view = engine.show(hit["document_id"])
    except EagleError as error:
        return str(error)
    if view.text[hit["start"] : hit["end"]] != hit["text"]:
        return f"characters {hit['start']}-{hit['end']} say something else now"
    if view.record.retracted and not hit["retracted"]:
        return "was retracted since"
    return ""


def main(path: str) -> int:
    """Check every hit of a file; return the exit code."""
    hits = json.loads(Path(path).read_text(encoding="utf-8"))["hits"]
    with closing(open_engine()) as engine:
        found = [(hit, problem(engine, hit)) for hit in hits]
    for hit, message in found:
        print(f"{hit['passage_id']}: {message or 'ok'}")
    return int(any(message for _, message in found))


if __name__ == "__main__":
    if len(sys.argv) != 2:  # noqa: PLR2004 - the argument and the script's name
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
