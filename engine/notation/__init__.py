"""Moves, positions and games as text.

``move_text``     moves; ``cgp_moves`` and ``magpie_moves`` as others write them
``cgp``           positions
``gcg``           games; ``recording`` writes one that was played, ``replaying`` plays one over
"""
