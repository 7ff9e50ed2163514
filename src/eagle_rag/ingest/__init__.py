"""From a source to a live document: one file a stage, the pipeline knows the order."""
