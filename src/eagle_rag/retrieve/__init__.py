"""From a question to cited passages: one file a stage, the pipeline knows the order."""
