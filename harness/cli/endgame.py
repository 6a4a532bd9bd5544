"""``tilewire endgame``."""

from __future__ import annotations

import json
from typing import Annotated

from cyclopts import Parameter

from engine.rules.position import bag_count

from .failing import CommandFailed
from .options import (
    BoardOptions,
    JsonOption,
    LexiconOption,
    PositiveDuration,
    ThreadsOption,
    load_words,
)
from .positions import read_position, sentences
from .solving import USUAL_MEMORY, Memory, solver_for, time_to_think

__all__ = ["endgame"]

USUAL_MS = 5_000


def endgame(
    what: str,
    /,
    *,
    time: PositiveDuration = USUAL_MS,
    memory: Memory = USUAL_MEMORY,
    threads: ThreadsOption = 1,
    first_win: Annotated[bool, Parameter(negative="")] = False,
    lexicon: LexiconOption = "scowl",
    board: BoardOptions = BoardOptions(),
    json_: JsonOption = False,
) -> None:
    """Work out the best play of a position with an empty bag, and prove it if there is time.

    The value is what the player on turn gains in spread from here to the end of the game, the
    settlement of the racks included. Ctrl-C ends it with what is known by then.

    Args:
        what: A CGP in quotes or a file that holds one (.cgp); GAME.gcg@LINE, the position before
            a line of the score sheet as `tilewire show` numbers them. The opponent's rack may be
            left out: it is what is unseen.
        time: How long at most; it ends before if the value is proven.
        first_win: Prove who wins, and not by how much.
        json_: Print one JSON object: value, with --first-win a bound of it; proven; outcome, won,
            lost or drawn if that is proven, else null; floor and ceiling, what is proven of the
            value, or null; depth, in turns; nodes; seconds; pv, the best play of both; scores, what
            each of its moves scores; spread, at the end of the game, a bound like the value.
    """
    rules = board.rules()
    position = read_position(what, rules, has_choice=True)
    if bag := bag_count(position, rules):
        tiles = "1 tile is" if bag == 1 else f"{bag} tiles are"
        raise CommandFailed(f"{tiles} in the bag, and in an endgame none: use tilewire preendgame")
    words = load_words(lexicon, rules.distribution)
    solver = solver_for(words, rules, memory, threads)
    from engine.endgame.solver import with_both_racks
    from harness.analysis.as_json import answer_json
    from harness.analysis.endings import prove_endgame

    from .answer_text import endgame_text

    with sentences():
        position = with_both_racks(position, rules)
        solver.begin(position, first_win=first_win)
    with time_to_think(time) as budget:
        proof = prove_endgame(solver, position, rules, budget, first_win=first_win)
    if json_:
        print(json.dumps(answer_json(proof, rules), ensure_ascii=False))
    else:
        print("\n".join(endgame_text(proof, rules)))
