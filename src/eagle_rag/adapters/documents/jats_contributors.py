"""Authors of an article: people and groups, with affiliations and ORCID iDs. Editors are left out."""

from collections.abc import Mapping
from dataclasses import replace

from lxml import etree

from eagle_rag.adapters.documents.jats_text import InlineText
from eagle_rag.model.metadata import Author
from eagle_rag.ops.identifiers import normalize_orcid
from eagle_rag.ops.markup import fold_space

__all__ = ["read_authors"]

# ``contrib-type`` of those who wrote the article; no type at all means an author.
_AUTHOR_TYPES = frozenset({"", "author", "authors", "collab", "group", "group author"})
_PEOPLE = ("name", "string-name", "name-alternatives")
_GROUPS = ("collab", "collab-alternatives", "on-behalf-of")
_LINKS = ("contrib-id", "ext-link", "uri")
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
        found: list[Author] = []
        for child in group:
            if child.tag == "contrib":
                if _is_author(child):
                    found += _authors_of(child, by_id, inline)
            elif child.tag in ("on-behalf-of", "collab"):
                found.append(Author(group=_collab(child, inline)))
        if by_id and not any(author.affiliations for author in found):
            own = (_affiliation(aff, inline) for aff in group.iterchildren("aff"))
            shared = tuple(text for text in own if text) or tuple(by_id.values())
            found = [replace(author, affiliations=shared) for author in found]
        authors += found
    return tuple(author for author in authors if author.family or author.given or author.group)


def _is_author(contributor: etree._Element) -> bool:
    kind = (contributor.get("contrib-type") or "").strip().lower()
    return kind in _AUTHOR_TYPES


def _authors_of(
    contributor: etree._Element, by_id: Mapping[str, str], inline: InlineText
) -> list[Author]:
    """Return the person or group of one ``contrib``, or both where it names both."""
    orcid = ""
    people: list[tuple[str, str]] = []
    groups: list[str] = []
    affiliations: dict[str, None] = {}
    for child in contributor:
        tag = child.tag
        if tag == "xref":
            for target in (child.get("rid") or "").split():
                if target in by_id:
                    affiliations[by_id[target]] = None
        elif tag in _PEOPLE:
            people.append(_person(child, inline))
        elif tag in _GROUPS:
            groups.append(_collab(child, inline))
        elif tag in ("aff", "aff-alternatives"):
            element = child[0] if tag == "aff-alternatives" and len(child) else child
            affiliations[_affiliation(element, inline)] = None
        elif tag in _LINKS:
            orcid = orcid or _orcid(child)
    affiliations.pop("", None)
    texts = tuple(affiliations)
    found = [Author(family, given, "", orcid, texts) for family, given in people[:1]]
    return found + [Author(group=group, affiliations=texts) for group in groups]


def _person(name: etree._Element, inline: InlineText) -> tuple[str, str]:
    """Return family and given name; a name in one piece is a family name."""
    if name.tag == "name-alternatives":
        return _person(name[0], inline) if len(name) else ("", "")
    family = given = ""
    for part in name:
        if part.tag == "surname":
            family = inline.text(part)
        elif part.tag == "given-names":
            given = inline.text(part)
    if not family:
        return (given or inline.text(name), "")
    return family, given


def _collab(element: etree._Element, inline: InlineText) -> str:
    """Return a group's name without the members and addresses listed inside it."""
    if element.tag == "collab-alternatives":
        return _collab(element[0], inline) if len(element) else ""
    parts = [element.text or ""]
    for child in element:
        if child.tag not in ("contrib-group", "contrib", "address", "aff", "xref", "fn", "list"):
            parts.append(inline.text(child))
        parts.append(child.tail or "")
    return fold_space("".join(parts)).rstrip(" ,;:")


def _orcid(link: etree._Element) -> str:
    text = f"{link.text or ''} {link.get(_XLINK_HREF) or ''}"
    kind = link.get("contrib-id-type") or link.get("content-type") or ""
    if kind.lower() == "orcid" or "orcid" in text.lower():
        return normalize_orcid(text)
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
