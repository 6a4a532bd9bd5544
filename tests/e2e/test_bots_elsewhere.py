"""A bot of the house that runs on other machines, behind a balancer: a game outlives each."""

from __future__ import annotations

import asyncio
from contextlib import closing, suppress
from pathlib import Path

from e2e.hosts import free_port
from e2e.processes import SETTINGS, Server

from harness.lab.bench.client import Client
from protocol.messages import GameOver, NewGame, Played, Ready, YourTurn


class Balancer:
    """Passes each connection to the first of some servers that takes it."""

    def __init__(self, servers: list[Server]) -> None:
        self.port = free_port()
        self.dialled: list[Server] = []
        """Whom each connection went to."""
        self._servers = servers
        self._listener: asyncio.Server | None = None

    async def __aenter__(self) -> Balancer:
        self._listener = await asyncio.start_server(self._pass_on, "127.0.0.1", self.port)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._listener is not None
        self._listener.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer), suppress(asyncio.CancelledError):
            for server in self._servers:
                with suppress(OSError):
                    there, back = await asyncio.open_connection("127.0.0.1", server.port)
                    self.dialled.append(server)
                    await asyncio.gather(carry(reader, back), carry(there, writer))
                    return


async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with closing(writer), suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)


async def test_a_game_goes_on_when_the_machine_of_a_bot_dies(tmp_path: Path) -> None:
    lenders = []
    for number in range(2):
        own = tmp_path / str(number)
        own.mkdir()
        lenders.append(Server(own))
    bots = SETTINGS + '[bots]\nstatic = "ws://127.0.0.1:{}/static"\n'
    async with Balancer(lenders) as balancer:
        host = Server(tmp_path, settings=bots.format(balancer.port))
        try:
            for server in (*lenders, host):
                await asyncio.to_thread(server.start)
            ann = await Client.login(host.url, "ann")
            await ann.seek("static")
            moves: list[tuple[int, str]] = []
            while not isinstance(message := await ann.receive(), GameOver):
                match message:
                    case NewGame(game=game):
                        await ann.channel.send(Ready(game=game, nonce="00" * 16))
                    case YourTurn() as turn:
                        if lenders[1] not in balancer.dialled and moves:
                            lenders[0].kill()
                        await ann.play(turn)
                    case Played(move=move, seat=seat):
                        moves.append((seat, move))
            await ann.close()
        finally:
            for server in (*lenders, host):
                server.close()
    # A busy machine may answer late, and is dialled again.
    assert list(dict.fromkeys(balancer.dialled)) == lenders
    assert message.outcome in ("out", "zeroes")
    assert not message.faults
    assert max(message.scores) > 200
