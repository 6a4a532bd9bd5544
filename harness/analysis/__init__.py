"""Questions about a position or a game, and answers as values."""
