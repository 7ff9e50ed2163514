"""Front matter: an article's ids, title, journal, dates, licence, keywords, grants."""

import re
from collections.abc import Iterator, Mapping

from lxml import etree

from eagle_rag.adapters.documents.jats_contributors import read_authors
from eagle_rag.adapters.documents.jats_related import is_retracted, read_related
from eagle_rag.adapters.documents.jats_text import InlineText
from eagle_rag.adapters.documents.xml import all_text
from eagle_rag.model.metadata import DocumentMetadata, Grant, Identifiers
from eagle_rag.ops.identifiers import normalize_doi, normalize_pmcid, normalize_pmid
from eagle_rag.ops.markup import fold_space

__all__ = ["article_meta", "read_metadata"]

_XLINK_HREF = "{http://www.w3.org/1999/xlink}href"
_XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_LICENCE_REF = "{http://www.niso.org/schemas/ali/1.0/}license_ref"
_CREATIVE_COMMONS = re.compile(
    r"creativecommons\.org/(?:licen[sc]es/(?P<code>[a-z-]+)|publicdomain/(?P<public>zero|mark))"
    r"(?:/(?P<version>\d\.\d))?",
    re.IGNORECASE,
)
_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
_YEAR = re.compile(r"(?<!\d)(1[5-9]|20)\d\d(?!\d)")
_ISO_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?:T.*)?$")
# The day an article first appeared, as far as the kinds of dates tell; what a repository did later
# (``pmc-release``) or a printed issue's nominal date comes last.
_PUBLISHED_FIRST = (
    "epub", "epub-ppub", "electronic", "pub", "publication", "ppub", "print", "collection", "",
    "epreprint", "preprint", "nihms-submitted", "pmc-release",
)  # fmt: skip
_ORDER = {kind: place for place, kind in enumerate(_PUBLISHED_FIRST)}
_PMCID_TYPES = frozenset({"pmc", "pmcid"})


def article_meta(article: etree._Element) -> etree._Element | None:
    """Return the element that holds an article's own front matter, if there is one."""
    for front in article:
        if front.tag in ("front", "front-stub"):
            meta = next(front.iterchildren("article-meta"), None)
            return front if meta is None else meta
    return None


def read_metadata(
    article: etree._Element, meta: etree._Element | None, inline: InlineText
) -> DocumentMetadata:
    """Return everything an article's front matter says about it.

    Args:
        article: The ``article`` element.
        meta: What ``article_meta`` returns for it.
        inline: Renders text by the rule of the canonical text.
    """
    article_type = article.get("article-type") or ""
    language = article.get(_XML_LANG) or ""
    if meta is None:
        return DocumentMetadata(article_type=article_type, language=language)
    first = {child.tag: child for child in reversed(meta)}
    title = _title(first.get("title-group"), inline)
    published, dates = _dates(meta)
    related = read_related(meta, article_type, inline)
    return DocumentMetadata(
        ids=_identifiers(meta),
        title=title,
        journal=_journal(article, inline),
        published=published,
        year=int(published[:4]) if published else None,
        dates=dates,
        article_type=article_type,
        licence=_licence(meta),
        language=language,
        volume=inline.text(first.get("volume")),
        issue=inline.text(first.get("issue")),
        pages=_pages(first, inline),
        authors=read_authors(meta, inline),
        keywords=_keywords(meta, inline),
        grants=_grants(meta, inline),
        related=related,
        retracted=is_retracted(meta, article_type, title, related),
    )


def _title(group: etree._Element | None, inline: InlineText) -> str:
    if group is None:
        return ""
    title = inline.text(group.find("article-title"))
    subtitle = inline.text(group.find("subtitle"))
    if not subtitle or not title:
        return title or subtitle
    return f"{title} {subtitle}" if title[-1] in ".?!:" else f"{title}: {subtitle}"


def _identifiers(meta: etree._Element) -> Identifiers:
    """Return the ids that stand directly in the front matter: nobody else's are there (A8)."""
    pmid = pmcid = doi = ""
    other: set[tuple[str, str]] = set()
    for element in meta.iterchildren("article-id"):
        kind = (element.get("pub-id-type") or "").lower()
        value = fold_space(element.text or "")
        if kind == "doi" and not doi:
            doi = normalize_doi(value)
        elif kind == "pmid" and not pmid:
            pmid = normalize_pmid(value)
        elif kind in _PMCID_TYPES and not pmcid:
            pmcid = normalize_pmcid(value)
        elif value and kind not in ("doi", "pmid", *_PMCID_TYPES):
            other.add((kind or "id", value))
    return Identifiers(pmid, pmcid, doi, tuple(sorted(other)))


def _journal(article: etree._Element, inline: InlineText) -> str:
    meta = article.find("front/journal-meta")
    if meta is None:
        return ""
    for path in (
        "journal-title-group/journal-title",
        "journal-title",
        "journal-title-group/abbrev-journal-title",
        "abbrev-journal-title",
        "journal-id",
    ):
        title = inline.text(meta.find(path))
        if title:
            return title
    return ""


def _dates(meta: etree._Element) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the publication date and all other dates, sorted."""
    published: dict[str, str] = {}
    others: set[tuple[str, str]] = set()
    for element in meta.iterchildren("pub-date"):
        kind = element.get("pub-type") or element.get("date-type") or ""
        if kind in ("pub", ""):
            kind = element.get("publication-format") or kind
        date = _iso_date(element)
        if date:
            published.setdefault(kind, date)
    for element in meta.iterchildren("history", "pub-history"):
        for inner in element.iter("date", "pub-date"):
            date = _iso_date(inner)
            if date:
                others.add((inner.get("date-type") or inner.get("pub-type") or "history", date))
    if not published:
        return "", tuple(sorted(others))
    chosen = min(published, key=lambda kind: (_ORDER.get(kind, len(_ORDER)), kind))
    others |= {(kind, date) for kind, date in published.items() if kind and kind != chosen}
    return published[chosen], tuple(sorted(others))


def _iso_date(element: etree._Element) -> str:
    """Return a date as precise as it is stated; impossible parts are left out."""
    iso = _ISO_DATE.match(element.get("iso-8601-date") or "")
    if iso:
        return "-".join(part for part in iso.groups() if part)
    parts = {part.tag: part.text or "" for part in element}
    year = _YEAR.search(parts.get("year") or parts.get("string-date") or "")
    if not year:
        return ""
    month = _month(parts.get("month", ""))
    if not month:
        return year[0]
    day = parts.get("day", "").strip()
    if day.isascii() and day.isdigit() and 1 <= int(day) <= 31:  # noqa: PLR2004 - days of a month
        return f"{year[0]}-{month:02}-{int(day):02}"
    return f"{year[0]}-{month:02}"


def _month(text: str) -> int:
    text = text.strip().lower()
    if text.isascii() and text.isdigit():
        return int(text) if 1 <= int(text) <= len(_MONTHS) else 0
    return _MONTHS.get(text[:3], 0)


def _licence(meta: etree._Element) -> str:
    """Return the licence's code where a Creative Commons address is given, else what is stated."""
    # NLM 2 has the licence directly in the front matter.
    licences = [*meta.iterfind("permissions/license"), *meta.iterchildren("license")]
    if not licences:
        stated = meta.findtext("copyright-statement") or ""
        return fold_space(stated or meta.findtext("permissions/copyright-statement") or "")
    addresses = list(_addresses(licences))
    for address in addresses:
        code = _licence_code(address)
        if code:
            return code
    if addresses and addresses[0]:
        return addresses[0]
    text = fold_space(all_text(licences[0]))
    return _licence_code(text) or text


def _addresses(licences: list[etree._Element]) -> Iterator[str]:
    for licence in licences:
        address = licence.get(_XLINK_HREF)
        if address:
            yield address.strip()
        for element in licence.iter(_LICENCE_REF, "ext-link", "uri"):
            yield (element.get(_XLINK_HREF) or element.text or "").strip()


def _licence_code(text: str) -> str:
    found = _CREATIVE_COMMONS.search(text)
    if not found:
        return ""
    if found["public"]:
        return "CC0" if found["public"].lower() == "zero" else "PDM"
    return " ".join(part for part in ("CC", found["code"].upper(), found["version"]) if part)


def _pages(parts: Mapping[str, etree._Element], inline: InlineText) -> str:
    whole = inline.text(parts.get("page-range"))
    if whole:
        return whole
    first, last = inline.text(parts.get("fpage")), inline.text(parts.get("lpage"))
    if first:
        return f"{first}-{last}" if last and last != first else first
    return inline.text(parts.get("elocation-id"))


def _keywords(meta: etree._Element, inline: InlineText) -> tuple[str, ...]:
    words = (
        inline.text(word)
        for group in meta.iterchildren("kwd-group")
        for word in group.iter("kwd", "compound-kwd-part")
    )
    return tuple(dict.fromkeys(word for word in words if word))


def _grants(meta: etree._Element, inline: InlineText) -> tuple[Grant, ...]:
    """Return one grant for every award number of every award group, or for an agency alone."""
    grants: dict[Grant, None] = {}
    for group in meta.iterfind("funding-group//award-group"):
        source = group.find("funding-source")
        agency = _agency(source, inline)
        country = "" if source is None else source.get("country") or ""
        country = country or inline.text(group.find("funding-source/country"))
        awards = [inline.text(award) for award in group.iterchildren("award-id")] or [""]
        for award in awards:
            if award or agency:
                grants[Grant(award, agency, country)] = None
    sponsors = [inline.text(element) for element in meta.iterchildren("contract-sponsor")]
    numbers = [inline.text(element) for element in meta.iterchildren("contract-num")]
    for place in range(max(len(sponsors), len(numbers))):
        award = numbers[place] if place < len(numbers) else ""
        agency = sponsors[place] if place < len(sponsors) else ""
        grants[Grant(award, agency)] = None
    return tuple(grants)


def _agency(source: etree._Element | None, inline: InlineText) -> str:
    if source is None:
        return ""
    names = [inline.text(name) for name in source.iter("institution")]
    if any(names):
        return ", ".join(dict.fromkeys(name for name in names if name))
    return inline.text(source)
