"""What an admin may do on a server that runs, and what of it is there after a restart."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from guests import ann_and_bob, on_turn, two_at_a_table
from servers import served, url_of
from tables import tables

from harness.arbiter.journal import Journal
from harness.arbiter.lag import LagMeter
from harness.arbiter.records import Opened
from harness.cli.asking import _ask
from harness.cli.failing import CommandFailed
from harness.lab.bench.client import Client
from harness.server.administration import Administration
from harness.server.admission import Admission, Admissions
from harness.server.bans import Bans
from harness.server.hosting import Hosting
from harness.server.lobby import Lobby
from harness.server.tokens import Gatekeeper, Invitations, KnownTokens, hash_token, new_token
from protocol.channel import ChannelClosed
from protocol.errors import PeerError
from protocol.messages import (
    Administer,
    Error,
    GameOver,
    Goodbye,
    NewGame,
    Seeking,
    ServerState,
    Standings,
    YourTurn,
)
from protocol.parts import TimeControl


class Running:
    """A server with an admin, hannah; the told sentences."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.told: list[str] = []

    async def do(self, action: str, *, token: str = "h", **fields: Any) -> ServerState:
        """Act as the admin; a refusal raises CommandFailed."""
        act = Administer(action=action, **fields)  # type: ignore[arg-type]
        return await _ask(self.url, "admin", "hannah", token, None, act, ServerState)


@asynccontextmanager
async def running(
    folder: Path,
    *,
    known: str | None = None,
    has_admins: bool = True,
) -> AsyncIterator[Running]:
    (folder / "admins").write_text(f"hannah {hash_token('h')}\n")
    if known is not None:
        (folder / "tokens").write_text(known)
    tokens = KnownTokens(folder / "tokens", print) if known is not None else None
    there = Running("")
    async with served(
        folder / "games.db",
        known=tokens,
        time=TimeControl(initial_ms=60_000),
        tell=there.told.append,
        admins=KnownTokens(folder / "admins", print) if has_admins else None,
    ) as server:
        there.url = url_of(server)
        yield there


async def at_a_table(url: str) -> tuple[Client, Client, YourTurn]:
    """Have ann and bob play; ann's connection, bob's, and the first turn, of either."""
    ann, bob, _ = await two_at_a_table(url)
    _, _, turn = await on_turn(ann, bob)
    return ann, bob, turn


async def test_who_is_there_and_what_is_on_is_listed(tmp_path: Path) -> None:
    async with running(tmp_path) as there:
        assert await there.do("list") == ServerState()
        ann, bob, turn = await at_a_table(there.url)
        cem = await Client.login(there.url, "cem")
        await cem.seek("ann")
        await cem.expect(Seeking)
        state = await there.do("list")
        assert [player.name for player in state.players] == ["ann", "bob", "cem"]
        assert [player.seeking for player in state.players] == [False, False, True]
        assert all(player.address.startswith("127.0.0.1:") for player in state.players)
        assert state.players[0].games == (turn.game,)
        assert [game.game for game in state.games] == [turn.game]
        for client in (ann, bob, cem):
            await client.close()


async def test_who_is_kicked_may_come_back_and_who_is_banned_not(tmp_path: Path) -> None:
    async with running(tmp_path) as there:
        ann = await Client.login(there.url, "ann")
        await there.do("kick", whom="ann", why="too loud")
        goodbye = await ann.expect(Goodbye)
        assert (goodbye.code, goodbye.message) == ("kicked", "kicked by hannah: too loud")
        ann = await Client.login(there.url, "ann")
        state = await there.do("ban", whom="ann", why="again", minutes=90)
        assert (await ann.expect(Goodbye)).message == "ann is banned: hannah: again"
        assert [(ban.whom, ban.minutes, ban.why) for ban in state.bans] == [
            ("ann", 90, "hannah: again")
        ]
    async with running(tmp_path) as there:
        with pytest.raises(ChannelClosed):
            await Client.login(there.url, "ann")
        bob = await Client.login(there.url, "bob")
        await there.do("ban", whom="127.0.0.0/8")
        await bob.expect(Goodbye)
        with pytest.raises(ChannelClosed):
            await Client.login(there.url, "bob")
        for whom in ("ann", "127.0.0.0/8"):
            state = await there.do("unban", whom=whom)
        assert state.bans == ()
        for name in ("ann", "bob"):
            await (await Client.login(there.url, name)).close()
        with pytest.raises(CommandFailed, match="ann is not banned"):
            await there.do("unban", whom="ann")
        for whom in (
            *("300.0.2.0/24", "192.0.2.1/99", "10.0.0.256", "2001:db8::/200", "fe80:::1"),
            *("192.0.2.1:5/32", "192.0.2.1:500011", "[2001:db8::]/32", "fe80::%eth0/64"),
        ):
            with pytest.raises(CommandFailed, match="is no address and no network"):
                await there.do("ban", whom=whom)
        assert "admin hannah: unban ann" in there.told


async def test_a_ban_is_over_when_its_time_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path) as there:
        await there.do("ban", whom="ann", minutes=1)
        with pytest.raises(ChannelClosed):
            await Client.login(there.url, "ann")
        monkeypatch.setattr("harness.server.bans.time.time", lambda: 1e10)
        await (await Client.login(there.url, "ann")).close()
        assert (await there.do("list")).bans == ()


async def test_what_was_begun_is_done_though_the_admin_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change, begun, may_end = Journal.change, asyncio.Event(), asyncio.Event()

    async def slowly(journal: Journal, *statements: Any) -> None:
        begun.set()
        await may_end.wait()
        await change(journal, *statements)

    monkeypatch.setattr(Journal, "change", slowly)
    async with running(tmp_path) as there:
        hannah = await Client.login(there.url, "hannah", "admin", token="h")
        await hannah.channel.send(Administer(action="pause", why="power cut"))
        await begun.wait()
        await hannah.close()
        await asyncio.sleep(0.1)  # for the server to see it
        may_end.set()
        for wait_s in (0, 0.1, 1, 10):
            await asyncio.sleep(wait_s)
            if (state := await there.do("list")).paused:
                break
        assert state.paused == "hannah: power cut"


async def test_a_tournament_is_paused_by_its_directors(tmp_path: Path) -> None:
    with closing(Journal(tmp_path / "games.db")) as journal:
        bans, invitations = Bans(journal), Invitations(journal)
        hosting = Hosting(tables(), journal, LagMeter())
        doors = Gatekeeper(journal), Admissions(Admission())
        lobby = Lobby(hosting, TimeControl(), 1, *doors)
        administration = Administration(lobby, bans, invitations, is_directed=True)
        for action in ("pause", "resume"):
            with pytest.raises(PeerError, match=f"a tournament's directors {action} it"):
                await administration.do(Administer(action=action), "hannah")
        assert lobby.paused is None


async def test_while_games_are_paused_none_begins(tmp_path: Path) -> None:
    async with running(tmp_path) as there:
        assert (await there.do("pause", why="power cut")).paused == "hannah: power cut"
    async with running(tmp_path) as there:
        ann, bob = await ann_and_bob(there.url)
        for client in (ann, bob):
            await client.expect(Seeking)
        state = await there.do("list")
        assert [player.seeking for player in state.players] == [True, True]
        assert (state.paused, state.games) == ("hannah: power cut", ())
        with pytest.raises(CommandFailed, match="paused already: hannah: power cut"):
            await there.do("pause")
        await there.do("resume")
        await ann.get_ready()
        with pytest.raises(CommandFailed, match="games are not paused"):
            await there.do("resume")
        for client in (ann, bob):
            await client.close()
    async with running(tmp_path) as there:
        assert (await there.do("list")).paused is None


async def test_a_game_is_voided_for_both(tmp_path: Path) -> None:
    async with running(tmp_path) as there:
        ann, bob, turn = await at_a_table(there.url)
        await there.do("void", game=turn.game, why="wrong words")
        for client in (ann, bob):
            over = await client.expect(GameOver)
            assert (over.outcome, over.winner) == ("host_error", None)
            assert over.message == "void: ended by hannah: wrong words"
        with pytest.raises(CommandFailed, match="'another'"):
            await there.do("void", game="another")
        for client in (ann, bob):
            await client.close()


async def test_time_that_is_given_outlives_the_server(tmp_path: Path) -> None:
    async with running(tmp_path) as there:
        ann, bob, turn = await at_a_table(there.url)
        await there.do("adjust", game=turn.game, whom="ann", ms=600_000, why="lost power")
        with pytest.raises(CommandFailed, match=r"play game .*, not cem"):
            await there.do("adjust", game=turn.game, whom="cem", ms=1)
        for client in (ann, bob):
            await client.close()
    journal = Journal(tmp_path / "games.db")
    (kept,) = journal.unfinished()
    journal.close()
    opened = kept.records[0]
    assert isinstance(opened, Opened)
    seat = opened.players.index("ann")
    async with running(tmp_path) as there:
        ann = await Client.login(there.url, "ann")
        await ann.resume(kept.game, -1)
        clocks = (await ann.expect(NewGame)).clocks
        assert clocks is not None
        assert clocks[seat] > 590_000
        assert clocks[1 - seat] <= 60_000
        await ann.close()
    async with running(tmp_path) as there:  # whose clock stands still
        await there.do("adjust", game=kept.game, whom="ann", ms=600_000)
    async with running(tmp_path) as there:
        ann = await Client.login(there.url, "ann")
        await ann.resume(kept.game, -1)
        clocks = (await ann.expect(NewGame)).clocks
        assert clocks is not None
        assert clocks[seat] > 1_190_000
        await ann.close()


async def test_an_invitation_is_the_token_of_whoever_uses_it_first(tmp_path: Path) -> None:
    known = f"ann {hash_token('a')}\n"
    async with running(tmp_path, known=known) as there:
        with pytest.raises(ChannelClosed):
            await Client.login(there.url, "bob", token=new_token())
        state = await there.do("invite")
        assert state.token is not None
        assert state.invitations == 1
        invited = state.token
        with pytest.raises(ChannelClosed):
            await Client.login(there.url, "ann", token=invited)  # a name that has a token
        bob = await Client.login(there.url, "bob", token=invited)
        assert (await there.do("list")).invitations == 0
        with pytest.raises(ChannelClosed):
            await Client.login(there.url, "cem", token=invited)
        await bob.close()
    async with running(tmp_path, known=known) as there:
        await (await Client.login(there.url, "bob", token=invited)).close()
        with pytest.raises(ChannelClosed):
            await Client.login(there.url, "bob", token="b")
        with pytest.raises(ChannelClosed):
            await Client.login(there.url, "cem", token=invited)


async def test_without_a_file_of_admins_nobody_is_one(tmp_path: Path) -> None:
    async with running(tmp_path, has_admins=False) as there:
        with pytest.raises(ChannelClosed, match="--admins"):
            await there.do("list")


async def test_admins_only_and_admins_do_nothing_else(tmp_path: Path) -> None:
    async with running(tmp_path) as there:
        with pytest.raises(ChannelClosed, match="'hannah'"):
            await there.do("list", token="x")
        with pytest.raises(CommandFailed, match="kick needs a name"):
            await there.do("kick")
        with pytest.raises(CommandFailed, match="ann is not here"):
            await there.do("kick", whom="ann")
        ann = await Client.login(there.url, "ann")
        await ann.channel.send(Administer(action="list"))
        assert (await ann.expect(Error)).code == "wrong_role"
        await ann.close()
        hannah = await Client.login(there.url, "hannah", "admin", token="h")
        await hannah.channel.send(Standings())
        assert (await hannah.expect(Error)).code == "wrong_role"
        await hannah.close()


async def test_what_an_admin_is_told_fits_into_a_message(tmp_path: Path) -> None:
    async with running(tmp_path) as there:
        await there.do("pause", why="x" * 2_000)
        assert len((await there.do("list")).paused or "") == 2_000
        for number in range(80):
            await there.do("ban", whom=f"name{number}", why="ж" * 2_000)
        state = await there.do("list")
        assert 10 < len(state.bans) < 80, "as many as a message holds"


def test_an_address_is_banned_however_it_is_written(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "serve.db")
    bans = Bans(journal)
    networks = "192.0.2.9/24", "::ffff:198.51.100.7", "::ffff:233.252.0.0/120"
    for whom in (*networks, "[2001:DB8:0::7]:443", "203.0.113.9:50001", "bob:x"):
        asyncio.run(bans.add(whom, None, "loud"))
    for address in ("192.0.2.1", "::ffff:192.0.2.1", "198.51.100.7", "233.252.0.9", "2001:db8::7"):
        with pytest.raises(PeerError):
            bans.check("ann", address)
    bans.check("ann", "::ffff:203.0.113.1")
    listed = "192.0.2.0/24 198.51.100.7 233.252.0.0/24 2001:db8::7 203.0.113.9 bob:x"
    assert " ".join(ban.whom for ban in bans.listed()) == listed
    assert asyncio.run(bans.remove("203.0.113.9:50002"))
    bans.check("ann", "203.0.113.9")
    journal.close()


async def test_a_ban_of_an_earlier_version_is_lifted_as_it_is_listed(tmp_path: Path) -> None:
    with closing(Journal(tmp_path / "serve.db")) as journal:
        await journal.change(("INSERT INTO bans VALUES (?, NULL, '')", ("2001:DB8:0::7",)))
        bans = Bans(journal)
        with pytest.raises(PeerError):
            bans.check("ann", "2001:db8::7")
        assert await bans.remove("2001:DB8:0::7")
        bans.check("ann", "2001:db8::7")


@pytest.mark.parametrize(
    "name", ["0.0.0.0/0", "dead:beef", "1.2.3.400", "::1", "1.2.3.4:5", "[::1]:443"]
)
async def test_a_name_that_a_ban_would_not_take_for_one_is_refused(
    tmp_path: Path, name: str
) -> None:
    async with running(tmp_path) as there:
        with pytest.raises(ChannelClosed, match="bad_message"):
            await Client.login(there.url, name)


def test_bans_that_are_over_are_forgotten(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "serve.db")
    bans = Bans(journal)
    asyncio.run(bans.add("192.0.2.1", 0, "was loud"))
    bans.check("ann", "192.0.2.1")
    asyncio.run(bans.add("bob", None, "is loud"))
    assert [row[0] for row in journal.rows("SELECT whom FROM bans")] == ["bob"]
    with pytest.raises(PeerError):
        bans.check("bob", "192.0.2.1")
    journal.close()
