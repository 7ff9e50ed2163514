"""Frozen values that cross a stage. Standard library and numpy only; no behaviour beyond properties."""
