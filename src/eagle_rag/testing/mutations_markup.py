"""Mutators of XML and JSON that know the syntax: what they make is mostly read to its end.

``mutations`` draws among them; the helpers are its own.
"""

import re
from collections.abc import Sequence

import numpy as np

__all__ = [
    "JSON_VALUE",
    "TAG",
    "declared_encoding",
    "deep_json",
    "deep_xml",
    "drop_tags",
    "huge_attribute",
    "insert_at",
    "json_nest",
    "json_values",
    "move_element",
    "nest",
    "pick",
    "replace_some",
    "swap_tags",
    "text_of_element",
]

_DECLARATION = re.compile(rb"((?:encoding|charset)\s*=\s*[\"']?)([\w.:-]+)", re.IGNORECASE)
_ENCODINGS = (
    b"utf-16", b"UTF-16BE", b"utf-32", b"utf-7", b"ascii", b"latin-1", b"cp037", b"shift_jis", b"gb18030",
    b"idna", b"punycode", b"rot13", b"hex", b"zlib", b"base64", b"bz2", b"undefined", b"unicode_escape",
    b"raw_unicode_escape", b"x-none", b"\xff", b"a" * 3000,
)  # fmt: skip
TAG = re.compile(rb"<[A-Za-z_][^<>]*>")
"""A start tag."""
_CLOSED_TAG = re.compile(rb"<([A-Za-z_][\w:.-]*)")
_ELEMENT = re.compile(rb"<([A-Za-z_][\w:.-]*)(?:\s[^<>]*)?>[^<>]*</\1>|<[A-Za-z_][^<>]*/>")
_TEXT_NODE = re.compile(rb">([^<>]+)<")
_ATTRIBUTE = re.compile(rb"=\"([^\"<>]*)\"")
_TEXTS = (
    b"", b" ", b"x", b"a" * 3000, b"-1", b"99999999999999999999", b"1e999", b"#", b"..", b"9999-99-99", b"00000000",
    "\u2028".encode(), "\u202e".encode(), "\u0663\u00b2".encode(), "e\u0301".encode() * 50, "\U0001f600".encode(),
    b"&#xFFFD;", b"&lt;p&gt;", b"&amp;#0;", b"\n\n\n", b"\t", "\u00a0\u200b".encode(), "\ufeff".encode(), b"%s {0} \\ $",
)  # fmt: skip
JSON_VALUE = re.compile(rb":\s*(\"(?:[^\"\\]|\\.)*\"|[-\d.]+|true|false|null)")
"""A value of an object that is no object and no list; group 1."""
_JSON_VALUES = (
    b"null", b"true", b"0", b"-1e999", b"NaN", b"[]", b"{}", b'""', b'"\\ud800"', b"[[]]", b"[null]", b'[{"a": [1]}]',
    b"[1, 2, 3]", b'{"a": {"b": 1}}', b'"\\u0000"', b"1" * 6000,
)  # fmt: skip
_HEAVY_DEPTH = 100_000
_HEAVY_BYTES = 50_000_000


def insert_at(data: bytes, at: int, what: bytes) -> bytes:
    """Return the bytes with others put in at a place."""
    return data[:at] + what + data[at:]


def pick(options: Sequence[bytes], rng: np.random.Generator) -> bytes:
    """Draw one."""
    return options[int(rng.integers(len(options)))]


def replace_some(
    data: bytes, rng: np.random.Generator, pattern: re.Pattern[bytes], *, options: Sequence[bytes]
) -> bytes:
    """Replace one to five matches of a pattern, or all of them, by options drawn for each."""
    # A broken declaration or namespace would hide the rest of the document.
    root = TAG.search(data, 0, 8192) if data.lstrip().startswith(b"<") else None
    declared = root.end() - 1 if root else 0
    found = list(pattern.finditer(data, declared))
    if not found or not options:
        return data
    most = len(found) if rng.random() < 0.05 else min(len(found), int(rng.integers(1, 6)))
    chosen = rng.choice(len(found), size=most, replace=False)
    pieces, position = [], 0
    for index in sorted(int(each) for each in chosen):
        group = found[index].lastindex or 0
        pieces += [data[position : found[index].start(group)], pick(options, rng)]
        position = found[index].end(group)
    return b"".join((*pieces, data[position:]))


def declared_encoding(data: bytes, rng: np.random.Generator, _: Sequence[bytes]) -> bytes:
    """Declare another encoding."""
    if _DECLARATION.search(data[:4096]) is None:
        head = b'<?xml version="1.0" encoding="%s"?>' % pick(_ENCODINGS, rng)
        return head + data.partition(b"?>")[2] if b"?>" in data[:200] else head + data
    return _DECLARATION.sub(lambda found: found[1] + pick(_ENCODINGS, rng), data, count=2)


def nest(data: bytes, rng: np.random.Generator, _: Sequence[bytes]) -> bytes:
    """Nest elements 300 to 5,000 deep: an own tag around what follows it, closed or not."""
    return _nested_xml(data, rng, int(rng.integers(300, 5001)), closed=rng.random() < 0.7)


def _nested_xml(data: bytes, rng: np.random.Generator, depth: int, *, closed: bool) -> bytes:
    found = list(TAG.finditer(data))
    if not found:
        return b"<a>" * depth + data
    tag = found[int(rng.integers(len(found)))]
    opening = pick(
        (tag[0].replace(b"/>", b">"), b"<a>", b"<sec>", b"<p>", b"<list><list-item>"), rng
    )
    names = _CLOSED_TAG.findall(opening)
    closing = b"".join(b"</" + name + b">" for name in reversed(names)) if closed else b""
    return insert_at(data, tag.end(), opening * depth + b"x" + closing * depth)


def swap_tags(data: bytes, rng: np.random.Generator, _: Sequence[bytes]) -> bytes:
    """Replace the names of elements by others of the file, opening and closing ones alike."""
    own = sorted(set(_CLOSED_TAG.findall(data)))
    if len(own) < 2:
        return data
    first, second = pick(own, rng), pick(own, rng)
    pattern = re.compile(rb"(?<=[</])" + re.escape(first) + rb"(?=[\s/>])")
    return pattern.sub(lambda _found: second, data)


def drop_tags(data: bytes, rng: np.random.Generator, _: Sequence[bytes]) -> bytes:
    """Take all elements of one name out, with what is in them, or empty them."""
    own = sorted(set(_CLOSED_TAG.findall(data)))
    if not own:
        return data
    name = pick(own, rng)
    element = re.compile(
        rb"<" + re.escape(name) + rb"(?=[\s>])[^>]*>.*?</" + re.escape(name) + rb">", re.DOTALL
    )
    instead = pick((b"", b"<" + name + b"/>", b"<" + name + b"> </" + name + b">"), rng)
    return element.sub(lambda _found: instead, data)


def move_element(data: bytes, rng: np.random.Generator, _: Sequence[bytes]) -> bytes:
    """Put a copy of an element, up to 50 times, behind a start tag elsewhere, or take it from its place."""
    found = list(_ELEMENT.finditer(data))
    places = list(TAG.finditer(data))
    if not found or not places:
        return data
    element = found[int(rng.integers(len(found)))]
    place = places[int(rng.integers(len(places)))].end()
    copies = element[0] * int(rng.choice((1, 1, 2, 50)))
    if rng.random() < 0.5 and not element.start() < place < element.end():
        rest = data[: element.start()] + b"\0" * len(element[0]) + data[element.end() :]
        return insert_at(rest, place, copies).replace(b"\0", b"")
    return insert_at(data, place, copies)


def text_of_element(data: bytes, rng: np.random.Generator, _: Sequence[bytes]) -> bytes:
    """Replace what stands between tags, or in attributes, by nothing, odd characters or a long word."""
    pattern = _TEXT_NODE if rng.random() < 0.6 else _ATTRIBUTE
    return replace_some(data, rng, pattern, options=_TEXTS)


def json_values(data: bytes, rng: np.random.Generator, _: Sequence[bytes]) -> bytes:
    """Replace values by others of any type."""
    return replace_some(data, rng, JSON_VALUE, options=_JSON_VALUES)


def json_nest(data: bytes, rng: np.random.Generator, _: Sequence[bytes]) -> bytes:
    """Nest a value 300 to 5,000 deep."""
    return _nested_json(data, rng, int(rng.integers(300, 5001)))


def _nested_json(data: bytes, rng: np.random.Generator, depth: int) -> bytes:
    found = list(JSON_VALUE.finditer(data))
    opening, closing = (b"[", b"]") if rng.random() < 0.5 else (b'{"a":', b"}")
    if not found:
        return opening * depth + b"1" + closing * depth
    value = found[int(rng.integers(len(found)))]
    deep = opening * depth + value[1] + closing * depth
    return data[: value.start(1)] + deep + data[value.end(1) :]


def huge_attribute(data: bytes, rng: np.random.Generator, _: Sequence[bytes]) -> bytes:
    """Give an element an attribute of 50 MB."""
    found = list(TAG.finditer(data))
    at = found[int(rng.integers(len(found)))].end() - 1 if found else 0
    at -= data[at - 1 : at] == b"/"
    return insert_at(data, at, b' huge="' + b"a" * _HEAVY_BYTES + b'"')


def deep_xml(data: bytes, rng: np.random.Generator, _: Sequence[bytes]) -> bytes:
    """Nest elements 100,000 deep."""
    return _nested_xml(data, rng, _HEAVY_DEPTH, closed=True)


def deep_json(data: bytes, rng: np.random.Generator, _: Sequence[bytes]) -> bytes:
    """Nest a value 100,000 deep."""
    return _nested_json(data, rng, _HEAVY_DEPTH)
