"""What ``harness.matches.luck`` gains: standard errors with and without, and whether it is fair.

python docs/results/tournaments/luck.py fit --write   # the weights that are shipped
python docs/results/tournaments/luck.py kernels independent   # static – greedy; or equal
python docs/results/tournaments/luck.py games FILE    # of ``experiment duel``, packed or not
python docs/results/tournaments/luck.py difference FILE OTHER
"""

from __future__ import annotations

import json
import lzma
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, takewhile
from itertools import count as count_from
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from cyclopts import App

from engine.movegen.move_codec import unpack
from engine.rules.bag import Bag, DrawStream
from engine.rules.game import Ending, Game, Turn
from engine.rules.moves import Place
from engine.rules.position import Board, Position
from engine.rules.rules import Rules, leave_of, standard_rules, used_tiles
from engine.simulation.selfplay import StaticGames, play_static_games
from harness.lab.rows import Column, as_text
from harness.lab.studies.duel import Games, judge_of
from harness.lab.study_context import Field
from harness.matches.luck import SAMPLES, LuckMeter
from harness.matches.luck_correction import CorrectedMean, correction
from harness.matches.sequential import SequentialTest, parse_hypotheses, state_of_pairs
from lexicons.store import load_lexicon
from lexicons.tables import luck_weights, win_probabilities_for

SHIPPED = Path(__file__).parents[3] / "lexicons" / "embedded" / "scowl.luck.json"
FEW = 10  # samples, where a game itself takes a millisecond
FIT_SEED, SEED = 1901, 22  # other games than those that are judged
app = App()


@dataclass(frozen=True)
class Row:
    """A mean with and without luck; ± is half a 95 % interval."""

    match: Annotated[str, Column("match")]
    draws: Annotated[str, Column("draws")]
    games: Annotated[int, Column("games")]
    what: Annotated[str, Column("mean of")]
    plain: Annotated[float | None, Column("plain", error="plain_error", decimals=2)]
    corrected: Annotated[float | None, Column("corrected", error="corrected_error", decimals=2)]
    fair: Annotated[
        float | None, Column("corrected − plain", error="fair_error", decimals=2, sign=True)
    ]
    remaining: Annotated[float | None, Column("error ×", decimals=3)]
    fewer: Annotated[float | None, Column("games ÷")]
    plain_error: float | None
    corrected_error: float | None
    fair_error: float | None


def the_field(samples: int = SAMPLES) -> tuple[Field, LuckMeter]:
    """Return the embedded lexicon and what measures luck with it."""
    field = Field.of(load_lexicon(), standard_rules())
    chances = win_probabilities_for(field.rules.distribution)
    return field, LuckMeter(field.lexicon, field.rules, field.leaves, chances, samples)


def whole_games(played: StaticGames, rules: Rules) -> Iterator[Game]:
    """Yield recorded games of kernels as values, but for the order of the bag."""
    results = played.results
    for game, count in enumerate(played.turns.tolist()):
        sizes = results.sizes[game].tolist()
        racks = [
            tuple(row[:size]) for row, size in zip(results.racks[game].tolist(), sizes, strict=True)
        ]
        bag = Counter(dict(enumerate(rules.distribution.counts)))
        bag -= Counter(chain(*racks[:2]))
        board, turns, totals = Board.empty(rules.layout), [], [0, 0]
        for at in range(count):
            (move,) = unpack(results.moves[game, at : at + 1], board)
            kept = leave_of(racks[at], move)
            # Nobody sees the last racks; they hold what is left, unless the game ends in exchanges.
            drawn = Counter(racks[at + 2]) - Counter(kept) if at + 2 < count else bag
            if isinstance(move, Place):
                bag = bag - drawn
                board = board.with_move(move)
            elif at + 2 < count:
                bag = bag - drawn + Counter(used_tiles(move))
            if at + 1 < count:
                spreads = results.spreads[game]
                totals[at % 2] -= int(spreads[at + 1] + spreads[at])
            turns.append(Turn(at % 2, racks[at], move, 0, totals[at % 2], tuple(drawn.elements())))
        scores = played.scores[game].tolist()
        position = Position(board, ((), ()), (scores[0], scores[1]))
        over = Ending("out", (0, 0), ((), ()))
        order = Bag((), DrawStream(b""))
        yield Game(rules, position, order, (racks[0], racks[1]), tuple(turns), over)


def balances(luckmeter: LuckMeter, games: Iterable[Game]) -> Any:
    """Return [games, 2] points and wins that the draws gave seat 0; 0 where not known."""
    lucks = map(luckmeter.of, games)
    return np.array([luck.balance if luck else (0.0, 0.0) for luck in lucks])


def rows_of(match: str, draws: str, ahead: Any, luck: Any, pair_of: Any) -> list[Row]:
    """Return the rows of a match: ``ahead``, [games], and ``luck``, [games, 2], of the player."""
    weights = luck_weights()
    points = correction(ahead.astype(float), weights.points * luck[:, 0], pair_of)
    wins = correction(50 * (np.sign(ahead) + 1.0), 100 * weights.wins * luck[:, 1], pair_of)
    return [
        _row(match, draws, len(ahead), what, found)
        for what, found in (("wins, %", wins), ("points", points))
    ]


def _row(match: str, draws: str, games: int, what: str, found: CorrectedMean) -> Row:
    return Row(
        match,
        draws,
        games,
        what,
        found.plain,
        found.corrected,
        None if found.luck is None else -found.luck,
        found.remaining,
        None if found.remaining is None else found.remaining**-2,
        found.plain_error,
        found.corrected_error,
        found.luck_error,
    )


@app.command
def fit(games: int = 1_000, write: bool = False) -> None:
    """Fit the weights: least squares over games of the static player with itself."""
    field, luckmeter = the_field(FEW)
    played = play_static_games(
        field.lexicon, field.rules, field.leaves, games, seed=FIT_SEED, record=True
    )
    luck = balances(luckmeter, whole_games(played, field.rules))
    ahead = (played.scores[:, 0] - played.scores[:, 1]).astype(float)
    won = np.sign(ahead) / 2
    weights = {}
    for name, values, lucks in (("points", ahead, luck[:, 0]), ("wins", won, luck[:, 1])):
        design = np.column_stack((np.ones(games), lucks))  # who begins has an advantage
        (_, weight), (left, *_), *_ = np.linalg.lstsq(design, values)
        weights[name] = round(float(weight), 3)
        explained = 1 - left / ((values - values.mean()) ** 2).sum()
        print(f"{name}: weight {weight:.3f}, explains {100 * explained:.1f} % of the variance")
    made = {
        "command": f"python docs/results/tournaments/luck.py fit --games {games} --write",
        "seed": FIT_SEED,
        "lexicon": field.lexicon.name,
        "leaves": field.leaves_name,
    }
    if write:
        content = {"format": "tilewire luck weights 1", "made": made, "weights": weights}
        SHIPPED.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", "utf-8")


@app.command
def kernels(draws: Literal["independent", "equal"], games: int = 5_000, seed: int = SEED) -> None:
    """Play static against greedy, with independent or with equal draws."""
    field, luckmeter = the_field(FEW)
    static, greedy = judge_of("static", field), judge_of("greedy", field)
    equal = draws == "equal"
    played = play_static_games(
        field.lexicon,
        field.rules,
        static.leaves,
        games if equal else 2 * games,
        seed=seed,
        opponent=greedy.leaves,
        pairs=True,
        mirrored=True,
        record=True,
        evaluation=static.evaluation,
        opponent_evaluation=greedy.evaluation,
    )
    numbers = np.arange(len(played.begins))
    if not equal:  # one game of each pair, so that both players begin
        numbers = numbers[np.isin(numbers % 4, (0, 3))]
    chosen = set(numbers.tolist())
    whole = (each for at, each in enumerate(whole_games(played, field.rules)) if at in chosen)
    sign = 1 - 2 * played.begins[numbers].astype(int)
    luck = sign[:, np.newaxis] * balances(luckmeter, whole)
    ahead = sign * (played.scores[numbers, 0] - played.scores[numbers, 1])
    pair_of = np.arange(games) // 2 if equal else np.arange(games)
    print(as_text({"luck": rows_of("static – greedy", draws, ahead, luck, pair_of)}))


@dataclass(frozen=True)
class Played:
    """Games of a file of ``tilewire experiment duel``, of the player."""

    name: str
    numbers: Any  # [games]; 0 and 1, 2 and 3 … are pairs
    ahead: Any  # [games] points
    luck: Any  # [games, 2] points and wins that the draws gave

    def first(self, games: int) -> Played:
        """Return the first games alone."""
        return Played(self.name, self.numbers[:games], self.ahead[:games], self.luck[:games])


def read_games(file: Path) -> Played:
    """Read the first pairs of a file, packed or not, up to one that is not complete."""
    field, luckmeter = the_field()
    read = lzma.open if file.suffix == ".xz" else open
    with read(file, "rt", encoding="utf-8") as text:
        settings, *lines = map(json.loads, text)
    played = {line["number"]: line for line in lines}
    complete = takewhile(lambda pair: {pair, pair + 1} <= played.keys(), count_from(0, 2))
    records = [played[number] for pair in complete for number in (pair, pair + 1)]
    study = Games(tuple(records[0]["players"]), field, settings["seed"])
    luck = balances(luckmeter, map(study.replayed, records))
    numbers = np.array([record["number"] for record in records])
    luck *= (1 - 2 * (numbers % 2))[:, np.newaxis]
    ahead = np.array([record["scores"][0] - record["scores"][1] for record in records])
    return Played(study.name, numbers, ahead, luck)


@app.command
def games(file: Path, sprt: str = "") -> None:
    """Correct the pairs of a file of ``tilewire experiment duel``; each game once alone, too.

    ``sprt`` names two hypotheses, such as "0%,2%", for a sequential test of the games as played.
    """
    played = read_games(file)
    rows = []
    for draws, pair_of in (
        ("as if independent", np.arange(len(played.numbers))),
        ("equal", played.numbers // 2),
    ):
        rows += rows_of(played.name, draws, played.ahead, played.luck, pair_of)
    print(as_text({"luck": rows}))
    if sprt:
        test = SequentialTest(*parse_hypotheses(sprt))
        wins = (np.sign(played.ahead).reshape(-1, 2).mean(axis=1) + 1) / 2
        state = state_of_pairs(test, wins)
        print(
            f"\n{sprt}: {state.verdict} after {state.pairs} pairs, LLR {state.llr:+.2f} "
            f"({state.lower:.2f} to {state.upper:.2f})"
        )


@app.command
def difference(one: Path, other: Path) -> None:
    """Say what one player gains over another against the same opponent, in pairs of equal draws."""
    both = [read_games(file) for file in (one, other)]
    first, second = (played.first(min(len(each.ahead) for each in both)) for played in both)
    weights, pair_of = luck_weights(), first.numbers // 2
    luck = first.luck - second.luck
    wins = 50.0 * (np.sign(first.ahead) - np.sign(second.ahead))
    points = (first.ahead - second.ahead).astype(float)
    rows = [
        _row(f"{first.name} less {second.name}", "equal", len(pair_of), what, found)
        for what, found in (
            ("wins, %", correction(wins, 100 * weights.wins * luck[:, 1], pair_of)),
            ("points", correction(points, weights.points * luck[:, 0], pair_of)),
        )
    ]
    print(as_text({"luck": rows}))


if __name__ == "__main__":
    app()
