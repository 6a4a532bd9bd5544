"""What an opponent may hold: after one play, and through a game."""
