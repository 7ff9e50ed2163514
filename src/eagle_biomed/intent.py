"""What kind of question a query is: five workflows, by words and drugs of the query alone.

The reference's table, first match wins. Its cue words are read as whole words, and three of their everyday
meanings in biology are left out; ``docs/biomed-retrieval.md`` says which and why.
"""

import re
from collections.abc import Sequence
from typing import Final, Protocol

from eagle_biomed.collections import CHEMICAL
from eagle_biomed.readable_structures import readable_structure
from eagle_rag.model.query import QueryIntent

__all__ = [
    "CHEMICAL_CUES",
    "EntityNames",
    "KnownEntity",
    "detect_retrieval_intent",
    "named_drugs",
    "section_cues_of",
]

CHEMICAL_CUES: Final = ("compound",)
"""Section cues of the workflow ``chemical``."""

_COMBINED: Final = 2  # drugs from which a query can be about their combination

# "Compound heterozygous" and "programmed death-ligand 1" are genetics and immunology, no chemistry.
_COMPOUND_CUE: Final = re.compile(
    r"\b(?:smiles|inchi(?:[- ]?keys?)?|molecular\s+formula[se]?)\b"
    r"|\bcompounds?\b(?!\s+(?:heterozyg\w+|fractures?|mutations?|mutants?|muscle|action|eyes?|nevus|naevus"
    r"|nevi|presentations?|sensitivity|symbol\w*))"
    r"|(?<!death )(?<!death-)(?<!fas )(?<!fas-)(?<!cd40 )(?<!cd40-)(?<!cd30 )(?<!cd30-)\bligands?\b",
    re.IGNORECASE,
)
_LABEL_CUE: Final = re.compile(
    r"\bdrug\s+label(?:s|l?ing(?!\s+(?:with|by)\b))?\b|\bprescribing\s+information\b"
    r"|\bindications?(?:_|\s+)(?:and|&)(?:_|\s+)usage\b"
    r"|\bdosage(?:_|\s+)(?:and|&)(?:_|\s+)administration\b",
    re.IGNORECASE,
)
_COMBINATION_CUE: Final = re.compile(
    r"\bcombinations?\b|\bcombined\s+with\b|\bco-?administ(?:ered|ration)\b|\bplus\b|\s\+\s",
    re.IGNORECASE,
)
_SECTION_WORDS: Final = (
    ("warnings", re.compile(r"\bwarnings?\b", re.IGNORECASE)),
    ("dosage", re.compile(r"(?<![^\W_])(?:dosage|dosing)(?![^\W_])", re.IGNORECASE)),
    (
        "indications_and_usage",
        re.compile(r"(?<![^\W_])(?:indications|usage)(?![^\W_])", re.IGNORECASE),
    ),
    # Beyond the reference: words that are not those of the heading they point to.
    ("boxed_warning", re.compile(r"\b(?:boxed|black[ -]box)\b", re.IGNORECASE)),
    (
        "adverse_reactions",
        re.compile(r"\bside[ -]effects?\b|\badverse (?:effects?|events?)\b", re.IGNORECASE),
    ),
    ("contraindications", re.compile(r"\bcontra-?indicat(?:ed|ion)\b", re.IGNORECASE)),
    ("outcomes", re.compile(r"\bend[ -]?points?\b", re.IGNORECASE)),
    ("overdosage", re.compile(r"\boverdos(?:e|es|ed|ing)\b", re.IGNORECASE)),
)


class KnownEntity(Protocol):
    """What is known of a name."""

    @property
    def entity(self) -> str:
        """Canonical name."""
        ...

    @property
    def aliases(self) -> tuple[str, ...]:
        """Its other names: brands, codes."""
        ...

    @property
    def related_drugs(self) -> tuple[str, ...]:
        """Drugs that act on it, or of its class."""
        ...


class EntityNames(Protocol):
    """What the query side needs of the ontology."""

    def match_entities(self, text: str) -> Sequence[str]:
        """Return the canonical names of the entities a text names, by first occurrence."""
        ...

    def match_drug_entities(self, text: str) -> Sequence[str]:
        """Return those of them that are drugs."""
        ...

    def resolve_entity(self, entity: str) -> KnownEntity:
        """Return what is known of a name in any spelling."""
        ...

    def smiles_of(self, name: str) -> str:
        """Return the SMILES of a known compound, or empty."""
        ...

    def resolve_compound_query(self, smiles_or_name: str) -> str:
        """Return the SMILES of a known compound's name; anything else as it is."""
        ...

    def expand_query_for_dense_retrieval(self, query: str) -> str:
        """Return the query and the names that go with its entities."""
        ...


def detect_retrieval_intent(query: str, names: EntityNames) -> QueryIntent:
    """Return what kind of question a query is; the first row of the reference's table that fits.

    Args:
        query: The question as asked.
        names: Finds drugs.
    """
    if _COMPOUND_CUE.search(query) or readable_structure(query):
        return QueryIntent("chemical", section_cues=CHEMICAL_CUES, require_entity_match=True)
    cues = section_cues_of(query)
    if _LABEL_CUE.search(query):
        return QueryIntent("regulatory", (CHEMICAL,), cues, require_entity_match=True)
    drugs = named_drugs(query, names)
    if len(drugs) >= _COMBINED and _COMBINATION_CUE.search(query):
        return QueryIntent("combination", section_cues=cues, require_entity_match=True)
    if drugs:
        return QueryIntent("drug_entity", section_cues=cues, require_entity_match=True)
    return QueryIntent("general", section_cues=cues)


def section_cues_of(query: str) -> tuple[str, ...]:
    """Return the sections of a label that the words of a query point to."""
    return tuple(section for section, word in _SECTION_WORDS if word.search(query))


def named_drugs(query: str, names: EntityNames) -> tuple[str, ...]:
    """Return the canonical names of the drugs a query names, by first occurrence.

    An entity of known structure is one, whatever its type says: a large lexicon has names without a type,
    and the suffix rule misses such as everolimus (the reference's q-exp-053).
    """
    typed = set(names.match_drug_entities(query))
    return tuple(
        name for name in names.match_entities(query) if name in typed or names.smiles_of(name)
    )
