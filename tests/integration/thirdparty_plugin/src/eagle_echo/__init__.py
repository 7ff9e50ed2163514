"""A third-party plugin, as small as one can be."""

__all__: list[str] = []
