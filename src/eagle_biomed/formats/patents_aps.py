"""Patents in APS, the text format of the USPTO before 2001: a tag and a text a line.

Continued lines are indented. Tables are set with a typewriter and are not read; structures are
pictures, named ``##STR1##`` where they stand.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from eagle_biomed.formats.patents_front import PatentFront, patent_number
from eagle_biomed.formats.patents_text import CLAIMS
from eagle_biomed.formats.sectioned import SectionedText
from eagle_biomed.formats.xml_nodes import iso_date, raise_number
from eagle_rag.model.document import BlockKind, SectionKind
from eagle_rag.model.metadata import Author
from eagle_rag.ops.markup import fold_space
from eagle_rag.ops.outline import kind_of_title

__all__ = ["ApsRecord", "aps_front", "read_aps", "split_aps", "write_aps"]

_LINE = re.compile(r"([A-Z][A-Z0-9]{2,3})(?:\s{1,2}(.*))?")
_GROUPS = frozenset(
    [
        "PATN",
        "INVT",
        "ASSG",
        "PRIR",
        "REIS",
        "RLAP",
        "CLAS",
        "UREF",
        "FREF",
        "OREF",
        "LREP",
        "PCTA",
        "ABST",
        "GOVT",
        "PARN",
        "BSUM",
        "DRWD",
        "DETD",
        "CLMS",
        "DCLM",
    ]
)
_TITLES = {
    "ABST": "Abstract",
    "GOVT": "Government Interest",
    "PARN": "Related Applications",
    "BSUM": "Brief Summary",
    "DRWD": "Description of Drawings",
    "DETD": "Detailed Description",
}
_KINDS = {"1": "A", "2": "E", "4": "S", "5": "I4", "6": "P", "7": "H"}
_FORMS = {"1": "utility", "2": "reissue", "4": "design", "6": "plant"}
_NUMBER_AND_CHECK = 9  # characters of WKU: a letter or 0, seven digits, one check digit
_COUNTRY = re.compile(r"([A-Z]{2})X")
_RAISED = re.compile(r"\.sup\.([+-]?[A-Za-z0-9]+|\.[a-z]+\.)")
_LOWERED = re.compile(r"\.sub\.(?=[A-Za-z0-9+.(-])")
_NAMED = re.compile(r"\.([a-z]{2,9})\.", re.IGNORECASE)
_CHARACTERS = {
    "alpha": "\u03b1",
    "beta": "\u03b2",
    "gamma": "\u03b3",
    "delta": "\u03b4",
    "epsilon": "\u03b5",
    "zeta": "\u03b6",
    "eta": "\u03b7",
    "theta": "\u03b8",
    "kappa": "\u03ba",
    "lambda": "\u03bb",
    "mu": "\u03bc",
    "nu": "\u03bd",
    "xi": "\u03be",
    "pi": "\u03c0",
    "rho": "\u03c1",
    "sigma": "\u03c3",
    "tau": "\u03c4",
    "phi": "\u03c6",
    "chi": "\u03c7",
    "psi": "\u03c8",
    "omega": "\u03c9",
    "degree": "\u00b0",
    "times": "\u00d7",
    "multidot": "\u00b7",
    "ltoreq": "\u2264",
    "gtoreq": "\u2265",
    "about": "~",
    "apprxeq": "\u2248",
    "angstrom": "\u00c5",
    "crclbar": "\u2296",
    "sym": "\u2295",
    "dbd": "\u2550",
    "tbd": "\u2261",
    "fwdarw": "\u2192",
    "rarw": "\u2190",
    "revreaction": "\u21cc",
    "infin": "\u221e",
    "noteq": "\u2260",
    "div": "\u00f7",
}


@dataclass(slots=True)
class ApsRecord:
    """One patent: its groups in order, each a name and its ``(tag, text)`` lines."""

    groups: list[tuple[str, list[tuple[str, str]]]] = field(default_factory=list)

    def lines(self, group: str) -> Iterator[tuple[str, str]]:
        """Yield the lines of all groups of a name."""
        for name, lines in self.groups:
            if name == group:
                yield from lines

    def value(self, group: str, tag: str) -> str:
        """Return the first text of a tag in a group, or an empty string."""
        return next((text for name, text in self.lines(group) if name == tag), "")


def split_aps(text: str) -> Iterator[str]:
    """Yield each patent of a file; what stands before the first is no patent."""
    starts = [found.start() for found in re.finditer(r"^PATN[ \t]*$", text, re.MULTILINE)]
    for place, start in enumerate(starts):
        end = starts[place + 1] if place + 1 < len(starts) else len(text)
        yield text[start:end]


def read_aps(text: str) -> ApsRecord:
    """Return the lines of one patent, continued lines joined, markup as characters."""
    record = ApsRecord()
    tag, pieces = "", list[str]()

    def close() -> None:
        if tag and record.groups:
            record.groups[-1][1].append((tag, _characters(fold_space(" ".join(pieces)))))

    for line in text.splitlines():
        found = _LINE.fullmatch(line.rstrip())
        if found is None:
            pieces.append(line.strip())
            continue
        close()
        tag, pieces = found[1], [found[2] or ""]
        if tag in _GROUPS and not found[2]:
            record.groups.append((tag, []))
            tag = ""
    close()
    return record


def _characters(text: str) -> str:
    """Return text with the markup of APS as characters, scripts by the rule for all text."""
    if "." not in text:
        return text
    text = _NAMED.sub(_character, text)
    text = _RAISED.sub(lambda found: raise_number(found[1]), text)
    return _LOWERED.sub("", text).replace(".sup.", "")


def _character(found: re.Match[str]) -> str:
    name = found[1]
    letter = _CHARACTERS.get(name.lower())
    if letter is None:
        return found[0]
    return letter.upper() if name[0].isupper() and letter.isalpha() else letter


def aps_front(record: ApsRecord) -> PatentFront:
    """Return the first page of a patent."""
    written = "".join(record.value("PATN", "WKU").split())
    number = written[:-1] if len(written) == _NUMBER_AND_CHECK else written
    form = record.value("PATN", "APT")[:1]
    return PatentFront(
        country="US",
        number=patent_number(number),
        kind=_KINDS.get(form, "A"),
        title=record.value("PATN", "TTL"),
        published=iso_date(record.value("PATN", "ISD")),
        filed=iso_date(record.value("PATN", "APD")),
        application=record.value("PATN", "APN"),
        form=_FORMS.get(form, ""),
        inventors=tuple(
            _author(text) for tag, text in record.lines("INVT") if tag == "NAM" and text
        ),
        assignees=tuple(text for tag, text in record.lines("ASSG") if tag == "NAM" and text),
        classes=tuple(text for tag, text in record.lines("CLAS") if tag == "ICL" and text),
        priorities=tuple(_priorities(record)),
        cited=tuple(text for tag, text in record.lines("OREF") if tag == "PAL" and text),
    )


def _author(name: str) -> Author:
    family, _, given = name.partition(";")
    return Author(family=family.strip(), given=given.strip())


def _priorities(record: ApsRecord) -> Iterator[str]:
    for name, lines in record.groups:
        if name == "PRIR":
            values = dict(lines)
            country = _COUNTRY.sub(r"\1", values.get("CNT", ""))
            parts = (country, values.get("APN", ""), iso_date(values.get("APD", "")))
            yield " ".join(filter(None, parts))


def write_aps(record: ApsRecord, text: SectionedText) -> int:
    """Write abstract, description and claims; return how many claims there are."""
    claims = 0
    for name, lines in record.groups:
        if name in _TITLES:
            _part(lines, _TITLES[name], text)
        elif name in ("CLMS", "DCLM"):
            claims += _claims(lines, text)
    return claims


def _part(lines: list[tuple[str, str]], title: str, text: SectionedText) -> None:
    text.open((title,), kind_of_title(title))
    for tag, words in lines:
        if tag == "PAC" and words:
            text.open((words,), kind_of_title(words), heading=words)
        elif tag.startswith("TBL"):
            _table(words, text)
        elif tag not in ("NUM", "STM"):
            text.paragraph(words)


def _table(words: str, text: SectionedText) -> None:
    """Keep the name of a table; columns set with spaces cannot be told apart safely."""
    found = re.match(r"TABLE\s+(\w{1,6})", words, re.IGNORECASE)
    label = f"Table {found[1]}" if found else "Table"
    text.caption(label, found[0] if found else "TABLE")
    text.warnings.append(f"the cells of {label} are not read: it is typewritten")


def _claims(lines: list[tuple[str, str]], text: SectionedText) -> int:
    """Write the claims, each one block however many paragraphs it has."""
    statement = next((words for tag, words in lines if tag == "STM"), "")
    text.open((CLAIMS,), SectionKind.BODY, heading=statement)
    claims: list[list[str]] = []
    numbered = any(tag == "NUM" for tag, _ in lines)
    for tag, words in lines:
        if tag == "NUM" or (not numbered and tag == "PAR"):
            claims.append([])
        if tag not in ("NUM", "STM") and claims:
            claims[-1].append(words)
    for claim in claims:
        text.block(BlockKind.PARAGRAPH, " ".join(claim))
    return len(claims)
