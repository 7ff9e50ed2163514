"""Small documents for tests: JATS articles and PubMed records from a few words, and files of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

__all__ = ["jats_article", "pubmed_deletions", "pubmed_record", "write_files"]


def jats_article(
    title: str,
    body: Sequence[str] | Mapping[str, Sequence[str]],
    *,
    ids: Mapping[str, str] | None = None,
    year: int = 2024,
    article_type: str = "research-article",
    related: Mapping[str, str] | None = None,
) -> bytes:
    """Return a JATS article.

    Args:
        title: Its title; empty for none.
        body: Paragraphs, or section titles with their paragraphs; plain text, escaped here.
        ids: ``article-id`` values by ``pub-id-type``: ``pmid``, ``pmcid``, ``doi``.
        year: Publication year.
        article_type: The ``article-type`` attribute.
        related: DOI of related articles by ``related-article-type``.
    """
    numbers = "".join(
        f'<article-id pub-id-type="{kind}">{escape(value)}</article-id>'
        for kind, value in (ids or {}).items()
    )
    links = "".join(
        f'<related-article related-article-type="{kind}" ext-link-type="doi"'
        f" xlink:href={quoteattr(value)}/>"
        for kind, value in (related or {}).items()
    )
    if isinstance(body, Mapping):
        text = "".join(
            f"<sec><title>{escape(name)}</title>{_paragraphs(paragraphs)}</sec>"
            for name, paragraphs in body.items()
        )
    else:
        text = _paragraphs(body)
    return (
        f'<article xmlns:xlink="http://www.w3.org/1999/xlink" article-type="{article_type}">'
        f"<front><article-meta>{numbers}"
        f"<title-group><article-title>{escape(title)}</article-title></title-group>"
        f'<pub-date pub-type="epub"><year>{year}</year></pub-date>{links}</article-meta></front>'
        f"<body>{text}</body></article>"
    ).encode()


def _paragraphs(paragraphs: Sequence[str]) -> str:
    return "".join(f"<p>{escape(paragraph)}</p>" for paragraph in paragraphs)


def pubmed_record(pmid: str, title: str, abstract: str, *, doi: str = "", year: int = 2024) -> str:
    """Return one ``PubmedArticle``; put one or more into a ``PubmedArticleSet``."""
    number = f'<ArticleId IdType="doi">{escape(doi)}</ArticleId>' if doi else ""
    return (
        f'<PubmedArticle><MedlineCitation><PMID Version="1">{pmid}</PMID><Article>'
        f"<Journal><JournalIssue><PubDate><Year>{year}</Year></PubDate></JournalIssue>"
        f"<Title>Journal</Title></Journal><ArticleTitle>{escape(title)}</ArticleTitle>"
        f"<Abstract><AbstractText>{escape(abstract)}</AbstractText></Abstract></Article>"
        f"</MedlineCitation><PubmedData><ArticleIdList>"
        f'<ArticleId IdType="pubmed">{pmid}</ArticleId>{number}</ArticleIdList></PubmedData>'
        "</PubmedArticle>"
    )


def pubmed_deletions(*pmids: str) -> str:
    """Return a ``DeleteCitation`` list, for the end of a ``PubmedArticleSet``."""
    listed = "".join(f'<PMID Version="1">{pmid}</PMID>' for pmid in pmids)
    return f"<DeleteCitation>{listed}</DeleteCitation>"


def write_files(folder: Path, files: Mapping[str, bytes | str]) -> Path:
    """Write files by name into a folder, which is made, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder
