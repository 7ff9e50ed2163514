"""Contract suites for authors of stores, encoders and plugins."""
