"""``tilewire endgame``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import takewhile
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from cyclopts import Parameter

from engine.notation import format_full_move, format_move
from engine.rules.moves import PASS, Move, Place
from engine.rules.position import Position, bag_count
from engine.rules.rules import Rules, score_play
from harness.figures import number, plain, table

from .failing import CommandFailed
from .options import (
    Duration,
    JsonOption,
    LexiconOption,
    ThreadsOption,
    check_counts,
    check_durations,
    load_words,
)
from .positions import load_rules, position_asked
from .solving import (
    USUAL_MEMORY,
    Memory,
    pace,
    solver_for,
    work,
)

if TYPE_CHECKING:
    from engine.endgame import Solution

__all__ = ["endgame"]

USUAL_MS = 5_000


def endgame(
    what: str,
    /,
    *,
    time: Duration = USUAL_MS,
    memory: Memory = USUAL_MEMORY,
    threads: ThreadsOption = 1,
    first_win: Annotated[bool, Parameter(negative="")] = False,
    lexicon: LexiconOption = "scowl",
    distribution: str = "english",
    layout: str = "standard",
    json_: JsonOption = False,
) -> None:
    """Work out the best play of a position with an empty bag, and prove it if there is time.

    The value is what the player on turn gains in spread from here to the end of the game, the
    settlement of the racks included. Ctrl-C ends it with what is known by then.

    Args:
        what: A CGP in quotes or a file that holds one (.cgp); GAME.gcg@LINE, the position before
            a line of the score sheet as `tilewire show` numbers them. The opponent's rack may be
            left out: it is what is unseen.
        time: At most so long; it ends before if the value is proven.
        memory: At most so much for what was learnt of positions, as 256M or 1G.
        threads: How many search at once.
        first_win: Prove who wins, and not by how much.
        lexicon: An embedded lexicon, or a word list or KWG file.
        distribution: The tiles: an embedded distribution or a CSV file.
        layout: The board: an embedded layout or a text file.
        json_: Print one JSON object: value, with --first-win a bound of it; proven; outcome, won,
            lost or drawn if that is proven, else null; floor and ceiling, what is proven of the
            value, or null; depth, in turns; nodes; seconds; pv, the best play of both; scores, what
            each of its moves scores; spread, at the end of the game, a bound like the value.
    """
    check_durations(time=time)
    check_counts(threads=threads)
    rules = load_rules(distribution, layout)
    position = position_asked(what, rules)
    if bag := bag_count(position, rules):
        tiles = "1 tile is" if bag == 1 else f"{bag} tiles are"
        raise CommandFailed(f"{tiles} in the bag, and in an endgame none: use tilewire preendgame")
    solver = solver_for(load_words(lexicon, rules.distribution), rules, memory, threads)
    from engine.endgame import with_both_racks

    try:
        position = with_both_racks(position, rules)
        solver.begin(position, first_win=first_win)
    except ValueError as error:
        raise CommandFailed(str(error)) from None
    seconds = work(solver, time)
    found = _Found(position, first_win, solver.solution, solver.line(), seconds, solver.is_over)
    if json_:
        print(json.dumps(_as_json(found, rules), ensure_ascii=False))
    else:
        print("\n".join(_as_text(found, rules)))


class _Found(NamedTuple):
    position: Position
    first_win: bool
    solution: Solution
    line: tuple[Move, ...]
    seconds: float
    is_over: bool

    @property
    def before(self) -> int:
        """The spread, as the player on turn sees it."""
        seat = self.position.on_turn
        return self.position.scores[seat] - self.position.scores[1 - seat]

    @property
    def spread(self) -> int:
        """The same at the end of the game."""
        return self.before + self.solution.value


# --- how it is shown ----------------------------------------------------------------------------


class _Turn(NamedTuple):
    is_ours: bool
    move: Move
    text: str  # with the tiles that it plays through
    score: int


def _turns(found: _Found, rules: Rules) -> Iterator[_Turn]:
    board, ours = found.position.board, True
    for move in found.line:
        text = format_full_move(move, board, rules.distribution.alphabet)
        if isinstance(move, Place):
            yield _Turn(ours, move, text, score_play(board, move, rules).score)
            board = board.with_move(move)
        else:
            yield _Turn(ours, move, text, 0)
        ours = not ours


def _as_json(found: _Found, rules: Rules) -> dict[str, Any]:
    solution, turns = found.solution, list(_turns(found, rules))
    alphabet = rules.distribution.alphabet
    return {
        "value": solution.value,
        "proven": solution.proven,
        "outcome": _sure_outcome(found),
        "floor": solution.floor,
        "ceiling": solution.ceiling,
        "depth": solution.depth,
        "nodes": solution.nodes,
        "seconds": round(found.seconds, 3),
        "move": format_move(solution.move, alphabet),
        "pv": [format_move(turn.move, alphabet) for turn in turns],
        "scores": [turn.score for turn in turns],
        "spread": found.spread,
    }


def _sure_outcome(found: _Found) -> str | None:
    """Say who wins, as far as it is proven."""
    floor, ceiling = found.solution.floor, found.solution.ceiling
    if floor is not None and found.before + floor > 0:
        return "won"
    if ceiling is not None and found.before + ceiling < 0:
        return "lost"
    return "drawn" if found.solution.proven else None


def _as_text(found: _Found, rules: Rules) -> Iterator[str]:
    from harness.analysis.view import heading

    yield plain(heading(found.position, rules))
    yield ""
    yield _line_table(found, rules)
    yield ""
    yield _verdict(found)
    yield f"{found.solution.depth} turns deep, {pace(found.solution.nodes, found.seconds)}"


def _line_table(found: _Found, rules: Rules) -> str:
    spread, rows = found.before, []
    turns = list(_turns(found, rules))
    for turn in turns:
        spread += turn.score if turn.is_ours else -turn.score
        side = "on turn" if turn.is_ours else "opponent"
        rows.append((side, turn.text, str(turn.score), number(spread, 0, sign=True)))
    if not found.first_win:
        rest = (
            "tiles that are left" if _is_whole(turns, found.position, rules) else "what comes after"
        )
        left, end = (number(one, 0, sign=True) for one in (found.spread - spread, found.spread))
        rows.append(("", rest, left, end))
    return table(("", "move", "score", "spread"), rows)


def _is_whole(turns: list[_Turn], position: Position, rules: Rules) -> bool:
    """Tell whether these turns lead to the end of the game.

    A side is out, both have passed (``engine.kernels.endgame`` says why two passes will do), or
    the last of so many scoreless turns was taken.
    """
    placed = [0, 0]
    for turn in turns:
        placed[turn.is_ours] += len(turn.move.placed) if isinstance(turn.move, Place) else 0
    seat = position.on_turn
    held = len(position.racks[1 - seat]), len(position.racks[seat])
    passes = len(list(takewhile(lambda turn: turn.move == PASS, reversed(turns))))
    before = position.scoreless_turns if passes == len(turns) else 0
    is_out = placed[0] == held[0] or placed[1] == held[1]
    return is_out or passes >= 2 or before + passes >= rules.scoreless_limit


def _verdict(found: _Found) -> str:
    """Say what it comes to, and how sure that is."""
    solution = found.solution
    if found.first_win and solution.proven:
        return f"proven: {_outcome(found)}"
    value = f"value {number(solution.value, 0, sign=True)}, spread at the end "
    value += number(found.spread, 0, sign=True)
    if solution.proven:
        return f"{value}: proven"
    more = "--memory" if found.is_over else "--time"
    return f"{value}: not proven{_bounds(solution)}; more {more} may change it"


def _outcome(found: _Found) -> str:
    floor, ceiling = found.solution.floor, found.solution.ceiling
    if floor is not None and found.before + floor > 0:
        return f"a win, by {found.before + floor} at least"
    if ceiling is not None and found.before + ceiling < 0:
        return f"a loss, by {-(found.before + ceiling)} at least"
    return "a draw"


def _bounds(solution: Solution) -> str:
    """Say between what the value is, as far as that is proven."""
    known = [
        f"{name} {number(bound, 0, sign=True)}"
        for name, bound in (("at least", solution.floor), ("at most", solution.ceiling))
        if bound is not None
    ]
    return f" ({' and '.join(known)} is)" if known else ""
