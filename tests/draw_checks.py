"""A second check of a game's draws, move by move, beside that of ``bot.seat.draws``."""

from __future__ import annotations

from collections.abc import Iterable

from engine.rules.bag import Bag, DrawError, DrawStream, check_secret, dealing_order
from engine.rules.moves import Exchange, Move, Pass, Place
from engine.rules.position import Position, Rack
from engine.rules.rules import Rules


def verify_draws(
    rules: Rules,
    secret: bytes,
    nonces: tuple[bytes, bytes],
    committed: bytes,
    opening_racks: tuple[Iterable[int] | None, Iterable[int] | None],
    turns: Iterable[tuple[int, Move, Iterable[int] | None]],
    *,
    mirrored: bool = False,
    opening: Position | None = None,
) -> None:
    """Check that a game was dealt as its host committed to; legality is not checked.

    ``secret`` is as revealed at the end, ``nonces`` are by seat, ``committed`` is as published
    at the start. Tiles are in any order, None if not seen: ``opening_racks`` by seat, and in
    ``turns`` (seat, move, tiles drawn after it) all but exchanged tiles, which are required, since
    they went back into the bag. ``mirrored`` is whether seat 1 drew from the back. ``opening`` is
    the position that the game began in, if one was given: seat 0 on turn, the racks as given.

    Raises:
        DrawError: the secret is not the one committed to, or draws differ; says where first.
    """
    text = rules.distribution.alphabet.text
    held: tuple[Rack, Rack] = opening.racks if opening else ((), ())
    racks = f"{text(held[0])}/{text(held[1])}" if opening else None
    check_secret(secret, racks, committed)
    stream = DrawStream(secret, nonces)
    bag = Bag.shuffled(rules.distribution, stream, mirrored=mirrored, opening=opening)
    for seat in dealing_order(held):
        given, bag = bag.draw(rules.rack_size - len(held[seat]), seat)
        _check_drawn(f"at the start seat {seat}", opening_racks[seat], (*held[seat], *given), rules)
    for number, (seat, move, drawn) in enumerate(turns, start=1):
        given, bag = _drawn_after(move, seat, bag)
        _check_drawn(f"in turn {number} seat {seat}", drawn, given, rules)


def _drawn_after(move: Move, seat: int, bag: Bag) -> tuple[tuple[int, ...], Bag]:
    match move:
        case Pass():
            return (), bag
        case Exchange(tiles=tiles):
            drawn, bag = bag.draw(len(tiles), seat)
            return drawn, bag.put_back(tiles)
        case Place():
            return bag.draw(len(move.placed), seat)


def _check_drawn(
    who: str, drawn: Iterable[int] | None, given: tuple[int, ...], rules: Rules
) -> None:
    if drawn is None:
        return
    shown, due = sorted(drawn), sorted(given)
    if shown != due:
        text = rules.distribution.alphabet.text
        raise DrawError(
            f"{who} drew {text(shown) or 'nothing'}; the secret gives {text(due) or 'nothing'}"
        )
