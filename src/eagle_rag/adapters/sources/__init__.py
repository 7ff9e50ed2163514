"""Files, folders and archives to sources, and the files beside each."""

from eagle_rag.adapters.sources.files import SourceLimits, read_sources

__all__ = ["SourceLimits", "read_sources"]
