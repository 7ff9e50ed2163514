"""The biomedical plugin: formats, ontology, enrichment, encoders and collections of biomedicine."""

__all__: list[str] = []
