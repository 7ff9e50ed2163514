"""Biomedical document formats: bytes to ``ParsedDocument``, a module (or family of modules) a format.

``selector`` chooses by name and first bytes and imports no parser; ``catalog`` knows which module
parses what. Parsing libraries are imported by the parsers alone.
"""

__all__: list[str] = []
