"""Whether it pays within one game to learn what kind of player the other is.

A static player watches an opponent of some kind, of whom nobody told it anything, and three beliefs
of his leaves are held against the truth:

*learning*
    a stranger, who is learnt turn by turn;
*fixed*
    one model, of a player who simulates, whoever he is;
*mixture*
    a stranger who remains one: all models at once, as likely after a game as before it.

Games come in pairs with the same draws, by which they are clustered for intervals of 95 %.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bot.player import Budget, Choice, Player, View
from bot.players.static import generator_for, not_refused
from engine.inference.likelihood import SIMULATING, Style, stranger
from engine.inference.rack_filter import Tracker
from engine.movegen.evaluation import POINT
from harness.matches.significance import Floats, mean_and_error

from .games import Meeting, played, replayed
from .replayed_beliefs import Seen, judges_for, loss_of, random_share, share_of, take_in, told

__all__ = ["OPPONENTS", "AnyOfThree", "Learning", "StyleRow", "mean_odds", "style_rows", "watched"]

OPPONENTS = {
    "greedy": "greedy",
    "any-of-three": "harness.lab.studies.styles:AnyOfThree",
    "static": "static",
}
"""Opponents that have a name here, and their seats."""

_TURNS = {"1": (1, 1), "1–3": (1, 3), "4–6": (4, 6), "7 and on": (7, 99), "all": (1, 99)}
_AMONG = 3

_Record = dict[str, Any]


class AnyOfThree(Player):
    """Plays one of the three moves of the highest equity, each as often."""

    def choose(self, view: View, budget: Budget) -> Choice:
        """Choose by chance, the same when the turn is asked again."""
        best = generator_for(view).best(view.position, _AMONG + len(view.refused))
        chance = random.Random(f"{view.seed}/{len(view.history)}/{len(view.refused)}")
        one = chance.choice(not_refused(view, best)[:_AMONG])
        return Choice(one.move, score=one.score, equity=one.equity / POINT)


class Learning(NamedTuple):
    """What is asked of each game: whom the first seat watches."""

    meeting: Meeting
    racks: int
    """Looked at for each turn, at most."""


@dataclass(frozen=True)
class StyleRow:
    """Losses over some turns of games with one opponent, in nats for each tile of a leave.

    Errors are half the width of 95 % intervals.
    """

    opponent: str
    turns: str
    """Which of his turns in a game."""
    positions: int
    learning: float | None
    fixed: float | None
    mixture: float | None
    over_fixed: float | None
    """The loss of learning less that of the fixed model."""
    over_fixed_error: float | None
    over_mixture: float | None
    over_mixture_error: float | None


def watched(learning: Learning, number: int) -> _Record:
    """Play a game, and give what the player believed of his opponent."""
    meeting = learning.meeting
    record = played(meeting, number)
    game = replayed(record, meeting.seed, meeting.rules)
    judges = judges_for(meeting.lexicon, meeting.rules)
    trackers = {
        "learning": Tracker(judges, stranger()),
        "fixed": Tracker(judges, Style.of(SIMULATING), learns=False),
        "mixture": Tracker(judges, stranger(), learns=False),
    }
    seen, nth = [], 0
    for event in told(game, number % 2):
        for tracker in trackers.values():
            take_in(tracker, event, learning.racks)
        if isinstance(event, Seen):
            nth += 1
            if event.hides:
                seen.append({"nth": nth, **_losses(event, trackers)})
    return {**record, "seen": seen, "odds": trackers["learning"].style.named()}


def _losses(seen: Seen, trackers: dict[str, Tracker]) -> dict[str, float]:
    """Give the loss of each belief; where nothing is known, all is doubted."""
    chance, size = random_share(seen.leave, seen.left), len(seen.leave)
    found = {}
    for name, tracker in trackers.items():
        kept = tracker.kept
        doubt = kept.doubt if kept.size else 1.0
        found[name] = loss_of(share_of(seen.leave, kept), doubt, chance, size)
    return found


def style_rows(opponent: str, records: Sequence[_Record]) -> list[StyleRow]:
    """Add losses up, by when in the game they were made."""
    pairs = {pair: at for at, pair in enumerate(sorted({one["number"] // 2 for one in records}))}
    found = [(pairs[one["number"] // 2], seen) for one in records for seen in one["seen"]]
    rows = []
    for name, (first, last) in _TURNS.items():
        those = [(pair, seen) for pair, seen in found if first <= seen["nth"] <= last]
        units, unit_of = np.unique([pair for pair, _ in those], return_inverse=True)
        losses = {
            belief: np.array([seen[belief] for _, seen in those], np.float64)
            for belief in ("learning", "fixed", "mixture")
        }

        def mean(values: Floats, of: Any = unit_of, count: int = len(units)) -> Any:
            return mean_and_error(values, of, count)

        rows.append(
            StyleRow(
                opponent,
                name,
                len(those),
                *(mean(one)[0] for one in losses.values()),
                *mean(losses["learning"] - losses["fixed"]),
                *mean(losses["learning"] - losses["mixture"]),
            )
        )
    return rows


def mean_odds(records: Sequence[_Record]) -> dict[str, float]:
    """Give the mean of what a game's end thought of each model."""
    names = records[0]["odds"] if records else {}
    return {name: float(np.mean([one["odds"][name] for one in records])) for name in names}
