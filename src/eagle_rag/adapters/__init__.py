"""Everything that touches disk, network or a GPU; adapters do not know each other."""
