"""Clinical trials of ClinicalTrials.gov: API version 2 and 1 (JSON), and the legacy XML.

Three readers fill one ``Trial``; one composer writes it. A file holds one study or a page of them.
"""

import dataclasses
from collections.abc import Iterator

from eagle_biomed.formats.catalog import FormatTools
from eagle_biomed.formats.ctgov_text import write_trial
from eagle_biomed.formats.ctgov_trial import Trial
from eagle_biomed.formats.ctgov_v1 import read_v1_study
from eagle_biomed.formats.ctgov_v2 import read_study
from eagle_biomed.formats.ctgov_xml import read_xml_study
from eagle_biomed.formats.external_ids import external_ids
from eagle_biomed.formats.json_records import items_at, node_at, read_json, record_digest
from eagle_biomed.formats.sectioned import SectionedText
from eagle_biomed.formats.xml_nodes import name_of, too_deep
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import (
    Identity,
    ParsedDocument,
    ParseOutcome,
    Reference,
    Refusal,
    Source,
)
from eagle_rag.model.metadata import DocumentMetadata, MeshHeading
from eagle_rag.ops.bibliography import read_entry
from eagle_rag.ops.identifiers import normalize_pmid

__all__ = ["parse"]

_MARK = b"\xef\xbb\xbf"


def parse(source: Source, tools: FormatTools) -> ParseOutcome:
    """Return every trial of a file; a record that is none is a refusal.

    Raises:
        UnreadableDocument: The reasons of the XML and JSON readers, ``no-records``, or
            ``nested-too-deep``.
    """
    try:
        if source.data.removeprefix(_MARK).lstrip().startswith(b"<"):
            return _one(source, tools)
        return _page(source)
    except RecursionError as error:
        raise too_deep(source.uri) from error


def _one(source: Source, tools: FormatTools) -> ParseOutcome:
    root = tools.read_xml(source)
    trial = read_xml_study(root) if name_of(root) == "clinical_study" else Trial("")
    if not trial.nct_id:
        raise _no_records(source, 1)
    return ParseOutcome((_document(trial, source, "", source.digest),))


def _no_records(source: Source, count: int) -> UnreadableDocument:
    return UnreadableDocument(
        source.uri,
        "no-records",
        f"none of its {count} records is a study with an NCT id",
        remedy="download the study from ClinicalTrials.gov as JSON or XML",
    )


def _page(source: Source) -> ParseOutcome:
    value = read_json(source)
    studies = list(_studies(value))
    alone = len(studies) == 1 and studies[0] is value
    documents: list[ParsedDocument] = []
    refusals: list[Refusal] = []
    for number, study in enumerate(studies, 1):
        old = node_at(study, "ProtocolSection") is not None
        trial = read_v1_study(study) if old else read_study(study)
        if not trial.nct_id:
            message = f"record {number} is no study with an NCT id"
            refusals.append(Refusal(source.uri, f"record-{number}", "not-a-trial", message))
            continue
        digest = source.digest if alone else record_digest(study)
        member = "" if alone else trial.nct_id
        documents.append(_document(trial, source, member, digest))
    if not documents:
        raise _no_records(source, len(studies))
    return ParseOutcome(tuple(documents), tuple(refusals))


def _studies(value: object) -> Iterator[object]:
    """Yield the studies of an answer of either version of the API, or of a list of them."""
    for place in (("FullStudiesResponse", "FullStudies"), ("studies",), ("FullStudy",)):
        if node_at(value, *place) is not None:
            for item in items_at(value, *place):
                yield from _studies(item)
            return
    inner = node_at(value, "Study")
    if inner is not None:
        yield inner
    elif isinstance(value, list):
        for item in value:
            yield from _studies(item)
    else:
        yield value


def _document(trial: Trial, source: Source, member: str, digest: str) -> ParsedDocument:
    text = SectionedText()
    write_trial(trial, text)
    canonical, sections, blocks = text.finish()
    return ParsedDocument(
        source_uri=source.uri,
        member=member,
        digest=digest,
        format="ctgov",
        metadata=_metadata(trial),
        text=canonical,
        sections=sections,
        blocks=blocks,
        tables=tuple(text.tables),
        references=tuple(_references(trial)),
        full_text=len(sections) > 1,
        warnings=tuple(text.warnings),
        identity=Identity(trial.nct_id, f"nct:{trial.nct_id}", _edition(trial)),
    )


def _edition(trial: Trial) -> int:
    """Return the day of a trial's last update as a number, such as 20240131; 0 when it is not stated."""
    day = trial.date("updated").replace("-", "")
    return int(day.ljust(len("20240131"), "0")) if day else 0


def _references(trial: Trial) -> Iterator[Reference]:
    cited = [one for one in trial.publications if one.citation or one.pmid]
    for number, one in enumerate(cited, 1):
        pmid = normalize_pmid(one.pmid)
        entry = read_entry(one.citation or f"PMID {pmid}", key=f"ref-{number}")
        yield dataclasses.replace(entry, pmid=pmid or entry.pmid)


def _metadata(trial: Trial) -> DocumentMetadata:
    published = trial.date("first_posted")
    others = [("org-study", trial.org_id), *(("secondary", each) for each in trial.secondary_ids)]
    properties = {
        "acronym": trial.acronym,
        "allocation": trial.allocation,
        "brief_title": trial.brief_title,
        "conditions": "; ".join(trial.conditions),
        "countries": "; ".join(trial.countries),
        "enrollment": trial.enrollment,
        "has_results": "true" if trial.results is not None else "false",
        "interventions": "; ".join(one.name for one in trial.interventions),
        "masking": trial.masking,
        "phase": trial.phase,
        "sex": trial.sex,
        "sponsor": trial.sponsor,
        "sponsor_class": trial.sponsor_class,
        "status": trial.status,
        "study_type": trial.study_type,
    }
    return DocumentMetadata(
        ids=external_ids((("nct", trial.nct_id),), others),
        title=trial.title or trial.nct_id,
        published=published,
        year=int(published[:4]) if published else None,
        dates=tuple(sorted((kind, day) for kind, day in trial.dates if kind != "first_posted")),
        article_type="clinical-trial",
        keywords=trial.keywords,
        mesh=tuple(MeshHeading(term) for term in trial.mesh),
        properties=tuple(sorted((name, value) for name, value in properties.items() if value)),
    )
