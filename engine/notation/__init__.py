"""Moves, positions and games as text; ``replaying`` plays games over, and records them."""
