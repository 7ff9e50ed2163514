"""Authors of an article: people and groups, with affiliations and ORCID iDs. Editors are left out."""

from collections.abc import Mapping

from lxml import etree

from eagle_rag.adapters.documents.jats_text import InlineText
from eagle_rag.adapters.documents.xml import fold_space
from eagle_rag.model.metadata import Author
from eagle_rag.ops.identifiers import normalize_orcid

__all__ = ["read_authors"]

# ``contrib-type`` of those who wrote the article; no type at all means an author.
_AUTHOR_TYPES = frozenset({"", "author", "authors", "collab", "group", "group author"})
# Stands between two parts of an address until it is known whether anything follows.
_PART = "\x1f"
_XLINK_HREF = "{http://www.w3.org/1999/xlink}href"


def read_authors(meta: etree._Element, inline: InlineText) -> tuple[Author, ...]:
    """Return the authors in byline order.

    An author's affiliations are those it holds or points to. Where nobody points to any, all of
    the contributor group's (or the article's) belong to everyone.
    """
    by_id = _affiliations(meta, inline)
    authors: list[Author] = []
    for group in meta.iterchildren("contrib-group"):
        contributors = [one for one in group.iterchildren("contrib") if _is_author(one)]
        pointed = any(
            target in by_id
            for one in contributors
            for xref in one.iterchildren("xref")
            for target in (xref.get("rid") or "").split()
        )
        shared: tuple[str, ...] = ()
        if not pointed:
            own = (_affiliation(aff, inline) for aff in group.iterchildren("aff"))
            shared = tuple(text for text in own if text) or tuple(by_id.values())
        for one in contributors:
            authors += _authors_of(one, _own_affiliations(one, by_id, inline) or shared, inline)
        for element in group.iterchildren("on-behalf-of", "collab"):
            authors.append(Author(group=_collab(element, inline)))
    return tuple(author for author in authors if author.family or author.given or author.group)


def _is_author(contributor: etree._Element) -> bool:
    kind = (contributor.get("contrib-type") or "").strip().lower()
    return kind in _AUTHOR_TYPES


def _authors_of(
    contributor: etree._Element, affiliations: tuple[str, ...], inline: InlineText
) -> list[Author]:
    """Return the person or group of one ``contrib``, or both where it names both."""
    orcid = _orcid(contributor)
    found = []
    name = contributor.find("name")
    if name is None:
        name = contributor.find("name-alternatives/*")
    if name is None:
        name = contributor.find("string-name")
    if name is not None:
        family, given = _person(name, inline)
        found.append(Author(family, given, "", orcid, affiliations))
    for path in ("collab", "collab-alternatives/collab", "on-behalf-of"):
        groups = (_collab(group, inline) for group in contributor.iterfind(path))
        found += [Author(group=name, affiliations=affiliations) for name in groups]
    return found


def _person(name: etree._Element, inline: InlineText) -> tuple[str, str]:
    family = inline.text(name.find("surname"))
    given = inline.text(name.find("given-names"))
    if family or given:
        return (family, given) if family else (given, "")
    return inline.text(name), ""


def _collab(element: etree._Element, inline: InlineText) -> str:
    """Return a group's name without the members and addresses listed inside it."""
    parts = [element.text or ""]
    for child in element:
        if child.tag not in ("contrib-group", "contrib", "address", "aff", "xref", "fn", "list"):
            parts.append(inline.text(child))
        parts.append(child.tail or "")
    return fold_space("".join(parts)).rstrip(" ,;:")


def _orcid(contributor: etree._Element) -> str:
    for element in contributor.iterchildren("contrib-id", "ext-link", "uri"):
        text = f"{element.text or ''} {element.get(_XLINK_HREF) or ''}"
        kind = element.get("contrib-id-type") or element.get("content-type") or ""
        if "orcid" in text.lower() or kind.lower() == "orcid":
            orcid = normalize_orcid(text)
            if orcid:
                return orcid
    return ""


def _affiliations(meta: etree._Element, inline: InlineText) -> dict[str, str]:
    """Return the text of every affiliation by id; one without an id gets its position."""
    found: dict[str, str] = {}
    for element in meta.iter("aff"):
        text = _affiliation(element, inline)
        if not text:
            continue
        parent = element.getparent()
        shared = parent is not None and parent.tag == "aff-alternatives"
        if shared and parent is not None and parent.get("id"):
            found.setdefault(parent.get("id") or "", text)
        if parent is None or parent.tag not in ("contrib", "collab"):
            found[element.get("id") or f"#{len(found)}"] = text
    return found


def _own_affiliations(
    contributor: etree._Element, by_id: Mapping[str, str], inline: InlineText
) -> tuple[str, ...]:
    texts = []
    for child in contributor:
        if child.tag == "aff":
            texts.append(_affiliation(child, inline))
        elif child.tag == "aff-alternatives":
            texts.append(_affiliation(child[0], inline) if len(child) else "")
        elif child.tag == "xref":
            texts += [by_id.get(target, "") for target in (child.get("rid") or "").split()]
    return tuple(dict.fromkeys(text for text in texts if text))


def _affiliation(element: etree._Element, inline: InlineText) -> str:
    """Return an affiliation's text without its label; parts that only tags separate get commas."""
    parts = [element.text or ""]
    for child in element:
        if child.tag == "institution-wrap":
            names = [inline.text(name) for name in child.iterchildren("institution")]
            text = ", ".join(name for name in names if name)
        elif child.tag in ("label", "institution-id", "email", "ext-link", "fn", "xref") or (
            child.tag == "sup" and not "".join(parts).strip()
        ):
            text = ""
        else:
            text = inline.text(child)
        parts += (text, child.tail or "")
        if text and not (child.tail or "").strip():
            parts.append(_PART)
    text = fold_space("".join(parts))
    return ", ".join(part.strip(" ,") for part in text.split(_PART) if part.strip(" ,;"))
