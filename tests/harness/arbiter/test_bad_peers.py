"""Nothing a peer sends ends the server, another's game or a clock: a real server, real sockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import msgpack
import pytest
from guests import two_at_a_table
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

MSGPACK = Subprotocol("tilewire.v1.msgpack")

pytestmark = pytest.mark.usefixtures("honest_game")


@pytest.fixture
async def honest_game(url: str) -> AsyncIterator[None]:
    """A game of two honest players stands half played while somebody misbehaves, and then ends."""
    a, b, _ = await two_at_a_table(url)
    yield
    first, second = await asyncio.gather(
        asyncio.create_task(a.pass_to_the_end()), asyncio.create_task(b.pass_to_the_end())
    )
    assert (first.outcome, first.winner) == ("zeroes", second.winner)
    assert first.faults == second.faults == ()
    await a.close()
    await b.close()


async def raw(url: str, *frames: bytes) -> tuple[list[object], int | None]:
    """Send frames after a hello; give what came back, and the close code if it was closed."""
    answers: list[object] = []
    hello = msgpack.packb({"type": "hello", "role": "player", "name": "mallory"})
    async with connect(url, subprotocols=[MSGPACK], max_size=None, compression=None) as socket:
        try:
            for frame in (hello, *frames, msgpack.packb({"type": "ping", "id": 77})):
                await socket.send(frame)
            while (answer := msgpack.unpackb(await socket.recv())) != {"type": "pong", "id": 77}:
                answers.append(answer)
        except ConnectionClosed as closed:
            return answers, closed.rcvd.code if closed.rcvd else 1006
    return answers, None


def errors(answers: list[object]) -> list[str]:
    return [a["code"] for a in answers if isinstance(a, dict) and a["type"] == "error"]


async def test_a_frame_that_makes_no_sense_is_answered(url: str) -> None:
    frames = [
        (b"", "bad_frame"),
        (b"\xc1", "bad_frame"),
        (b"\x81", "bad_frame"),
        (b"\x91" * 50_000, "bad_frame"),
        (b"\xdf\xff\xff\xff\xff", "bad_frame"),
        (msgpack.packb([1, 2]), "bad_message"),
        (msgpack.packb({}), "bad_message"),
        (msgpack.packb({"type": 5}), "bad_message"),
        (msgpack.packb({"type": "fly"}), "unknown_type"),
        (msgpack.packb({"type": "move", "game": "g", "seq": "1", "move": "-"}), "bad_message"),
        (msgpack.packb({"type": "move", "game": "g", "seq": -1, "move": "-"}), "bad_message"),
        (msgpack.packb({"type": "seek", "games": 10**9}), "bad_message"),
        (msgpack.packb({"type": "seek", "opponent": "mallory"}), "bad_opponent"),
        (msgpack.packb({"type": "move", "game": "g", "seq": 1, "move": "-"}), "unknown_game"),
        (msgpack.packb({"type": "resume", "game": "g"}), "unknown_game"),
        (msgpack.packb({"type": "hello", "role": "player", "name": "x"}), "wrong_role"),
        (msgpack.packb({"type": "watch", "game": "g"}), "wrong_role"),
        (msgpack.packb({"type": "welcome", "name": "x"}), "wrong_role"),
    ]
    answers, closed = await raw(url, *(frame for frame, _ in frames))
    assert errors(answers) == [code for _, code in frames]
    assert closed is None, "20 would end the connection"


async def test_twenty_messages_that_make_no_sense_end_the_connection(url: str) -> None:
    assert (await raw(url, *[b"\xc1"] * 25))[1] == 1008


async def test_a_bad_opening_is_answered_and_closed(url: str) -> None:
    openings: list[tuple[dict[str, object], str]] = [
        ({"type": "ping", "id": 1}, "no_hello"),
        ({"type": "hello", "role": "king", "name": "x"}, "bad_message"),
        ({"type": "hello", "role": "player", "name": ""}, "bad_message"),
        ({"type": "hello", "role": "player", "name": "x", "protocol": 2}, "bad_version"),
        ({"type": "hello", "role": "player", "name": "claimed"}, "forbidden"),
        ({"type": "hello", "role": "player", "name": "claimed", "token": "forged"}, "forbidden"),
        ({"type": "hello", "role": "arbiter", "name": "x"}, "unknown_bot"),
    ]
    for first, code in openings:
        async with connect(url, subprotocols=[MSGPACK]) as socket:
            await socket.send(msgpack.packb(first))
            assert msgpack.unpackb(await socket.recv())["code"] == code
            with pytest.raises(ConnectionClosed) as closed:
                await socket.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1008
