"""The composition root: settings in, an ``Engine`` out; nothing else builds objects."""

from eagle_rag.engine.core import DoctorCheck, Engine, PluginListing, open_engine

__all__ = ["DoctorCheck", "Engine", "PluginListing", "open_engine"]
