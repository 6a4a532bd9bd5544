"""Endgames: with the bag empty both racks are known, and the best play can be proven.

Values are points in spread that the player on turn gains from here to the end of the game,
settlement included: twice the other's tiles for going out, or minus its own for each player after
six scoreless turns.
"""
