"""Protocols that adapters and plugins implement; at most six methods each."""
