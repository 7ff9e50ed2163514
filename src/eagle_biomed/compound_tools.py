"""The tool ``compounds.search``: what it takes, and how its answer is shown."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from eagle_biomed.collections import CHEMICAL
from eagle_rag.errors import InvalidInput
from eagle_rag.ports.plugins import PluginContext
from eagle_rag.ports.services import Library
from eagle_rag.ports.tools import Tool, ToolAnswer, ToolParameter, ToolValue

if TYPE_CHECKING:
    from eagle_biomed.compound_hits import Mode
    from eagle_biomed.compound_search import CompoundAnswer, CompoundSearch
    from eagle_biomed.entities import Ontology

__all__ = ["MAX_TOP_K", "compound_tool"]

MAX_TOP_K = 50
_TOP_K = 5
_MODES: "tuple[Mode, ...]" = ("substructure", "similar", "exact")
_COLUMNS = ("match", "score", "name", "InChIKey", "SMILES", "kb", "document", "passage")


def compound_tool(context: PluginContext, names: "Callable[[], Ontology]") -> Tool:
    """Return the tool; chemistry is imported and the index opened with its first run."""
    opened = _Opened(context, names)

    def run(arguments: Mapping[str, ToolValue], library: Library) -> ToolAnswer:
        return _run(opened.search(library), arguments, library)

    return Tool(
        name="compounds.search",
        agent_name="biomed_retrieve_compounds",
        summary="Find compounds by structure or name: the same, similar ones, or those that contain it.",
        example="eagle compounds search 'CC(=O)Oc1ccccc1C(=O)O' --similar",
        parameters=(
            ToolParameter(
                "smiles_or_name",
                "SMILES, InChI, InChIKey or a name; SMARTS too with --substructure.",
                positional=True,
            ),
            ToolParameter(
                "substructure", "Compounds that contain it, smallest first.", "flag", default=False
            ),
            ToolParameter(
                "similar", "By Tanimoto similarity of fingerprints.", "flag", default=False
            ),
            ToolParameter(
                "exact", "The compound itself and its salts only.", "flag", default=False
            ),
            ToolParameter("top_k", f"How many, {MAX_TOP_K} at most.", "integer", _TOP_K),
            ToolParameter("kb_name", "Only this knowledge base.", default=""),
        ),
        run=run,
    )


class _Opened:
    """The search of one plugin; made with the first question."""

    def __init__(self, context: PluginContext, names: "Callable[[], Ontology]") -> None:
        self._context = context
        self._names = names
        self._lock = threading.Lock()
        self._search: CompoundSearch | None = None

    def search(self, library: Library) -> "CompoundSearch":
        """Return it; it follows all live documents, else those of the library given."""
        from eagle_biomed.compound_search import CompoundSearch

        with self._lock:
            if self._search is None:
                services = self._context.services
                self._search = CompoundSearch(
                    services.library or library,
                    services.cache_dir,
                    names=self._names,
                    encoder=self._encoder,
                )
            return self._search

    def _encoder(self) -> str:
        collections = self._context.collections
        profiles = () if collections is None else collections.profiles()
        return next((each.default_encoder for each in profiles if each.name == CHEMICAL), "")


def _run(
    search: "CompoundSearch", arguments: Mapping[str, ToolValue], library: Library
) -> ToolAnswer:
    from eagle_biomed.compound_hits import Question

    text, top_k = str(arguments["smiles_or_name"]), int(arguments["top_k"])
    if not text.strip():
        message = "smiles_or_name is empty"
        raise InvalidInput(message, remedy="give a SMILES or the name of a compound")
    if top_k < 1:
        message = f"top_k must be at least 1, got {top_k}"
        raise InvalidInput(message)
    kb_name = str(arguments["kb_name"])
    question = Question(
        text, _mode(arguments), min(top_k, MAX_TOP_K), (kb_name,) if kb_name else None
    )
    answer = search.search(question, library)
    notes = answer.notes
    if top_k > MAX_TOP_K:
        notes = (*notes, f"at most {MAX_TOP_K} compounds are shown; {top_k} were asked for")
    return _shown(answer, notes)


def _mode(arguments: Mapping[str, ToolValue]) -> "Mode":
    chosen = [mode for mode in _MODES if arguments[mode]]
    if len(chosen) > 1:
        message = f"--{chosen[0]} and --{chosen[1]} exclude each other"
        raise InvalidInput(message, remedy="give one of them, or none")
    return chosen[0] if chosen else "learned"


def _shown(answer: "CompoundAnswer", notes: tuple[str, ...]) -> ToolAnswer:
    return ToolAnswer(
        data={
            "query": answer.query,
            "smiles": answer.smiles,
            "mode": answer.mode,
            "collection": answer.collection,
            "encoder": answer.encoder,
            "hits": [asdict(hit) for hit in answer.hits],
            "notes": list(notes),
        },
        columns=_COLUMNS,
        rows=tuple(
            (
                # People are told which encoder; programs find its label beside the hits.
                (answer.encoder or hit.match) if hit.match == "encoder" else hit.match,
                f"{hit.score:.3f}",
                hit.name,
                hit.inchikey,
                hit.smiles,
                hit.kb_name,
                hit.document_id,
                f"{hit.passage_id} [{hit.start}:{hit.end}]",
            )
            for hit in answer.hits
        ),
        notes=notes,
    )
