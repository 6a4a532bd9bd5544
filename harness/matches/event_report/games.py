"""The games of an event from its journal, in a compact form for the page, and times by turn."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from engine.notation.cgp import read_cgp
from engine.rules.rule_sets import rules_in_play
from engine.rules.rules import Rules
from harness.arbiter.journal_reading import KeptGame
from harness.arbiter.records import Ended, Opened, TurnRecord
from harness.figures import plain
from harness.matches.folder import CORRECTED
from harness.matches.results import GameResult
from lexicons.alphabet import EMPTY
from protocol.parts import UPHELD, WITHDRAWN

MOST_GAMES = 2_000
"""Most games to click through; if there are more, the first and the last of each pairing."""


class EventGames:
    """Reads the games that count, one after another.

    ``values`` is for the page's script, with short keys since there may be thousands of games:

    * ``names`` of the players, ``layout``, ``points`` of tiles, ``tiles`` in a full bag;
    * ``games``: number ``n``, round ``r``, players ``p`` by seat, final scores ``s``, how it ended
      ``o``, points for racks ``x`` and overtime ``y`` (none if the result was corrected), racks
      left ``k``, and turns ``t``, seats alternating: rack, move, score, milliseconds taken, and
      left on the clock; if it began from an opening, also tiles ``b``, each after the number of its
      square, and scores ``z``.
    """

    def __init__(
        self, names: Sequence[str], results: Sequence[GameResult], kept: Iterable[KeptGame]
    ) -> None:
        self.began: list[float] = []
        """When games were begun, seconds since 1970."""
        self.think_ms: dict[str, dict[int, list[int]]] = {name: defaultdict(list) for name in names}
        """By player, then by its own turn, from 1."""
        place = {name: at for at, name in enumerate(names)}
        shown = {result.game: result for result in _shown(results)}
        ended = {result.game: result for result in results}
        games: list[dict[str, Any]] = []
        self.values: dict[str, Any] = {"names": list(map(plain, names)), "games": games}
        for game in kept:
            opened = game.records[0]
            result = ended.get(game.game)
            if result is None or not isinstance(opened, Opened):
                continue
            self.began.append(game.created)
            judged = [each for each in game.records if isinstance(each, TurnRecord)]
            turns = _with_challenges(judged)
            for seat, name in enumerate(opened.players):
                times = [turn.think_ms for turn in turns if turn.seat == seat]
                # What the result has beyond the turns on record is the turn that lost the game.
                spent = sum(turn.think_ms for turn in judged if turn.charged == seat)
                last_ms = result.sides[seat ^ result.first].think_ms - spent
                times += [last_ms] * (result.forfeit and last_ms > 0)
                for number, ms in enumerate(times, start=1):
                    self.think_ms[name][number].append(ms)
            if game.game in shown:
                if not games:
                    self.values |= _equipment(rules_in_play(opened.rules))
                games.append(_game(result, place, opened, turns, game.records[-1]))
        games.sort(key=lambda game: int(game["n"]))


def _shown(results: Sequence[GameResult]) -> Iterable[GameResult]:
    """Choose the games to click through."""
    if len(results) <= MOST_GAMES:
        return results
    pairings: Mapping[frozenset[str], list[GameResult]] = defaultdict(list)
    for result in results:
        pairings[frozenset(side.name for side in result.sides)].append(result)
    each = max(MOST_GAMES // (2 * len(pairings)), 1)
    chosen = [
        result
        for games in pairings.values()
        for result in (games if len(games) <= 2 * each else (*games[:each], *games[-each:]))
    ]
    return chosen[:MOST_GAMES]


def _equipment(rules: Rules) -> dict[str, Any]:
    layout, tiles = rules.layout, rules.distribution
    alphabet = tiles.alphabet
    return {
        "layout": {
            "columns": layout.columns,
            "letter": layout.letter_multipliers,
            "word": layout.word_multipliers,
            "start": layout.start[0] * layout.columns + layout.start[1],
        },
        "points": {alphabet.tile_text(tile): points for tile, points in enumerate(tiles.points)},
        "tiles": tiles.total,
    }


def _game(
    result: GameResult,
    place: Mapping[str, int],
    opened: Opened,
    turns: Sequence[TurnRecord],
    last: object,
) -> dict[str, Any]:
    assert isinstance(last, Ended), "a game with a result is over"
    scores: Sequence[int] = last.scores
    message, adjustments, penalties = last.message, last.rack_adjustments, last.time_penalties
    if result.note.startswith(CORRECTED):  # the score is no longer the sum of its turns
        scores = [result.sides[side].score for side in (result.first, 1 - result.first)]
        message, adjustments, penalties = f"{message}; {result.note}", (0, 0), (0, 0)
    shown = {
        "n": result.number,
        "r": result.round,
        "p": [place[name] for name in opened.players],
        "s": scores,
        "o": plain(message),
        "x": adjustments,
        "y": penalties,
        "k": last.racks,
        "t": [
            (turn.rack, turn.move, turn.score, turn.think_ms, turn.clocks[turn.seat])
            for turn in turns
        ],
    }
    if opened.opening:
        rules = rules_in_play(opened.rules)
        position, text = read_cgp(opened.opening, rules), rules.distribution.alphabet.text
        squares = enumerate(position.board.squares)
        shown["b"] = [(at, text((tile,))) for at, tile in squares if tile != EMPTY]
        shown["z"] = position.scores
    return shown


def _with_challenges(turns: Sequence[TurnRecord]) -> list[TurnRecord]:
    """Return the turns with challenges merged into the plays challenged: seats then alternate."""
    shown: list[TurnRecord] = []
    for turn in turns:
        if turn.move == WITHDRAWN:
            shown[-1] = replace(shown[-1], move=f"{WITHDRAWN}{shown[-1].words[0]}", score=0)
        elif turn.move == UPHELD:
            shown[-1] = replace(shown[-1], score=shown[-1].score + turn.score)
        else:
            shown.append(turn)
    return shown
