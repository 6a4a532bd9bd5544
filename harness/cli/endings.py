"""``tilewire endgame`` and ``tilewire preendgame``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from cyclopts import Parameter, Token
from msgspec import Meta

from engine.rules.position import bag_count

from . import options
from .failing import CommandFailed, sentences
from .positions import Judge, PositionArgument, note_unknown_words, read_position, time_to_think

if TYPE_CHECKING:
    from engine.endgame.solver import EndgameSolver
    from engine.rules.rules import Rules
    from lexicons.store import Lexicon

USUAL_MEMORY = 256 << 20

_UNITS = {"K": 10, "M": 20, "G": 30}  # powers of two


def _memory(_type: Any, tokens: Sequence[Token]) -> int:
    text = tokens[0].value
    match = re.fullmatch(r"([0-9]{1,6})([KMG])(?:i?B)?", text)
    if match is None:
        raise ValueError(f"{text!r} is no amount of memory; write 256M or 1G")
    return int(match[1]) << _UNITS[match[2]]


Memory: TypeAlias = Annotated[
    int,
    Parameter(
        converter=_memory,
        metavar="MEMORY",
        show_default=lambda memory: f"{memory >> 20}M",
        help="The most memory for results of positions, as 256M or 1G.",
    ),
]
"""Bytes, given as ``256M`` or ``1G``."""


def endgame(
    what: PositionArgument,
    /,
    *,
    time: options.PositiveDuration = 5_000,
    memory: Memory = USUAL_MEMORY,
    threads: options.ThreadsOption = 1,
    first_win: Annotated[bool, Parameter(negative="")] = False,
    lexicon: options.RulesLexiconOption = "scowl",
    board: options.BoardOptions = options.BoardOptions(),
    json_: options.JsonOption = False,
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
    rules = board.load()
    lexicon = options.lexicon_for(lexicon, rules.distribution)
    position = read_position(what, rules, lexicon, has_choice=True)
    if bag := bag_count(position, rules):
        from engine.preendgame import MOST_IN_BAG

        tiles = "1 tile is" if bag == 1 else f"{bag} tiles are"
        command = "preendgame" if bag <= MOST_IN_BAG else "analyze"
        raise CommandFailed(
            f"{tiles} in the bag; an endgame has an empty bag: use tilewire {command}"
        )
    words = options.load_words(lexicon, rules.distribution)
    from engine.endgame.solver import with_both_racks
    from harness.analysis.endings import proof_so_far, spend

    from .answer_text import print_answer

    options.compile_first(["harness.analysis.endings"])
    solver = _solver(words, rules, memory, threads)
    with sentences():
        position = with_both_racks(position, rules)
        solver.begin(position, first_win=first_win)
    note_unknown_words(words, position.board)
    with time_to_think(time) as budget:
        seconds = spend(budget, solver)
    proof = proof_so_far(solver, position, rules, first_win=first_win, seconds=seconds)
    print_answer(proof, rules, as_json=json_)


def preendgame(
    what: PositionArgument,
    /,
    *,
    time: options.PositiveDuration = 10_000,
    model: Literal["rational", "pessimistic", "static"] = "rational",
    candidates: Annotated[int, Meta(ge=1, le=300)] | None = None,
    top: options.Count = 15,
    memory: Memory = USUAL_MEMORY,
    threads: options.ThreadsOption = 1,
    lexicon: options.RulesLexiconOption = "scowl",
    leaves: options.LeavesOption = None,
    seed: options.SeedOption = 0,
    board: options.BoardOptions = options.BoardOptions(),
    json_: options.JsonOption = False,
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
    rules = board.load()
    lexicon = options.lexicon_for(lexicon, rules.distribution)
    position = read_position(what, rules, lexicon, has_choice=True)
    from engine.preendgame import MOST_IN_BAG
    from engine.preendgame.solver import PreEndgame, likely_candidates

    if not (bag := bag_count(position, rules)):
        raise CommandFailed("the bag is empty: use tilewire endgame")
    if bag > MOST_IN_BAG:
        raise CommandFailed(
            f"{bag} tiles are in the bag, but a pre-endgame has 1 to {MOST_IN_BAG}: use tilewire "
            "analyze"
        )
    judge = Judge.load(options.TableOptions(lexicon, leaves), rules, "harness.analysis.endings")
    note_unknown_words(judge.words, position.board)
    generator = judge.generator()
    solver = _solver(judge.words, rules, memory, threads)
    from harness.analysis.endings import compare_moves

    from .answer_text import print_answer

    with sentences():
        moves = likely_candidates(generator, position, candidates)
        solving = PreEndgame(solver, generator, position, moves, model=model, seed=seed)
    with time_to_think(time) as budget:
        compared = compare_moves(solving, position, rules, budget, model=model)
    print_answer(compared, rules, as_json=json_, top=top)


def _solver(words: Lexicon, rules: Rules, memory: int, threads: int) -> EndgameSolver:
    """Make a solver, or fail with a sentence; load the kernels."""
    from engine.endgame.solver import EndgameSolver
    from lexicons.jit import load

    try:
        with sentences():
            solver = EndgameSolver(words, rules, memory=memory, threads=threads)
    except MemoryError:
        raise CommandFailed(f"{memory:,} bytes of memory are not free; lower --memory") from None
    load()
    return solver
