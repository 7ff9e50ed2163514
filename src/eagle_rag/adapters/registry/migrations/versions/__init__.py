"""One module a revision, oldest first; a revision is never changed once released."""

__all__: list[str] = []
