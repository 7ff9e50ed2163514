"""The shipped ontology: complete against the reference, closed, free of clashes, chemically right."""

import re
from collections import Counter
from importlib import resources
from typing import Any, Final

import pytest
import yaml
from rdkit import Chem
from rdkit.Chem.rdMolDescriptors import CalcMolFormula

_GROUP_OF: Final = {
    "gene": "oncogenes",
    "drug": "drugs",
    "disease": "diseases",
    "pathway": "pathways",
}
_REQUIRED: Final = {"type", "group", "aliases", "cui", "pathways", "related_drugs"}
_OPTIONAL: Final = {"smiles", "guard", "guarded_aliases"}
_LISTS: Final = ("aliases", "guarded_aliases", "pathways", "related_drugs")

REFERENCE: Final = {
    "oncogenes": """HER2; EGFR; BRCA1; BRCA2; TP53; KRAS; NRAS; ALK; ROS1; BRAF; MET; RET; PIK3CA; PTEN; AKT; mTOR;
        MEK; JAK2; VEGF; VEGFR; CSF-1R; PD-L1; PD-1; CTLA4; BCL2; MYC; CDK4; CDK6; FGFR; NOTCH1; WNT; ERK; CD20;
        KIT; FLT3; IDH1; IDH2; PARP; BRCA1/2; CDK4/6; IDH1/2""",
    "drugs": """fruquintinib; savolitinib; surufatinib; sunitinib; cabozantinib; lenvatinib; regorafenib;
        sintilimab; camrelizumab; imatinib; metformin; aspirin; trastuzumab; pembrolizumab; nivolumab; olaparib;
        osimertinib; sotorasib; vemurafenib; palbociclib; bevacizumab; everolimus; venetoclax""",
    "diseases": """breast cancer; lung cancer; colorectal cancer; pancreatic cancer; renal cancer; melanoma;
        leukemia; lymphoma; neuroendocrine tumor; diabetes; COVID-19""",
    "pathways": "PI3K-AKT; MAPK; JAK-STAT; apoptosis; angiogenesis",
}
"""What the plugin's reference lists, by group; at least 70."""

BIOLOGICS: Final = """
trastuzumab; pertuzumab; trastuzumab emtansine; trastuzumab deruxtecan; bevacizumab; ramucirumab;
aflibercept; cetuximab; panitumumab; necitumumab; amivantamab; rituximab; obinutuzumab; ocrelizumab;
daratumumab; pembrolizumab; nivolumab; sintilimab; camrelizumab; tislelizumab; toripalimab; cemiplimab;
atezolizumab; durvalumab; avelumab; ipilimumab; tremelimumab; sacituzumab govitecan; enfortumab vedotin;
brentuximab vedotin; blinatumomab; denosumab; adalimumab; infliximab; etanercept; tocilizumab; ustekinumab;
secukinumab; dupilumab; omalizumab; insulin; semaglutide; liraglutide
"""
"""Antibodies, fusion proteins and peptides: they have no SMILES."""

STRUCTURES: Final = """
fruquintinib | C21H19N3O5 | BALLNEJQLSTPIO-UHFFFAOYSA-N
surufatinib | C24H28N6O3S | TTZSNFLLYPYKIL-UHFFFAOYSA-N
sunitinib | C22H27FN4O2 | WINHZLLDWRZWRT-ATVHPVEESA-N
cabozantinib | C28H24FN3O5 | ONIQOQHATWINJY-UHFFFAOYSA-N
lenvatinib | C21H19ClN4O4 | WOSKHXYHFSIKNG-UHFFFAOYSA-N
regorafenib | C21H15ClF4N4O3 | FNHKPVJBJVTLMP-UHFFFAOYSA-N
sorafenib | C21H16ClF3N4O3 | MLDQJTXFUGDVEO-UHFFFAOYSA-N
axitinib | C22H18N4OS | RITAVMQDGBJQJZ-FMIVXFBMSA-N
pazopanib | C21H23N7O2S | CUIHSIWYWATEQL-UHFFFAOYSA-N
tivozanib | C22H19ClN4O5 | SPMVMDHWKHCIDT-UHFFFAOYSA-N
vandetanib | C22H24BrFN4O2 | UHTHHESEBZOYNR-UHFFFAOYSA-N
apatinib | C24H23N5O | WPEWQEMJFLWMLV-UHFFFAOYSA-N
anlotinib | C23H22FN3O3 | KSMZEXLVHXZPEF-UHFFFAOYSA-N
nintedanib | C31H33N5O4 | XZXHXSATPCNXJR-ZIADKAODSA-N
savolitinib | C17H15N9 | XYDNMOZJKOGZLS-NSHDSACASA-N
capmatinib | C23H17FN6O | LIOLIMKSCNQPLV-UHFFFAOYSA-N
tepotinib | C29H28N6O2 | AHYMHWXQRWRBKT-UHFFFAOYSA-N
imatinib | C29H31N7O | KTUFNOKKBVMGRW-UHFFFAOYSA-N
nilotinib | C28H22F3N7O | HHZIURLSWUIHRB-UHFFFAOYSA-N
dasatinib | C22H26ClN7O2S | ZBNZXTGUTAYRHI-UHFFFAOYSA-N
bosutinib | C26H29Cl2N5O3 | UBPYILGKFZZVDX-UHFFFAOYSA-N
ponatinib | C29H27F3N6O | PHXJVRSECIGDHY-UHFFFAOYSA-N
gefitinib | C22H24ClFN4O3 | XGALLCVXEZPNRQ-UHFFFAOYSA-N
erlotinib | C22H23N3O4 | AAKJLRGGTJKAMG-UHFFFAOYSA-N
icotinib | C22H21N3O4 | QQLKULDARVNMAL-UHFFFAOYSA-N
afatinib | C24H25ClFN5O3 | ULXXDDBFHOBEHA-CWDCEQMOSA-N
dacomitinib | C24H25ClFN5O2 | LVXJQMNHJWSHET-AATRIKPKSA-N
osimertinib | C28H33N7O2 | DUYJMQONPNNFPI-UHFFFAOYSA-N
aumolertinib | C30H35N7O2 | DOEOECWDNSEFDN-UHFFFAOYSA-N
lazertinib | C30H34N8O3 | RRMJMHOQSALEJJ-UHFFFAOYSA-N
mobocertinib | C32H39N7O4 | AZSRSNUQCUDCGG-UHFFFAOYSA-N
lapatinib | C29H26ClFN4O4S | BCFGMOOMADDAQU-UHFFFAOYSA-N
neratinib | C30H29ClN6O3 | JWNPDZNEKVCWMY-VQHVLOKHSA-N
tucatinib | C26H24N8O2 | SDEAXTCZPQIFQM-UHFFFAOYSA-N
pyrotinib | C32H31ClN6O3 | SADXACCFNXBCFY-IYNHSRRRSA-N
crizotinib | C21H22Cl2FN5O | KTEIFNKAUNYNJU-GFCCVEGCSA-N
alectinib | C30H34N4O2 | KDGFLJKFZUIJMX-UHFFFAOYSA-N
ceritinib | C28H36ClN5O3S | VERWOWGGCGHDQE-UHFFFAOYSA-N
brigatinib | C29H39ClN7O2P | AILRADAXUVEEIR-UHFFFAOYSA-N
lorlatinib | C21H19FN6O2 | IIXWYSCJSQVBQM-LLVKDONJSA-N
entrectinib | C31H34F2N6O2 | HAYYBYPASCDWEQ-UHFFFAOYSA-N
larotrectinib | C21H22F2N6O2 | NYNZQNWKBKUAII-KBXCAEBGSA-N
selpercatinib | C29H31N7O3 | XIIOFHFUYBLOLW-UHFFFAOYSA-N
pralsetinib | C27H32FN9O2 | GBLBJPZSROAGMF-RWYJCYHVSA-N
vemurafenib | C23H18ClF2N3O3S | GPXBXXGIAQBQNI-UHFFFAOYSA-N
dabrafenib | C23H20F3N5O2S2 | BFSMGDJOXZAERB-UHFFFAOYSA-N
encorafenib | C22H27ClFN7O4S | CMJCXYNUCSMDBY-ZDUSSCGKSA-N
trametinib | C26H23FIN5O4 | LIRYPHYGHXZJBZ-UHFFFAOYSA-N
cobimetinib | C21H21F3IN3O2 | BSMCAPRUBJMWDF-KRWDZBQOSA-N
binimetinib | C17H15BrF2N4O3 | ACWZRVQXLIRSDF-UHFFFAOYSA-N
selumetinib | C17H15BrClFN4O3 | CYOHGALHFOKKQC-UHFFFAOYSA-N
sotorasib | C30H30F2N6O3 | NXQKSXLFSAEQCZ-SFHVURJKSA-N
adagrasib | C32H35ClFN7O2 | PEMUGDMSUDYLHU-ZEQRLZLVSA-N
palbociclib | C24H29N7O2 | AHJRHEGDXFFMBM-UHFFFAOYSA-N
ribociclib | C23H30N8O | RHXHGRAEPCAFML-UHFFFAOYSA-N
abemaciclib | C27H32F2N8 | UZWDCWONPYILKI-UHFFFAOYSA-N
everolimus | C53H83NO14 | HKVAMNSJSFKALM-GKUWKFKPSA-N
sirolimus | C51H79NO13 | QFJCIRLUMZQUOT-HPLJOQBZSA-N
temsirolimus | C56H87NO16 | CBPNZQVSJQDFBE-FUXHJELOSA-N
venetoclax | C45H50ClN7O7S | LQBVNQSMGBZMKD-UHFFFAOYSA-N
olaparib | C24H23FN4O3 | FDLYAMZZIXQODN-UHFFFAOYSA-N
niraparib | C19H20N4O | PCHKPVIQAHNQLW-CQSZACIVSA-N
rucaparib | C19H18FN3O | HMABYWSNWIZPAG-UHFFFAOYSA-N
talazoparib | C19H14F2N6O | HWGQMRYQVZSGDQ-HZPDHXFCSA-N
ibrutinib | C25H24N6O2 | XYFPWWZEPKGCCK-GOSISDBHSA-N
acalabrutinib | C26H23N7O2 | WDENQIQQYWYTPO-IBGZPJMESA-N
zanubrutinib | C27H29N5O3 | RNOAOAWBMHREKO-QFIPXVFZSA-N
ruxolitinib | C17H18N6 | HFNKQEVNSGCOJV-OAHLLOKOSA-N
tofacitinib | C16H20N6O | UJLAWZDWDVHWOW-YPMHNXCESA-N
baricitinib | C16H17N7O2S | XUZMWHLSFXCVMG-UHFFFAOYSA-N
upadacitinib | C17H19F3N6O | WYQFJHHDOKWSHR-MNOVXSKESA-N
midostaurin | C35H30N4O4 | BMGQWWVMWDBQGC-IIFHNQTCSA-N
gilteritinib | C29H44N8O3 | GYQYAJJFPNQOOW-UHFFFAOYSA-N
quizartinib | C29H32N6O4S | CVWXJKQAOSCOAB-UHFFFAOYSA-N
ivosidenib | C28H22ClF3N6O3 | WIJZXSAJMHAVGX-DHLKQENFSA-N
enasidenib | C19H17F6N7O | DYLUUSLLRIQKOE-UHFFFAOYSA-N
idelalisib | C22H18FN7O | IFSDAJWBUCMOAH-HNNXBMFYSA-N
alpelisib | C19H22F3N5O2S | STUWGJZDJHPWGZ-LBPRGKRZSA-N
capivasertib | C21H25ClN6O2 | JDUBGYFRJFOXQC-KRWDZBQOSA-N
erdafitinib | C25H30N6O2 | OLAHOMJCDNXHFI-UHFFFAOYSA-N
pemigatinib | C24H27F2N5O4 | HCDMJFOHIXMBOV-UHFFFAOYSA-N
infigratinib | C26H31Cl2N7O3 | QADPYRIHXKWUSV-UHFFFAOYSA-N
pexidartinib | C20H15ClF3N5 | JGWRKYUXBBNENE-UHFFFAOYSA-N
avapritinib | C26H27FN10 | DWYRIWUZIJHQKQ-SANMLTNESA-N
ripretinib | C24H21BrFN5O2 | CEFJVGZHQAGLHS-UHFFFAOYSA-N
cisplatin | H6Cl2N2Pt | LXZZYRPGZAFOLE-UHFFFAOYSA-L
carboplatin | C6H12N2O4Pt | OLESAACUTLOWQZ-UHFFFAOYSA-L
oxaliplatin | C8H14N2O4Pt | ZROHGHOFXNOHSO-BNTLRKBRSA-L
paclitaxel | C47H51NO14 | RCINICONZNJXQF-MZXODVADSA-N
docetaxel | C43H53NO14 | ZDZOTLJHXYCWBA-VCVYQWHSSA-N
doxorubicin | C27H29NO11 | AOJJSUZBOXZQNB-TZSSRYMLSA-N
irinotecan | C33H38N4O6 | UWKQSNNFCGGAFS-XIFFEERXSA-N
topotecan | C23H23N3O5 | UCFGDBYHRUNTLO-QHCPKHFHSA-N
etoposide | C29H32O13 | VJJPUSNTGOMMGY-MRVIYFEKSA-N
fluorouracil | C4H3FN2O2 | GHASVSINZRGABV-UHFFFAOYSA-N
capecitabine | C15H22FN3O6 | GAGWJHPBXLXJQN-UORFTKCHSA-N
gemcitabine | C9H11F2N3O4 | SDUQYLNIPVEERB-QPPQHZFASA-N
methotrexate | C20H22N8O5 | FBOZXECLQNJBKD-ZDUSSCGKSA-N
pemetrexed | C20H21N5O6 | WBXPDJSOTKVWSJ-ZDUSSCGKSA-N
cytarabine | C9H13N3O5 | UHDGCWIWMRVCDJ-CCXZUQQUSA-N
azacitidine | C8H12N4O5 | NMUSYJAQQFHJEW-KVTDHHQDSA-N
decitabine | C8H12N4O4 | XAUDJQYHKZQPEU-KVQBGUIXSA-N
vorinostat | C14H20N2O3 | WAEXFXRVDQXREF-UHFFFAOYSA-N
cyclophosphamide | C7H15Cl2N2O2P | CMSMOCZEIVJLDB-UHFFFAOYSA-N
temozolomide | C6H6N6O2 | BPEGJWRSRHCHSN-UHFFFAOYSA-N
tamoxifen | C26H29NO | NKANXQFJJICGDU-QPLCGJKRSA-N
fulvestrant | C32H47F5O3S | VWUXBMIQPBEWFH-WCCTWKNTSA-N
letrozole | C17H11N5 | HPJKCIUCZWXJDR-UHFFFAOYSA-N
anastrozole | C17H19N5 | YBBLVLTVTVSKRW-UHFFFAOYSA-N
abiraterone | C24H31NO | GZOSMCIZMLWJML-VJLLXTKPSA-N
enzalutamide | C21H16F4N4O2S | WXCXUHSOUPDCQV-UHFFFAOYSA-N
apalutamide | C21H15F4N5O2S | HJBWBFZLDZWPHF-UHFFFAOYSA-N
bortezomib | C19H25BN4O4 | GXJABQQUPOEUTA-RDJZCZTQSA-N
lenalidomide | C13H13N3O3 | GOTYRUGSSMKFNF-UHFFFAOYSA-N
thalidomide | C13H10N2O4 | UEJJHQNACJXSKW-UHFFFAOYSA-N
pomalidomide | C13H11N3O4 | UVSMNLNDYGZFPF-UHFFFAOYSA-N
dexamethasone | C22H29FO5 | UREBDLICKHMUKA-CXSFZGCWSA-N
prednisone | C21H26O5 | XOFYZVNMUHMLCC-ZPOLXVRWSA-N
aspirin | C9H8O4 | BSYNRYMUTXBXSQ-UHFFFAOYSA-N
salicylic acid | C7H6O3 | YGSDEFSMJLZEOE-UHFFFAOYSA-N
methyl salicylate | C8H8O3 | OSWPMRLSEDHDFF-UHFFFAOYSA-N
salicylamide | C7H7NO2 | SKZKKFZAGNVIMN-UHFFFAOYSA-N
diflunisal | C13H8F2O3 | HUPFGZXOMWLGNK-UHFFFAOYSA-N
salsalate | C14H10O5 | WVYADZUPLLSGPU-UHFFFAOYSA-N
mesalamine | C7H7NO3 | KBOPZPXVLCULAV-UHFFFAOYSA-N
sulfasalazine | C18H14N4O5S | NCEXYHBECQHGNR-QZQOTICOSA-N
ibuprofen | C13H18O2 | HEFNNWSXXWATRW-UHFFFAOYSA-N
naproxen | C14H14O3 | CMWTZPSULFXXJA-VIFPVBQESA-N
diclofenac | C14H11Cl2NO2 | DCOPUUMXTXDBNB-UHFFFAOYSA-N
celecoxib | C17H14F3N3O2S | RZEKVGVHFLEQIL-UHFFFAOYSA-N
indomethacin | C19H16ClNO4 | CGIGDMFJXJATDK-UHFFFAOYSA-N
acetaminophen | C8H9NO2 | RZVAJINKPMORJF-UHFFFAOYSA-N
morphine | C17H19NO3 | BQJCRHHNABKAKU-KBQPJGBKSA-N
warfarin | C19H16O4 | PJVWKTKQMONHTI-UHFFFAOYSA-N
apixaban | C25H25N5O4 | QNZCBYKSOIHPEH-UHFFFAOYSA-N
rivaroxaban | C19H18ClN3O5S | KGFYHTZWPPHNLQ-AWEZNQCLSA-N
clopidogrel | C16H16ClNO2S | GKTWGGQPFAXNFI-HNNXBMFYSA-N
metformin | C4H11N5 | XZWYZXLIPXDOLR-UHFFFAOYSA-N
sitagliptin | C16H15F6N5O | MFFMDFFZMYYVKS-SECBINFHSA-N
empagliflozin | C23H27ClO7 | OBWASQILIWPZMG-QZMOQZSNSA-N
dapagliflozin | C21H25ClO6 | JVHXJTBJCFBINQ-ADAARDCZSA-N
pioglitazone | C19H20N2O3S | HYAFETHFCAUJAY-UHFFFAOYSA-N
atorvastatin | C33H35FN2O5 | XUKUURHRXDUEBC-KAYWLYCHSA-N
simvastatin | C25H38O5 | RYMZZMVNJRMUDD-HGQWONQESA-N
rosuvastatin | C22H28FN3O6S | BPRHUIZQVSMCRT-VEUZHWNKSA-N
lisinopril | C21H31N3O5 | RLAWWYSOJDYHDC-BZSNNMDCSA-N
losartan | C22H23ClN6O | PSIFNNKUMBGKDQ-UHFFFAOYSA-N
valsartan | C24H29N5O3 | ACWBQPMHZXGDFX-QFIPXVFZSA-N
amlodipine | C20H25ClN2O5 | HTIQEAQVCYTUBX-UHFFFAOYSA-N
metoprolol | C15H25NO3 | IUBSYMUCCVWXPE-UHFFFAOYSA-N
propranolol | C16H21NO2 | AQHHHDLHHXJYJD-UHFFFAOYSA-N
minoxidil | C9H15N5O | ZFMITUMMTDLWHR-UHFFFAOYSA-N
furosemide | C12H11ClN2O5S | ZZUFCTLCJUWOSV-UHFFFAOYSA-N
hydrochlorothiazide | C7H8ClN3O4S2 | JZUFKLXOESDKRF-UHFFFAOYSA-N
spironolactone | C24H32O4S | LXMSZDCAJNLERA-ZHYRCANASA-N
omeprazole | C17H19N3O3S | SUBDBMMJDZJVOS-UHFFFAOYSA-N
finasteride | C23H36N2O2 | DBEPLOCGEIEOCV-WSBQPABSSA-N
sildenafil | C22H30N6O4S | BNRNXUUZRGQAQC-UHFFFAOYSA-N
remdesivir | C27H35N6O8P | RWWYLEGWBNMMLJ-YSOARWBDSA-N
nirmatrelvir | C23H32F3N5O4 | LIENCHBZNNMNKG-OJFNHCPVSA-N
oseltamivir | C16H28N2O4 | VSZGPKBBMSAYNT-RRFJBIMHSA-N
acyclovir | C8H11N5O3 | MKUXAQIIEYXACX-UHFFFAOYSA-N
hydroxychloroquine | C18H26ClN3O | XXSMGPRMXLTPCZ-UHFFFAOYSA-N
chloroquine | C18H26ClN3 | WHTVZRBIWZFKQO-UHFFFAOYSA-N
amoxicillin | C16H19N3O5S | LSQZJLSUYDQPKJ-NJBDSQKTSA-N
ciprofloxacin | C17H18FN3O3 | MYSWGUAQZAJSOK-UHFFFAOYSA-N
azithromycin | C38H72N2O12 | MQTOSJVFKKJCRP-BICOPXKESA-N
isoniazid | C6H7N3O | QRXWMOHMRWLFEY-UHFFFAOYSA-N
fluconazole | C13H12F2N6O | RFHAOTPXVQNOHP-UHFFFAOYSA-N
sertraline | C17H17Cl2N | VGKDLMBJGBXTGI-SJCJKPOMSA-N
fluoxetine | C17H18F3NO | RTHCYVBBDHJXIQ-UHFFFAOYSA-N
diazepam | C16H13ClN2O | AAOVKJBEBIDNHE-UHFFFAOYSA-N
gabapentin | C9H17NO2 | UGJMXCAKCUNAIE-UHFFFAOYSA-N
donepezil | C24H29NO3 | ADEBPBSSDYVVLD-UHFFFAOYSA-N
levodopa | C9H11NO4 | WTDRDQBEARUVNC-LURJTMIESA-N
levothyroxine | C15H11I4NO4 | XUIIKFGFIJCVMT-LBPRGKRZSA-N
albuterol | C13H21NO3 | NDAUXUAQIAJITI-UHFFFAOYSA-N
montelukast | C35H36ClNO3S | UCHDWCPVSPXUMX-TZIWLTJVSA-N
cetirizine | C21H25ClN2O3 | ZKLPARSLTMPFCP-UHFFFAOYSA-N
caffeine | C8H10N4O2 | RYYVLZVUVIJVGH-UHFFFAOYSA-N
ethanol | C2H6O | LFQSCWFLJHTTHZ-UHFFFAOYSA-N
"""
"""Drug, molecular formula and InChIKey, written from knowledge of the public records, never computed from the SMILES."""

CODES_AND_BRANDS: Final = {
    "HMPL-013": "fruquintinib",
    "Fruzaqla": "fruquintinib",
    "Elunate": "fruquintinib",
    "AZD9291": "osimertinib",
    "Tagrisso": "osimertinib",
    "volitinib": "savolitinib",
    "AZD6094": "savolitinib",
    "HMPL-504": "savolitinib",
    "Orpathys": "savolitinib",
    "HMPL-012": "surufatinib",
    "sulfatinib": "surufatinib",
    "Sulanda": "surufatinib",
    "AMG 510": "sotorasib",
    "Lumakras": "sotorasib",
    "INC280": "capmatinib",
    "Tabrecta": "capmatinib",
    "EMD 1214063": "tepotinib",
    "Tepmetko": "tepotinib",
    "ZD1839": "gefitinib",
    "Iressa": "gefitinib",
    "RAD001": "everolimus",
    "Afinitor": "everolimus",
    "Humira": "adalimumab",
    "Lipitor": "atorvastatin",
    "Rogaine": "minoxidil",
    "paracetamol": "acetaminophen",
    "Glucophage": "metformin",
}

_FILE: Final = yaml.safe_load(
    resources.files("eagle_biomed.data").joinpath("ontology.yaml").read_text(encoding="utf-8")
)
ENTITIES: Final[dict[str, dict[str, Any]]] = _FILE["entities"]


def _split(listed: str) -> list[str]:
    return [name.strip() for name in " ".join(listed.split()).split(";")]


def _names(name: str) -> list[str]:
    entity = ENTITIES[name]
    return [name, *entity["aliases"]]


def _folded(name: str) -> str:
    return re.sub(r"[\s'\-]", "", name.casefold())


def _structures() -> dict[str, tuple[str, str]]:
    rows = [line.split("|") for line in STRUCTURES.strip().splitlines()]
    return {row[0].strip(): (row[1].strip(), row[2].strip()) for row in rows}


def _of_type(kind: str) -> set[str]:
    return {name for name, entity in ENTITIES.items() if entity["type"] == kind}


@pytest.mark.parametrize("name", ENTITIES)
def test_an_entity_has_the_fields_of_the_schema(name: str) -> None:
    entity = ENTITIES[name]
    assert set(entity) >= _REQUIRED
    assert set(entity) <= _REQUIRED | _OPTIONAL
    assert entity["group"] == _GROUP_OF[entity["type"]]
    assert re.fullmatch(r"(C\d{7})?", entity["cui"])
    assert entity.get("guard", "case") == "case"
    for field in _LISTS:
        values = entity.get(field, [])
        assert isinstance(values, list)
        assert all(isinstance(value, str) and value == value.strip() != "" for value in values)


@pytest.mark.parametrize("group", REFERENCE)
def test_every_entity_of_the_reference_is_there_in_its_group(group: str) -> None:
    here = {name for name, entity in ENTITIES.items() if entity["group"] == group}
    assert set(_split(REFERENCE[group])) <= here


def test_the_reference_lists_at_least_seventy_entities() -> None:
    assert len({name for listed in REFERENCE.values() for name in _split(listed)}) >= 70


def test_the_file_has_four_sections_of_which_two_name_words_and_compounds() -> None:
    assert set(_FILE) == {"entities", "entity_keywords", "chemical"}


def test_a_guarded_alias_is_one_of_the_aliases() -> None:
    """The reader takes the guard as a mark on an alias."""
    for entity in ENTITIES.values():
        assert set(entity.get("guarded_aliases", [])) <= set(entity["aliases"])


def test_there_are_twenty_nine_generic_words_none_of_them_an_entity() -> None:
    words = _FILE["entity_keywords"]
    names = {_folded(name) for entity in ENTITIES for name in _names(entity)}
    assert len(words) == len(set(words)) == 29
    assert {"kinase", "pathway", "receptor", "mutation"} <= set(words)
    assert all(word.isalpha() and word.islower() for word in words)
    assert not names & set(words)


def test_no_name_belongs_to_two_entities_in_any_spelling() -> None:
    counts = Counter(_folded(name) for entity in ENTITIES for name in _names(entity))
    assert [name for name, count in counts.items() if count > 1] == []


def test_no_concept_identifier_belongs_to_two_entities() -> None:
    counts = Counter(entity["cui"] for entity in ENTITIES.values() if entity["cui"])
    assert [cui for cui, count in counts.items() if count > 1] == []


def test_names_are_printable_ascii() -> None:
    """Greek letters are spelled out: the matcher makes both spellings meet."""
    names = [name for entity in ENTITIES for name in _names(entity)]
    assert [name for name in names if not (name.isascii() and name.isprintable())] == []


@pytest.mark.parametrize(("field", "kind"), [("related_drugs", "drug"), ("pathways", "pathway")])
def test_links_lead_to_entities_of_the_right_type(field: str, kind: str) -> None:
    known = _of_type(kind)
    wrong = {name: set(entity[field]) - known for name, entity in ENTITIES.items()}
    assert {name: links for name, links in wrong.items() if links} == {}


def test_no_entity_is_linked_to_itself_or_twice_to_another() -> None:
    for name, entity in ENTITIES.items():
        links = entity["related_drugs"] + entity["pathways"]
        assert name not in links
        assert len(links) == len(set(links))


@pytest.mark.parametrize(("written", "generic"), CODES_AND_BRANDS.items())
def test_a_code_or_brand_is_an_alias_of_the_generic(written: str, generic: str) -> None:
    assert written in ENTITIES[generic]["aliases"]


@pytest.mark.parametrize("name", ["MET", "KIT", "RET", "CAT", "SRC", "APC", "ATM"])
def test_a_gene_whose_symbol_is_a_word_is_guarded(name: str) -> None:
    assert ENTITIES[name]["guard"] == "case"


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("ALL", "acute lymphoblastic leukemia"),
        ("GIST", "gastrointestinal stromal tumor"),
        ("NET", "neuroendocrine tumor"),
        ("AIDS", "acquired immunodeficiency syndrome"),
    ],
)
def test_an_abbreviation_that_is_a_word_is_guarded(written: str, name: str) -> None:
    assert written in ENTITIES[name]["guarded_aliases"]


@pytest.mark.parametrize("pair", [("BRCA1", "BRCA2"), ("CDK4", "CDK6"), ("IDH1", "IDH2")])
def test_a_pair_written_with_a_slash_leads_to_the_drugs_of_both(pair: tuple[str, str]) -> None:
    both = ENTITIES[f"{pair[0]}/{pair[1].lstrip('ABCDHIKR')}"]
    members = {drug for name in pair for drug in ENTITIES[name]["related_drugs"]}
    assert f"{pair[0]}/{pair[1]}" in both["aliases"]
    assert set(both["related_drugs"]) == members


def test_every_drug_is_in_the_table_of_structures_or_a_biologic() -> None:
    small, large = set(_structures()), set(_split(BIOLOGICS))
    assert not small & large
    assert small | large == _of_type("drug")


_LARGE: Final = re.compile(r"(?:mab|cept|glutide)$|^insulin$")
"""Words that the WHO's system of non-proprietary names gives to antibodies (also those in conjugates), to fusion
proteins of a receptor, and to peptides of the GLP-1 class; and insulin."""


def test_a_drug_without_a_structure_is_large_by_its_name_and_no_other_is() -> None:
    """By a rule, so that a drug cannot be left without its SMILES by listing it beside the antibodies."""
    large = {name for name in _of_type("drug") if any(map(_LARGE.search, name.split()))}
    assert {name for name in _of_type("drug") if not ENTITIES[name].get("smiles")} == large


def test_small_molecules_and_only_they_have_a_structure() -> None:
    assert {name for name, entity in ENTITIES.items() if "smiles" in entity} == set(_structures())


@pytest.mark.parametrize("name", _structures())
def test_a_structure_has_the_formula_and_the_key_of_its_drug(name: str) -> None:
    formula, key = _structures()[name]
    molecule = Chem.MolFromSmiles(ENTITIES[name]["smiles"])
    assert molecule is not None
    assert CalcMolFormula(molecule) == formula
    assert Chem.MolToInchiKey(molecule) == key  # type: ignore[no-untyped-call]  # rdkit's wrapper has none


def test_the_compounds_of_the_reference_have_the_structure_of_their_drug() -> None:
    aliases = _FILE["chemical"]["name_aliases"]
    assert set(aliases) == set(
        _split(
            "aspirin; imatinib; fruquintinib; savolitinib; surufatinib; sunitinib; osimertinib; gefitinib; "
            "lapatinib; caffeine; ethanol"
        )
    )
    assert aliases["aspirin"] == "CC(=O)Oc1ccccc1C(=O)O"
    assert all(smiles == ENTITIES[name]["smiles"] for name, smiles in aliases.items())


@pytest.mark.parametrize(
    "name", ["salicylic acid", "methyl salicylate", "salicylamide", "diflunisal", "salsalate"]
)
def test_salicylates_share_the_core_of_aspirin(name: str) -> None:
    """The aspirin query of the reference finds salicylates next."""
    core = Chem.MolFromSmarts("O=C([O,N])c1ccccc1O")
    for drug in ("aspirin", name):
        assert Chem.MolFromSmiles(ENTITIES[drug]["smiles"]).HasSubstructMatch(core)
