"""``tilewire preendgame``."""

from __future__ import annotations

import json
from typing import Literal, TypeAlias

from engine.rules.position import bag_count

from .failing import CommandFailed
from .options import (
    BoardOptions,
    Count,
    JsonOption,
    LeavesOption,
    LexiconOption,
    PositiveDuration,
    SeedOption,
    TableOptions,
    ThreadsOption,
)
from .positions import Judge, read_position, sentences
from .solving import USUAL_MEMORY, Memory, solver_for, time_to_think

__all__ = ["preendgame"]

OpponentModel: TypeAlias = Literal["rational", "pessimistic", "static"]

USUAL_MS = 10_000
USUAL_TOP = 15
MOST_CANDIDATES = 300


def preendgame(
    what: str,
    /,
    *,
    time: PositiveDuration = USUAL_MS,
    model: OpponentModel = "rational",
    candidates: Count | None = None,
    top: Count = USUAL_TOP,
    memory: Memory = USUAL_MEMORY,
    threads: ThreadsOption = 1,
    lexicon: LexiconOption = "scowl",
    leaves: LeavesOption = None,
    seed: SeedOption = 0,
    board: BoardOptions = BoardOptions(),
    json_: JsonOption = False,
) -> None:
    """Compare the moves of a position with few tiles in the bag by how often they win.

    Each candidate is followed to the end of the game with whatever may be in the bag and on the
    other rack. Ctrl-C ends it with what is known by then.

    Args:
        what: A CGP in quotes or a file that holds one (.cgp); GAME.gcg@LINE, the position before
            a line of the score sheet as `tilewire show` numbers them. The opponent's rack counts
            where it is given in full.
        time: How long at most; it ends before if more would change nothing.
        model: The opponent: rational (the best by what it can know), pessimistic (as if it knew
            the bag too), static (the best by static equity).
        candidates: How many moves, the best by static equity, and the pass. [default: 24 with one
            tile in the bag, fewer with more]
        top: How many of them are shown.
        json_: Print one JSON object: cases, of bag and other rack, and the mass of them, 1 where
            they are all that there are; seconds; moves, the best first, with win (a draw counts
            half), wins, draws and losses, and the spread that is gained to the end of the game;
            null where no case was looked at.
    """
    if candidates is not None and candidates > MOST_CANDIDATES:
        raise CommandFailed(f"--candidates {candidates}: {MOST_CANDIDATES} can be compared at most")
    rules = board.rules()
    position = read_position(what, rules, has_choice=True)
    if not bag_count(position, rules):
        raise CommandFailed("the bag is empty: use tilewire endgame")
    judge = Judge.load(TableOptions(lexicon, leaves), rules)
    generator = judge.generator()
    solver = solver_for(judge.words, rules, memory, threads)
    from engine.preendgame.solver import PreEndgame, likely_candidates
    from harness.analysis.as_json import answer_json
    from harness.analysis.endings import compare_moves

    from .answer_text import preendgame_text

    with sentences():
        moves = likely_candidates(generator, position, candidates)
        solving = PreEndgame(solver, generator, position, moves, model=model, seed=seed)
    with time_to_think(time) as budget:
        compared = compare_moves(solving, position, rules, budget, model=model)
    if json_:
        print(json.dumps(answer_json(compared, rules, top), ensure_ascii=False))
    else:
        print("\n".join(preendgame_text(compared, rules, top)))
