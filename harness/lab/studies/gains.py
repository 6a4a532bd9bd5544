"""What guessing the opponent's rack gains, turn by turn: an answer to where it pays.

In games that were played, each turn after a play of the opponent is decided several times by
simulations of as many rollouts: without a belief, with what is inferred from his plays, with what
he kept in sight, and with his rack. Where they choose different moves, these are rolled out at
length against the rack that he really had: by so much as a move is worth more than that of the
first, so much is gained. The draws to come are random, so that the luck of the game itself is left
out, and a few thousand turns tell as much as many thousand games.

What is left out, too: what the game that follows makes of it. Rollouts go on with static players.

Of two games that share their draws only the first is looked at: where like plays like, they are
much the same. So games are independent, and intervals of 95 % go over games.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from bot.search.simulating import ENOUGH, FIRST_SAMPLES, usual_plies
from engine.inference.likelihood import DETERMINISTIC, Style, stranger
from engine.inference.rack_filter import Tracker
from engine.movegen.candidates import best_candidates
from engine.movegen.generator import Generator, RankedMove
from engine.rules.game import Game
from engine.rules.moves import Move
from engine.rules.position import Position
from engine.simulation.rollout_input import Belief
from engine.simulation.simulation import Simulation
from harness.figures import counted
from harness.matches.significance import mean_and_error
from lexicons.tables import leaves_for
from lexicons.win_probability import WinProbabilities

from .games import Meeting, replayed
from .replayed_beliefs import Games, Seen, judges_for, take_in, told

__all__ = ["GAINERS", "GainRow", "Gains", "gain_rows", "gains_in"]

GAINERS = ("infer", "last", "leave", "full-knowledge")
"""``last`` goes by the last play only, deterministic: as in Richards and Amir (2007). ``leave``
sees what he kept, but not what he drew: no inference from plays can know more."""
CANDIDATES = 15
_SLICE = 256  # rollouts
_UNSEEN = ((8, 14), (15, 28), (29, 49), (50, 93))


class Gains(NamedTuple):
    """What is asked of each game."""

    meeting: Meeting
    """Whose seed does not count: the games have their own."""
    games: Games
    win_probabilities: WinProbabilities
    racks: int
    """Looked at for each play, at most."""
    rollouts: int
    """Of each search, at most."""
    truth: int
    """Rollouts of each move that is compared."""

    def pairs(self) -> int:
        """Count the pairs of games from the first on, as far as none lacks its first game."""
        return next(pair for pair in count() if 2 * pair not in self.games.records)


@dataclass(frozen=True)
class GainRow:
    """What one player gains on one without a belief in some of the turns.

    Errors are half the width of 95 % intervals, over games that have such turns.
    """

    player: str
    by: str
    """What turns are told apart by: ``all``, ``unseen`` or ``placed`` tiles."""
    turns: str
    """Which, in words."""
    count: int
    differs: float
    """The share of turns in which he chooses another move."""
    points: float | None
    """Points a turn."""
    points_error: float | None
    win: float | None
    """Wins a turn, 0.01 being a game in a hundred."""
    win_error: float | None
    points_a_game: float
    """What all such turns gain a player in a game."""


# --- a game ---------------------------------------------------------------------------------------


def gains_in(gains: Gains, number: int) -> dict[str, Any]:
    """Work through the first game of a pair, both players' turns.

    Returns:
        What came of it as JSON can say it: for each turn wins and points that are gained.
    """
    record = gains.games.records[2 * number]
    turns = [turn for seat in range(2) for turn in _turns(gains, record, seat)]
    return {"number": number, "game": record["number"], "turns": turns}


def _turns(gains: Gains, record: dict[str, Any], seat: int) -> Iterator[dict[str, Any]]:
    """Give the turns of a seat that come after something was to be guessed."""
    rules, seed = gains.meeting.rules, gains.games.seed
    judges = judges_for(gains.meeting.lexicon, rules)
    generator = Generator(gains.meeting.lexicon, rules, leaves_for(rules.distribution))
    trackers = {
        "infer": Tracker(judges, stranger()),
        "last": Tracker(judges, Style.of(DETERMINISTIC), remembers=False, learns=False),
    }
    game = replayed(record, seed, rules)
    for event in told(game, seat):
        for tracker in trackers.values():
            take_in(tracker, event, gains.racks)
        number = event.number + 1 if isinstance(event, Seen) else 0
        if isinstance(event, Seen) and event.hides and number < len(game.turns):
            before = replayed(record | {"moves": record["moves"][:number]}, seed, rules)
            beliefs = {name: tracker.belief() for name, tracker in trackers.items()}
            beliefs["leave"] = Belief([event.leave], [1.0])
            yield {
                "turn": number,
                "unseen": sum(event.left),
                "placed": len(event.play.tiles),
                **_decided(_Search.of(gains, generator, before, record["number"]), beliefs),
            }


def _decided(search: _Search, beliefs: dict[str, Belief | None]) -> dict[str, Any]:
    """Decide a turn by each player; give what each gains, wins and points, and who differs."""
    plain = search.choose(None)
    chosen = {name: search.choose(belief) for name, belief in beliefs.items()}
    chosen["full-knowledge"] = search.choose(None, sees=True)
    values = search.values({plain, *chosen.values()})
    return {
        "gains": {
            name: [
                round(here - there, 5)
                for here, there in zip(values[move], values[plain], strict=True)
            ]
            for name, move in chosen.items()
        },
        "differs": [name for name, move in chosen.items() if move != plain],
    }


class _Search(NamedTuple):
    """Searches of one turn."""

    gains: Gains
    generator: Generator
    position: Position
    """With both racks."""
    seen: Position
    """With that of the player on turn only."""
    candidates: list[RankedMove]
    plies: int
    chance: tuple[int, ...]
    """What tells this turn from others."""

    @classmethod
    def of(cls, gains: Gains, generator: Generator, game: Game, number: int) -> _Search:
        """Prepare the turn that a game has come to; ``number`` is that of the game."""
        position = game.position
        racks = position.racks
        seen = replace(position, racks=((), racks[1]) if position.on_turn else (racks[0], ()))
        candidates = best_candidates(generator, seen, CANDIDATES)
        plies = usual_plies(len(game.bag))
        chance = gains.games.seed, number, len(game.turns)
        return cls(gains, generator, position, seen, candidates, plies, chance)

    def choose(self, belief: Belief | None, *, sees: bool = False) -> Move:
        """Simulate for so many rollouts, or until no more would change anything."""
        simulation = Simulation(
            [self.generator],
            self.position if sees else self.seen,
            self.candidates,
            self.gains.win_probabilities,
            plies=self.plies,
            seed=self._seed(0),
            first=FIRST_SAMPLES,
            belief=belief,
            limit=self.gains.rollouts,
        )
        while simulation.regret > ENOUGH and simulation.advance(_SLICE):
            pass
        return simulation.leader.move

    def values(self, moves: set[Move]) -> dict[Move, tuple[float, float]]:
        """Give wins and points of moves with both racks known; of one move alone nothing."""
        if len(moves) == 1:
            return dict.fromkeys(moves, (0.0, 0.0))
        some = [one for one in self.candidates if one.move in moves]
        simulation = Simulation(
            [self.generator],
            self.position,
            some,
            self.gains.win_probabilities,
            plies=self.plies,
            seed=self._seed(1),
            rule="equal",
            limit=self.gains.truth * len(some),
        )
        simulation.advance(self.gains.truth * len(some))
        return {one.move: (one.win, one.equity) for one in simulation.estimates()}

    def _seed(self, of: int) -> int:
        """Choices have the same luck, and what they are worth has another."""
        return int(np.random.SeedSequence((*self.chance, of)).generate_state(1)[0])


# --- sums -----------------------------------------------------------------------------------------

_Turns = list[tuple[int, dict[str, Any]]]
"""Each with the number of its game."""


def gain_rows(records: Sequence[dict[str, Any]]) -> list[GainRow]:
    """Add games up: all turns, by tiles unseen, and by tiles that the opponent placed."""
    turns = [(one["number"], turn) for one in records for turn in one["turns"]]
    return [
        _row(player, by, name, some, len(records))
        for by, name, some in _groups(turns)
        if some
        for player in GAINERS
    ]


def _groups(turns: _Turns) -> Iterator[tuple[str, str, _Turns]]:
    yield "all", "all", turns
    for least, most in _UNSEEN:
        some = [one for one in turns if least <= one[1]["unseen"] <= most]
        yield "unseen", f"{least}–{most} tiles unseen", some
    for placed in range(8):
        some = [one for one in turns if one[1]["placed"] == placed]
        what = f"{counted(placed, 'tile')} placed" if placed else "exchanged or passed"
        yield "placed", what, some


def _row(player: str, by: str, name: str, turns: _Turns, games: int) -> GainRow:
    units, unit_of = np.unique([game for game, _ in turns], return_inverse=True)
    found = np.array([turn["gains"][player] for _, turn in turns], np.float64)
    win, points = (mean_and_error(found[:, at], unit_of, len(units)) for at in range(2))
    differs = float(np.mean([player in turn["differs"] for _, turn in turns]))
    a_game = float(found[:, 1].sum()) / (2 * games)
    return GainRow(player, by, name, len(turns), differs, *points, *win, a_game)
