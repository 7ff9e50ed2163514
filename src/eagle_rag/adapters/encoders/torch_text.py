"""Text encoders and cross-encoders from native checkpoints, run by torch and transformers."""

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eagle_rag.adapters.encoders.checkpoint import combined_digest
from eagle_rag.adapters.encoders.hub import NativeCheckpoint
from eagle_rag.adapters.encoders.memory import in_batches
from eagle_rag.adapters.encoders.pairs import CheckpointPairScorer, PairRow, shortened
from eagle_rag.adapters.encoders.pooling import fitted, scaled
from eagle_rag.adapters.encoders.surrogates import without_surrogates
from eagle_rag.adapters.encoders.torch_runtime import TorchRuntime, check_window, floats
from eagle_rag.errors import EncoderLoadError
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.encoding import PairRecipe, TextRecipe
from eagle_rag.model.passage import EncodedBatch, FloatArray, VectorSpec

__all__ = ["TorchPairModel", "TorchPairSource", "TorchTextEncoder", "torch_pairs"]

_CPU_TEXTS, _GPU_TEXTS = 8, 64  # texts a run: of one length on a CPU, padded on a GPU
_POOLED = ("sentence_embedding", "text_embeds", "pooler_output")


class TorchTextEncoder:
    """A text encoder from a BERT-like checkpoint in its native format.

    Nothing is loaded before the first text. On a CPU a run holds texts of one length, on a GPU it is
    padded and masked; a text's vector does not depend on what shares its run beyond rounding. A text
    longer than ``card.max_tokens`` tokens, special ones included, is cut there and reported. Safe to
    use from several threads.

    Args:
        card: What it is; ``checkpoint`` is a folder or a hub id.
        recipe: How token vectors become a text's vector, and the queries' own checkpoint.
    """

    def __init__(self, card: EncoderCard, recipe: TextRecipe) -> None:
        self._card = card
        self._recipe = recipe
        self._documents = NativeCheckpoint(card.checkpoint, card.label)
        self._queries = self._documents
        if recipe.query_checkpoint:
            self._queries = NativeCheckpoint(recipe.query_checkpoint, card.label)
        self._lock = threading.Lock()
        self._spec: VectorSpec | None = None
        self._towers: dict[str, _Tower] = {}

    @property
    def card(self) -> EncoderCard:
        """What it is."""
        return self._card

    @property
    def spec(self) -> VectorSpec:
        """Its vector space; the files are read once for their digest, not loaded.

        Raises:
            EncoderLoadError: A file is missing, or a hub id was not downloaded yet.
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

    def load(self) -> None:
        """Load the weights now; a hub's are downloaded when that is allowed.

        Raises:
            EncoderLoadError: They are missing or do not load.
        """
        self._tower(self._documents)
        self._tower(self._queries)

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

    def _encode(
        self, checkpoint: NativeCheckpoint, texts: Sequence[str], prefix: str
    ) -> EncodedBatch:
        if not texts:
            return EncodedBatch(np.empty((0, self._card.dim), np.float32), self.spec)
        tower = self._tower(checkpoint)
        cut = [tower.cut(prefix + text) for text in texts]
        rows = in_batches(
            [len(row.ids) for row, _ in cut],
            lambda batch: self._finished(tower.embed([cut[at][0] for at in batch])),
            size=_GPU_TEXTS if tower.padded else _CPU_TEXTS,
            padded=tower.padded,
        )
        truncated = tuple(at for at, (_, was_cut) in enumerate(cut) if was_cut)
        return EncodedBatch(np.stack(rows), self.spec, truncated)

    def _finished(self, vectors: FloatArray) -> FloatArray:
        name, recipe = self._card.label, self._recipe
        whole = fitted(vectors, self._card.dim, name=name, fit=recipe.fit_dim)
        return scaled(whole, name=name, normalized=recipe.normalized)

    def _tower(self, checkpoint: NativeCheckpoint) -> "_Tower":
        with self._lock:
            if checkpoint.reference not in self._towers:
                tower = _Tower(checkpoint, self._card, pooling=self._recipe.pooling)
                self._towers[checkpoint.reference] = tower
            return self._towers[checkpoint.reference]


class _Tower:
    """A loaded model with its tokenizer."""

    def __init__(self, checkpoint: NativeCheckpoint, card: EncoderCard, *, pooling: str) -> None:
        folder = checkpoint.folder()
        self._runtime = TorchRuntime(card.label)
        self._words = _Words(self._runtime, self._runtime.tokenizer(folder), card.max_tokens)
        # A pooler of its own is read with pooling "none" alone; masked-language models have none.
        unused = "" if pooling == "none" else "pooler."
        self._model = self._runtime.pretrained("AutoModel", folder, unused=unused)
        check_window(self._model.config, card.max_tokens, label=card.label)
        self._pooling = pooling
        self.padded = self._runtime.on_gpu

    def cut(self, text: str) -> tuple[PairRow, bool]:
        return self._words.cut(text)

    def embed(self, rows: Sequence[PairRow]) -> FloatArray:
        feeds = self._words.feeds(rows)
        with self._runtime.running(f"{len(rows)} texts of {len(rows[0].ids)} tokens"):
            return floats(self._pooled(self._model(**feeds), feeds["attention_mask"]))

    def _pooled(self, output: Any, mask: Any) -> Any:  # noqa: ANN401 - torch tensors
        if self._pooling == "none":
            found = [getattr(output, name, None) for name in _POOLED]
            vectors = next((value for value in found if value is not None), None)
            if vectors is None:
                message = f"the model of encoder {self._runtime.label!r} does not pool by itself"
                raise EncoderLoadError(message, remedy="choose pooling mean or cls")
            return vectors
        hidden = output.last_hidden_state
        if self._pooling == "cls":
            return hidden[:, 0]
        weights = mask.unsqueeze(-1).to(hidden.dtype)
        return (hidden * weights).sum(1) / weights.sum(1)


class _Words:
    """A transformers tokenizer with a window, made safe for threads."""

    def __init__(self, runtime: TorchRuntime, tokenizer: Any, size: int) -> None:  # noqa: ANN401 - a transformers tokenizer
        if size <= tokenizer.num_special_tokens_to_add():
            message = f"encoder {runtime.label!r}: a window of {size} tokens holds no word"
            raise EncoderLoadError(message, remedy="raise max_tokens in the encoder's settings")
        self._runtime = runtime
        self._tokenizer = tokenizer
        self._size = size
        self._lock = threading.Lock()  # truncation is a setting of the tokenizer, not of a call
        self._types = "token_type_ids" in tokenizer.model_input_names

    def cut(self, text: str) -> tuple[PairRow, bool]:
        """Return the ids of a text, special ones included, and whether it was cut."""
        clean = without_surrogates(text)
        with self._lock:
            whole = self._row(clean, verbose=False)
            if len(whole.ids) <= self._size:
                return whole, False
            return self._row(clean, truncation=True, max_length=self._size), True

    def pairs(self, query: str, texts: Sequence[str]) -> list[PairRow]:
        """Return the ids of each pair, cut to the window."""
        sides = [without_surrogates(side) for side in (query, *texts)]
        with self._lock:
            backend = getattr(self._tokenizer, "backend_tokenizer", None)
            if backend is not None:
                backend.no_truncation()
                sides = [shortened(side, backend, self._size) for side in sides]
            clean = sides[1:]
            # As lists: beside a single query, an empty text would not count as a text at all.
            encoding = self._tokenizer(
                sides[:1] * len(clean),
                clean,
                truncation=True,
                max_length=self._size,
                return_token_type_ids=self._types,
            )
        return [self._pair_row(encoding, at) for at in range(len(clean))]

    def feeds(self, rows: Sequence[PairRow]) -> dict[str, Any]:
        """Return tensors on the device, padded to the longest row."""
        longest = max(len(row.ids) for row in rows)
        padding = self._tokenizer.pad_token_id or 0
        ids = np.full((len(rows), longest), padding, np.int64)
        mask, types = np.zeros_like(ids), np.zeros_like(ids)
        for at, row in enumerate(rows):
            ids[at, : len(row.ids)] = row.ids
            types[at, : len(row.ids)] = row.types
            mask[at, : len(row.ids)] = 1
        arrays = {"input_ids": ids, "attention_mask": mask}
        if self._types:
            arrays["token_type_ids"] = types
        torch, device = self._runtime.torch, self._runtime.device
        return {name: torch.from_numpy(values).to(device) for name, values in arrays.items()}

    def _row(self, text: str, **how: Any) -> PairRow:  # noqa: ANN401 - options of the tokenizer
        ids = tuple(self._tokenizer(text, return_token_type_ids=False, **how)["input_ids"])
        return PairRow(ids, (0,) * len(ids))

    def _pair_row(self, encoding: Any, at: int) -> PairRow:  # noqa: ANN401 - a transformers encoding
        ids = tuple(encoding["input_ids"][at])
        return PairRow(
            ids, tuple(encoding["token_type_ids"][at]) if self._types else (0,) * len(ids)
        )


def torch_pairs(card: EncoderCard, recipe: PairRecipe) -> CheckpointPairScorer:
    """Return a cross-encoder from ``card.checkpoint``, a folder or a hub id."""
    return CheckpointPairScorer(card, TorchPairSource(card), recipe=recipe)


class TorchPairSource:
    """A sequence classification checkpoint in its native format.

    Args:
        card: What it is; nothing is read before first use.
    """

    def __init__(self, card: EncoderCard) -> None:
        self._card = card
        self._checkpoint = NativeCheckpoint(card.checkpoint, card.label)

    def digest(self) -> str:
        """Return the SHA-256 over names and contents of its files."""
        return self._checkpoint.digest()

    def load(self) -> "TorchPairModel":
        """Load it, downloading a hub id when that is allowed."""
        return TorchPairModel(self._card, self._checkpoint)


class TorchPairModel:
    """A loaded cross-encoder: on a GPU a run is padded, on a CPU it holds pairs of one length.

    Args:
        card: What it is.
        checkpoint: Its files.

    Raises:
        EncoderLoadError: The checkpoint is missing or does not load.
    """

    most_rows = 0

    def __init__(self, card: EncoderCard, checkpoint: NativeCheckpoint) -> None:
        folder = checkpoint.folder()
        self._runtime = TorchRuntime(card.label)
        self._words = _Words(self._runtime, self._runtime.tokenizer(folder), card.max_tokens)
        self._model = self._runtime.pretrained("AutoModelForSequenceClassification", folder)
        check_window(self._model.config, card.max_tokens, label=card.label)
        self.padded = self._runtime.on_gpu

    def rows(self, query: str, texts: Sequence[str]) -> list[PairRow]:
        """Return the ids of each pair; the longer side is cut first."""
        return self._words.pairs(query, texts)

    def logits(self, rows: Sequence[PairRow]) -> NDArray[Any]:
        """Return the logits, shape ``(n, labels)``."""
        with self._runtime.running(f"{len(rows)} pairs of {len(rows[0].ids)} tokens"):
            return floats(self._model(**self._words.feeds(rows)).logits)
