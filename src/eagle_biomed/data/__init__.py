"""Data files that ship with the biomedical plugin; no code.

``ontology.yaml`` holds the curated entities, the generic keywords and the name -> SMILES table. Its head
says where its content comes from and what each field means.
"""

__all__: list[str] = []
