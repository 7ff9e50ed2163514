"""When a name that is also a word is a name: ``MET``, ``ALL``, ``CAT``, ``KIT``.

The rule, in full:

1. In small letters a guarded name never counts, whatever follows: ``met mutation criteria``. The gene's own
   hyphenated form is another name: ``c-met``.
2. As the lexicon writes it (a gene symbol in capitals) it counts, but not in a line of capitals (no small letter
   near it, and a word of six letters or more): there its case says nothing. A gene of the ontology counts there
   as the first word of the text before a word of ``GENE_WORDS``.
3. A gene of the ontology with one capital (``Met kinase``) counts before a word of ``GENE_WORDS`` in small
   letters, one space between, in the middle of a sentence. Nothing is read across a line end or a dash.
4. A gene of the ontology with a number counts as written, and in any case as one word: ``lag3``.
5. A guarded gene does not count before a word of ``OTHER_SENSES`` (``CAT scan``, ``MET-hours``), a codon
   (``CAT GGA``) or a digit (``MET25``), nor behind a Greek letter, a hyphen between or not (``β-CAT``).

Guarded are: what the ontology marks; names in capitals that are words of ``ENGLISH_WORDS``, a number behind
them or not (``STEP1``); in lexica also gene symbols of up to five letters and no digit, and every name of up
to three characters.
"""

import re
from dataclasses import dataclass
from typing import Final

from eagle_biomed.entity_names import cased, key_of
from eagle_rag.ops.tokens import HYPHENS

__all__ = [
    "ENGLISH_WORDS",
    "FREE",
    "GENE_WORDS",
    "OTHER_SENSES",
    "Guard",
    "guard_allows",
    "lexicon_guard",
    "ontology_guard",
]

GENE_WORDS: Final = frozenset(
    str.split(
        "alteration alterations amplification amplifications amplified exon fusion fusions inhibition inhibitor "
        "inhibitors kinase mutant mutants mutation mutations oncogene overexpression phosphorylation receptor "
        "signaling signalling tyrosine"
    )
)
"""What follows a gene and hardly ever a verb."""

OTHER_SENSES: Final = frozenset(
    str.split(
        "criteria h hour hours hr hrs lysate min mins minute minutes questionnaire scan scanner scanning scans score "
        "scores study survey trial trials"
    )
)
"""What follows the same letters when they are no gene: a scan, metabolic equivalents, a trial's name."""

ENGLISH_WORDS: Final = frozenset(
    str.split(
        "act acts acute adds ago aid aims air airs aka all am amid an and angel ant ants ape apex app apple "
        "april arc arch arm arms art arts ask atom bad bag band bank bar bark bars base bases bat beam bear "
        "beds bee belt bend best bid bids bind bird bit bite bits blame blast blind block blot bold bolt bone "
        "book born box boy brave break bridge bright bulk cage cake call calls calm camp can cap caps car "
        "cardinal cards care cart cascades case cast cat cats cell cells chain chance change charge chase "
        "chat chip clamp clan clear climb clip clock cloud club coat cod code coil cold color comet cope core "
        "corn cost cover crest crop cross crown cryptic cube cup cups cure cut damage dams dance danger date "
        "day dead deaf deal dear deep deepest digit dip do dose dot dots draw dream drop drum dry dust ear "
        "ears ease east eat edge egg end enigma era essence eye face fact fail fair fall fan fans far farm "
        "fast fat fate fats fear feat feed feel fell few field fig files fill film find fine fir fire firm "
        "fish fist fit fits five fix flag flame flap flash flat flip flow flower flu fly foe fog fold food "
        "foot for force fork form four free fresh frog front fruitless full fun fur fuse gain game gap gaps "
        "gas gate gel gem gems gene genesis get gift girl give glass go goat gold good grab grasp gray great "
        "green grip group grow guard gum gun hair half hall hand hard harm has hat hats have hay he head "
        "heads heal hear heart heat help hen here high hill hint hip his hit hits hold hole home hook hop "
        "hope host hot hour how hub hunt hut ice iceberg if ill impact in ink ion it itch ivy jam jar jaw jet "
        "job jobs join jump jury just keen keep key keys kick kid killer kin kind king kiss kit kits knee "
        "know lab lace lack lag lake lamb lamp land lap laps large laser last late law lay lead leaf lean led "
        "left leg legs lent less let level lid lids lie life lift light like lime limit line link links lion "
        "lip list lists live load lobe lock log logs long look loop loss lost lot low luck mad made mail main "
        "make male man many map maps march mark mask mass mast mat mats max may meal mean meat meets melt men "
        "met mice mid mild milk mill mind mine minor mint miss mist mix mob mode moon more most mount mouse "
        "move much mud muted nail name nap near neck need nest net nets new nice night nine no nobody nod "
        "nodal none nor nose not note notes now nude numb nun nut oak oat odd of off oil ok old on once one "
        "only onto open opt or our out oval owl own pace pack pad pads page pain paint pair palm pan pans par "
        "park pars part particle pass past path paw pay pea peak peer pen per permit pet pets pick picks pie "
        "pig pigs pilot pin pinch pine pink pins pipe pit place plan plane plans play plot plug pod pods "
        "point pole poll pool poor port post posts pot prep prey pride prime print prism pros prune pub pull "
        "pulse pump pure push put race raft rag rage rain raise ram ramp ran range rank raptor rare rat rate "
        "raw ray read real red rely rest rests rib rim ring rip rise risk rival road rock rod rods role roll "
        "roof room root rope rose round row rows rub rug rule rum run rush sacs sad safe said salt same sand "
        "sap sat save saw say scale scan scar school score sea seal search seat secret see seed seek self "
        "sell send sense sera serrate set sets sew sex shape share sharp she shell shift ship shock shop "
        "short shot show sick side sign silent sim simple sin sink sit site sits six size skin skip sky slice "
        "slide slim slip slots slow small smart smell smile snail snap snow so soap soft soil sole some son "
        "song soon sort soul sound spa space span spatial spice spike spin spot spots spring spy stage stamp "
        "star stars steel stem step steps stick still stone stop stops store storm strip strong such suit sum "
        "sun sup sure swap sync tab tactile tag tags tail take tale talk tall tan tank tap tape taps target "
        "task taste tax tea team tear tell ten term test than thank that the then there they thin this thus "
        "tide tie tied tight time tin tiny tip tips to toe told tone too tool tools tooth top touch tow town "
        "toy track trade trail train traits trap traps tray tree trees trim trimmer trio trip trips true try "
        "tub tube tug tune turn twin twist two type types units up use van vast vet via view vow wait wake "
        "walk wall want war warm wars warts was wash wasp watch wave wax way ways we weak wear web week well "
        "went west wet what wheel when where which white who why wide wife wig wild will win wind wing wire "
        "wise wish wolf wood word words work worm worn yak yard year yes yet you young zip zone zoo"
    )
)
"""English words that are also gene symbols or names of diseases; found as small-letter words in articles."""

_SHORT: Final = 3
_SYMBOL: Final = 5  # letters: Engl, Proc and Acta are names of journals before they are genes
_DIGITS: Final = "0123456789"
_NEAR: Final = 60  # characters on either side that tell a heading in capitals
_CAPITAL_WORD: Final = re.compile(r"[A-Z]{6,}")
_LETTER: Final = "[^\\W\\d_]"
_GENE_WORD: Final = re.compile(
    rf"[ \xa0](?:{'|'.join(sorted(GENE_WORDS))})(?!{_LETTER})", re.IGNORECASE
)
# Only to leave a name out: here a hyphen or one line end does not matter.
_OTHER_SENSE: Final = re.compile(
    rf"\)?(?:[\-{HYPHENS}]|[^\S\n]?\n?[^\S\n]?)(?<!\w)"
    rf"(?:{'|'.join(sorted(OTHER_SENSES))}|(?-i:[ACGT]{{3,}}))(?!{_LETTER})",  # CAT among codons
    re.IGNORECASE,
)
_CRITERIA: Final = re.compile(r"\s+criteri", re.IGNORECASE)  # what is met
_SENTENCE_START: Final = re.compile(
    r"(?:^|[.!?:;\u2012-\u2015\u2022\u2212*|\r\v\f\x85\u2028\u2029]|\s-)[\s\"'\u2018-\u201d(\[]*$"
)
_AFTER_GREEK: Final = re.compile(
    rf"(?:[\u00b5\u0370-\u03ff]|(?<![A-Za-z])(?:alpha|beta|gamma|delta))[\-{HYPHENS}]?$",
    re.IGNORECASE,
)
_GREEK_REACH: Final = len("alpha-")


@dataclass(frozen=True, slots=True)
class Guard:
    """When a name counts.

    Args:
        written: How it must be written, without hyphens and white space; empty when it always counts.
        gene: Whether it is a gene: other senses are looked for.
        gene_words: Whether it is a gene of the ontology: other cases count where the rule says so.
    """

    written: str = ""
    gene: bool = False
    gene_words: bool = False


FREE: Final = Guard()
"""A name that always counts."""


def ontology_guard(name: str, kind: str, *, marked: bool) -> Guard:
    """Return the guard of a name of the ontology; ``marked`` when the ontology asks for one."""
    written = cased(name)
    gene = kind == "gene"
    if marked or (written.isupper() and _is_word(name)):
        return Guard(written, gene=gene, gene_words=gene)
    return FREE


def lexicon_guard(name: str, kind: str) -> Guard:
    """Return the guard of a name of a larger lexicon."""
    written = cased(name)
    gene = kind == "gene"
    word = _is_word(name)
    symbol = len(written) <= _SYMBOL and written.isalpha() and not written.islower()
    if gene and (word or symbol):
        return Guard(written.upper(), gene=True)
    if len(written) <= _SHORT or (word and written.isupper()):
        return Guard(written, gene=gene)
    return FREE


def _is_word(name: str) -> bool:
    return key_of(name).rstrip(_DIGITS) in ENGLISH_WORDS


def guard_allows(guard: Guard, text: str, start: int, end: int) -> bool:
    """Return whether a guarded name counts between two offsets of a text."""
    if not guard.written:
        return True
    if guard.gene and _has_other_sense(text, start, end):
        return False
    found = cased(text[start:end])
    if guard.gene_words and not found.isalpha():
        return found == guard.written or text[start:end].isalnum()
    if found == guard.written or (guard.gene_words and found == guard.written.upper()):
        return not _among_capitals(text, start, end) or (
            guard.gene_words and _is_first(text, start) and _before_gene_word(text, end)
        )
    return (
        guard.gene_words
        and found == found.capitalize()
        and _before_gene_word(text, end, small=True)
        and not _SENTENCE_START.search(_line_before(text, start))
    )


def _has_other_sense(text: str, start: int, end: int) -> bool:
    behind_greek = _AFTER_GREEK.search(text, max(0, start - _GREEK_REACH), start)
    numbered = text[end : end + 1].isdecimal()  # MET25 is a gene of yeast
    return numbered or behind_greek is not None or _OTHER_SENSE.match(text, end) is not None


def _is_first(text: str, start: int) -> bool:
    return not text[max(0, start - _NEAR) : start].strip()


def _before_gene_word(text: str, end: int, *, small: bool = False) -> bool:
    """Return whether a gene's word stands there, and not ``criteria`` behind it: those are met."""
    word = _GENE_WORD.match(text, end)
    if word is None or (small and not word[0].islower()):
        return False
    return _CRITERIA.match(text, word.end()) is None


def _line_before(text: str, start: int) -> str:
    return text[max(0, start - _NEAR) : start].rpartition("\n")[2]


def _among_capitals(text: str, start: int, end: int) -> bool:
    """Return whether the line near the name is all in capitals, a real word among them."""
    after = text[end : end + _NEAR].partition("\n")[0]
    near = f"{_line_before(text, start)} {after}"
    return not any(map(str.islower, near)) and _CAPITAL_WORD.search(near) is not None
