"""LanceDB as the vector store; the only place that imports it."""

from eagle_rag.adapters.lance.indexes import DenseIndex
from eagle_rag.adapters.lance.store import LanceStore

__all__ = ["DenseIndex", "LanceStore"]
