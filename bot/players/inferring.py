"""``infer``: simulates as ``sim`` does, against what the opponent is likely to hold.

By what he plays it works out what he kept (``engine.inference.inference``), follows it through the
game (``engine.inference.rack_filter``), and learns what kind of player he is
(``engine.inference.likelihood``). Rollouts draw his rack from that.

Options besides those of ``sim``:

``model``
    ``style`` (as usual: one of several, learnt from his plays), ``deterministic``, ``margin`` or
    ``soft``: by what model his plays are judged;
``memory``
    ``game`` (as usual) or ``last``: only the last play counts, as in Richards and Amir (2007); the
    model is then theirs, ``deterministic``, if none is named;
``doubt``
    the share of rollouts, from 0 to 1, that draw his rack as if nothing was known;
``racks``
    so many racks are looked at for each of his plays, instead of a share of the turn's time.
"""

from __future__ import annotations

from dataclasses import replace

from bot.player import Budget, Choice, Observed, View
from bot.search.belief import Effort, Opponent
from bot.search.simulating import Search
from engine.inference.likelihood import MODELS, Style, stranger
from engine.inference.rack_filter import DOUBT
from engine.simulation.rollout_input import Belief

from .options import number, one_of, share
from .simulating import Searching, SimulatingPlayer, seed_of

__all__ = ["InferringPlayer"]

SHARE = 0.1
"""Of a turn's time, what inference may take at most: there is little to gain by it
(``docs/results/inference.md``), and rollouts need the rest."""
LONGEST_MS = 400.0
"""More time than that tells next to nothing more."""
RACKS = 4_000
"""Racks looked at where rollouts are counted, so that the clock makes no difference."""


class InferringPlayer(SimulatingPlayer):
    """Plays what wins most often against what the opponent may hold.

    Raises:
        ValueError: an option makes no sense.
    """

    def __init__(
        self,
        model: str = "",
        memory: str = "game",
        doubt: str = "",
        racks: str = "",
        *,
        candidates: str = "",
        plies: str = "",
        iterations: str = "",
        time: str = "",
        bag: str = "",
    ) -> None:
        super().__init__(candidates, plies, iterations, time, bag)
        self._remembers = one_of("memory", memory, ("game", "last")) == "game"
        usual = "style" if self._remembers else "deterministic"
        self._model = one_of("model", model or usual, ("style", *MODELS))
        self._doubt = share("doubt", doubt) if doubt else DOUBT
        self._racks = number("racks", racks, 1, 1_000_000) if racks else None
        self._opponent: Opponent | None = None

    def new_game(self, view: View) -> None:
        """Know nothing but what was learnt in other games."""
        learns = self._model == "style"
        style = stranger(view.opponent_style) if learns else Style.of(MODELS[self._model])
        self._opponent = Opponent(view, style, remembers=self._remembers, learns=learns)

    def observe(self, view: View, play: Observed) -> None:
        """Note a turn."""
        if self._opponent is not None:
            self._opponent.observe(view, play)

    def choose(self, view: View, budget: Budget) -> Choice:
        """Work out what the opponent holds, and search."""
        choice = super().choose(view, budget)
        told = self._opponent.told if self._opponent is not None else None
        return replace(choice, belief=told)

    def prepare(self, view: View, budget: Budget) -> None:
        """Take in what was noted, in a share of the time."""
        if self._opponent is None:
            return
        if self._racks is not None or self.settings.iterations is not None:
            effort = Effort(racks=self._racks or RACKS)
        else:
            effort = Effort(ms=min(SHARE * budget.remaining_ms(), LONGEST_MS))
        self._opponent.think(effort)

    def search(self, view: View) -> Searching:
        """Begin a search with what is believed."""
        return Search(view, self.settings, seed_of(view), self.belief(view))

    def belief(self, view: View) -> Belief | None:
        """Say what the opponent may hold, as far as anything is known."""
        return self._opponent.belief(view, self._doubt) if self._opponent is not None else None
