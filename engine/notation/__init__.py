"""Moves, positions and games as text.

``move_text``     moves; ``cgp_moves`` and ``magpie_moves`` as others write them
``cgp``           positions
``gcg``           games; ``replaying`` plays them over, and records those that were played
"""
