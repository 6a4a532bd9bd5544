"""The pre-endgame: which move wins most often with a few tiles left in the bag.

Each way in which the unseen tiles may lie is a *case*, weighted by the belief about the opponent. A
candidate that empties the bag leaves an endgame in each case, with both racks known, for the solver
(``engine.endgame``): its share of wins is exact once every case is proven. Wins come first, a tie
is half a win; points decide among candidates that win equally often.

While tiles are left in the bag the opponent moves without knowing them, by a model: results then
hold for the model and are not proven, except for a static reply that empties the bag. The orders of
the bag are enumerated, or drawn if there are too many.
"""

MOST_IN_BAG = 7
"""Most tiles in the bag of a pre-endgame."""
