"""Molecules to vectors without weights: Morgan fingerprints, computed by RDKit."""

import threading
from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import sha256

import numpy as np
from rdkit.Chem.rdchem import Mol
from rdkit.Chem.rdFingerprintGenerator import FingerprintGenerator64, GetMorganGenerator

from eagle_biomed.chemistry import MoleculeRefused, parent_molecule, read_line
from eagle_biomed.encoder_cards import MORGAN_CARD
from eagle_biomed.structure_texts import (
    candidates,
    query_candidates,
    refuse_document,
    refuse_query,
)
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.passage import EncodedBatch, FloatArray, VectorSpec

__all__ = ["MorganEncoder", "morgan_vector"]

_RADIUS = 2
_REVISION = "eagle-morgan-1"  # goes into the digest: raise it whenever the vectors change
# Their vectors go into the digest too: another RDKit may number atom environments otherwise, or take
# another parent. Salts, charges, stereo, isotopes, metals, rings, long chains.
_PROBES = (
    "CC(=O)Oc1ccccc1C(=O)O",
    "CC(=O)[O-].[Na+]",
    "C[C@H](N)C(=O)O",
    "C[N+](C)(C)CCO",
    "CN1CCC[C@H]1c1cccnc1.Cl",
    "[2H]C([2H])([2H])Oc1ccccc1",
    "N[Pt](N)(Cl)Cl",
    "O=c1[nH]cnc2[nH]cnc12",
    "CC(C)(C)c1ccc(S(=O)(=O)Nc2nc3ccccc3s2)cc1",
    "CCCCCCCCCCCCCCCC(=O)OCC(O)CO",
    "OC[C@H]1O[C@@H](O)[C@H](O)[C@@H](O)[C@@H]1O",
    "FC(F)(F)c1cc(Br)c(I)cc1P(=O)(O)O",
)


class MorganEncoder:
    """Structures as Morgan count fingerprints: environments of radius 2 in 1,024 bins.

    The vector is the logarithm of one plus each count, at unit length (Rogers and Hahn 2010 for the
    environments; the logarithm keeps a long chain from outweighing everything else). It is that of
    the canonical parent, so a salt and its free form have one vector. Stereo is not seen: it is the exact
    search's business. The first structure of a text that RDKit takes counts, whatever else is written.

    Args:
        card: What it is.
    """

    def __init__(self, card: EncoderCard = MORGAN_CARD) -> None:
        self._card = card
        self._lock = threading.Lock()
        self._spec: VectorSpec | None = None

    @property
    def card(self) -> EncoderCard:
        """What it is."""
        return self._card

    @property
    def spec(self) -> VectorSpec:
        """Its vector space; the digest covers the vectors of a few molecules."""
        with self._lock:
            if self._spec is None:
                self._spec = VectorSpec(
                    self._card.label,
                    _digest(self._card.dim),
                    self._card.dim,
                    metric=self._card.metric,
                    pooling="none",
                )
            return self._spec

    def encode_documents(self, texts: Sequence[str]) -> EncodedBatch:
        """Encode texts, each by its first structure.

        Raises:
            InvalidInput: A text holds no structure that RDKit takes; the message names its position.
        """
        vectors = np.empty((len(texts), self._card.dim), np.float32)
        for at, text in enumerate(texts):
            vector = self._vector(candidates(text))
            if vector is None:
                raise refuse_document(text, self._card.label, at=at)
            vectors[at] = vector
        return EncodedBatch(vectors, self.spec)

    def encode_query(self, text: str) -> EncodedBatch:
        """Encode a query by its first structure.

        Raises:
            InvalidQuery: It holds no structure that RDKit takes.
        """
        vector = self._vector(query_candidates(text))
        if vector is None:
            raise refuse_query(text, self._card.label)
        return EncodedBatch(vector[None], self.spec)

    def _vector(self, structures: Iterable[str]) -> FloatArray | None:
        for structure in structures:
            try:
                return morgan_vector(read_line(structure), self._card.dim)
            except MoleculeRefused:
                continue  # prose that is SMILES by its grammar alone; the next one may be chemistry
        return None


def morgan_vector(mol: Mol, dim: int = MORGAN_CARD.dim) -> FloatArray:
    """Return the vector of a molecule's canonical parent, shape ``(dim,)``, at unit length.

    Raises:
        MoleculeRefused: RDKit cannot describe it.
    """
    parent = parent_molecule(mol)
    counts = _generator(dim).GetCountFingerprintAsNumPy(parent)
    values = np.log1p(counts.astype(np.float64))
    vector: FloatArray = (values / np.sqrt(values @ values)).astype(np.float32)
    return vector


@cache
def _generator(dim: int) -> FingerprintGenerator64:
    return GetMorganGenerator(radius=_RADIUS, fpSize=dim)


@cache
def _digest(dim: int) -> str:
    vectors = np.stack([morgan_vector(read_line(each), dim) for each in _PROBES])
    # Rounded: logarithms may differ in their last bit between machines.
    rounded = np.round(vectors.astype(np.float64) * 1e6).astype("<i8")
    return sha256(f"{_REVISION}:{_RADIUS}:{dim}\0".encode() + rounded.tobytes()).hexdigest()
