"""The pre-endgame: which move wins most often with a few tiles left in the bag.

``comparison``  candidates, and which of them are looked at, where, and for how long
``cases``       how the unseen tiles may lie
``fulls``       positions of which everything is known, and what a move makes of them
``replies``     what the opponent does while there is a bag
``bounds``      what is known of a candidate, case by case

Every way in which the unseen tiles may lie is a *case*, as likely as the belief about the opponent
says. A candidate that empties the bag leaves an endgame in each of them, with both racks known, and
the solver (``engine.endgame``) says what comes of it: then a candidate's share of wins is exact as
soon as every case is proven. Wins come first, a tie is half of one; points decide where candidates
win as often.

Where tiles are left in the bag the opponent moves without knowing them, as a model of it says;
what is found then is true of the model and not proven, but for the static one where its reply
empties the bag. The order in which tiles come out of the bag is enumerated, or drawn where there
are too many orders.
"""

from __future__ import annotations

from .replies import MODELS, Model
from .solver import MOST_IN_BAG, Outcome, PreEndgame, likely_candidates

__all__ = ["MODELS", "MOST_IN_BAG", "Model", "Outcome", "PreEndgame", "likely_candidates"]
