"""Plugins, hook bus, registries of encoders and collections, settings, audit."""
