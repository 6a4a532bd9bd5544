"""All moves of a position, the best of them, and static evaluation."""
