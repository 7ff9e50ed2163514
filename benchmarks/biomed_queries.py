"""Sixty questions in five workflows: is a document that answers among the first hits, and what is each stage worth?

    python benchmarks/biomed_queries.py DATA [--index FOLDER] [--large] [--set key=JSON ...] [--only VARIANT ...]

DATA is what ``biomed_corpus.py`` takes; its index is built in ``--index`` when it is not there, and kept. The
questions and the documents that answer them are in ``data/biomed_queries.yaml``, which says how they were
chosen; twenty harder ones are reported apart. A hit counts when it is one of the expected documents, or stands
for one as a record of the same work (a molecule that two tables have); the rank is that of the best of them.
Printed: Hit@1, Hit@5 and MRR@10 by workflow and over all sixty, the share of label questions answered from under
the right heading, what failed and what stood first instead; then each variant: one stage switched off or on, the
difference, and how many questions rose or fell. Most variants are settings; for a stage that has no switch a
function of the plugin is replaced while the variant runs, and the list says so. Exit code 1 when the default
profile has Hit@5 below 0.90 or MRR below 0.85.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

import yaml
from biomed_corpus import LARGE, QUERIES, SMALL, build_corpus, open_index

from eagle_biomed import rerank_merged, routing
from eagle_biomed.exact_compounds import ExactCompounds
from eagle_biomed.expansion import expand_query
from eagle_biomed.intent import detect_retrieval_intent
from eagle_biomed.profiles_weights import PROFILE_WEIGHTS
from eagle_rag import Engine, SearchRequest
from eagle_rag.errors import EagleError
from eagle_rag.model.query import QueryIntent, SearchMode
from eagle_rag.model.records import DocumentRecord
from eagle_rag.model.results import Hit

DEPTH = 10
HARDER = "harder"
_FIRST = 5
_LEAST_HIT, _LEAST_MRR = 0.90, 0.85
_SHOWN = 3
_OPTION = "plugins.options.biomed."


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the keys of the documents that answer it, and words of the heading it is answered under."""

    id: str
    workflow: str
    text: str
    expected: frozenset[str]
    sections: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back.

    Args:
        question: What was asked.
        rank: Of the best expected document; 0: none within the depth.
        first: The first hits, as they are printed.
        in_section: Whether that document's passage stands under the expected heading.
    """

    question: Question
    rank: int
    first: tuple[str, ...]
    in_section: bool = False


@dataclass(frozen=True, slots=True)
class Variant:
    """A way to search.

    Args:
        name: For the table.
        settings: Settings that differ from the default profile's.
        replaced: Replaces functions of the plugin while it runs, for what has no setting.
        mode: Of the requests.
    """

    name: str
    settings: Mapping[str, object] = field(default_factory=dict)
    replaced: Callable[[], AbstractContextManager[None]] = nullcontext
    mode: SearchMode = "hybrid"


def read_questions(path: Path) -> tuple[Question, ...]:
    """Return the questions in the file's order; of ``harder`` ones that is the workflow."""
    lists = yaml.safe_load(path.read_text("utf-8"))
    items = [*lists["queries"], *({**item, "workflow": HARDER} for item in lists[HARDER])]
    return tuple(
        Question(
            item["id"],
            item["workflow"],
            item["query"],
            frozenset(str(key).casefold() for key in item["expected"]),
            tuple(filter(None, item.get("section", "").split("|"))),
        )
        for item in items
    )


def keys_of(record: DocumentRecord) -> frozenset[str]:
    """Return every stable identifier by which a question may expect a document."""
    ids = record.metadata.ids
    stem = Path(record.source_uri).stem
    named = {ids.pmcid, ids.doi, *(value for _, value in ids.other)}
    if record.format == "compound":
        named.add(f"compound:{record.metadata.title}")
    if "patent" in record.format:
        named.add(f"patent:{stem}")
    return frozenset(name.casefold() for name in named if name)


@contextmanager
def patched(owner: object, name: str, value: object) -> Iterator[None]:
    """Replace an attribute while the block runs."""
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


def _without_intent() -> AbstractContextManager[None]:
    return patched(routing, "detect_retrieval_intent", lambda *_: QueryIntent())


def _without_suppression() -> AbstractContextManager[None]:
    return patched(
        routing,
        "detect_retrieval_intent",
        lambda query, names: replace(
            detect_retrieval_intent(query, names), suppress_collections=()
        ),
    )


def _without_sparse_terms() -> AbstractContextManager[None]:
    return patched(
        routing,
        "expand_query",
        lambda query, names, **given: replace(
            expand_query(query, names, **given), sparse_terms=()
        ),
    )


def _without_exact_compounds() -> AbstractContextManager[None]:
    return patched(ExactCompounds, "supplement", lambda *_: None)


def _without_narrowing() -> AbstractContextManager[None]:
    return patched(routing.QueryRouter, "narrow", lambda *_: None)


def _without_turns() -> AbstractContextManager[None]:
    return patched(rerank_merged, "bring_up_each_drug", lambda ranking, *_: list(ranking))


def _without_structure_path() -> AbstractContextManager[None]:
    return patched(
        rerank_merged.MergedReranker, "_by_structure", lambda _, __, fused, **___: fused
    )


def _without_headings() -> AbstractContextManager[None]:
    return patched(rerank_merged, "heading_match_score", lambda *_: 0.0)


def _weights(**changed: float) -> dict[str, object]:
    """Return settings of some weights in every profile; what the default profile sets else stays."""
    return {
        f"{_OPTION}retrieval_scoring.{profile}.{weight}": value
        for profile in PROFILE_WEIGHTS
        for weight, value in changed.items()
    }


def _weighted(alpha: float) -> Variant:
    """Return the reference's fusion: ``alpha * dense + (1 - alpha) * sparse`` inside a collection."""
    settings = {"router.fusion": "weighted", "router.hybrid_alpha": alpha}
    return Variant(f"weighted fusion, alpha {alpha}", settings)


VARIANTS = (
    Variant("no intent (replaced)", replaced=_without_intent),
    Variant("no suppressed collections (replaced)", replaced=_without_suppression),
    Variant("dense expansion for minilm", {f"{_OPTION}expand_encoders": ["minilm"]}),
    Variant("no sparse terms (replaced)", replaced=_without_sparse_terms),
    Variant("tier 1 off", {f"{_OPTION}tier1": "off"}),
    Variant("tier 1 cosine", {f"{_OPTION}tier1": "cosine"}),
    Variant("no chemical arm", {f"{_OPTION}encoders.eagle_chemical": ""}),
    Variant("structure search for named drugs", {f"{_OPTION}drug_structure_search": True}),
    Variant("no exact compounds (replaced)", replaced=_without_exact_compounds),
    Variant("no narrowing (replaced)", replaced=_without_narrowing),
    Variant("no eagle_text arm", {f"{_OPTION}general_text_search": "dual"}),
    Variant("words alone", mode="lexical"),
    Variant("vectors alone", mode="dense"),
    *(_weighted(alpha) for alpha in (0.3, 0.5, 0.7)),
    Variant("no tier 2", {"rerank.policy": "none"}),
    Variant("no supplement", {f"{_OPTION}supplement_min_new": 0}),
    Variant("no entity score", _weights(w_entity=0.0)),
    Variant("no section score", _weights(w_sec=0.0)),
    Variant("no headings (replaced)", replaced=_without_headings),
    Variant("drug_entity w_sec 0.10", {f"{_OPTION}retrieval_scoring.drug_entity.w_sec": 0.10}),
    Variant("no structure path (replaced)", replaced=_without_structure_path),
    Variant("no drug brought up (replaced)", replaced=_without_turns),
    Variant("no penalty", _weights(w_xdrug_penalty=0.0)),
    Variant("penalty 0.5", _weights(w_xdrug_penalty=0.5)),
)


def ask(
    engine: Engine, questions: Sequence[Question], mode: SearchMode = "hybrid"
) -> tuple[Answer, ...]:
    """Return the answers to all questions, in their order."""
    keys = {record.document_id: keys_of(record) for record in engine.documents()}
    known = frozenset().union(*keys.values())
    absent = sorted(
        f"{question.id} {key}" for question in questions for key in question.expected - known
    )
    if absent:
        sys.exit(f"expected documents that are not in the index: {', '.join(absent)}")
    answers: list[Answer] = []
    for question in questions:
        try:
            hits = engine.search(SearchRequest(question.text, top_k=DEPTH, mode=mode)).hits
        except EagleError as error:  # an answer that fails is a miss, and the others still count
            answers.append(Answer(question, 0, (f"failed: {error}",)))
            continue
        right = next((hit for hit in hits if _keys_of_hit(hit, keys) & question.expected), None)
        first = tuple(_shown(hit, keys[hit.document_id]) for hit in hits[:_SHOWN])
        rank = right.rank if right else 0
        answers.append(Answer(question, rank, first, _in_section(right, question)))
    return tuple(answers)


def _keys_of_hit(hit: Hit, keys: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Return the keys of a hit's document and of other records of the same work: a molecule in two tables."""
    return keys[hit.document_id].union(*(keys.get(each, frozenset()) for each in hit.versions))


def _in_section(hit: Hit | None, question: Question) -> bool:
    path = " > ".join(hit.section_path).casefold() if hit else ""
    return any(word in path for word in question.sections)


def _shown(hit: Hit, keys: frozenset[str]) -> str:
    return f"{min(keys, key=lambda key: (len(key), key), default='?')} {hit.title[:60]!r}"


@dataclass(frozen=True, slots=True)
class Measures:
    """Means over questions."""

    hit1: float
    hit5: float
    mrr: float

    def __str__(self) -> str:
        """Return the three numbers, aligned."""
        return f"{self.hit1:6.3f} {self.hit5:6.3f} {self.mrr:7.4f}"


def measure(answers: Sequence[Answer]) -> Measures:
    """Return Hit@1, Hit@5 and MRR@10."""
    ranks = [answer.rank for answer in answers]
    count = len(ranks)
    return Measures(
        sum(rank == 1 for rank in ranks) / count,
        sum(0 < rank <= _FIRST for rank in ranks) / count,
        sum(1 / rank for rank in ranks if rank) / count,
    )


def parted(answers: Sequence[Answer]) -> tuple[list[Answer], list[Answer]]:
    """Return the answers that the bar is about, and those to the harder questions."""
    harder = [answer for answer in answers if answer.question.workflow == HARDER]
    return [answer for answer in answers if answer not in harder], harder


def run_variant(
    index: Path, questions: Sequence[Question], variant: Variant, given: Mapping[str, object]
) -> tuple[Answer, ...]:
    """Return the answers of one variant, from an engine of its own."""
    started = time.perf_counter()
    with variant.replaced():
        engine = open_index(index, {**given, **variant.settings})
        try:
            answers = ask(engine, questions, variant.mode)
        finally:
            engine.close()
    print(f"  {variant.name}: {time.perf_counter() - started:.0f} s", file=sys.stderr)
    return answers


def section_share(answers: Sequence[Answer]) -> float:
    """Return how many of the questions with a heading got their passage from under it."""
    asked = [answer.in_section for answer in answers if answer.question.sections]
    return sum(asked) / len(asked)


def report(answers: Sequence[Answer]) -> Measures:
    """Print measures by workflow and overall, and what failed."""
    print(f"\n{'':14} Hit@1  Hit@5  MRR@10")
    counted, harder = parted(answers)
    for workflow in dict.fromkeys(answer.question.workflow for answer in counted):
        part = [answer for answer in counted if answer.question.workflow == workflow]
        print(f"{workflow:14} {measure(part)}")
    overall = measure(counted)
    print(f"{f'all {len(counted)}':14} {overall}")
    print(f"{f'{HARDER} {len(harder)}':14} {measure(harder)}")
    print(f"right section of a label: {section_share(answers):.3f}\n")
    for answer in answers:
        if answer.rank != 1:
            print(f"rank {answer.rank or '-'}  {answer.question.id}: {answer.question.text}")
            for shown in answer.first:
                print(f"          {shown}")
    return overall


def compare(base: Sequence[Answer], other: Sequence[Answer], name: str) -> None:
    """Print how a variant differs from the default, and which questions changed."""
    before, after = measure(parted(base)[0]), measure(parted(other)[0])
    hard = measure(parted(other)[1]).mrr, measure(parted(base)[1]).mrr
    pairs = list(zip(base, other, strict=True))
    depth = DEPTH + 1
    better = [b.question.id for a, b in pairs if (b.rank or depth) < (a.rank or depth)]
    worse = [b.question.id for a, b in pairs if (b.rank or depth) > (a.rank or depth)]
    print(
        f"{name:38} {after}  {after.hit5 - before.hit5:+.3f} {after.mrr - before.mrr:+.4f}"
        f"   {hard[0]:.4f} {hard[0] - hard[1]:+.4f}   {section_share(other):.3f}   +{len(better)} -{len(worse)}"
    )
    for sign, names in (("+", better), ("-", worse)):
        if names:
            print(f"{'':40}{sign} {', '.join(names)}")


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--index", type=Path, default=Path(".eagle/biomed-queries"))
    parser.add_argument("--large", action="store_true", help="build the large corpus")
    parser.add_argument("--set", action="append", default=[], help="setting of the base, key=JSON")
    parser.add_argument(
        "--only", action="append", default=[], help="variants whose name holds this"
    )
    parser.add_argument("--no-ablation", action="store_true")
    parser.add_argument("--no-build", action="store_true", help="take the index as it is")
    arguments = parser.parse_args()
    if not arguments.no_build:
        extent = LARGE if arguments.large else SMALL
        build_corpus(arguments.data, arguments.index, extent=extent)
    given = {
        key: json.loads(value) for key, _, value in (each.partition("=") for each in arguments.set)
    }
    questions = read_questions(QUERIES)
    base = run_variant(arguments.index, questions, Variant("default"), given)
    overall = report(base)
    if not arguments.no_ablation:
        print(
            f"\n{'variant':38}  Hit@1  Hit@5  MRR@10   Hit@5  MRR@10   harder: MRR@10   section   up down"
        )
        compare(base, base, "default")
        for variant in VARIANTS:
            if not arguments.only or any(part in variant.name for part in arguments.only):
                answers = run_variant(arguments.index, questions, variant, given)
                compare(base, answers, variant.name)
    return 0 if overall.hit5 >= _LEAST_HIT and overall.mrr >= _LEAST_MRR else 1


if __name__ == "__main__":
    sys.exit(main())
