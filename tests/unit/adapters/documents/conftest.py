"""One way to parse a JATS article from the few pieces of markup that a test is about."""

from collections.abc import Callable
from hashlib import sha256

import pytest

from eagle_rag.adapters.documents.jats import JatsParser
from eagle_rag.model.document import ParsedDocument, Source

_NAMESPACES = (
    'xmlns:xlink="http://www.w3.org/1999/xlink"'
    ' xmlns:mml="http://www.w3.org/1998/Math/MathML"'
    ' xmlns:ali="http://www.niso.org/schemas/ali/1.0/"'
    ' xmlns:oasis="http://www.niso.org/standards/z39-96/ns/oasis-exchange/table"'
)

ParseJats = Callable[..., ParsedDocument]


def _parse(
    body: str = "", *, meta: str = "", back: str = "", rest: str = "", attributes: str = ""
) -> ParsedDocument:
    """Parse ``<article>`` with these contents of ``article-meta``, ``body``, ``back`` and after."""
    text = (
        f"<article {_NAMESPACES} {attributes}>"
        f"<front><article-meta>{meta}</article-meta></front>"
        f"<body>{body}</body><back>{back}</back>{rest}</article>"
    )
    data = text.encode()
    source = Source("a.xml", data, sha256(data).hexdigest(), "jats")
    (document,) = JatsParser().parse(source).documents
    return document


@pytest.fixture
def parse_jats() -> ParseJats:
    """The function that parses a small article."""
    return _parse


@pytest.fixture
def block_texts() -> Callable[[ParsedDocument], list[str]]:
    """The function that lists the texts of a document's blocks."""
    return lambda document: [document.text[b.start : b.end] for b in document.blocks]
