"""Spectators of a game: all are told in order, and nobody waits for hundreds of them."""

from __future__ import annotations

import asyncio
from functools import partial

from harness.arbiter.audience import AT_ONCE, Audience, Spectator
from protocol.messages import Message, Pong

MANY = 10 * AT_ONCE


async def test_hundreds_are_told_in_order_a_few_in_each_turn() -> None:
    audience, told = Audience(), list[tuple[int, int]]()

    def hear(number: int, message: Message) -> None:
        assert isinstance(message, Pong)
        told.append((number, message.id))

    for number in range(MANY):
        audience.join(partial(hear, number))
    audience.send(Pong(id=1))
    audience.send(Pong(id=2))
    assert not told, "whoever plays is told first"
    await asyncio.sleep(0)
    assert 0 < len(told) <= AT_ONCE, "others have their turn in between"
    await audience.all_sent()
    assert told == [(number, message) for message in (1, 2) for number in range(MANY)]


async def test_who_comes_or_goes_meanwhile_misses_nothing_and_hears_nothing_twice() -> None:
    audience, told = Audience(), dict[str, list[int]]()

    def spectator(name: str) -> Spectator:
        heard = told.setdefault(name, [])
        return lambda message: heard.append(message.id)  # type: ignore[union-attr]

    for number in range(AT_ONCE):
        audience.join(spectator(f"{number}"))
    stays, leaves, again, late = map(spectator, ("stays", "leaves", "again", "late"))
    for one in (stays, leaves, again):
        audience.join(one)
    audience.send(Pong(id=1))
    audience.leave(leaves)
    audience.join(again)  # it has been shown the game as it is after this message
    audience.join(late)
    audience.send(Pong(id=2))
    await audience.all_sent()
    assert told["stays"] == [1, 2]
    assert told["leaves"] == []
    assert told["again"] == told["late"] == [2]
