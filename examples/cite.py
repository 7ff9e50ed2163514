"""Ask a folder of papers a question and print each answer as a citation that can be looked up.

    python examples/cite.py papers/ "MET amplification after osimertinib"

The index is kept in ``.eagle``, so asking again reads only what is new.
"""

import sys
from contextlib import closing
from pathlib import Path

from eagle_rag import Hit, SearchRequest, open_engine


def citation(hit: Hit) -> str:
    """Return one hit as text, its section and its characters."""
    names = [hit.ids.doi, f"PMID {hit.ids.pmid}" if hit.ids.pmid else "", hit.ids.pmcid]
    source = next((name for name in names if name), hit.document_id)
    flag = " [RETRACTED]" if hit.retracted else ""
    place = " > ".join(hit.section_path) or hit.section_kind
    shown = hit.clause.text if hit.clause is not None else hit.text
    return f'"{shown}"\n  {hit.title}{flag}. {source}, {place}, characters {hit.start}-{hit.end}\n'


def main(folder: str, question: str) -> None:
    """Ingest, search, print."""
    with closing(open_engine()) as engine:
        for refusal in engine.ingest([Path(folder)]).refused:
            print(f"refused {refusal.source_uri}: {refusal.message}", file=sys.stderr)
        for hit in engine.search(SearchRequest(question, top_k=5)).hits:
            print(citation(hit))


# Ingesting many files starts processes that import this script; only the first one may run it.
if __name__ == "__main__":
    if len(sys.argv) != 3:  # noqa: PLR2004 - the two arguments and the script's name
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
