"""The first page of a patent: numbers, dates, people, classes. One reader a dialect of the XML."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eagle_biomed.formats.external_ids import external_ids
from eagle_biomed.formats.xml_nodes import (
    attribute,
    children,
    first,
    inline_text,
    iso_date,
    name_of,
    text_at,
)
from eagle_rag.model.document import Identity
from eagle_rag.model.metadata import Author, DocumentMetadata

if TYPE_CHECKING:
    from lxml import etree

__all__ = ["PatentFront", "patent_identity", "patent_metadata", "patent_number", "read_front"]

_ZEROS = re.compile(r"^([A-Z]*)0+(?=\d)")
_IPC_PARTS = ("section", "class", "subclass", "main-group", "subgroup")


@dataclass(frozen=True, slots=True)
class PatentFront:
    """What the first page says; everything it does not say is empty.

    Args:
        country: Of the office, ``US``.
        number: Without leading zeros: ``7997973``, ``D701016``, ``20110039701``.
        kind: ``B2``, ``A1``, ``S1``.
        published: ISO date of the grant or of the publication.
        filed: ISO date of the application.
        application: Number of the application.
        form: ``utility``, ``design``, ``plant``.
        cited: Publications other than patents, as written.
    """

    country: str
    number: str
    kind: str
    title: str = ""
    published: str = ""
    filed: str = ""
    application: str = ""
    form: str = ""
    inventors: tuple[Author, ...] = ()
    assignees: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    priorities: tuple[str, ...] = ()
    cited: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Country, number and kind in one."""
        return f"{self.country}{self.number}{self.kind}"


def patent_number(written: str) -> str:
    """Return a number without its leading zeros: ``D0701016`` as ``D701016``."""
    return _ZEROS.sub(r"\1", "".join(written.split()).upper().replace(",", ""))


def patent_identity(front: PatentFront) -> Identity | None:
    """Return what the patent is called, or ``None`` without a number."""
    return Identity(front.name, f"patent:{front.name}") if front.number else None


def patent_metadata(front: PatentFront) -> DocumentMetadata:
    """Return the first page as metadata."""
    cited = (("patent", front.name if front.number else ""),)
    properties = {
        "assignees": "; ".join(front.assignees),
        "classes": "; ".join(front.classes),
        "country": front.country,
        "kind": front.kind,
        "number": front.number,
        "patent_type": front.form,
        "priorities": "; ".join(front.priorities),
    }
    return DocumentMetadata(
        ids=external_ids(cited, (("application", front.application),)),
        title=front.title or front.name,
        published=front.published,
        year=int(front.published[:4]) if front.published else None,
        dates=(("filed", front.filed),) if front.filed else (),
        article_type="patent",
        authors=front.inventors,
        properties=tuple(sorted((name, value) for name, value in properties.items() if value)),
    )


def read_front(root: "etree._Element") -> PatentFront:
    """Return the first page of a patent in any of the dialects."""
    if name_of(root) == "PATDOC":
        return _sgml_front(root)
    if name_of(root) == "patent-application-publication":
        return _early_front(root)
    return _front(root)


def _front(root: "etree._Element") -> PatentFront:
    """Read ``us-patent-grant`` and ``us-patent-application``, versions 4.0 and later."""
    page = next(
        children(root, "us-bibliographic-data-grant", "us-bibliographic-data-application"), None
    )
    published = first(page, "publication-reference", "document-id")
    filed = first(page, "application-reference", "document-id")
    return PatentFront(
        country=text_at(published, "country") or "US",
        number=patent_number(text_at(published, "doc-number")),
        kind=text_at(published, "kind"),
        title=text_at(page, "invention-title"),
        published=iso_date(text_at(published, "date")),
        filed=iso_date(text_at(filed, "date")),
        application=text_at(filed, "doc-number"),
        form=attribute(page, ("application-reference",), "appl-type"),
        inventors=tuple(_inventors(page)),
        assignees=tuple(filter(None, map(_party, _assignees(page)))),
        classes=tuple(dict.fromkeys(_classes(page))),
        priorities=tuple(_priorities(page)),
        cited=tuple(
            text
            for cited in children(page, "us-references-cited", "references-cited")
            for citation in children(cited, "us-citation", "citation")
            if (text := text_at(citation, "nplcit", "othercit"))
        ),
    )


def _inventors(page: "etree._Element | None") -> Iterator[Author]:
    """Yield the inventors; before 2012 they stand among the applicants."""
    parties = next(children(page, "us-parties", "parties"), None)
    inventors = list(children(first(parties, "inventors"), "inventor"))
    if not inventors:
        group = next(children(parties, "us-applicants", "applicants"), None)
        inventors = [
            one
            for one in children(group, "us-applicant", "applicant")
            if one.get("app-type", "applicant-inventor") == "applicant-inventor"
        ]
    for one in inventors:
        book = first(one, "addressbook")
        family, given = text_at(book, "last-name"), text_at(book, "first-name")
        middle = text_at(book, "middle-name")
        if family or given:
            yield Author(family=family, given=" ".join(filter(None, (given, middle))))


def _assignees(page: "etree._Element | None") -> "Iterator[etree._Element]":
    yield from children(first(page, "assignees"), "assignee")


def _party(one: "etree._Element") -> str:
    book = first(one, "addressbook")
    book = one if book is None else book
    person = " ".join(filter(None, (text_at(book, "first-name"), text_at(book, "last-name"))))
    return text_at(book, "orgname") or person


def _classes(page: "etree._Element | None") -> Iterator[str]:
    """Yield IPC and CPC symbols, ``A01N 43/60``."""
    for group in children(page, "classifications-ipcr", "classifications-cpc"):
        for one in group.iter():
            if name_of(one) in ("classification-ipcr", "classification-cpc"):
                section, klass, subclass, main, sub = (text_at(one, name) for name in _IPC_PARTS)
                if section and main:
                    yield f"{section}{klass}{subclass} {main}/{sub}"


def _priorities(page: "etree._Element | None") -> Iterator[str]:
    for one in children(first(page, "priority-claims"), "priority-claim"):
        parts = (
            text_at(one, "country"),
            text_at(one, "doc-number"),
            iso_date(text_at(one, "date")),
        )
        yield " ".join(filter(None, parts))


def _early_front(root: "etree._Element") -> PatentFront:
    """Read ``patent-application-publication``, 2001 to 2004."""
    page = first(root, "subdoc-bibliographic-information")
    document = first(page, "document-id")
    filing = first(page, "domestic-filing-data")
    people = first(page, "inventors")
    return PatentFront(
        country=text_at(document, "country-code") or "US",
        number=patent_number(text_at(document, "doc-number")),
        kind=text_at(document, "kind-code"),
        title=text_at(page, "technical-information", "title-of-invention"),
        published=iso_date(text_at(document, "document-date")),
        filed=iso_date(text_at(filing, "filing-date")),
        application=text_at(filing, "application-number", "doc-number"),
        form=text_at(page, "publication-filing-type"),
        inventors=tuple(
            Author(
                family=text_at(one, "name", "family-name"),
                given=" ".join(
                    filter(
                        None,
                        (text_at(one, "name", "given-name"), text_at(one, "name", "middle-name")),
                    )
                ),
            )
            for one in children(people, "first-named-inventor", "inventor")
        ),
        assignees=tuple(
            filter(None, (text_at(one, "organization-name") for one in children(page, "assignee")))
        ),
        classes=tuple(dict.fromkeys(_early_classes(page))),
        priorities=tuple(
            " ".join(
                filter(
                    None,
                    (
                        text_at(one, "country-code"),
                        text_at(one, "priority-application-number", "doc-number"),
                        iso_date(text_at(one, "filing-date")),
                    ),
                )
            )
            for one in children(page, "foreign-priority-data")
        ),
    )


def _early_classes(page: "etree._Element | None") -> Iterator[str]:
    ipc = first(page, "technical-information", "classification-ipc")
    for name in ("classification-ipc-primary", "classification-ipc-secondary"):
        for one in children(ipc, name):
            yield text_at(one, "ipc")


def _sgml_front(root: "etree._Element") -> PatentFront:
    """Read ``PATDOC``, 2001 to 2004; elements are called by the INID codes of WIPO ST.32."""
    page = first(root, "SDOBI")
    numbers, filing = first(page, "B100"), first(page, "B200")
    technical, parties = first(page, "B500"), first(page, "B700")
    ipc = first(technical, "B510")
    return PatentFront(
        country=text_at(numbers, "B190") or "US",
        number=patent_number(text_at(numbers, "B110")),
        kind=text_at(numbers, "B130"),
        title=text_at(technical, "B540"),
        published=iso_date(text_at(numbers, "B140")),
        filed=iso_date(text_at(filing, "B220")),
        application=text_at(filing, "B210"),
        inventors=tuple(
            Author(family=text_at(one, "SNM"), given=text_at(one, "FNM"))
            for one in _sgml_names(first(parties, "B720"), "B721")
        ),
        assignees=tuple(
            inline_text(one, spaced=frozenset({"FNM", "SNM", "ONM"}))
            for one in _sgml_names(first(parties, "B730"), "B731")
        ),
        classes=tuple(inline_text(one) for one in children(ipc, "B511", "B512")),
        priorities=tuple(
            " ".join(filter(None, (text_at(one, "B330"), text_at(one, "B310"))))
            for one in children(page, "B300")
        ),
        cited=tuple(inline_text(one) for one in children(first(technical, "B560"), "B562")),
    )


def _sgml_names(group: "etree._Element | None", name: str) -> "Iterator[etree._Element]":
    for one in children(group, name):
        found = first(one, "PARTY-US", "NAM")
        if found is not None:
            yield found
