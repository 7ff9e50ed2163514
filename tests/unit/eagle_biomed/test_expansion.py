"""What each arm is asked: names for the dense arm that profits, drugs and sections for words."""

from dataclasses import dataclass, field

import pytest

from eagle_biomed.entities import Ontology, open_ontology
from eagle_biomed.expansion import expand_query, resolve_drug_terms, sparse_terms
from eagle_rag.model.query import ExpandedQuery, QueryIntent


@pytest.fixture(scope="module")
def names() -> Ontology:
    """The ontology that ships."""
    return open_ontology({})


GENERAL = QueryIntent()
LABEL = QueryIntent("regulatory", (), ("warnings", "indications_and_usage"))


@pytest.mark.parametrize(
    ("encoder", "others", "rewritten"),
    [
        ("pubmedbert", (), True),
        ("pubmedbert", ("minilm",), True),
        ("minilm", (), False),
        ("minilm", ("minilm",), True),
        ("medcpt-query", ("minilm",), False),
        ("molformer", (), False),
        ("", (), False),
        ("", ("",), False),
    ],
)
def test_the_dense_query_is_rewritten_for_pubmedbert_and_by_option(
    encoder: str, others: tuple[str, ...], *, rewritten: bool, names: Ontology
) -> None:
    query = "AZD9291 resistance"
    expanded = expand_query(query, names, encoder=encoder, intent=GENERAL, expand_encoders=others)
    suffix = " [biomed entities: AZD9291, Tagrisso"
    assert expanded.dense_query.startswith(query + (suffix if rewritten else ""))
    assert ("[biomed entities" in expanded.dense_query) is rewritten


def test_an_expanded_query_carries_terms_and_intent(names: Ontology) -> None:
    expanded = expand_query("Fruzaqla warnings", names, encoder="minilm", intent=LABEL)
    terms = ("fruquintinib", "warnings", "indications and usage")
    assert expanded == ExpandedQuery("Fruzaqla warnings", terms, LABEL)


@pytest.mark.parametrize(
    ("query", "intent", "terms"),
    [
        ("kinase", GENERAL, ()),
        ("EGFR", GENERAL, ()),
        ("HMPL-013", GENERAL, ("fruquintinib",)),
        ("Tagrisso plus savolitinib", GENERAL, ("osimertinib", "savolitinib")),
        ("Tagrisso, AZD9291", GENERAL, ("osimertinib",)),
        ("drug label", LABEL, ("warnings", "indications and usage")),
        ("everolimus", LABEL, ("everolimus", "warnings", "indications and usage")),
    ],
)
def test_words_are_asked_for_drugs_by_generic_name_and_for_sections(
    query: str, intent: QueryIntent, terms: tuple[str, ...], names: Ontology
) -> None:
    assert sparse_terms(query, names, intent=intent) == terms


@dataclass(frozen=True)
class Known:
    entity: str
    aliases: tuple[str, ...] = ()
    related_drugs: tuple[str, ...] = ()


@dataclass
class Untyped:
    """As the reference: everolimus is an entity, of no type, with relatives."""

    structures: dict[str, str]
    asked: list[str] = field(default_factory=list)

    def match_entities(self, text: str) -> list[str]:
        return [name for name in ("everolimus", "mTOR", "MET") if name in text]

    def match_drug_entities(self, text: str) -> list[str]:
        del text
        return []

    def resolve_entity(self, entity: str) -> Known:
        self.asked.append(entity)
        related = {
            "everolimus": ("sirolimus", "temsirolimus"),
            "mTOR": ("a", "b", "a", "c", "d", "e"),
            "MET": ("x",),
        }
        return Known(entity, related_drugs=related[entity])

    def smiles_of(self, name: str) -> str:
        return self.structures.get(name, "")

    def resolve_compound_query(self, smiles_or_name: str) -> str:
        return smiles_or_name

    def expand_query_for_dense_retrieval(self, query: str) -> str:
        return query


def test_a_named_drug_is_never_replaced_by_related_ones() -> None:
    """The reference's q-exp-053."""
    known = Untyped({"everolimus": "CCO"})
    assert resolve_drug_terms("everolimus and mTOR", known) == ("everolimus",)
    assert known.asked == []


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("mTOR and MET", ("a", "b", "c")),
        ("MET", ("x",)),
        ("headache", ()),
        ("", ()),
    ],
)
def test_without_a_drug_the_first_entitys_first_four_relatives_stand_for_it(
    query: str, terms: tuple[str, ...]
) -> None:
    assert resolve_drug_terms(query, Untyped({})) == terms


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("everolimus in renal cell carcinoma", ("everolimus",)),
        ("gefitinib and EGFR", ("gefitinib",)),
        ("capmatinib or tepotinib", ("capmatinib", "tepotinib")),
        ("HMPL-013", ("fruquintinib",)),
        ("EGFR and everolimus", ("everolimus",)),
    ],
)
def test_the_references_failures_name_their_drugs_here(
    query: str, terms: tuple[str, ...], names: Ontology
) -> None:
    """q-exp-042, q-exp-050, q-exp-052 and q-exp-053."""
    assert resolve_drug_terms(query, names) == terms
