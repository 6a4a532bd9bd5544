"""Questions about a position or a game, and answers as values.

``questions``  all moves by static equity; which are compared with the one that was played
``findings``   the best move by simulation
``verdict``    what findings mean, in sentences
``review``     the turns of a game as questions
``inferred``   what a play tells of the rack behind it
``endings``    the proof of an endgame, the comparison of moves in a pre-endgame
``as_json``    every answer as an object of JSON
"""
