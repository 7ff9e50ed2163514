"""What ``fuzz_parsers.py`` starts from: a small fictional file of every format, and files built to hurt.

A folder of real files gives further seeds; they are told apart by the product's own format selector.
"""

import gzip
import io
import json
import struct
from collections.abc import Callable, Mapping

import docx
import nibabel
import numpy as np
import pptx
from PIL import Image
from pydicom.dataset import Dataset, FileDataset, FileMetaDataset
from pydicom.sequence import Sequence
from pydicom.uid import UID, ExplicitVRLittleEndian, RLELossless

__all__ = ["HOSTILE", "seed_files"]

Files = dict[str, tuple[str, bytes]]
"""``label -> (file name, bytes)``; the label begins with the format."""

_WORDS = "Zorbanib 40 mg was given to 12 patients with fictitis (p < 0.05), see Figure 1 [2]."
_JATS = f"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE article PUBLIC "-//NLM//DTD JATS v1.2//EN" "x.dtd">
<article xmlns:xlink="http://www.w3.org/1999/xlink" article-type="research-article"><front><article-meta>
<article-id pub-id-type="pmid">99999901</article-id><article-id pub-id-type="doi">10.9999/f.1</article-id>
<title-group><article-title>Zorbanib in <italic>fictitis</italic></article-title></title-group>
<contrib-group><contrib contrib-type="author"><name><surname>Doe</surname><given-names>J</given-names></name>
<xref ref-type="aff" rid="a1"/></contrib></contrib-group><aff id="a1">Nowhere</aff>
<pub-date pub-type="epub"><day>2</day><month>3</month><year>2021</year></pub-date>
<abstract><sec><title>Aim</title><p>{_WORDS.replace("<", "&lt;")}</p></sec></abstract></article-meta></front>
<body><sec sec-type="methods"><title>Methods</title><p>We did <sup>2</sup> things &alpha;
<xref ref-type="bibr" rid="r1">1</xref>-<xref ref-type="bibr" rid="r3">3</xref>.</p>
<disp-formula><mml:math xmlns:mml="http://www.w3.org/1998/Math/MathML"><mml:mi>x</mml:mi></mml:math></disp-formula>
<table-wrap id="t1"><label>Table 1</label><caption><p>Doses</p></caption><table><thead><tr><th colspan="2">A</th>
</tr><tr><th>B</th><th>C</th></tr></thead><tbody><tr><td rowspan="2">1</td><td>2</td></tr><tr><td>3</td></tr>
</tbody></table></table-wrap><fig id="f1"><label>Figure 1</label><caption><p>A curve.</p></caption>
<graphic xlink:href="f1.png"/></fig><list list-type="bullet"><list-item><p>one</p></list-item></list></sec></body>
<back><ref-list><ref id="r1"><mixed-citation>Doe 2001 <pub-id pub-id-type="pmid">1234</pub-id></mixed-citation>
</ref><ref id="r3"><label>3</label><element-citation><article-title>Three</article-title><year>2003</year>
</element-citation></ref></ref-list></back></article>"""
_PUBMED = """<?xml version="1.0"?><PubmedArticleSet><PubmedArticle><MedlineCitation><PMID Version="1">99999902</PMID>
<Article><Journal><Title>J Fict</Title><JournalIssue><PubDate><Year>2020</Year><Month>Feb</Month></PubDate>
</JournalIssue></Journal><ArticleTitle>Zorbanib: a <i>review</i></ArticleTitle><Abstract>
<AbstractText Label="AIM">To see 3 things.</AbstractText><AbstractText>Then more.</AbstractText></Abstract>
<AuthorList><Author><LastName>Doe</LastName><Initials>J</Initials></Author></AuthorList></Article>
<MeshHeadingList><MeshHeading><DescriptorName UI="D000001">Fictitis</DescriptorName></MeshHeading></MeshHeadingList>
</MedlineCitation><PubmedData><ArticleIdList><ArticleId IdType="doi">10.9999/f.2</ArticleId></ArticleIdList>
</PubmedData></PubmedArticle><DeleteCitation><PMID>5</PMID></DeleteCitation></PubmedArticleSet>"""
_HTML = f"""<!DOCTYPE html><html><head><meta charset="utf-8"><title>Zorbanib</title>
<meta name="citation_doi" content="10.9999/f.3"><meta name="citation_author" content="Doe, J"></head><body>
<h1>Zorbanib</h1><p>{_WORDS.replace("<", "&lt;")}</p><h2>Methods</h2><ul><li>one<li>two</ul>
<table><tr><th>a<th>b<tr><td colspan=2>1<tr><td rowspan=3>2<td>3</table><figure><img src="a.png">
<figcaption>Figure 1. A curve</figcaption></figure><script>var a = "<p>";</script><pre>x  y</pre></body></html>"""
_MARKDOWN = f"""---
title: Zorbanib
year: 2021
---
# Zorbanib

{_WORDS}

## Methods

* one
* two
  1. three

| a | b |
|---|---|
| 1 | 2 |

> quoted `code` and [a link](http://x.example/1)

![Figure 1. A curve](f1.png)

## References

1. Doe J. J Fict 2001;1:2. PMID: 1234
"""
_TEXT = f"ZORBANIB IN FICTITIS\n\nMethods\n\n{_WORDS}\nMore of it.\n\n1. one\n2. two\n\nReferences\n[1] Doe J. 2001.\n"
_SPL = f"""<?xml version="1.0" encoding="UTF-8"?><document xmlns="urn:hl7-org:v3"><id root="D-1"/>
<code displayName="HUMAN PRESCRIPTION DRUG LABEL"/><title>Zorbanib</title><effectiveTime value="20210304"/>
<setId root="S-1"/><versionNumber value="3"/><component><structuredBody><component><section>
<subject><manufacturedProduct><manufacturedProduct><code code="9999-0001"/><name>ZORBANIB</name>
<ingredient classCode="ACTIB"><quantity><numerator value="40" unit="mg"/><denominator value="1"/></quantity>
<ingredientSubstance><code code="AB12CD34EF"/><name>ZORBANIB</name></ingredientSubstance></ingredient>
</manufacturedProduct></manufacturedProduct></subject></section></component><component><section>
<code code="34066-1"/><title>BOXED WARNING</title><text><paragraph>{_WORDS.replace("<", "&lt;")}</paragraph>
<list listType="ordered"><item>one<list><item>two</item></list></item></list><table><caption>Doses</caption>
<thead><tr><th colspan="2">A</th></tr></thead><tbody><tr><td>1</td><td rowspan="2">2</td></tr></tbody></table>
<renderMultiMedia referencedObject="M1"/></text></section></component></structuredBody></component></document>"""
_CTGOV_XML = """<clinical_study rank="1"><id_info><org_study_id>Z-1</org_study_id><nct_id>NCT99990001</nct_id></id_info>
<brief_title>Zorbanib in fictitis</brief_title><sponsors><lead_sponsor><agency>Fictive</agency></lead_sponsor></sponsors>
<brief_summary><textblock>First.

   - one
   - two</textblock></brief_summary><overall_status>Completed</overall_status><start_date>March 4, 2021</start_date>
<phase>Phase 2/Phase 3</phase><condition>Fictitis</condition><intervention><intervention_type>Drug</intervention_type>
<intervention_name>Zorbanib</intervention_name></intervention><eligibility><criteria><textblock>Inclusion Criteria:
  1. Adults</textblock></criteria><gender>All</gender></eligibility><clinical_results><participant_flow><group_list>
<group group_id="P1"><title>A</title></group></group_list><period_list><period><title>Overall</title><milestone_list>
<milestone><title>STARTED</title><participants_list><participants group_id="P1" count="30"/></participants_list>
</milestone></milestone_list></period></period_list></participant_flow></clinical_results></clinical_study>"""
_TRIAL = {
    "protocolSection": {
        "identificationModule": {"nctId": "NCT99990001", "briefTitle": "Zorbanib in Fictitis"},
        "statusModule": {"overallStatus": "COMPLETED", "startDateStruct": {"date": "2021-03-04"}},
        "descriptionModule": {"briefSummary": "Levels \\>= 5."},
        "conditionsModule": {"conditions": ["Fictitis"]},
        "designModule": {"phases": ["PHASE2"], "enrollmentInfo": {"count": 30}},
        "armsInterventionsModule": {"interventions": [{"type": "DRUG", "name": "Zorbanib"}]},
        "eligibilityModule": {"eligibilityCriteria": "Inclusion Criteria:\n\n* Adults", "minimumAge": "18 Years"},
    },
    "resultsSection": {
        "outcomeMeasuresModule": {
            "outcomeMeasures": [{
                "type": "PRIMARY", "title": "Response", "unitOfMeasure": "patients",
                "groups": [{"id": "OG000", "title": "A"}], "denoms": [{"units": "P", "counts": [{"groupId": "OG000", "value": "30"}]}],
                "classes": [{"categories": [{"measurements": [{"groupId": "OG000", "value": "1.5", "spread": "2"}]}]}],
            }]
        },
        "adverseEventsModule": {
            "eventGroups": [{"id": "EG000", "title": "A", "seriousNumAtRisk": 30}],
            "seriousEvents": [{"term": "Fall", "stats": [{"groupId": "EG000", "numAffected": 1, "numAtRisk": 30}]}],
        },
    },
}  # fmt: skip
_TRIAL_V1 = {
    "FullStudiesResponse": {"FullStudies": [{"Rank": 1, "Study": {"ProtocolSection": {
        "IdentificationModule": {"NCTId": "NCT99990002", "BriefTitle": "Zorbanib again"},
        "ConditionsModule": {"ConditionList": {"Condition": ["Fictitis"]}},
        "EligibilityModule": {"EligibilityCriteria": "Adults", "MinimumAge": "18 Years"},
    }}}]}
}  # fmt: skip
_LABEL = {
    "results": [{
        "set_id": "S-2", "id": "D-2", "version": "7", "effective_time": "20200131",
        "indications_and_usage": ["1 USES Zorbanib is for fictions."], "boxed_warning": ["WARNING: hearts"],
        "dosage_and_administration_table": ["<table><tr><th>a</th><td rowspan=\"2\">1</td></tr><tr><td>2</td></tr></table>"],
        "openfda": {"brand_name": ["ZORBANIB"], "generic_name": ["zorbanib"], "product_ndc": ["9999-0001"]},
    }]
}  # fmt: skip
_PATENT = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE us-patent-grant SYSTEM "us-patent-grant-v44-2013-05-16.dtd" [ ]>
<us-patent-grant><us-bibliographic-data-grant><publication-reference><document-id><country>US</country>
<doc-number>07123456</doc-number><kind>B2</kind><date>20140318</date></document-id></publication-reference>
<invention-title>Kit of fictions</invention-title></us-bibliographic-data-grant><abstract><p>Short.</p></abstract>
<description><heading level="1">BACKGROUND</heading><p>Old <maths id="m"><math><mfrac><mi>a</mi><mi>b</mi></mfrac></math>
</maths> ways.<ul><li>one 10<sup>6</sup></li></ul></p><tables><table><tgroup cols="2"><colspec colname="1"/>
<tbody><row><entry namest="1" nameend="2">1</entry></row><row><entry morerows="1">2</entry><entry>3</entry></row></tbody>
</tgroup></table></tables></description><claims><claim num="1"><claim-text>1. A kit:<claim-text>a vial.</claim-text>
</claim-text></claim></claims></us-patent-grant>
"""
_APS = (
    "PATN\nWKU  041234567\nSRC  6\nAPN  1234567\nAPD  19800101\nTTL  Kit of fictions\nISD  19820101\nINVT\nNAM  Doe; Jo\n"
    "ABST\nPAL  Short.\nBSUM\nPAC  BACKGROUND\nPAR  Old ways\n      go on.\nTBL  a  1\n     b  2\nDETD\nPAR  More.\n"
    "CLMS\nSTM  I claim:\nNUM  1.\nPAR  1. A kit:\nPA1  a vial.\n"
)  # fmt: skip
_MOL = (
    "ethanol\n  test\n\n  3  2  0  0  0  0            999 V2000\n    0.0000    0.0000    0.0000 C   0  0\n"
    "    1.0000    0.0000    0.0000 C   0  0\n    2.0000    0.0000    0.0000 O   0  0\n  1  2  1  0\n  2  3  1  0\nM  END\n"
)  # fmt: skip
_SDF = (
    _MOL
    + "> <ID>\nZ-1\n\n> <NAME>\nethanol\n\n$$$$\n"
    + _MOL.replace(" O ", " N ")
    + "> <SCORE>\n1.5\n\n$$$$\n"
)
_MOL2 = (
    "@<TRIPOS>MOLECULE\nmethanol\n 6 5 0 0 0\nSMALL\nNO_CHARGES\n\n@<TRIPOS>ATOM\n 1 C1 0.00 0.00 0.00 C.3 1 LIG 0.0\n"
    " 2 O1 1.40 0.00 0.00 O.3 1 LIG 0.0\n 3 H1 -0.40 1.00 0.00 H 1 LIG 0.0\n 4 H2 -0.40 -0.50 0.90 H 1 LIG 0.0\n"
    " 5 H3 -0.40 -0.50 -0.90 H 1 LIG 0.0\n 6 H4 1.80 0.90 0.00 H 1 LIG 0.0\n@<TRIPOS>BOND\n 1 1 2 1\n 2 1 3 1\n 3 1 4 1\n"
    " 4 1 5 1\n 5 2 6 1\n"
)  # fmt: skip
_SMI = "CC(=O)Oc1ccccc1C(=O)O aspirin\nC[C@H](N)C(=O)O alanine\n[Na+].[Cl-] salt\nc1ccc2c(c1)ccc1ccccc12 x\nCC%10CC%10 ring\n"
_CSV = 'name,smiles,score\naspirin,CC(=O)Oc1ccccc1C(=O)O,1.5\n"ethanol, pure",CCO,2\nwater,O,3\n'
_INCHI = "InChI=1S/C2H6O/c1-2-3/h3H,2H2,1H3\tLFQSCWFLJHTTHZ-UHFFFAOYSA-N\tethanol\nInChI=1S/CH4/h1H4 methane\n"


def _structure_atoms() -> list[str]:
    names = (" N  ", " CA ", " C  ", " O  ")
    return [
        f"ATOM  {4 * at + k + 1:5d} {name} {residue} A{at + 1:4d}    {1.5 * (4 * at + k):8.3f}{0.0:8.3f}{0.0:8.3f}"
        f"  1.00 20.00           {name.strip()[0]}"
        for at, residue in enumerate(("MET", "ALA", "GLY"))
        for k, name in enumerate(names)
    ]


def _pdb() -> bytes:
    head = [
        "HEADER    TRANSFERASE                             07-MAR-13   9ZZZ              ",
        "TITLE     STRUCTURE OF A FICTIONAL KINASE", "COMPND    MOL_ID: 1;", "COMPND   2 MOLECULE: KINASE 1;",
        "COMPND   3 CHAIN: A;", "SOURCE    MOL_ID: 1;", "SOURCE   2 ORGANISM_SCIENTIFIC: HOMO SAPIENS;",
        "EXPDTA    X-RAY DIFFRACTION", "AUTHOR    A.B.NOBODY", "REMARK   2 RESOLUTION.    1.95 ANGSTROMS.",
        "SEQRES   1 A    3  MET ALA GLY", "HETNAM     QQQ AN INVENTED THING", "FORMUL   3  QQQ    C12 H11 N O2",
    ]  # fmt: skip
    ligand = "HETATM   13  C1  QQQ A 101      30.000   0.000   0.000  1.00 20.00           C"
    return "\n".join(
        [*head, *_structure_atoms(), "TER", ligand, "CONECT   13   12", "END"]
    ).encode()


def _cif() -> bytes:
    columns = (
        "group_PDB id type_symbol label_atom_id label_alt_id label_comp_id label_asym_id label_entity_id label_seq_id"
        " Cartn_x Cartn_y Cartn_z occupancy B_iso_or_equiv auth_seq_id auth_asym_id pdbx_PDB_model_num"
    )
    atoms = "\n".join(
        f"ATOM {n} C CA . ALA A 1 {n} {n}.0 0.0 0.0 1.0 20.0 {n} A 1" for n in range(1, 9)
    )
    sites = "\n".join(f"_atom_site.{name}" for name in columns.split())
    return (
        "data_9ZZZ\n_entry.id 9ZZZ\n_struct.title 'A fictional kinase'\n_exptl.method 'X-RAY DIFFRACTION'\n"
        "_refine.ls_d_res_high 1.95\nloop_\n_entity.id\n_entity.type\n_entity.pdbx_description\n1 polymer 'Kinase 1'\n"
        "2 non-polymer 'AN INVENTED THING'\nloop_\n_chem_comp.id\n_chem_comp.type\n_chem_comp.name\n"
        "ALA 'L-peptide linking' ALANINE\nQQQ non-polymer ;\nA thing\n;\n"
        f"loop_\n{sites}\n{atoms}\nHETATM 9 C C1 . QQQ B 2 . 20.0 0.0 0.0 1.0 20.0 101 A 1\n#\n"
    ).encode()


def _dataset(syntax: str = ExplicitVRLittleEndian) -> FileDataset:
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID = UID("1.2.840.10008.5.1.4.1.1.2")
    meta.MediaStorageSOPInstanceUID = UID("1.2.3.4")
    meta.TransferSyntaxUID = UID(syntax)
    dataset = FileDataset("", {}, file_meta=meta, preamble=b"\0" * 128)
    dataset.SOPClassUID, dataset.SOPInstanceUID = "1.2.840.10008.5.1.4.1.1.2", "1.2.3.4"
    dataset.Modality, dataset.BodyPartExamined, dataset.SliceThickness = "CT", "CHEST", "2.5"
    dataset.Rows, dataset.Columns, dataset.SamplesPerPixel = 16, 16, 1
    dataset.PhotometricInterpretation = "MONOCHROME2"
    dataset.BitsAllocated, dataset.BitsStored, dataset.HighBit, dataset.PixelRepresentation = (
        16,
        12,
        11,
        0,
    )
    dataset.WindowCenter, dataset.WindowWidth, dataset.PatientName = "40", "400", "ZZ^PLANTED"
    code = Dataset()
    code.CodeValue, code.CodingSchemeDesignator, code.CodeMeaning = "51185008", "SCT", "Chest"
    dataset.AnatomicRegionSequence = Sequence([code])
    dataset.PixelData = np.tile(np.arange(16, dtype="<u2") * 100, (16, 1)).tobytes()
    return dataset


def _saved(dataset: FileDataset) -> bytes:
    stream = io.BytesIO()
    dataset.save_as(stream, enforce_file_format=True)
    return stream.getvalue()


def _rle() -> bytes:
    dataset = _dataset()
    dataset.compress(RLELossless, generate_instance_uid=False)
    return _saved(dataset)


def _nifti(version: int = 1) -> bytes:
    voxels = np.arange(6 * 7 * 8, dtype=np.int16).reshape(6, 7, 8)
    make = nibabel.Nifti1Image if version == 1 else nibabel.Nifti2Image
    return bytes(make(voxels, np.eye(4)).to_bytes())


def _picture(kind: str, mode: str = "RGB") -> bytes:
    pixels = np.arange(24 * 20 * 3, dtype=np.uint8).reshape(24, 20, 3)
    stream = io.BytesIO()
    Image.fromarray(pixels).convert(mode).save(stream, kind)
    return stream.getvalue()


def _pdf_of(objects: list[bytes], root: int = 1) -> bytes:
    data, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return data + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer << /Size %d /Root %d 0 R >>\nstartxref\n%d\n%%%%EOF\n"
        % (len(objects) + 1, table, len(objects) + 1, root, len(data))
    )


def _stream(content: bytes, entries: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), entries, content)


_PAGE = (
    b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources"
    b" << /Font << /F 5 0 R >> %s >> >>"
)
_FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def _pdf(extra: bytes = b"", content: bytes = b"", more: list[bytes] | None = None) -> bytes:
    lines = (
        "Zorbanib in fictitis",
        "Methods",
        *(_WORDS.replace("(", "").replace(")", "") for _ in range(6)),
    )
    shown = b"".join(
        b"BT /F %d Tf 72 %d Td (%s) Tj ET\n" % (18 if n == 0 else 11, 720 - 16 * n, line.encode())
        for n, line in enumerate(lines)
    )
    pages = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
    head = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        pages,
        _PAGE % extra,
        _stream(shown + content),
        _FONT,
    ]
    return _pdf_of(head + (more or []))


def _docx() -> bytes:
    word = docx.Document()
    word.add_heading("Zorbanib in fictitis", 0)
    word.add_heading("Methods", 1)
    word.add_paragraph(_WORDS)
    word.add_paragraph("daily", style="List Bullet")
    table = word.add_table(2, 2)
    table.cell(0, 0).merge(table.cell(0, 1)).text = "Dose"
    table.cell(1, 0).text = "1"
    stream = io.BytesIO()
    word.save(stream)
    return stream.getvalue()


def _pptx() -> bytes:
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[1])
    slide.shapes.title.text = "Zorbanib in fictitis"
    slide.placeholders[1].text = _WORDS
    stream = io.BytesIO()
    show.save(stream)
    return stream.getvalue()


def seed_files() -> Files:
    """Return one or more valid small files of every format."""
    texts = {
        "jats": ("paper.xml", _JATS), "pubmed": ("records.xml", _PUBMED), "html": ("page.html", _HTML),
        "markdown": ("notes.md", _MARKDOWN), "text": ("notes.txt", _TEXT), "spl": ("label.xml", _SPL),
        "openfda-label": ("label.json", json.dumps(_LABEL)), "ctgov/xml": ("NCT99990001.xml", _CTGOV_XML),
        "ctgov/v2": ("NCT99990001.json", json.dumps(_TRIAL)), "ctgov/v1": ("studies.json", json.dumps(_TRIAL_V1)),
        "patent/grant": ("grant.xml", _PATENT), "patent/aps": ("grant.txt", _APS), "compound/sdf": ("a.sdf", _SDF),
        "compound/mol": ("a.mol", _MOL), "compound/mol2": ("a.mol2", _MOL2), "compound/smi": ("a.smi", _SMI),
        "compound/csv": ("a.csv", _CSV), "compound/inchi": ("a.inchi", _INCHI),
    }  # fmt: skip
    files: Files = {label: (name, text.encode()) for label, (name, text) in texts.items()}
    files |= {
        "structure/pdb": ("9zzz.pdb", _pdb()), "structure/cif": ("9zzz.cif", _cif()),
        "dicom/plain": ("scan.dcm", _saved(_dataset())), "dicom/rle": ("scan.dcm", _rle()),
        "nifti/1": ("brain.nii", _nifti()), "nifti/2": ("brain.nii", _nifti(2)),
        "nifti/gz": ("brain.nii.gz", gzip.compress(_nifti(), mtime=0)), "picture/png": ("x.png", _picture("PNG")),
        "picture/jpeg": ("x.jpg", _picture("JPEG")), "picture/tiff": ("x.tif", _picture("TIFF")),
        "picture/gif": ("x.gif", _picture("GIF", "P")), "picture/webp": ("x.webp", _picture("WEBP")),
        "picture/bmp": ("x.bmp", _picture("BMP")), "pdf": ("paper.pdf", _pdf()), "docx": ("report.docx", _docx()),
        "pptx": ("talk.pptx", _pptx()),
    }  # fmt: skip
    return files


def _dicom_nested(depth: int) -> bytes:
    """Return a file with sequences in sequences, of undefined length."""
    sequence = struct.pack("<HH2sHI", 0x0008, 0x2218, b"SQ", 0, 0xFFFFFFFF)
    item = struct.pack("<HHI", 0xFFFE, 0xE000, 0xFFFFFFFF)
    ends = struct.pack("<HHI", 0xFFFE, 0xE00D, 0) + struct.pack("<HHI", 0xFFFE, 0xE0DD, 0)
    return _saved(_dataset()) + (sequence + item) * depth + ends * depth


def _dicom_huge() -> bytes:
    dataset = _dataset()
    dataset.Rows = dataset.Columns = 65535
    dataset.NumberOfFrames = "2147483647"
    return _saved(dataset)


def _nifti_huge() -> bytes:
    data = bytearray(_nifti())
    data[40:56] = struct.pack("<8h", 7, *[32767] * 7)
    return bytes(data)


def _png_huge() -> bytes:
    data = bytearray(_picture("PNG"))
    data[16:24] = struct.pack(">II", 0x7FFFFFFF, 0x7FFFFFFF)
    return bytes(data)


def _pdf_forms(depth: int) -> bytes:
    """Return a PDF whose forms each draw the next one twice: 2 ** depth drawings."""
    forms = [
        _stream(
            b"/X Do /X Do" if n < depth - 1 else b"BT /F 9 Tf (x) Tj ET",
            b"/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /Font << /F 5 0 R >> /XObject"
            b" << /X %d 0 R >> >>" % (7 + n),
        )
        for n in range(depth)
    ]
    return _pdf(b"/XObject << /X 6 0 R >>", b"/X Do\n", forms)


def _pdf_circles() -> bytes:
    own = _stream(
        b"/X Do",
        b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 6 0 R >> >>",
    )
    return _pdf(b"/XObject << /X 6 0 R >>", b"/X Do\n", [own])


def _pdf_pages() -> bytes:
    pages = b"<< /Type /Pages /Kids [2 0 R 3 0 R 3 0 R] /Count 2147483647 /Parent 2 0 R >>"
    return _pdf_of([b"<< /Type /Catalog /Pages 2 0 R >>", pages, _PAGE % b"", _stream(b""), _FONT])


def _smiles_list(*structures: str) -> bytes:
    return "".join(f"{structure} x\n" for structure in structures).encode()


def _fullerene_like() -> str:
    """Return a long ladder of carbons: every atom looks like its neighbours."""
    return "C1CC1" + "C2C(C2)" * 200 + "C"


HOSTILE: Mapping[str, tuple[str, Callable[[], bytes]]] = {
    "dicom/nested-1000": ("a.dcm", lambda: _dicom_nested(1000)),
    "dicom/nested-100000": ("a.dcm", lambda: _dicom_nested(100_000)),
    "dicom/huge-image": ("a.dcm", _dicom_huge),
    "nifti/huge-volume": ("a.nii", _nifti_huge),
    "nifti/bomb": ("a.nii.gz", lambda: gzip.compress(_nifti_huge() + b"\0" * 300_000_000, 9, mtime=0)),
    "picture/huge-png": ("a.png", _png_huge),
    "picture/bomb": ("a.png", lambda: _picture("PNG") + b"\0" * 1_000_000),
    "pdf/forms-10": ("a.pdf", lambda: _pdf_forms(10)),
    "pdf/forms-24": ("a.pdf", lambda: _pdf_forms(24)),
    "pdf/circle": ("a.pdf", _pdf_circles),
    "pdf/pages": ("a.pdf", _pdf_pages),
    "pdf/brackets": ("a.pdf", lambda: b"%PDF-1.4\n1 0 obj\n" + b"[" * 1_000_000),
    "compound/ring-bonds": ("a.smi", lambda: _smiles_list("C" * 5000, "C1" * 99 + "C", "C(" * 5000 + ")" * 5000)),
    "compound/symmetric": ("a.smi", lambda: _smiles_list(_fullerene_like(), "C12C3C4C1C5C2C3C45" * 30)),
    "compound/counts": ("a.mol", lambda: b"x\n\n\n999999  0  0  0  0            999 V2000\n" + b"C\n" * 10),
    "compound/v3000": ("a.mol", lambda: b"x\n\n\n  0  0  0  0  0            999 V3000\nM  V30 BEGIN CTAB\n"
        b"M  V30 COUNTS 2147483647 2147483647 0 0 0\nM  V30 BEGIN ATOM\nM  END\n"),
    "compound/cells": ("a.csv", lambda: b"smiles" + b",x" * 200_000 + b"\nC" + b",1" * 200_000 + b"\n"),
    "compound/quote": ("a.csv", lambda: b'smiles,x\nC,"' + b"a,\n" * 2_000_000),
    "structure/atoms": ("a.pdb", lambda: _pdb() + b"\nHETATM99999  C1  QQQ A9999      1e9 nan" * 100_000),
    "structure/loop": ("a.cif", lambda: b"data_x\n_entry.id x\nloop_\n" + b"_a.b\n" * 200_000 + b"1 " * 200_000),
    "structure/quote": ("a.cif", lambda: b"data_x\n_entry.id x\n_struct.title\n;" + b"a\n" * 2_000_000),
    "jats/spans": ("a.xml", lambda: _JATS.replace('rowspan="2"', 'rowspan="99999999" colspan="99999999"').encode()),
    "html/spans": ("a.html", lambda: _HTML.replace("rowspan=3", "rowspan=65000 colspan=65000").encode()),
    "spl/spans": ("a.xml", lambda: _SPL.replace('rowspan="2"', 'rowspan="9999999" colspan="9999999"').encode()),
    "patent/spans": ("a.xml", lambda: _PATENT.replace('cols="2"', 'cols="99999999"').replace('morerows="1"', 'morerows="99999999"').encode()),
    "jats/laughs": ("a.xml", lambda: b'<!DOCTYPE a [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><article>&b;</article>'),
    "html/open": ("a.html", lambda: b"<div><b><i><table><tr><td>" * 60_000),
    "markdown/brackets": ("a.md", lambda: b"[" * 200_000 + b"](" * 200_000),
    "markdown/quotes": ("a.md", lambda: b"> " * 200_000 + b"x"),
    "markdown/stars": ("a.md", lambda: b"*a **b _c `" * 100_000),
    "text/blanks": ("a.txt", lambda: b"a" + b" " * 5_000_000 + b"b\n" + b"\n" * 2_000_000),
}  # fmt: skip
"""Makers of files that are built to take time, memory or the stack: ``label -> (file name, maker)``."""
