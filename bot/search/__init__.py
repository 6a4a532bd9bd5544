"""One position searched inside a time budget."""
