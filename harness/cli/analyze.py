"""``tilewire analyze``."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from engine.rules.rules import Rules

from . import options
from .failing import CommandFailed, sentences
from .positions import (
    Judge,
    PositionArgument,
    interruptible,
    note_unknown_words,
    read_game,
    read_position,
)

if TYPE_CHECKING:
    from harness.analysis.review import Turn


def analyze(
    what: PositionArgument,
    /,
    *,
    time: options.PositiveDuration | None = None,
    rollouts: options.Count | None = None,
    plies: options.Count | None = None,
    candidates: options.Count = 15,
    tables: options.TableOptions = options.TableOptions(),
    threads: options.ThreadsOption = 1,
    seed: options.SeedOption = 0,
    board: options.BoardOptions = options.BoardOptions(),
    json_: options.JsonOption = False,
) -> None:
    """Find the best move of a position by simulation, or review a game.

    Moves are played and followed by turns of static players, again and again, with other tiles
    each time. The last fifth compares the move that was played, if it isn't the best, with the
    best alone. With an empty bag the endgame is solved instead, as far as there is time. Ctrl-C
    ends it with what is known by then.

    Args:
        what: A CGP in quotes or a file that holds one (.cgp); GAME.gcg@LINE, the position before
            a line of the score sheet as `tilewire show` numbers them; GAME.gcg, every turn.
        time: How long at most; it ends before if it is certain. [default: 10s; 1s for each turn
            of a game]
        rollouts: How many of all candidates together, instead of a time, for each turn of a game;
            then the result is the same everywhere. With an empty bag a rollout stands for 30
            positions that the solver looks at, and 20,000 at least are looked at.
        plies: Turns after a candidate. [default: 2; to the end of the game when the bag is low]
        candidates: How many moves, the best by static equity.
        json_: Print one JSON object, or one for each turn of a game.
    """
    if time is not None and rollouts is not None:
        raise CommandFailed("give either --time or --rollouts")
    rules = board.load()
    tables = tables.for_rules(rules)
    turns, is_review = _turns(what, rules, tables.lexicon)
    judge = Judge.load(tables, rules, "harness.analysis.findings")
    note_unknown_words(judge.words, *(turn.position.board for turn in turns))
    from harness.analysis.findings import Settings

    from .findings_view import review_game, show_position

    usual_ms = 1_000 if is_review else 10_000
    settings = Settings(
        [judge.generator() for _ in range(threads)],
        judge.words,
        judge.win_probabilities,
        candidates=candidates,
        plies=plies,
        seed=seed,
        seconds=(usual_ms if time is None else time) / 1_000,
        rollouts=rollouts,
    )
    stop = threading.Event()
    with sentences(), interruptible(stop.set):
        if is_review:
            review_game(turns, settings, stop.is_set, as_json=json_)
        else:
            show_position(turns[0], settings, stop.is_set, as_json=json_)


def _turns(what: str, rules: Rules, lexicon: str) -> tuple[list[Turn], bool]:
    """Return the turns to analyse, and whether they are those of a whole game."""
    from harness.analysis.review import Turn, turn_before, turns_of

    game = read_game(what, rules)
    if game is None:
        return [Turn(read_position(what, rules, lexicon, has_choice=True))], False
    if game.line is None:
        with sentences(f"{game.path}: "):
            turns = turns_of(game.gcg, game.played, rules)
    else:
        turns = [turn_before(game.gcg, game.played, game.line, rules)]
        if turns[0].obstacle:
            raise CommandFailed(f"{what}: {turns[0].obstacle}")
    game.compare_words(lexicon)
    return turns, game.line is None
