"""``tilewire generate``."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from .failing import CommandFailed, sentences
from .options import (
    BoardOptions,
    Count,
    JsonOption,
    LeavesOption,
    RulesLexiconOption,
    TableOptions,
    lexicon_for,
)
from .positions import Judge, PositionArgument, note_unknown_words, read_position


def generate(
    what: PositionArgument,
    /,
    *,
    lexicon: RulesLexiconOption = "scowl",
    leaves: LeavesOption = None,
    top: Count | None = None,
    all_: Annotated[bool, Parameter(name="--all", negative="")] = False,
    plain: Annotated[bool, Parameter(negative="")] = False,
    opening: bool = True,
    going_out: bool = True,
    late_bag: bool = True,
    board: BoardOptions = BoardOptions(),
    json_: JsonOption = False,
) -> None:
    """List the moves of a position, the highest equity first.

    Equity is the score, the worth of the leave, and adjustments, each of which can be switched.

    Args:
        what: A CGP in quotes or a file that holds one (.cgp); GAME.gcg@LINE, the position before
            a line of the score sheet as tilewire show numbers them.
        top: How many moves. [default: 15]
        all_: Every move.
        plain: Score and leave alone, no adjustment.
        opening: Count vowels that the first play puts beside premium squares.
        going_out: Count tiles that are left when the bag is empty.
        late_bag: Count how many tiles the bag is left with, when they are few.
        json_: Print one JSON object.
    """
    if top is not None and all_:
        raise CommandFailed("give either --top or --all")
    rules = board.load()
    lexicon = lexicon_for(lexicon, rules.distribution)
    position = read_position(what, rules, lexicon)
    if not position.racks[position.on_turn]:
        raise CommandFailed("the rack of the player on turn is not given")
    judge = Judge.load(TableOptions(lexicon, leaves), rules, "engine.movegen.generator")
    note_unknown_words(judge.words, position.board)
    from engine.movegen.evaluation import PLAIN, Evaluation
    from harness.analysis.questions import rank_moves

    from .answer_text import print_answer

    adjusted = Evaluation(opening=opening, going_out=going_out, late_bag=late_bag)
    generator = judge.generator(PLAIN if plain else adjusted)
    with sentences():
        ranked = rank_moves(generator, position, None if all_ else top or 15)
    print_answer(ranked, rules, as_json=json_)
