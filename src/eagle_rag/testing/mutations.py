"""Damaged and hostile versions of a file, for authors of parsers: bytes in, bytes out, by a seeded generator.

``mutate`` draws one mutation; what it can draw depends on what the bytes look like (XML, JSON, other text, a
zip or gzip file, anything else). Those of ``HEAVY`` make up to 50 MB and are drawn rarely, or by name. The
same seed gives the same bytes.
"""

import gzip
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from eagle_rag.testing.mutations_markup import (
    JSON_VALUE,
    TAG,
    declared_encoding,
    deep_json,
    deep_xml,
    drop_tags,
    huge_attribute,
    insert_at,
    json_nest,
    json_values,
    move_element,
    nest,
    pick,
    replace_some,
    swap_tags,
    text_of_element,
)

__all__ = ["HEAVY", "LIGHT", "Mutation", "Mutator", "mutate", "mutators_for"]

Mutator = Callable[[bytes, np.random.Generator, Sequence[bytes]], bytes]
"""``(data, generator, donors) -> data``; the donors are other files, to splice with."""

_LARGEST = 4 << 20  # of what a light mutation makes
_HEAVY_LINE = 10_000_000
_HEAVY_RECORDS = 1_000_000
_HEAVY_SHARE = 0.004  # of all draws: 8 of 2,000

_NUMBER = re.compile(rb"[-+]?\d[\d.]*(?:[eE][-+]?\d+)?")
_NUMBERS = (
    b"0", b"-1", b"1", b"255", b"65535", b"2147483647", b"2147483648", b"4294967295", b"4294967296",
    b"9223372036854775808", b"99999999999999999999999", b"-99999999999999999999999", b"1e308", b"1e999",
    b"-1e999", b"nan", b"NaN", b"inf", b"-Infinity", b"0.0000000001", b"1.5", b"", b"+-1", b"0x7f",
    "\u0663".encode(), "\u00b2".encode(), "\u2460".encode(), b"9" * 5000,
)  # fmt: skip
_WORDS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
_ODD = (
    b"\0", b"\0\0\0\0", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\xc0\x80", b"\xed\xa0\x80", b"\xf5\x80\x80\x80",
    b"\x80", b"\x1a", b"\x0b\x0c", b"\r", "\u2028".encode(), "\u202e".encode(), "\ufffe".encode(),
    "\U000e0001".encode(), "e\u0301".encode(), b"\\ud800", b"&#xD800;", b"&#0;", b"&x;", b"<!--", b"]]>", b"-->",
)  # fmt: skip
_BOMB_BYTES = 300_000_000


@dataclass(frozen=True, slots=True)
class Mutation:
    """One mutated file.

    Args:
        name: Which mutators made it, joined by ``+``.
        data: The bytes.
    """

    name: str
    data: bytes


def mutate(data: bytes, rng: np.random.Generator, donors: Sequence[bytes] = ()) -> Mutation:
    """Return a mutated version of a file: one to three light mutations, or, rarely, one heavy one."""
    light, heavy = mutators_for(data)
    if heavy and rng.random() < _HEAVY_SHARE:
        name = str(rng.choice(sorted(heavy)))
        return Mutation(name, heavy[name](data, rng, donors))
    # Half of the files keep their syntax, or little would get behind its reader.
    gentle = rng.random() < 0.5
    names = [_draw(light, rng, gentle=gentle) for _ in range(int(rng.integers(1, 4)))]
    for name in names:
        data = light[name](data, rng, donors)[:_LARGEST]
    return Mutation("+".join(names), data)


def _draw(light: Mapping[str, Mutator], rng: np.random.Generator, *, gentle: bool) -> str:
    """Draw a name: of those that keep the syntax, where there are any, or of all."""
    keeping = sorted(_GENTLE & light.keys())
    return str(rng.choice(keeping if gentle and keeping else sorted(light)))


def mutators_for(data: bytes) -> tuple[Mapping[str, Mutator], Mapping[str, Mutator]]:
    """Return the light and the heavy mutators that suit what the bytes look like, by name."""
    kind = _kind_of(data)
    light = {name: one for name, (one, kinds) in LIGHT.items() if not kinds or kind in kinds}
    heavy = {name: one for name, (one, kinds) in HEAVY.items() if not kinds or kind in kinds}
    return light, heavy


def _kind_of(data: bytes) -> str:
    if data.startswith(b"PK\x03\x04"):
        return "zip"
    if data.startswith(b"\x1f\x8b"):
        return "gzip"
    head = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    if b"\0" in head or not head:
        return "binary"
    if head.startswith(b"<"):
        return "xml"
    return "json" if head.startswith((b"{", b"[")) else "text"


def _at(data: bytes, rng: np.random.Generator) -> int:
    return int(rng.integers(0, len(data) + 1))


def _range(data: bytes, rng: np.random.Generator, most: int) -> tuple[int, int]:
    start = _at(data, rng)
    return start, min(len(data), start + int(rng.integers(1, most + 1)))


def flip_bits(data: bytes, rng: np.random.Generator, _: Sequence[bytes]) -> bytes:
    """Flip 1 to 32 bits."""
    changed = bytearray(data)
    for _each in range(int(rng.integers(1, 33)) if data else 0):
        changed[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def set_bytes(data: bytes, rng: np.random.Generator, _: Sequence[bytes]) -> bytes:
    """Overwrite a short range with one byte, or with noise."""
    start, end = _range(data, rng, 64)
    noise = rng.bytes(end - start)
    return data[:start] + (noise if rng.random() < 0.5 else noise[:1] * (end - start)) + data[end:]


def set_integers(data: bytes, rng: np.random.Generator, _: Sequence[bytes]) -> bytes:
    """Overwrite 1 to 4 fields of 2, 4 or 8 bytes, often near the start, with extreme integers."""
    for _each in range(int(rng.integers(1, 5))):
        size = int(rng.choice((2, 4, 8)))
        start = _at(data[: 1024 if rng.random() < 0.6 else len(data)], rng)
        value = int(rng.choice(_WORDS)) & ((1 << 8 * size) - 1)
        word = value.to_bytes(size, "little" if rng.random() < 0.7 else "big")
        data = data[:start] + word + data[start + size :]
    return data


def truncate(data: bytes, rng: np.random.Generator, _: Sequence[bytes]) -> bytes:
    """Cut the end off."""
    return data[: _at(data, rng)]


def behead(data: bytes, rng: np.random.Generator, _: Sequence[bytes]) -> bytes:
    """Cut a little of the start off."""
    return data[int(rng.integers(1, 200)) :]


def delete_block(data: bytes, rng: np.random.Generator, _: Sequence[bytes]) -> bytes:
    """Take a block out."""
    start, end = _range(data, rng, 2048)
    return data[:start] + data[end:]


def repeat_block(data: bytes, rng: np.random.Generator, _: Sequence[bytes]) -> bytes:
    """Repeat a block 2 to 500 times."""
    start, end = _range(data, rng, int(rng.choice((4, 64, 2048))))
    times = int(rng.integers(2, 501))
    return data[:start] + data[start:end] * times + data[end:]


def swap_blocks(data: bytes, rng: np.random.Generator, _: Sequence[bytes]) -> bytes:
    """Exchange two halves of a range."""
    start, end = _range(data, rng, 4096)
    middle = (start + end) // 2
    return data[:start] + data[middle:end] + data[start:middle] + data[end:]


def splice(data: bytes, rng: np.random.Generator, donors: Sequence[bytes]) -> bytes:
    """Go on with, or insert, a piece of another file."""
    other = pick(donors, rng) if donors else data
    start, end = _range(other, rng, 8192)
    at = _at(data, rng)
    return (
        data[:at] + other[start:] if rng.random() < 0.5 else insert_at(data, at, other[start:end])
    )


def odd_bytes(data: bytes, rng: np.random.Generator, _: Sequence[bytes]) -> bytes:
    """Insert NULs, invalid UTF-8, byte order marks, control characters, odd references."""
    for _each in range(int(rng.integers(1, 8))):
        data = insert_at(data, _at(data, rng), pick(_ODD, rng) * int(rng.choice((1, 1, 1, 300))))
    return data


def numbers(data: bytes, rng: np.random.Generator, _: Sequence[bytes]) -> bytes:
    """Replace numbers by huge, negative, non-finite, foreign or absent ones."""
    return replace_some(data, rng, _NUMBER, options=_NUMBERS)


def own_numbers(data: bytes, rng: np.random.Generator, _: Sequence[bytes]) -> bytes:
    """Replace numbers by others of the file: references become circular, counts wrong."""
    own = list(dict.fromkeys(_NUMBER.findall(data)))[:500]
    return replace_some(data, rng, _NUMBER, options=own)


def reencode(data: bytes, rng: np.random.Generator, _: Sequence[bytes]) -> bytes:
    """Write the text in another encoding than it says."""
    encodings = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "cp037", "utf-7")
    text = data.decode("utf-8", "replace")
    return text.encode(str(rng.choice(encodings)), "replace")


def lines(data: bytes, rng: np.random.Generator, _: Sequence[bytes]) -> bytes:
    """Drop, double, shuffle, cut or join lines."""
    rows = data.split(b"\n")
    start = int(rng.integers(len(rows)))
    some = rows[start : start + int(rng.integers(1, 30))]
    rest = rows[start + len(some) :]
    way = int(rng.integers(5))
    if way == 1:
        some = some * int(rng.integers(2, 50))
    elif way == 2:
        some = [some[int(at)] for at in rng.permutation(len(some))]
    elif way == 3:
        some = [row[: int(rng.integers(len(row) + 1))] for row in some]
    elif way == 4:
        some = [b" ".join(some)]
    return b"\n".join(rows[:start] + (some if way else []) + rest)


def long_line(data: bytes, rng: np.random.Generator, _: Sequence[bytes]) -> bytes:
    """Insert up to 100,000 times a short word, or brackets that nobody closes."""
    word = pick(
        (b"a", b"a ", b"9", b"(", b"[", b"{", b"C", b"(C", b"<", b"*", b"_", b"|", b"#", b"`"), rng
    )
    return insert_at(data, _at(data, rng), word * int(rng.integers(1000, 100_001)))


def zip_member(data: bytes, rng: np.random.Generator, donors: Sequence[bytes]) -> bytes:
    """Mutate one member of a zip file and pack it again: the damage gets behind the zip reader."""
    return _rezip(data, rng, lambda inner: mutate_light(inner, rng, donors))


def mutate_light(data: bytes, rng: np.random.Generator, donors: Sequence[bytes]) -> bytes:
    """Return a file with one light mutation."""
    light, _heavy = mutators_for(data)
    return light[_draw(light, rng, gentle=rng.random() < 0.5)](data, rng, donors)[:_LARGEST]


def _rezip(data: bytes, rng: np.random.Generator, change: Callable[[bytes], bytes]) -> bytes:
    """Return the archive with one member changed; an archive that cannot be read stays."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {info.filename: archive.read(info) for info in archive.infolist()}
    except (
        zipfile.BadZipFile,
        zlib.error,
        NotImplementedError,
        EOFError,
        ValueError,
        RuntimeError,
        OSError,
    ):
        return data
    # Most members of an office file are styles: the text is what is read.
    names = sorted(members)
    telling = [
        name for name in names if name.endswith(("document.xml", "presentation.xml", "slide1.xml"))
    ]
    chosen = telling if telling and rng.random() < 0.6 else names
    if not chosen:
        return data
    name = chosen[int(rng.integers(len(chosen)))]
    members[name] = change(members[name])
    return _zipped(members)


def _zipped(members: Mapping[str, bytes], level: int = 1) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for member, content in members.items():
            # A fixed date: the same seed gives the same bytes.
            archive.writestr(_dated(member), content)
    return packed.getvalue()


def _dated(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def gzip_content(data: bytes, rng: np.random.Generator, donors: Sequence[bytes]) -> bytes:
    """Mutate what a gzip file holds and pack it again."""
    try:
        inner = gzip.decompress(data)
    except (OSError, EOFError, zlib.error):
        return data
    return gzip.compress(mutate_light(inner, rng, donors), 1, mtime=0)


def huge_line(data: bytes, rng: np.random.Generator, _: Sequence[bytes]) -> bytes:
    """Insert a line of 10,000,000 characters: one word, words, or brackets."""
    word = pick((b"a", b"word ", b"1 ", b"("), rng)
    return insert_at(data, _at(data, rng), word * (_HEAVY_LINE // len(word)))


def tiny_records(data: bytes, rng: np.random.Generator, _: Sequence[bytes]) -> bytes:
    """Insert a million tiny lines, elements or values."""
    kind = _kind_of(data)
    if kind == "xml":
        found = list(TAG.finditer(data))
        at = found[int(rng.integers(len(found)))].end() if found else 0
        return insert_at(data, at, b"<p>x</p>" * _HEAVY_RECORDS)
    if kind == "json":
        found = list(JSON_VALUE.finditer(data))
        if found:
            value = found[int(rng.integers(len(found)))]
            many = b"[" + b"1," * _HEAVY_RECORDS + b"1]"
            return data[: value.start(1)] + many + data[value.end(1) :]
    return insert_at(data, _at(data, rng), b"x\n" * _HEAVY_RECORDS)


def zip_bomb(data: bytes, rng: np.random.Generator, _: Sequence[bytes]) -> bytes:
    """Let one member of a zip file unpack to 300 MB: white space, or an element's text."""
    filler = (b" ", b"<a>", b"\0")[int(rng.integers(3))]
    return _rezip(data, rng, lambda inner: inner + filler * (_BOMB_BYTES // len(filler)))


def zip_members(data: bytes, rng: np.random.Generator, _: Sequence[bytes]) -> bytes:
    """Add 20,000 members to a zip file."""
    extra = io.BytesIO(data)
    try:
        with zipfile.ZipFile(extra, "a") as archive:
            for number in range(20_000):
                archive.writestr(_dated(f"word/media/{number}.xml"), rng.bytes(2))
    except zipfile.BadZipFile:
        return data
    return extra.getvalue()


def gzip_bomb(data: bytes, _rng: np.random.Generator, __: Sequence[bytes]) -> bytes:
    """Let a gzip file unpack to 300 MB more than it holds."""
    return data + gzip.compress(b"\0" * _BOMB_BYTES, 9, mtime=0)


_TEXT = ("xml", "json", "text")

LIGHT: Mapping[str, tuple[Mutator, tuple[str, ...]]] = {
    "flip_bits": (flip_bits, ()),
    "set_bytes": (set_bytes, ()),
    "set_integers": (set_integers, ("binary", "zip", "gzip")),
    "truncate": (truncate, ()),
    "behead": (behead, ()),
    "delete_block": (delete_block, ()),
    "repeat_block": (repeat_block, ()),
    "swap_blocks": (swap_blocks, ()),
    "splice": (splice, ()),
    "odd_bytes": (odd_bytes, ()),
    "numbers": (numbers, (*_TEXT, "binary")),
    "own_numbers": (own_numbers, (*_TEXT, "binary")),
    "declared_encoding": (declared_encoding, ("xml",)),
    "reencode": (reencode, _TEXT),
    "lines": (lines, _TEXT),
    "long_line": (long_line, _TEXT),
    "nest": (nest, ("xml",)),
    "swap_tags": (swap_tags, ("xml",)),
    "drop_tags": (drop_tags, ("xml",)),
    "move_element": (move_element, ("xml",)),
    "text_of_element": (text_of_element, ("xml",)),
    "json_values": (json_values, ("json",)),
    "json_nest": (json_nest, ("json",)),
    "zip_member": (zip_member, ("zip",)),
    "gzip_content": (gzip_content, ("gzip",)),
}
"""Each with the kinds of file it suits; none for all."""

_GENTLE = frozenset({
    "numbers", "own_numbers", "swap_tags", "drop_tags", "move_element", "text_of_element", "json_values",
    "json_nest", "zip_member", "gzip_content",
})  # fmt: skip

HEAVY: Mapping[str, tuple[Mutator, tuple[str, ...]]] = {
    "huge_attribute": (huge_attribute, ("xml",)),
    "huge_line": (huge_line, _TEXT),
    "deep_xml": (deep_xml, ("xml",)),
    "deep_json": (deep_json, ("json",)),
    "tiny_records": (tiny_records, _TEXT),
    "zip_bomb": (zip_bomb, ("zip",)),
    "zip_members": (zip_members, ("zip",)),
    "gzip_bomb": (gzip_bomb, ("gzip",)),
}
"""As ``LIGHT``, but large."""
