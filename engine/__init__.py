"""What may be played, and what is best: rules, games, move generation. Pure: no I/O, no clock.

``rules.game.Game.start`` deals, ``Game.play`` checks a move and gives the game after it.
``movegen.generator.legal_moves`` finds every move.
"""
