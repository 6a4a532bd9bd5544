"""Search of a position within a time budget."""
