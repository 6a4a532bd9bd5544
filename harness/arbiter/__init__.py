"""One game: who may do what, when, and what is kept of it.

``host`` runs a game: its inbox, its timers, commits and what is sent after them. ``table`` is the
arbiter itself, without I/O or clock: an event comes in, records and messages go out.
``scorebook`` is the state: the game, its secret, the running clocks (``clock``: a bank of time
between turns). ``records`` are what is kept, ``journal`` and its files keep it, ``views`` decides
what each recipient may see, ``audience`` sends it to spectators, ``nonces`` settles the draws, and
``seat`` is what an arbiter knows of a player.
"""
