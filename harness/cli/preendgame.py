"""``tilewire preendgame``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from engine.notation import format_full_move, format_move
from engine.rules.position import Position, bag_count
from engine.rules.rules import Rules
from harness.figures import number, plain, table

from .failing import CommandFailed
from .options import (
    Duration,
    JsonOption,
    LeavesOption,
    LexiconOption,
    ThreadsOption,
    check_counts,
    check_durations,
    equip,
    load_given,
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
    from engine.endgame import EndgameSolver
    from engine.movegen.generator import Generator
    from engine.preendgame import Outcome, PreEndgame

__all__ = ["preendgame"]

ModelName: TypeAlias = Literal["rational", "pessimistic", "static"]

USUAL_MS = 10_000
USUAL_TOP = 15
MOST_CANDIDATES = 300
ALL = 0.9995  # of what there can be


def preendgame(
    what: str,
    /,
    *,
    time: Duration = USUAL_MS,
    model: ModelName = "rational",
    candidates: int | None = None,
    top: int = USUAL_TOP,
    memory: Memory = USUAL_MEMORY,
    threads: ThreadsOption = 1,
    lexicon: LexiconOption = "scowl",
    leaves: LeavesOption = None,
    seed: int = 0,
    distribution: str = "english",
    layout: str = "standard",
    json_: JsonOption = False,
) -> None:
    """Compare the moves of a position with few tiles in the bag by how often they win.

    Each candidate is followed to the end of the game with whatever may be in the bag and on the
    other rack. Ctrl-C ends it with what is known by then.

    Args:
        what: A CGP in quotes or a file that holds one (.cgp); GAME.gcg@LINE, the position before
            a line of the score sheet as `tilewire show` numbers them. The opponent's rack counts
            where it is given in full.
        time: At most so long; it ends before if more would change nothing.
        model: The opponent: rational (the best by what he can know), pessimistic (as if he knew
            the bag too), static (the best by static equity).
        candidates: So many moves, the best by static equity, and the pass. [default: 24 with one
            tile in the bag, fewer with more]
        top: So many of them are shown.
        memory: At most so much for what was learnt of positions, as 256M or 1G.
        threads: How many search at once.
        lexicon: An embedded lexicon, or a word list or KWG file.
        leaves: trained, formula, or a leave table (KLV2). [default: the players' own]
        seed: For what is drawn, where there are too many cases.
        distribution: The tiles: an embedded distribution or a CSV file.
        layout: The board: an embedded layout or a text file.
        json_: Print one JSON object: cases, of bag and other rack, and the mass of them, 1 where
            they are all that there are; seconds; moves, the best first, with win (a draw counts
            half), wins, draws and losses, and the spread that is gained to the end of the game;
            null where no case was looked at.
    """
    check_durations(time=time)
    check_counts(candidates=candidates, top=top, threads=threads)
    if candidates is not None and candidates > MOST_CANDIDATES:
        raise CommandFailed(f"--candidates {candidates}: {MOST_CANDIDATES} can be compared at most")
    rules = load_rules(distribution, layout)
    position = position_asked(what, rules)
    bag = bag_count(position, rules)
    if not bag:
        raise CommandFailed("the bag is empty: use tilewire endgame")
    solver, generator = _equipped((lexicon, leaves, threads), rules, memory)
    from engine.preendgame import PreEndgame, likely_candidates

    try:
        moves = likely_candidates(generator, position, candidates)
        compared = PreEndgame(solver, generator, position, moves, model=model, seed=seed)
    except ValueError as error:
        raise CommandFailed(str(error)) from None
    # Where there is no choice, what it comes to is all that there is to find out.
    seconds = work(compared, time, lambda: compared.is_settled and len(moves) > 1)
    found = _Found(position, model, bag, compared, seconds)
    if json_:
        print(json.dumps(_as_json(found, rules, top), ensure_ascii=False))
    else:
        print("\n".join(_as_text(found, rules, top)))


class _Found(NamedTuple):
    position: Position
    model: ModelName
    bag: int
    compared: PreEndgame
    seconds: float


def _equipped(
    named: tuple[str, str | None, int], rules: Rules, memory: int
) -> tuple[EndgameSolver, Generator]:
    from engine.movegen.generator import Generator
    from lexicons.tables import leaves_for

    lexicon, leaves, threads = named
    words = load_words(lexicon, rules.distribution)
    given = load_given(equip(lexicon, leaves, None, threads), words)
    try:
        generator = Generator(words, rules, given.leaves or leaves_for(rules.distribution))
    except ValueError as error:
        raise CommandFailed(str(error)) from None
    return solver_for(words, rules, memory, threads), generator


# --- how it is shown ----------------------------------------------------------------------------


def _as_json(found: _Found, rules: Rules, top: int) -> dict[str, Any]:
    alphabet, compared = rules.distribution.alphabet, found.compared
    return {
        "model": found.model,
        "bag": found.bag,
        "cases": compared.cases,
        "mass": compared.mass,
        "settled": compared.is_settled,
        "seconds": round(found.seconds, 3),
        "moves": [
            {
                "move": format_move(one.move, alphabet),
                "score": one.score,
                "leave": alphabet.text(one.leave),
                "equity": one.static / 1_000,
                "win": one.win if one.cases else None,
                "wins": one.wins if one.cases else None,
                "draws": one.draws if one.cases else None,
                "losses": one.losses if one.cases else None,
                "spread": one.spread if one.cases else None,
                "cases": one.cases,
                "proven": one.proven,
                "nodes": one.nodes,
            }
            for one in compared.outcomes()[:top]
        ],
    }


def _as_text(found: _Found, rules: Rules, top: int) -> Iterator[str]:
    from harness.analysis.view import heading

    outcomes = found.compared.outcomes()
    yield plain(heading(found.position, rules))
    yield ""
    yield table(
        ("move", "score", "leave", "win %", "wins", "draws", "losses", "spread", "cases", ""),
        [_row(one, found, rules) for one in outcomes[:top]],
    )
    yield ""
    yield _covered(found)
    yield pace(sum(one.nodes for one in outcomes), found.seconds)


def _row(one: Outcome, found: _Found, rules: Rules) -> tuple[str, ...]:
    alphabet = rules.distribution.alphabet
    shares = [number(100 * share) for share in (one.win, one.wins, one.draws, one.losses)]
    known = [*shares, number(one.spread, sign=True)]
    return (
        format_full_move(one.move, found.position.board, alphabet),
        str(one.score),
        alphabet.text(one.leave),
        *(known if one.cases else ["–"] * len(known)),
        str(one.cases),
        "proven" if one.proven else "",
    )


def _covered(found: _Found) -> str:
    """Say how much of what there can be was looked at."""
    compared = found.compared
    count = compared.cases
    cases = f"{count:,} case{'s' * (count > 1)} of bag and other rack"
    if compared.mass >= ALL:
        return f"{cases}, {'all that there are' if count > 1 else 'the only one'}"
    return f"{cases}: {number(100 * compared.mass, 1, unit=' %')} of what there can be"
