"""A plugin for Eagle-RAG."""

__all__: list[str] = []
