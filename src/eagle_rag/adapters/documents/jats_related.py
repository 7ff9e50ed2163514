"""Links to other articles, and what an article says about its own retraction."""

from lxml import etree

from eagle_rag.adapters.documents.jats_text import InlineText
from eagle_rag.adapters.documents.xml import all_text
from eagle_rag.model.metadata import Identifiers, RelatedArticle
from eagle_rag.ops.identifiers import normalize_doi, normalize_pmcid, normalize_pmid

__all__ = ["is_retracted", "read_related"]

_XLINK_HREF = "{http://www.w3.org/1999/xlink}href"
# JATS4R's and PMC's words for how two articles are related, to ours.
_RELATIONS = {
    "addended-article": "update_of",
    "addendum": "update_in",
    "article-commented-on": "comment_on",
    "commentary": "comment_in",
    "commentary-article": "comment_on",
    "concern-forward": "expression_of_concern_in",
    "corrected-article": "erratum_of",
    "correction": "erratum_in",
    "correction-forward": "erratum_in",
    "erratum": "erratum_in",
    "expression-of-concern": "expression_of_concern_in",
    "has-preprint": "has_preprint",
    "is-preprint-of": "preprint_of",
    "letter": "comment_in",
    "object-of-concern": "expression_of_concern_for",
    "peer-reviewed-article": "related",
    "preprint": "has_preprint",
    "published-article": "preprint_of",
    "published-version": "preprint_of",
    "reply": "comment_in",
    "republication": "republished_in",
    "republication-forward": "republished_in",
    "republished-article": "republished_from",
    "retracted-article": "retraction_of",
    "retraction": "retracted_by",
    "retraction-forward": "retracted_by",
    "update": "update_in",
    "updated-article": "update_of",
    "version-of-record": "preprint_of",
}
_TITLE_SAYS = (
    "retracted:",
    "retracted article:",
    "[retracted]",
    "retracted -",
    "retracted \u2013",
)
_SUBJECT_SAYS = frozenset({"retracted", "retracted article", "retracted publication"})
_NOTICES = frozenset({"retraction", "partial-retraction"})


def read_related(
    meta: etree._Element, article_type: str, inline: InlineText
) -> tuple[RelatedArticle, ...]:
    """Return all links to other articles, in order; the relation is one of the model's words."""
    found: dict[RelatedArticle, None] = {}
    for element in meta.iterchildren("related-article", "related-object"):
        source_type = (
            element.get("related-article-type")
            or element.get("link-type")
            or element.get("document-type")
            or ""
        )
        relation = _relation(source_type.strip().lower(), article_type)
        ids = _identifiers(element)
        citation = inline.text(element)
        found[RelatedArticle(relation, ids, source_type, citation)] = None
    for event in meta.iterfind("pub-history/event"):
        for date in event.iterchildren("date"):
            preprint = _preprint(event) if date.get("date-type") == "preprint" else None
            if preprint:
                found[preprint] = None
    return tuple(found)


def is_retracted(
    meta: etree._Element,
    article_type: str,
    title: str,
    related: tuple[RelatedArticle, ...],
) -> bool:
    """Return whether an article says that it is itself retracted; a retraction notice is not."""
    if article_type in _NOTICES:
        return False
    if article_type == "retracted-article" or title.lower().startswith(_TITLE_SAYS):
        return True
    if any(link.relation == "retracted_by" for link in related):
        return True
    subjects = meta.iterfind("article-categories//subject")
    return any((subject.text or "").strip().lower() in _SUBJECT_SAYS for subject in subjects)


def _relation(source_type: str, article_type: str) -> str:
    relation = _RELATIONS.get(source_type, "related")
    if relation == "retraction_of" and article_type == "partial-retraction":
        # Part of the article stands: it is corrected, not withdrawn.
        return "erratum_of"
    if relation == "retracted_by" and article_type == "retraction":
        return "retraction_of"
    return relation


def _identifiers(element: etree._Element) -> Identifiers:
    kind = (element.get("ext-link-type") or element.get("document-id-type") or "").lower()
    href = element.get(_XLINK_HREF) or element.get("document-id") or ""
    text = href or all_text(element)
    if kind in ("pmid", "pubmed"):
        return Identifiers(pmid=normalize_pmid(text))
    if kind in ("pmc", "pmcid"):
        return Identifiers(pmcid=normalize_pmcid(text))
    doi = normalize_doi(text)
    pmid = pmcid = ""
    for inner in element.iter("pub-id", "ext-link", "article-id"):
        inner_kind = (inner.get("pub-id-type") or inner.get("ext-link-type") or "").lower()
        value = inner.text or ""
        if inner_kind in ("pmid", "pubmed"):
            pmid = pmid or normalize_pmid(value)
        elif inner_kind in ("pmc", "pmcid"):
            pmcid = pmcid or normalize_pmcid(value)
        elif inner_kind == "doi":
            doi = doi or normalize_doi(value)
    return Identifiers(pmid, pmcid, doi)


def _preprint(event: etree._Element) -> RelatedArticle | None:
    for link in event.iter("self-uri", "article-id", "ext-link", "uri"):
        doi = normalize_doi(link.get(_XLINK_HREF) or link.text or "")
        if doi:
            return RelatedArticle("has_preprint", Identifiers(doi=doi), "preprint")
    return None
