"""Document formats: bytes to ``ParsedDocument``, one module (or family of modules) a format."""
