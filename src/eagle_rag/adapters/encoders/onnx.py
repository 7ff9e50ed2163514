"""Text encoders run by onnxruntime on the CPU.

One text is one run. Padding a batch to its longest text costs 38 to 50 % more time on a CPU, and
dynamic int8 quantisation makes a vector depend on what else is in the batch; one by one there is
neither, and several threads run several texts at once.
"""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from eagle_rag.adapters.encoders.checkpoint import Checkpoint, combined_digest
from eagle_rag.adapters.encoders.folder import FolderCheckpoint
from eagle_rag.adapters.encoders.minilm import MINILM_CARD, MinilmCheckpoint
from eagle_rag.adapters.encoders.pooling import fitted, scaled
from eagle_rag.adapters.encoders.session import OnnxSession, usual_threads
from eagle_rag.adapters.encoders.wordpiece import TokenWindow
from eagle_rag.errors import InvalidInput
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.encoding import Pooling
from eagle_rag.model.passage import EncodedBatch, FloatArray, VectorSpec

__all__ = ["OnnxRecipe", "OnnxTextEncoder", "minilm_encoder", "onnx_encoder"]

_Tower = tuple[OnnxSession, TokenWindow]


@dataclass(frozen=True, slots=True)
class OnnxRecipe:
    """How token vectors become a text's vector.

    Args:
        pooling: ``mean`` of the tokens, ``cls`` (the first token), or ``none`` for a model that pools
            by itself.
        query_prefix: Put before every query.
        document_prefix: Put before every document.
        normalized: Scale to unit length.
        threads: Texts encoded at a time; 0 for two, or one where there is one core.
        fit_dim: Cut or zero-pad the model's vectors to the card's dimension.
    """

    pooling: Pooling = "mean"
    query_prefix: str = ""
    document_prefix: str = ""
    normalized: bool = True
    threads: int = 0
    fit_dim: bool = False

    def __post_init__(self) -> None:
        """Refuse what has no meaning."""
        if self.pooling not in {"mean", "cls", "none"}:
            message = f"pooling must be mean, cls or none, got {self.pooling!r}"
            raise InvalidInput(message)
        if self.threads < 0:
            message = f"threads must be at least 0, got {self.threads}"
            raise InvalidInput(message)


class OnnxTextEncoder:
    """A text encoder from an ONNX checkpoint; nothing is loaded before the first text.

    A text's vector depends on the text alone: not on its batch, its place in it or the number of
    threads. A text longer than ``card.max_tokens`` tokens, special ones included, is cut there
    and reported. An empty text is encoded as the special tokens alone. Safe to use from several threads.

    Args:
        card: What it is; ``dim`` is checked against the model when it loads.
        checkpoint: Where weights and vocabulary come from.
        recipe: How token vectors become a text's vector.
        queries: Weights of the queries' own tower; ``None`` when queries use ``checkpoint`` too.
    """

    def __init__(
        self,
        card: EncoderCard,
        checkpoint: Checkpoint,
        *,
        recipe: OnnxRecipe | None = None,
        queries: Checkpoint | None = None,
    ) -> None:
        self._card = card
        self._documents = checkpoint
        self._queries = queries or checkpoint
        self._recipe = recipe or OnnxRecipe()
        self._lock = threading.Lock()
        self._spec: VectorSpec | None = None
        self._loaded: dict[int, _Tower] = {}  # by identity of its checkpoint

    @property
    def card(self) -> EncoderCard:
        """What it is."""
        return self._card

    @property
    def spec(self) -> VectorSpec:
        """Its vector space; the files are read once for their digest, not loaded.

        Raises:
            EncoderLoadError: A file is missing.
        """
        with self._lock:
            if self._spec is None:
                self._spec = VectorSpec(
                    encoder=self._card.label,
                    digest=self._digest(),
                    dim=self._card.dim,
                    metric=self._card.metric,
                    normalized=self._recipe.normalized,
                    pooling=self._recipe.pooling,
                    query_prefix=self._recipe.query_prefix,
                    document_prefix=self._recipe.document_prefix,
                )
            return self._spec

    def encode_documents(self, texts: Sequence[str]) -> EncodedBatch:
        """Encode texts to be indexed, in the order given.

        Raises:
            EncoderLoadError: The weights are missing, do not load or give no finite numbers.
        """
        return self._encode(self._documents, texts, self._recipe.document_prefix)

    def encode_query(self, text: str) -> EncodedBatch:
        """Encode one query; raises as ``encode_documents``."""
        return self._encode(self._queries, [text], self._recipe.query_prefix)

    def _digest(self) -> str:
        documents = self._documents.digest()
        if self._queries is self._documents:
            return documents
        return combined_digest((documents, self._queries.digest()))

    def _encode(self, checkpoint: Checkpoint, texts: Sequence[str], prefix: str) -> EncodedBatch:
        spec = self.spec
        vectors = np.empty((len(texts), spec.dim), np.float32)
        if not texts:
            return EncodedBatch(vectors, spec)
        session, window = self._load(checkpoint)
        cut = [False] * len(texts)

        def fill(at: int) -> None:
            # Tokenized here, not before: meanwhile another thread runs the model.
            ids, cut[at] = window.cut(prefix + texts[at])
            vectors[at] = self._vector(session, ids)

        # Longest first, so that no thread is left alone with a long text at the end.
        order = sorted(range(len(texts)), key=lambda at: (-len(texts[at]), at))
        workers = min(self._recipe.threads or usual_threads(), len(texts))
        if workers == 1:
            for at in order:
                fill(at)
        else:
            with ThreadPoolExecutor(workers, thread_name_prefix="encode") as pool:
                for _ in pool.map(fill, order):  # raises what a worker raised
                    pass
        truncated = tuple(at for at in range(len(texts)) if cut[at])
        return EncodedBatch(vectors, spec, truncated)

    def _vector(self, session: OnnxSession, ids: Sequence[int]) -> FloatArray:
        hidden = session.run(ids)
        if self._recipe.pooling == "mean":
            hidden = hidden.mean(axis=0)
        elif self._recipe.pooling == "cls":
            hidden = hidden[0]
        row = fitted(hidden[None], self._card.dim, name=self._card.label, fit=self._recipe.fit_dim)
        vector: FloatArray = scaled(
            row, name=self._card.label, normalized=self._recipe.normalized
        )[0]
        return vector

    def _load(self, checkpoint: Checkpoint) -> _Tower:
        with self._lock:
            if id(checkpoint) not in self._loaded:
                session = OnnxSession(
                    checkpoint.model(),
                    self._card.label,
                    dim=None if self._recipe.fit_dim else self._card.dim,
                    pools=self._recipe.pooling == "none",
                )
                window = TokenWindow(checkpoint.tokenizer(), self._card.max_tokens)
                self._loaded[id(checkpoint)] = session, window
            return self._loaded[id(checkpoint)]


def minilm_encoder(*, threads: int = 0) -> OnnxTextEncoder:
    """Return the default encoder, all-MiniLM-L6-v2 with int8 weights; see ``OnnxRecipe.threads``."""
    return onnx_encoder(MINILM_CARD, recipe=OnnxRecipe(threads=threads))


def onnx_encoder(
    card: EncoderCard, *, recipe: OnnxRecipe | None = None, query_checkpoint: str = ""
) -> OnnxTextEncoder:
    """Return an encoder from ``card.checkpoint``, the default encoder's package or a folder.

    A folder holds ``model.onnx`` and ``tokenizer.json`` or ``vocab.txt``. The model takes ``input_ids``
    and, when it has them, ``attention_mask`` and ``token_type_ids``. Of its outputs ``last_hidden_state``
    or ``token_embeddings`` is used (with pooling ``none``: ``sentence_embedding``), else the first.

    Args:
        card: What it is.
        recipe: How token vectors become a text's vector.
        query_checkpoint: Folder of the queries' own tower; empty when queries use the same.
    """
    queries = _checkpoint(query_checkpoint) if query_checkpoint else None
    return OnnxTextEncoder(card, _checkpoint(card.checkpoint), recipe=recipe, queries=queries)


def _checkpoint(reference: str) -> Checkpoint:
    if reference == MINILM_CARD.checkpoint:
        return MinilmCheckpoint()
    return FolderCheckpoint(Path(reference).expanduser())
