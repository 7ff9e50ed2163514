"""The line of identifiers below a title."""

from eagle_rag.model.metadata import Identifiers
from eagle_rag.surfaces.cli.citations import cited_by, named_by

PAPER = Identifiers("7", "PMC7", "10.1/x", (("publisher-id", "p7"),))
TRIAL = Identifiers(other=(("nct", "NCT00000001"), ("org-study", "A-1")))


def test_a_paper_is_cited_by_pmcid_pmid_and_doi_alone() -> None:
    assert cited_by(PAPER) == ("PMC7", "PMID 7", "10.1/x")


def test_another_record_is_cited_by_the_first_of_its_ids() -> None:
    assert cited_by(TRIAL) == ("nct:NCT00000001",)


def test_a_document_without_ids_has_no_line() -> None:
    assert (cited_by(Identifiers()), named_by(Identifiers())) == ((), ())


def test_all_ids_are_named_in_their_order() -> None:
    assert named_by(PAPER) == ("PMC7", "PMID 7", "10.1/x", "publisher-id:p7")


def test_of_hundreds_of_ids_the_number_left_is_told() -> None:
    ids = Identifiers("7", other=tuple(("ndc", str(number)) for number in range(300)))

    named = named_by(ids)

    assert (len(named), named[0], named[-1]) == (21, "PMID 7", "and 281 more")
