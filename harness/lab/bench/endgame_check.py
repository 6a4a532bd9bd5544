"""Whether proven values of endgames are right: against plain minimax, and against each other.

*Small* endgames, of three tiles a side at most, are worked out by plain minimax too, with any
number of scoreless turns before them. *Real* ones are the first turns with an empty bag. What is
proven has to be the same

* in little memory, in two threads, and with what another question left in memory,
* with the seats swapped, and on the board mirrored along its diagonal,
* where only one move is allowed, if that is the best; and no more where that one is not allowed,
* and the outcome has to be the one that first-win finds.

The first proof of a real endgame may not take more than so many nodes, and those that would take
more are passed over; so the same arguments check the same endgames. Of small ones about one in
thirty is passed over, with a blank: plain minimax would take up to hours there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from engine.endgame import USUAL_MEMORY, EndgameSolver, Solution, least_memory
from engine.endgame.minimax import Minimax
from engine.movegen.generator import legal_moves
from engine.notation.cgp import write_cgp
from engine.rules.moves import Move
from engine.rules.position import Position
from harness.lab.late_positions import (
    EMPTY_BAG,
    FEW_TILES,
    Wanted,
    late_position,
    mirrored,
    with_seats_swapped,
)
from harness.lab.study_context import Field, ready

__all__ = ["CheckRow", "Checking", "Difference", "check_rows", "checked", "differences"]

_MOST_PAIRS = 10_000
"""Of a placement of either side, in a small endgame."""
_MOST_POSITIONS = 200
"""That are tried for one that will do."""
_TIMES = 20
"""So many times the nodes of the first proof may be spent on any other."""

_Check: TypeAlias = tuple[str, str, str | None]
"""What was compared, with what has to be, and what is; None: it was not proven."""


class Checking(NamedTuple):
    """What is checked."""

    field: Field
    seed: int
    small: int
    """Records below this number are of small endgames, the others of real ones."""
    nodes: int
    """That the first proof of a real endgame may take."""


@dataclass(frozen=True)
class CheckRow:
    """One comparison, over all endgames."""

    endgames: str
    """``small`` or ``real``."""
    what: str
    compared: int
    differ: int
    unproven: int
    """How often no proof was found, so that nothing was compared."""


@dataclass(frozen=True)
class Difference:
    """Something that should be the same and is not."""

    number: int
    what: str
    expected: str
    found: str
    cgp: str


# --- an endgame -----------------------------------------------------------------------------------


def checked(checking: Checking, number: int) -> dict[str, Any]:
    """Check one endgame, and give what came of it as JSON can say it."""
    ready()
    if number < checking.small:
        return _small(checking, number)
    return _real(checking, number)


def _small(checking: Checking, number: int) -> dict[str, Any]:
    """Hold a small endgame against plain minimax."""
    field = checking.field
    why = f"has {_MOST_PAIRS:,} pairs of placements or fewer"
    some = _positions(checking, number, FEW_TILES, why)
    position = next(one for one in some if _pairs(one, field) <= _MOST_PAIRS)
    position = replace(position, scoreless_turns=number % field.rules.scoreless_limit)
    minimax = Minimax(field.lexicon, field.rules)
    expected = minimax.value(position)
    solver = _Prover(field, checking.nodes * _TIMES)
    found = solver.prove(position)
    checks: list[_Check] = [("plain minimax", str(expected), _value(found))]
    if found is not None:
        worth = minimax.after(position, found.move)
        checks.append(("its move by minimax", str(expected), str(worth)))
        checks += _others(checking, position, found, solver)
    return _record(checking, number, "small", position, checks)


def _real(checking: Checking, number: int) -> dict[str, Any]:
    """Hold proofs of a real endgame against each other."""
    solver = _Prover(checking.field, checking.nodes)
    why = f"is proven with {checking.nodes:,} nodes; ask for more"
    some = ((one, solver.prove(one)) for one in _positions(checking, number, EMPTY_BAG, why))
    position, found = next((one, found) for one, found in some if found is not None)
    solver.nodes *= _TIMES
    checks = _others(checking, position, found, solver)
    return _record(checking, number, "real", position, checks)


def _positions(checking: Checking, number: int, wanted: Wanted, why: str) -> Iterator[Position]:
    """Give positions for a record, each of a game of its own, until one will do.

    Raises:
        ValueError: none of so many does what ``why`` says.
    """
    field, seed = checking.field, checking.seed
    for attempt in range(_MOST_POSITIONS):
        chance = int(np.random.SeedSequence((seed, number, attempt)).generate_state(1)[0])
        yield late_position(field.lexicon, field.rules, field.leaves, chance, 0, wanted).position
    raise ValueError(f"none of {_MOST_POSITIONS} endgames {why}")


def _pairs(position: Position, field: Field) -> int:
    """Count the pairs of a placement of either side, as if it were his turn."""
    sides = position, replace(position, on_turn=1 - position.on_turn)
    own, other = (len(legal_moves(one, field.lexicon, field.rules)) - 1 for one in sides)
    return own * other


def _others(
    checking: Checking, position: Position, found: Solution, solver: _Prover
) -> list[_Check]:
    """Prove the same in other ways; ``solver`` is the one that has ``found`` it."""
    field, nodes = checking.field, checking.nodes * _TIMES
    little = _Prover(field, nodes, memory=least_memory(1))
    two = _Prover(field, nodes, memory=least_memory(2), threads=2)
    fresh = _Prover(field, nodes)
    ways: dict[str, Callable[[], Solution | None]] = {
        "little memory": lambda: little.prove(position),
        "two threads": lambda: two.prove(position),
        "seats swapped": lambda: fresh.prove(with_seats_swapped(position)),
        "mirrored": lambda: little.prove(mirrored(position)),
        "its move alone": lambda: solver.prove(position, only=(found.move,)),
        "once more": lambda: solver.prove(position),
    }
    checks: list[_Check] = [(what, str(found.value), _value(way())) for what, way in ways.items()]
    return [*checks, *_orders(field, position, found, solver)]


def _orders(field: Field, position: Position, found: Solution, solver: _Prover) -> Iterator[_Check]:
    """Compare what is not the value itself, but more or less than something."""
    if len(legal_moves(position, field.lexicon, field.rules)) > 1:
        other = solver.prove(position, without=(found.move,))
        no_more = None if other is None else "no more" if other.value <= found.value else "more"
        yield "without its move", "no more", no_more
    lead = position.scores[position.on_turn] - position.scores[1 - position.on_turn]
    outcome = solver.prove(position, first_win=True)
    found_out = None if outcome is None else _outcome(lead + outcome.value)
    yield "first win", _outcome(lead + found.value), found_out


class _Prover:
    """A solver that is given so many nodes for a proof."""

    def __init__(
        self, field: Field, nodes: int, *, memory: int = USUAL_MEMORY, threads: int = 1
    ) -> None:
        self.nodes = nodes
        self._solver = EndgameSolver(field.lexicon, field.rules, memory=memory, threads=threads)

    def prove(
        self,
        position: Position,
        *,
        first_win: bool = False,
        only: Collection[Move] = (),
        without: Collection[Move] = (),
    ) -> Solution | None:
        """Solve a position; None if it takes more."""
        self._solver.begin(position, first_win=first_win, only=only, without=without)
        self._solver.advance(self.nodes)
        found = self._solver.solution
        return found if found.proven else None


def _value(found: Solution | None) -> str | None:
    return None if found is None else str(found.value)


def _outcome(spread: int) -> str:
    return "won" if spread > 0 else "lost" if spread else "drawn"


def _record(
    checking: Checking, number: int, endgames: str, position: Position, checks: Sequence[_Check]
) -> dict[str, Any]:
    return {
        "number": number,
        "endgames": endgames,
        "cgp": write_cgp(position, checking.field.rules),
        "checks": list(checks),
    }


# --- sums -----------------------------------------------------------------------------------------


def check_rows(records: Sequence[dict[str, Any]]) -> list[CheckRow]:
    """Count what was compared, what differs and what was not proven."""
    found: dict[tuple[str, str], list[tuple[str, str | None]]] = {}
    for record in records:
        for what, expected, value in record["checks"]:
            found.setdefault((record["endgames"], what), []).append((expected, value))
    return [
        CheckRow(
            endgames,
            what,
            compared=sum(value is not None for _, value in pairs),
            differ=sum(value not in (None, expected) for expected, value in pairs),
            unproven=sum(value is None for _, value in pairs),
        )
        for (endgames, what), pairs in found.items()
    ]


def differences(records: Sequence[dict[str, Any]]) -> list[Difference]:
    """List what differs."""
    return [
        Difference(record["number"], what, expected, value, record["cgp"])
        for record in records
        for what, expected, value in record["checks"]
        if value not in (None, expected)
    ]
