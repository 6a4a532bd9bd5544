"""A bot of the house that runs on other machines, behind a balancer: a game outlives each."""

from __future__ import annotations

import asyncio
from pathlib import Path

from e2e.hosts import Line
from e2e.processes import SETTINGS, Server, serving

from harness.lab.bench.client import Client
from protocol.messages import GameOver, NewGame, Played, Ready, YourTurn


async def test_a_game_goes_on_when_the_machine_of_a_bot_dies(tmp_path: Path) -> None:
    folders = [tmp_path / str(number) for number in range(2)]
    for folder in folders:
        folder.mkdir()
    lenders = [Server(folder) for folder in folders]
    try:
        for lender in lenders:
            await asyncio.to_thread(lender.start)
        balancer = Line(*(lender.port for lender in lenders))
        await balancer.open()
        bots = f'[bots]\nstatic = "ws://127.0.0.1:{balancer.port}/static"\n'
        with serving(tmp_path, settings=SETTINGS + bots) as host:
            ann = await Client.login(host.url, "ann")
            await ann.seek("static")
            has_moved = False
            while not isinstance(message := await ann.receive(), GameOver):
                match message:
                    case NewGame(game=game):
                        await ann.channel.send(Ready(game=game, nonce="00" * 16))
                    case YourTurn() as turn:
                        if lenders[1].port not in balancer.dialled and has_moved:
                            lenders[0].kill()
                        await ann.play(turn)
                    case Played():
                        has_moved = True
            await ann.close()
        balancer.close()
    finally:
        for lender in lenders:
            lender.close()
    # A busy machine may answer late, and is dialled again.
    assert list(dict.fromkeys(balancer.dialled)) == [lender.port for lender in lenders]
    assert message.outcome in ("out", "zeroes")
    assert not message.faults
    assert max(message.scores) > 200
