"""Who may come to a tournament on a server, and who may direct it."""

from __future__ import annotations

from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import pytest
from directed_events import event
from guests import Guest
from servers import served, url_of

from harness.cli.asking import _ask
from harness.cli.failing import CommandFailed
from harness.lab.bench.client import Client
from harness.server.tokens import KnownTokens, hash_token
from protocol.channel import ChannelClosed
from protocol.errors import PeerError
from protocol.messages import (
    Administer,
    Direct,
    Error,
    Goodbye,
    Seek,
    Seeking,
    ServerState,
    StandingList,
    Standings,
)

pytestmark = pytest.mark.usefixtures("clients_hang_up")


@pytest.mark.parametrize(
    ("role", "name", "token"),
    [
        *(("player", "zed", None), ("arbiter", "zed", None)),
        *(("director", "hannah", "x"), ("director", "ann", "h")),
    ],
)
async def test_strangers_are_refused(
    tmp_path: Path, role: Any, name: str, token: str | None
) -> None:
    async with event(tmp_path, "ann", "bob") as there:
        with pytest.raises(ChannelClosed):
            await Client.login(there.url, name, role, token=token)


async def test_a_director_whose_token_was_replaced_directs_no_more(tmp_path: Path) -> None:
    directors = {"hannah": hash_token("h")}
    async with event(tmp_path, "ann", "bob", directors=directors) as there:
        directors["hannah"] = hash_token("new")
        await there.director.channel.send(Direct(action="pause"))
        refused = await there.director.expect(Error)
        assert refused.code == "forbidden"
        with pytest.raises(ChannelClosed):
            await Client.login(there.url, "hannah", "director", token="h")
        there.director = await Client.login(there.url, "hannah", "director", token="new")
        assert not (await there.until(lambda _: True)).paused


async def test_an_entrant_takes_its_name_from_a_stranger_by_its_token(tmp_path: Path) -> None:
    given = {name: hash_token(name * 20) for name in ("ann", "bob")}
    async with event(tmp_path, "ann", "bob", entrants=given, rounds=1) as there:
        stranger = await Client.login(there.url, "ann")
        await stranger.channel.send(Seek(games=9))
        (bob,) = await there.guests("bob")
        await stranger.get_ready()
        with pytest.raises(ChannelClosed, match="forbidden"):
            await Client.login(there.url, "ann", token="a token of its own, which is long enough")
        ann = Guest(there.url, "ann", "ann" * 20)
        await ann.come()
        assert (await stranger.expect(Goodbye)).code == "replaced"
        with pytest.raises(ChannelClosed, match="forbidden"):
            await Client.login(there.url, "ann")
        await there.until(lambda it: it.over)
        assert len(ann.ends) == len(bob.ends) == 1
        await ann.leave()
    async with event(tmp_path, "ann", "bob", entrants=given, rounds=1) as there:
        with pytest.raises(ChannelClosed, match="forbidden"):
            await Client.login(there.url, "ann")


async def test_a_director_releases_a_name(tmp_path: Path) -> None:
    given = {name: hash_token(name * 20) for name in ("ann", "bob")}
    async with event(tmp_path, "ann", "bob", open_=True, entrants=given, rounds=1) as there:
        ann = await Client.login(there.url, "ann", token="ann" * 20)
        await there.guests("bob")
        await ann.channel.send(Seek(games=9))
        game = await ann.get_ready()
        await there.direct(action="release", name="ann", why="lost its token")
        assert (await ann.expect(Goodbye)).message.endswith("hannah: lost its token")
        again = await Client.login(there.url, "ann")
        assert again.welcome.games == (game,)
        for name in ("cem", None):
            refused = await there.refusal(action="release", name=name)
            assert refused.code == "bad_direction"


async def test_a_full_tournament_forbids_nothing_but_has_no_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.server.direction.MOST_LISTED", 2)
    async with event(tmp_path, "ann", "bob", open_=True) as there:
        with pytest.raises(ChannelClosed, match="1013 busy"):
            await Client.login(there.url, "cem")


async def test_an_admin_does_not_pause_a_tournament_but_kicks_a_director_as_anybody_else(
    tmp_path: Path,
) -> None:
    file = tmp_path / "admins"
    file.write_text(f"root {hash_token('r')}\n")
    async with event(tmp_path / "event", "ann", "bob", admins=KnownTokens(file, print)) as there:
        act = Administer(action="pause")
        with pytest.raises(CommandFailed, match="a tournament's directors pause it"):
            await _ask(there.url, "admin", "root", "r", None, act, ServerState)
        act = Administer(action="kick", whom="hannah")
        state = await _ask(there.url, "admin", "root", "r", None, act, ServerState)
        assert [each.role for each in state.connections] == ["admin"]
        assert (await there.director.expect(Goodbye)).code == "kicked"


async def test_who_won_stays_the_winner_once_a_knockout_is_over(tmp_path: Path) -> None:
    async with event(tmp_path, "ann", "bob", format="knockout", rounds=1) as there:
        await there.guests("ann", "bob")
        (winner, _) = (row.name for row in (await there.until(lambda it: it.over)).rows)
        refused = await there.refusal(action="withdraw", name=winner)
        assert (refused.code, "over" in refused.message) == ("bad_direction", True)
        assert (await there.until(lambda _: True)).rows[0].name == winner


async def test_a_correction_says_that_the_next_round_of_a_knockout_stays(tmp_path: Path) -> None:
    names = ("ann", "bob", "cem")
    async with event(tmp_path, *names, format="knockout", rounds=1) as there:
        await there.guests(*names)
        last = (await there.until(lambda it: it.over)).games[-1].number
        for game, is_told in ((1, True), (last, False)):
            listed = await there.direct(action="correct", number=game, scores=(300, 200))
            assert ("round 2 is paired" in listed.waits) == is_told


async def refusal(client: Client, asked: Awaitable[None]) -> str:
    await asked
    return (await client.expect(Error)).code


async def test_players_and_spectators_ask_but_do_not_direct(tmp_path: Path) -> None:
    async with event(tmp_path, "ann", "bob") as there:
        ann = await Client.login(there.url, "ann")
        assert await refusal(ann, ann.seek("bob")) == "bad_opponent"
        await ann.channel.send(Seek(games=3))
        assert (await ann.expect(Seeking)).games == 3
        watcher = await Client.login(there.url, "watcher", "spectator")
        for client in (ann, watcher):
            await client.channel.send(Standings())
            assert (await client.expect(StandingList)).round == 0
            pause = Direct(action="pause")
            assert await refusal(client, client.channel.send(pause)) == "wrong_role"


async def test_a_server_without_a_tournament_has_no_standings(tmp_path: Path) -> None:
    async with served(tmp_path / "serve.db") as server:
        watcher = await Client.login(url_of(server), "watcher", "spectator")
        assert await refusal(watcher, watcher.channel.send(Standings())) == "no_tournament"
        with pytest.raises((ChannelClosed, PeerError)):
            await Client.login(url_of(server), "hannah", "director", token="h")
