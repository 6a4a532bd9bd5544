"""``bluff`` and ``challenger``: players for games in which plays are challenged.

``bluff`` plays as ``static``, except that in a share ``rate`` (default 0.2) of its turns it lays
other tiles of its rack on the squares of its move, as a phony that was not challenged off before.
``challenger`` knows a ``share`` (default 0.9) of the words, different ones in each game. It plays
only words that it knows, and challenges all others.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from bot.player import Budget, Choice, Observed, Player, View
from bot.search.static_choice import static_choice
from engine.rules.moves import PASS, PLAYED_THROUGH, Place
from engine.rules.rules import IllegalMove, score_play
from lexicons.alphabet import BLANK, BLANK_FLAG

from . import options

_TRIES = 60
"""Arrangements of tiles tried to find a phony."""

_RANKED = 60
"""Best moves searched for known words first; finding these is much faster than finding all."""


class BluffPlayer(Player):
    """Plays a phony in a share ``rate`` of its turns, else the static choice."""

    def __init__(self, rate: str = "0.2") -> None:
        self._rate = options.share("rate", rate)

    def choose(self, view: View, budget: Budget) -> Choice:
        """Return the static choice or a phony; never a phony if it would be refused at once."""
        choice = static_choice(view)
        # So that a repeated question gets the same answer.
        chance = random.Random(f"{view.seed}/{len(view.history)}")
        is_honest = view.rules.challenge == "void" or chance.random() >= self._rate
        if is_honest or not isinstance(choice.move, Place) or view.refused:
            return choice
        return _phony(view, choice.move, chance) or choice


class ChallengerPlayer(Player):
    """Knows a ``share`` of the words, chosen by the seed of the game."""

    def __init__(self, share: str = "0.9") -> None:
        self._share = options.share("share", share)

    def choose(self, view: View, budget: Budget) -> Choice:
        """Return the move of the highest equity that makes only known words."""
        for count in (_RANKED, None):
            for ranked in view.ranked_moves(count):
                move, made = ranked.move, list[tuple[int, ...]]()
                if isinstance(move, Place):
                    made += score_play(view.position.board, move, view.rules).words
                if all(self._knows(view, view.text(word)) for word in made):
                    return Choice(ranked.move, score=ranked.score, equity=ranked.equity)
        return Choice(PASS, score=0)

    def challenge(self, view: View, play: Observed) -> Sequence[str]:
        """Return the unknown words of a play."""
        return [word for word in play.words if not self._knows(view, word)]

    def _knows(self, view: View, word: str) -> bool:
        is_known = random.Random(f"{view.seed}/{word.upper()}").random() < self._share
        return is_known and view.holds(word)


def _phony(view: View, move: Place, chance: random.Random) -> Choice | None:
    """Return the highest-scoring phony of some tries on the squares of a move; None if none is."""
    best: Choice | None = None
    came_off = {word.upper() for turn in view.history if turn.withdrawn for word in turn.words}
    for _ in range(_TRIES):
        drawn = iter(chance.sample(view.rack, len(move.placed)))
        tiles = tuple(
            PLAYED_THROUGH if tile == PLAYED_THROUGH else _letter(next(drawn), view, chance)
            for tile in move.tiles
        )
        place = Place(move.row, move.column, move.direction, tiles)
        try:
            play = score_play(view.position.board, place, view.rules)
        except IllegalMove:
            continue
        made = {view.text(word).upper() for word in play.words}
        phonies = {word for word in made if not view.holds(word)}
        is_new_phony = bool(phonies) and phonies.isdisjoint(came_off)
        if is_new_phony and (best is None or play.score > (best.score or 0)):
            best = Choice(place, score=play.score)
    return best


def _letter(tile: int, view: View, chance: random.Random) -> int:
    """Return a tile as it is laid: a blank stands for any letter."""
    if tile != BLANK:
        return tile
    return chance.randint(1, len(view.rules.distribution.alphabet)) | BLANK_FLAG
