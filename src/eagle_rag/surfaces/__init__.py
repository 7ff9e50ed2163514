"""The command line and other faces: translate, call the engine, nothing more."""
