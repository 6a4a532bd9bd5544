"""What an admin may do on a server that runs, and what of it is there after a restart."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, cast

import pytest
from guests import ann_and_bob, on_turn, two_at_a_table
from servers import login_from, served, turned_away, url_of
from websockets.asyncio.client import connect
from websockets.typing import Origin, Subprotocol

from harness.arbiter.journal import Journal
from harness.cli.asking import _ask
from harness.cli.failing import CommandFailed
from harness.game_kinds import GameKind
from harness.lab.bench.client import Client
from harness.seats.seats import Worker
from harness.server.bans import Bans
from harness.server.page_analysis.conversation import SUBPROTOCOL as ANALYSIS
from harness.server.page_analysis.queue import TaskRunner
from harness.server.tokens import KnownTokens, hash_token, new_token
from protocol.channel import ChannelClosed
from protocol.errors import PeerError
from protocol.link import Link
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
from protocol.parts import Ban, Role, TimeControl

pytestmark = pytest.mark.usefixtures("clients_hang_up")


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
    **options: Any,
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
        log_line=there.told.append,
        admins=KnownTokens(folder / "admins", print),
        **options,
    ) as server:
        there.url = url_of(server)
        yield there


async def at_a_table(url: str) -> tuple[Client, Client, YourTurn]:
    """Have ann and bob play; ann's connection, bob's, and the first turn, of either."""
    ann, bob, _ = await two_at_a_table(url)
    _, _, turn = await on_turn(ann, bob)
    return ann, bob, turn


async def seated(ann: Client, bob: Client) -> str:
    """Have the two begin a game; return its id."""
    await ann.seek("bob")
    await bob.seek("ann")
    game, _ = await asyncio.gather(ann.get_ready(), bob.get_ready())
    return game


async def test_who_is_kicked_may_come_back_and_who_is_banned_not(tmp_path: Path) -> None:
    async with running(tmp_path) as there:
        ann = await Client.login(there.url, "ann")
        await there.do("kick", whom="ann", why="too loud")
        assert (await ann.expect(Goodbye)).message.endswith("kicked by hannah: too loud")
        ann = await Client.login(there.url, "ann")
        state = await there.do("ban", whom="ann", why="again", minutes=90)
        assert (await ann.expect(Goodbye)).message == "ann is banned by hannah: again"
        assert state.bans == (Ban(whom="ann", minutes=90, why="hannah: again"),)
    async with running(tmp_path) as there:
        await turned_away(there.url, "ann", why="banned")
        bob = await Client.login(there.url, "bob")
        state = await there.do("ban", whom="127.0.0.0/8")
        assert state.bans[1] == Ban(whom="127.0.0.0/8", why="hannah")
        await bob.expect(Goodbye)
        await turned_away(there.url, "bob", why="banned")
        for whom in ("ann", "127.0.0.0/8"):
            state = await there.do("unban", whom=whom)
        assert state.bans == ()
        for name in ("ann", "bob"):
            await Client.login(there.url, name)
        with pytest.raises(CommandFailed, match="ann is not banned"):
            await there.do("unban", whom="ann")
        for whom in ("192.0.2.1/99", "fe80:::1", "[2001:db8::]/32", "fe80::%eth0/64"):
            with pytest.raises(CommandFailed, match="is no address and no network"):
                await there.do("ban", whom=whom)
        assert "admin hannah: unban ann" in there.told


async def never(_kinds: Mapping[str, GameKind]) -> TaskRunner:
    raise AssertionError("nothing is analysed here")


AFAR = "127.0.0.2"
ROLES: list[tuple[Role, str]] = [("arbiter", "/house"), ("player", ""), ("spectator", "")]


@pytest.mark.parametrize(("act", "whom"), [("kick", "cem"), ("kick", AFAR), ("ban", "127.0.0.0/8")])
async def test_who_is_meant_is_ended_in_every_role_but_an_admins(
    tmp_path: Path, lending: dict[str, Any], act: str, whom: str
) -> None:
    async with running(tmp_path, analyst=never, max_games=4, **lending) as there:
        clients = [
            await login_from(AFAR, f"{there.url}{path}", "cem", role) for role, path in ROLES
        ]
        page = await connect(
            there.url,
            subprotocols=[Subprotocol(ANALYSIS)],
            origin=Origin(there.url.replace("ws:", "http:")),
            local_addr=(AFAR, 0),
            proxy=None,
        )
        await page.send('{"type": "ping"}')
        await page.recv()
        listed = (await there.do("list")).connections
        assert [(each.role, each.name) for each in listed] == [
            *((role, "cem") for role, _ in ROLES),
            *(("analysis", ""), ("admin", "hannah")),
        ]
        assert all(each.address.startswith(f"{AFAR}:") for each in listed[:4])
        state = await there.do(act, whom=whom, why="too loud")
        for client in clients:
            assert (await client.expect(Goodbye)).message.endswith("too loud")
            with pytest.raises(ChannelClosed, match="1008 kicked"):
                await client.receive()
        if whom != "cem":
            assert "too loud" in str(await page.recv())
            await page.wait_closed()
        left = {each.role for each in state.connections}
        assert left == ({"analysis", "admin"} if whom == "cem" else {"admin"})
        assert not state.players
        for role, path in ROLES:
            coming = login_from(AFAR, f"{there.url}{path}", "cem", role)
            if act == "ban":
                with pytest.raises(ChannelClosed, match="1008 banned"):
                    await coming
            else:
                await coming
        await page.close()


async def test_who_is_ended_is_gone_from_the_list_though_it_leaves_slowly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leaves, run = asyncio.Event(), Link.run

    async def run_on(link: Link) -> str:
        why = await run(link)
        await leaves.wait()
        return why

    monkeypatch.setattr(Link, "run", run_on)
    async with running(tmp_path) as there:
        ann = await Client.login(there.url, "ann")
        kicking = asyncio.create_task(there.do("kick", whom="ann"))
        await ann.expect(Goodbye)
        await ann.close()
        state = await there.do("list")
        while "player" in {each.role for each in state.connections}:
            state = await there.do("list")
        assert [each.name for each in state.players] == ["ann"]
        leaves.set()
        assert not (await kicking).players


async def test_a_ban_frees_the_place_of_a_lent_bot_also_while_it_starts(
    tmp_path: Path, lending: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.server.administration.HOLDS_S", 0)  # it is not gone meanwhile
    starts, may_start, lend = asyncio.Event(), asyncio.Event(), lending["open_bot"]

    async def lend_slowly(name: str) -> Worker:
        starts.set()
        await may_start.wait()
        return cast("Worker", await lend(name))

    async with running(tmp_path, max_games=1, **lending | {"open_bot": lend_slowly}) as there:
        coming = asyncio.create_task(login_from(AFAR, f"{there.url}/house", "cem", "arbiter"))
        await starts.wait()
        await there.do("ban", whom=AFAR)
        may_start.set()
        arbiter = await coming
        assert (await arbiter.expect(Goodbye)).code == "kicked"
        ann = await Client.login(there.url, "ann")
        await ann.seek("house")
        await ann.expect(NewGame)


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
        assert state.paused == "paused by hannah: power cut"


async def test_while_games_are_paused_none_begins(tmp_path: Path) -> None:
    async with running(tmp_path) as there:
        assert (await there.do("pause", why="power cut")).paused == "paused by hannah: power cut"
    async with running(tmp_path) as there:
        ann, bob = await ann_and_bob(there.url)
        for client in (ann, bob):
            await client.expect(Seeking)
        state = await there.do("list")
        assert [player.seeking for player in state.players] == [True, True]
        assert (state.paused, state.games) == ("paused by hannah: power cut", ())
        with pytest.raises(CommandFailed, match="paused by hannah: power cut already"):
            await there.do("pause")
        await there.do("resume")
        await ann.get_ready()
        with pytest.raises(CommandFailed, match="games are not paused"):
            await there.do("resume")
    async with running(tmp_path) as there:
        assert (await there.do("list")).paused is None


async def test_a_game_is_voided_for_both(tmp_path: Path) -> None:
    async with running(tmp_path) as there:
        ann, bob, turn = await at_a_table(there.url)
        state = await there.do("list")
        assert [player.games for player in state.players] == 2 * [(turn.game,)]
        assert [game.game for game in state.games] == [turn.game]
        state = await there.do("void", game=turn.game, why="wrong words")
        assert not state.games
        assert not any(player.games for player in state.players)
        for client in (ann, bob):
            over = await client.expect(GameOver)
            assert (over.outcome, over.winner) == ("host_error", None)
            assert over.message == "void: ended by hannah: wrong words"
        with pytest.raises(CommandFailed, match="'another'"):
            await there.do("void", game="another")


async def test_time_that_is_given_outlives_the_server(tmp_path: Path) -> None:
    async with running(tmp_path) as there:
        _, _, turn = await at_a_table(there.url)
        await there.do("adjust", game=turn.game, whom="ann", ms=600_000, why="lost power")
        with pytest.raises(CommandFailed, match=r"play game .*, not cem"):
            await there.do("adjust", game=turn.game, whom="cem", ms=1)

    async def clocks(there: Running) -> tuple[int, int]:
        ann = await Client.login(there.url, "ann")
        await ann.resume(turn.game, -1)
        offer = await ann.expect(NewGame)
        assert offer.clocks is not None
        assert offer.you is not None
        return offer.clocks[offer.you], offer.clocks[1 - offer.you]

    async with running(tmp_path) as there:
        anns, bobs = await clocks(there)
        assert (anns > 590_000, bobs <= 60_000) == (True, True)
    async with running(tmp_path) as there:  # whose clock stands still
        await there.do("adjust", game=turn.game, whom="ann", ms=600_000)
    async with running(tmp_path) as there:
        assert (await clocks(there))[0] > 1_190_000


async def test_an_invitation_is_the_token_of_whoever_uses_it_first(tmp_path: Path) -> None:
    known = f"ann {hash_token('a')}\n"
    async with running(tmp_path, known=known) as there:
        await turned_away(there.url, "bob", token=new_token())
        state = await there.do("invite")
        assert state.token is not None
        assert state.invitations == 1
        invited = state.token
        await turned_away(there.url, "ann", token=invited)  # a name that has a token
        await Client.login(there.url, "bob", token=invited)
        assert (await there.do("list")).invitations == 0
        await turned_away(there.url, "cem", token=invited)
    async with running(tmp_path, known=known) as there:
        await Client.login(there.url, "bob", token=invited)
        await turned_away(there.url, "bob", token="b")
        await turned_away(there.url, "cem", token=invited)


async def test_without_a_file_of_admins_nobody_is_one(tmp_path: Path) -> None:
    async with served(tmp_path / "games.db") as server:
        with pytest.raises(ChannelClosed, match="--admins"):
            await Running(url_of(server)).do("list")


async def test_admins_only_with_the_token_of_now_and_admins_do_nothing_else(tmp_path: Path) -> None:
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
        hannah = await Client.login(there.url, "hannah", "admin", token="h")
        await hannah.channel.send(Standings())
        assert (await hannah.expect(Error)).code == "wrong_role"
        (tmp_path / "admins").write_text(f"hannah {hash_token('other')}\n")
        await hannah.channel.send(Administer(action="pause"))
        assert (await hannah.expect(Error)).code == "forbidden"
        assert (await there.do("list", token="other")).paused is None


async def test_whoever_has_lost_its_token_loses_its_connection_and_no_game(
    tmp_path: Path, lending: dict[str, Any]
) -> None:
    known = {name: new_token() for name in ("ann", "bob", "cem", "hannah", "ida")}
    players, admins = tmp_path / "players", tmp_path / "admins"

    def write(path: Path, *names: str) -> None:
        path.write_text("".join(f"{name} {hash_token(known[name])}\n" for name in names))

    write(players, "ann", "bob", "cem")
    write(admins, "hannah", "ida")
    files = KnownTokens(players, print), KnownTokens(admins, print)
    async with served(tmp_path / "games.db", known=files[0], admins=files[1], **lending) as server:
        url = url_of(server)
        ann, bob = [await Client.login(url, name, token=known[name]) for name in ("ann", "bob")]
        game = await seated(ann, bob)
        cem = await Client.login(f"{url}/house", "cem", "arbiter", token=known["cem"])
        hannah, ida = [
            await Client.login(url, name, "admin", token=known[name]) for name in ("hannah", "ida")
        ]
        known["ann"] = new_token()
        write(players, "ann", "bob")
        write(admins, "ida")
        await ida.channel.send(Administer(action="list"))  # has the file read again
        await ida.expect(ServerState)
        assert (await hannah.expect(Goodbye)).code == "kicked"
        await Client.login(url, "eve", "spectator")
        bob = await Client.login(url, "bob", token=known["bob"])
        for client in (ann, cem):
            goodbye = await client.expect(Goodbye)
            assert goodbye.code == "kicked"
            assert "your token is no longer valid" in goodbye.message
        ann = await Client.login(url, "ann", token=known["ann"])
        assert ann.welcome.games == bob.welcome.games == (game,)
        await ida.channel.send(Administer(action="list"))
        state = await ida.expect(ServerState)
        assert [player.name for player in state.players] == ["ann", "bob"]


async def test_a_name_that_is_released_is_whose_comes_next(tmp_path: Path) -> None:
    async with running(tmp_path) as there:
        first, second = new_token(), new_token()
        ann = await Client.login(there.url, "ann", token=first)
        game = await seated(ann, await Client.login(there.url, "bob"))
        await turned_away(there.url, "ann", token=second)
        state = await there.do("release", whom="ann", why="not hers")
        assert (await ann.expect(Goodbye)).message.endswith("released by hannah: not hers")
        assert [it.name for it in state.players if not it.address] == ["ann"]
        again = await Client.login(there.url, "ann", token=second)
        assert again.welcome.games == (game,)
        with pytest.raises(CommandFailed, match="nobody has come with the name cem"):
            await there.do("release", whom="cem")
    async with running(tmp_path) as there:
        for token in (None, first):
            await turned_away(there.url, "ann", token=token)
        await Client.login(there.url, "ann", token=second)
        invited = (await there.do("invite")).token
    async with running(tmp_path, known=f"eve {hash_token('e')}\n") as there:
        await Client.login(there.url, "cem", token=invited)
        await there.do("release", whom="cem")
        await turned_away(there.url, "cem", token=invited)
        with pytest.raises(CommandFailed, match="in the server's file"):
            await there.do("release", whom="eve")


async def test_what_an_admin_is_told_fits_into_a_message(tmp_path: Path) -> None:
    with closing(Journal(tmp_path / "games.db")) as journal:
        for number in range(80):
            ban = f"name{number}", "ж" * 2_000
            await journal.change(("INSERT INTO bans VALUES (?, NULL, ?)", ban))
    async with running(tmp_path) as there:
        state = await there.do("pause", why="x" * 2_000)
        assert len(state.paused or "") == 2_000
        assert 10 < len(state.bans) < 80, "as many as a message holds"


async def test_a_name_that_a_ban_would_not_take_for_one_is_refused(tmp_path: Path) -> None:
    async with running(tmp_path) as there:
        for name in ("0.0.0.0/0", "dead:beef", "1.2.3.400", "::1", "1.2.3.4:5", "[::1]:443"):
            await turned_away(there.url, name, why="bad_message")


async def test_an_address_is_banned_however_it_is_written(journal: Journal) -> None:
    await journal.change(("INSERT INTO bans VALUES (?, NULL, '')", ("2001:DB8:0::7",)))
    bans = Bans(journal)  # an earlier version wrote that
    networks = "192.0.2.9/24", "::ffff:198.51.100.7", "::ffff:233.252.0.0/120"
    for whom in (*networks, "203.0.113.9:50001", "bob:x"):
        await bans.add(whom, None, "loud")
    for address in ("192.0.2.1", "::ffff:192.0.2.1", "198.51.100.7", "233.252.0.9", "2001:db8::7"):
        with pytest.raises(PeerError):
            bans.check("ann", address)
    bans.check("ann", "::ffff:203.0.113.1")
    assert {ban.whom for ban in bans.listed()} > {"192.0.2.0/24", "233.252.0.0/24", "bob:x"}
    for whom, address in (("203.0.113.9:50002", "203.0.113.9"), ("2001:DB8:0::7", "2001:db8::7")):
        assert await bans.remove(whom)
        bans.check("ann", address)


async def test_bans_that_are_over_are_forgotten(journal: Journal) -> None:
    bans = Bans(journal)
    await bans.add("192.0.2.1", 0, "was loud")
    bans.check("ann", "192.0.2.1")
    await bans.add("bob", None, "is loud")
    assert [row[0] for row in journal.rows("SELECT whom FROM bans")] == ["bob"]
    with pytest.raises(PeerError):
        bans.check("bob", "192.0.2.1")
