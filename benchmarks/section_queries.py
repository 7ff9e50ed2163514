"""Questions that ask for a section of a document: does the first hit stand in it, and what finds it?

    python benchmarks/section_queries.py DATA [--index FOLDER] [--other FOLDER] [--no-build] [--no-ablation]

DATA and the index are those of ``biomed_queries.py``, the small corpus. The questions are in
``data/section_queries.yaml``, in two groups: ``seen`` while the section score was built, and ``held-out``, written
afterwards by reading. Printed for each group: the share of questions whose first hit is the right document, is the
right document at the right section, and the share with such a passage among the first three passages (results by
passage); each for the default profile and for variants of it. ``--other`` names an index of the same documents
ingested with other settings (``passages.lexical_context=title``); it is searched with the default profile. For the
default profile what failed is printed with the parts of the scores. It measures: the exit code says nothing about
the numbers.
"""

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from biomed_corpus import build_corpus, open_index
from biomed_queries import Variant, keys_of

from eagle_biomed.profiles_weights import PROFILE_WEIGHTS
from eagle_rag import Engine, SearchRequest
from eagle_rag.model.results import Hit

__all__ = [
    "HELD_OUT",
    "QUESTIONS",
    "Answer",
    "Question",
    "Shares",
    "main",
    "measure",
    "read_questions",
    "run_variant",
]

QUESTIONS = Path(__file__).with_name("data") / "section_queries.yaml"
HELD_OUT = "held-out"
_WITHIN = 3
_DEPTH = 10
_SCORING = "plugins.options.biomed.retrieval_scoring"

DEFAULT = Variant("default")
VARIANTS = (
    Variant("w_sec of drug_entity 0.10", {f"{_SCORING}.drug_entity.w_sec": 0.10}),
    Variant("no section score", {f"{_SCORING}.{name}.w_sec": 0.0 for name in PROFILE_WEIGHTS}),
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the keys of the documents that answer it, and what the path of the section that does matches."""

    id: str
    group: str
    text: str
    expected: frozenset[str]
    section: re.Pattern[str]

    @property
    def kind(self) -> str:
        """Kind of document, of a question that was held out; else the group."""
        return self.id.partition("-")[0]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back.

    Args:
        question: What was asked.
        hits: First results by document, and first results by passage.
        document: The first result is a right document.
        section: It is that, from the right section.
        rank: Of the first passage from the right section of a right document; 0: none within the depth.
    """

    question: Question
    hits: tuple[Sequence[Hit], Sequence[Hit]]
    document: bool
    section: bool
    rank: int


@dataclass(frozen=True, slots=True)
class Shares:
    """Shares of questions."""

    document: float
    section: float
    within: float

    def __str__(self) -> str:
        """Return the three numbers, aligned."""
        return f"{self.document:9.3f} {self.section:8.3f} {self.within:8.3f}"


def read_questions(path: Path = QUESTIONS) -> tuple[Question, ...]:
    """Return the questions in the file's order."""
    groups = yaml.safe_load(path.read_text("utf-8"))["groups"]
    return tuple(
        Question(
            item["id"],
            group,
            item["query"],
            frozenset(key.casefold() for key in item["expected"]),
            re.compile(item["section"], re.IGNORECASE),
        )
        for group, items in groups.items()
        for item in items
    )


def ask(engine: Engine, questions: Sequence[Question]) -> tuple[Answer, ...]:
    """Return the answers to all questions, in their order."""
    keys = {record.document_id: keys_of(record) for record in engine.documents()}
    known = frozenset().union(*keys.values())
    absent = [f"{each.id} {key}" for each in questions for key in each.expected - known]
    if absent:
        sys.exit(f"expected documents that are not in the index: {', '.join(sorted(absent))}")
    return tuple(_answer(engine, question, keys) for question in questions)


def _answer(engine: Engine, question: Question, keys: Mapping[str, frozenset[str]]) -> Answer:
    request = SearchRequest(question.text, top_k=_DEPTH, explain=True)
    documents = engine.search(request).hits
    passages = engine.search(
        SearchRequest(question.text, top_k=_DEPTH, group_by="passage", explain=True)
    ).hits

    def is_document(hit: Hit) -> bool:
        return bool(keys[hit.document_id] & question.expected)

    def is_section(hit: Hit) -> bool:
        return is_document(hit) and bool(question.section.search(" > ".join(hit.section_path)))

    return Answer(
        question,
        (documents, passages),
        document=any(map(is_document, documents[:1])),
        section=any(map(is_section, documents[:1])),
        rank=next((hit.rank for hit in passages if is_section(hit)), 0),
    )


def measure(answers: Sequence[Answer]) -> Shares:
    """Return the three shares."""
    count = len(answers)
    return Shares(
        sum(answer.document for answer in answers) / count,
        sum(answer.section for answer in answers) / count,
        sum(0 < answer.rank <= _WITHIN for answer in answers) / count,
    )


def run_variant(
    index: Path, questions: Sequence[Question], variant: Variant
) -> tuple[Answer, ...]:
    """Return the answers of one variant, from an engine of its own."""
    engine = open_index(index, dict(variant.settings))
    try:
        return ask(engine, questions)
    finally:
        engine.close()


def report(name: str, answers: Sequence[Answer], base: Sequence[Answer]) -> None:
    """Print the shares of each group, and which first hits came to the right section or left it."""
    for group in dict.fromkeys(answer.question.group for answer in answers):
        part = [answer for answer in answers if answer.question.group == group]
        print(f"{name:28} {f'{group} {len(part)}':14} {measure(part)}")
    pairs = list(zip(base, answers, strict=True))
    for sign, gained in (("+", True), ("-", False)):
        names = [b.question.id for a, b in pairs if a.section != b.section and b.section is gained]
        if names:
            print(f"{'':29}{sign} {', '.join(names)}")


def explain(answers: Sequence[Answer]) -> None:
    """Print the questions whose first hit is not from the right section, and why."""
    for answer in answers:
        if answer.section:
            continue
        question = answer.question
        print(f"\n{question.id}: {question.text}  (wanted: {question.section.pattern})")
        documents, passages = answer.hits
        right = [hit for hit in passages if hit.rank == answer.rank]
        print(f"   first: {_shown(documents[0]) if documents else 'nothing'}")
        print(f"   right: {_shown(right[0]) if right else f'no passage among {_DEPTH}'}")


def _shown(hit: Hit) -> str:
    arms = ", ".join(f"{arm.arm} {arm.rank}" for arm in hit.arms)
    parts = ", ".join(f"{name} {value:.3f}" for name, value in hit.parts)
    path = " > ".join(hit.section_path)[-70:]
    return f"#{hit.rank} {hit.score:.3f} {hit.title[:30]!r} {path!r}\n          [{arms}; {parts}]"


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--index", type=Path, default=Path(".eagle/biomed-queries"))
    parser.add_argument("--other", type=Path, help="index of the same files by other settings")
    parser.add_argument("--no-ablation", action="store_true")
    parser.add_argument("--no-build", action="store_true", help="take the index as it is")
    arguments = parser.parse_args()
    if not arguments.no_build:
        build_corpus(arguments.data, arguments.index)
    questions = read_questions()
    base = run_variant(arguments.index, questions, DEFAULT)
    print(f"{'':43} document  section  among {_WITHIN}")
    report(DEFAULT.name, base, base)
    held_out = [answer for answer in base if answer.question.group == HELD_OUT]
    for kind in dict.fromkeys(answer.question.kind for answer in held_out):
        part = [answer for answer in held_out if answer.question.kind == kind]
        print(f"{'':28} {f'  {kind} {len(part)}':14} {measure(part)}")
    if not arguments.no_ablation:
        for variant in VARIANTS:
            report(variant.name, run_variant(arguments.index, questions, variant), base)
    if arguments.other:
        report(
            f"index {arguments.other.name}", run_variant(arguments.other, questions, DEFAULT), base
        )
    explain(base)
    return 0


if __name__ == "__main__":
    sys.exit(main())
