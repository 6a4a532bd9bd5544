"""Who is let in, and how much each may ask for; on a clock of its own, without sockets."""

from __future__ import annotations

import re
import resource
from pathlib import Path

import pytest
from websockets.datastructures import Headers
from websockets.http11 import Request

from harness.cli.serve import ServerFile
from harness.config_file import read_config_file
from harness.server import admission
from harness.server.admission import (
    GAME_BYTES,
    Admission,
    Admissions,
    Caller,
    Ledger,
    block_of,
    check_admission,
)
from protocol.errors import PeerError
from protocol.intake import Bucket, Later


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


class House:
    """Admissions, and the clock they go by."""

    def __init__(self, **config: object) -> None:
        self.clock = Clock()
        self.gate = Admissions(Admission(**config), self.clock)  # type: ignore[arg-type]

    def came(
        self,
        address: str = "192.0.2.1",
        forwarded: str | None = None,
        path: str = "/",
        upgrade: str | None = None,
    ) -> Caller:
        """Let a caller in that gets as far as its opening request."""
        caller = self.gate.enter(address)
        assert isinstance(caller, Caller), caller
        lines = {"X-Forwarded-For": forwarded, "Upgrade": upgrade}
        headers = Headers({name: line for name, line in lines.items() if line is not None})
        self.answer = caller.ask(Request(path, headers))
        return caller

    def turned_away(self, address: str = "192.0.2.1") -> str:
        """Return why a socket is not let in."""
        why = self.gate.enter(address)
        assert not isinstance(why, Caller)
        return why.why if isinstance(why, Later) else why


def code(caught: pytest.ExceptionInfo[PeerError]) -> tuple[str, int | None]:
    return caught.value.code, caught.value.close


@pytest.mark.parametrize(
    ("address", "block"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("?", "?"),
    ],
)
def test_an_address_is_what_a_customer_has(address: str, block: str) -> None:
    assert block_of(address) == block


def test_what_is_remembered_is_bounded_and_forgotten_when_it_has_run_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(admission, "MOST_REMEMBERED", 50)
    ledger = Ledger(lambda: Bucket(burst=2, per_second=1))
    for number in range(200):
        assert ledger.take(f"a{number}", now=0.0)
    assert len(ledger) == 50
    assert ledger.take("a199", now=0.0)
    assert not ledger.take("a199", now=0.0)
    assert ledger.take("b", now=10.0)
    assert len(ledger) == 1


TOO_FAST = "too many connections a second from 192.0.2.1, try again later"


@pytest.mark.parametrize(
    ("address", "forwarded"), [("192.0.2.1", None), ("127.0.0.1", "192.0.2.1")]
)
def test_a_small_file_of_the_page_costs_a_fifth_of_a_socket(
    address: str, forwarded: str | None
) -> None:
    house = House(proxies=("127.0.0.1",), handshakes_per_s=2)
    for _ in range(44):
        house.came(address, forwarded, "/page/0123456789abcdef/game_view.js").leave()
    house.came(address, forwarded).leave()
    assert house.answer is None
    assert house.turned_away() == TOO_FAST
    house.came("192.0.2.2", path="/page/0123456789abcdef/page.css").leave()
    for _ in range(9):  # what was given back is no credit
        house.came("192.0.2.2").leave()
    assert house.turned_away("192.0.2.2") == TOO_FAST.replace("192.0.2.1", "192.0.2.2")


@pytest.mark.parametrize(
    ("path", "upgrade"),
    [
        ("/", None),
        ("/page/0123456789abcdef/board.js", "websocket"),
        ("/page/0123456789abcdef/endgames.json", None),
        ("/page/0123456789abcdef/endgames.json?.js", None),
        ("/page/0123456789abcdef/endgames.json#/page/0/a.js", None),
        ("/page/../api/games/1.js", None),
        ("/api/games", None),
    ],
)
def test_what_else_is_asked_for_costs_a_whole_one(path: str, upgrade: str | None) -> None:
    house = House(handshakes_per_s=2)
    for _ in range(10):
        house.came(path=path, upgrade=upgrade).leave()
    assert house.turned_away() == TOO_FAST
    house.came("192.0.2.2")
    house.clock.now += 1
    house.came()


def test_an_address_has_so_many_connections_and_a_few_for_players_with_a_game() -> None:
    house = House(connections_per_address=10, handshakes_per_s=3)
    callers = [house.came() for _ in range(10)]
    for caller in callers:
        house.gate.check_place(caller, keeps_place=False)
    extra = [house.came() for _ in range(2)]
    house.gate.check_place(extra[0], keeps_place=True)
    with pytest.raises(PeerError, match="no place is left except for players with") as caught:
        house.gate.check_place(extra[1], keeps_place=False)
    assert code(caught) == ("busy", 1013)
    for _ in range(100):  # what is refused takes none of the 15 handshakes at once
        assert house.turned_away() == ("too many connections from 192.0.2.1: 10 are allowed")
    for caller in (*callers, *extra, *extra):
        caller.leave()
    assert house.gate.connections == 0
    house.gate.check_place(house.came(), keeps_place=False)


def flood(house: House, caller: Caller, frames: int) -> int:
    """Send small frames at once until the caller is cut off; return how many it got through."""
    return next(
        (n for n in range(frames) if not caller.spend(1, 6, house.clock.now)),
        frames,
    )


def test_coming_again_gains_no_new_budget() -> None:
    house = House(handshakes_per_s=100)
    sent = [flood(house, house.came(), 100_000) for _ in range(5)]
    assert sent[0] > 7_000  # 8 seconds' worth
    assert sum(sent) < 4.2 * sent[0]
    for _ in range(50):
        caller = house.came()
        assert flood(house, caller, 100_000) < 110
        caller.leave()
    house.clock.now += 20
    assert flood(house, house.came(), 100_000) > 7_000


def test_who_sends_little_is_not_cut_off_for_what_its_address_sends() -> None:
    house = House()
    honest = house.came()
    for _ in range(5):
        flood(house, house.came(), 100_000)
    for _ in range(1_000):
        house.clock.now += 0.002  # 500 pings a second
        assert honest.spend(1, 30, house.clock.now)


def test_whoever_comes_from_an_address_that_sends_much_is_read_later() -> None:
    house = House()
    alone = house.came("192.0.2.2")
    alone.spend(10, 100, house.clock.now)
    crowd = [house.came() for _ in range(40)]
    assert crowd[0].owed(house.clock.now) < alone.owed(house.clock.now)
    for each in crowd:
        each.spend(1, 10, house.clock.now)
    assert crowd[0].owed(house.clock.now) > alone.owed(house.clock.now)


def test_a_message_that_takes_long_costs_more() -> None:
    house = House()
    caller = house.came()
    for _ in range(400):
        caller.charge(20)
    with pytest.raises(PeerError) as caught:
        caller.charge(20)
    assert code(caught) == ("busy", 1008)


def test_behind_a_proxy_an_address_is_what_the_proxy_says() -> None:
    house = House(proxies=("127.0.0.1",), connections_per_address=2, handshakes_per_s=2)
    for number in range(10):
        caller = house.came("127.0.0.1", forwarded=f"10.0.0.1, 192.0.2.{number}")
        assert (house.answer, caller.address) == (None, f"192.0.2.{number}")
        house.gate.check_place(caller, keeps_place=False)
    for _ in range(3):
        house.came("127.0.0.1", forwarded="192.0.2.3")
    assert house.answer == "too many connections from 192.0.2.3: 2 are allowed"
    assert house.came("198.51.100.1", forwarded="192.0.2.77").address == "198.51.100.1"


def test_who_met_a_limit_of_its_address_may_wait_and_counts_if_it_is_refused() -> None:
    house = House(handshakes_per_s=0.2, connections_per_address=1)
    house.came()
    later = house.gate.enter("192.0.2.1")
    assert isinstance(later, Later)
    assert (later.why, later.queue) == (TOO_FAST, "192.0.2.1")
    assert not house.gate.refused
    later.note_refusal()
    assert house.gate.refused == {"handshakes_per_s": 1}
    house.clock.now += 5
    house.came()
    full = house.gate.enter("192.0.2.1")
    assert isinstance(full, Later)
    assert full.why == "too many connections from 192.0.2.1: 1 are allowed"


def test_if_the_server_is_full_nobody_waits() -> None:
    house = House(connections=1, kept=1)
    house.came("192.0.2.1")
    house.came("192.0.2.2")
    assert house.turned_away("192.0.2.3") == "too many connections, try again later"
    assert house.gate.refused == {"connections": 1}


@pytest.mark.parametrize(
    ("written", "peer", "is_proxy"),
    [
        ("2001:DB8:0::1", "2001:db8::1", True),
        ("10.0.0.1", "::ffff:10.0.0.1", True),  # as a socket for both versions says it
        ("fe80::1", "fe80::1%eth0", True),
        ("fe80::1%eth0", "fe80::1%eth0", True),
        ("fe80::1%eth0", "fe80::1%eth1", False),
    ],
)
def test_a_proxy_may_be_written_in_any_way(written: str, peer: str, *, is_proxy: bool) -> None:
    assert Admission(proxies=(written,)).is_proxy(peer) == is_proxy


def test_spectators_have_places_of_their_own() -> None:
    house = House(spectators=1)
    with house.gate.spectator(), pytest.raises(PeerError, match="too many spectators"):
        house.gate.spectator().__enter__()
    with house.gate.spectator():
        pass


def test_names_are_claimed_slowly_and_not_without_end() -> None:
    house = House(names_per_hour=3, names=1_000)
    caller = house.came()
    for _ in range(3):
        house.gate.check_claim(caller, 5)
    with pytest.raises(PeerError, match=r"192\.0\.2\.1 claims too many names"):
        house.gate.check_claim(caller, 5)
    house.gate.check_claim(house.came("192.0.2.2"), 5)
    house.clock.now += 1_200
    house.gate.check_claim(caller, 5)
    with pytest.raises(PeerError, match="no more names"):
        house.gate.check_claim(house.came("192.0.2.3"), 1_000)


def may_seek(house: House, name: str, address: str = "192.0.2.1") -> str:
    """Whether a name may seek a game, or why not."""
    try:
        house.gate.check_seek(name, address)
    except PeerError as error:
        return error.reply.message
    return "yes"


def test_a_name_and_an_address_seek_so_many_games_a_minute() -> None:
    house = House(seeks_per_minute=10)
    sought = [may_seek(house, "ann") for _ in range(12)]
    assert sought == ["yes"] * 10 + ["you seek too many games a minute"] * 2
    names = [f"p{number}" for number in range(40)]
    assert [may_seek(house, name) for name in names].count("yes") == 30
    assert may_seek(house, "bob", "192.0.2.2") == "yes"
    house.clock.now += 6
    assert may_seek(house, "ann") == "yes"


def may_begin(house: House, address: str, max_games: int = 2) -> str:
    """Whether an address may begin a game, which it then does, or why not."""
    try:
        house.gate.check_journal(address, max_games)
    except PeerError as error:
        return error.reply.message
    house.gate.note_game(address, max_games)
    return "yes"


def test_an_address_fills_so_much_of_the_journal_an_hour() -> None:
    house, here = House(journal_per_hour=16 * GAME_BYTES), "192.0.2.1"
    thoughts = [house.gate.keeps_thoughts(here, GAME_BYTES, 2) for _ in range(20)]
    assert thoughts == [True] * 14 + [False] * 6, "they leave something to games"
    assert [may_begin(house, here) for _ in range(3)] == [
        *("yes", "yes"),
        "192.0.2.1 has filled its part of the journal for this hour; seek again in 225 s",
    ]
    assert may_begin(house, "192.0.2.2") == "yes"
    assert house.gate.keeps_thoughts("192.0.2.2", 1, 2)
    house.clock.now += 225
    assert may_begin(house, here) == "yes"
    assert not house.gate.keeps_thoughts(here, 1, 2)
    house.gate.change(Admission(journal_per_hour=32 * GAME_BYTES))
    assert may_begin(house, here) != "yes", "what it has filled stays filled"
    house.clock.now += 1_800
    assert house.gate.keeps_thoughts(here, GAME_BYTES, 2)


@pytest.mark.parametrize(
    ("address", "config", "places"),
    [("192.0.2.1", {}, 4), ("192.0.2.1", {"games_per_address": 3}, 3), ("127.0.0.1", {}, None)],
)
def test_what_an_address_may_write_goes_with_its_games_at_once(
    address: str, config: dict[str, int], places: int | None
) -> None:
    gate = House(**config).gate
    written, size = 0, 1 << 20
    while written < 500 and gate.keeps_thoughts(address, size, 8):
        written += 1
    assert written == (500 if places is None else places * 35)


def test_who_let_an_opponent_wait_in_vain_waits_as_long_itself() -> None:
    house = House()
    house.gate.note_absence("ann", "192.0.2.1", 30.5)
    assert may_seek(house, "ann") == "you were not ready for a game; seek again in 31 s"
    assert may_seek(house, "bob") == "yes", "that was another"
    house.clock.now += 30.5
    assert may_seek(house, "ann") == "yes"
    house.gate.note_absence("ann", "192.0.2.1", 120)
    assert may_seek(house, "ann", "192.0.2.2").endswith("seek again in 60 s"), "and no longer"


def test_an_address_does_not_let_opponents_wait_by_ever_new_names() -> None:
    house = House()
    for number in range(5):
        house.gate.note_absence(f"p{number}", "192.0.2.1", 60)
    assert may_seek(house, "new").endswith("seek again in 60 s")
    assert may_seek(house, "new", "192.0.2.2") == "yes"
    house.clock.now += 60
    assert may_seek(house, "new") == "yes"
    for number in range(4):
        house.gate.note_absence(f"q{number}", "192.0.2.3", 120)
    assert may_seek(house, "new", "192.0.2.3") == "yes", "each counts for a minute"
    for number in range(4):
        house.gate.note_absence(f"r{number}", "192.0.2.3", 120)
    assert may_seek(house, "new", "192.0.2.3").endswith("seek again in 60 s")


def test_how_many_games_an_address_may_have() -> None:
    house = House()
    assert [house.gate.most_games("192.0.2.1", games) for games in (1, 2, 5)] == [1, 1, 3]
    for here in ("127.0.0.1", "::1", "::ffff:127.0.0.1"):
        assert house.gate.most_games(here, 5) == 5
    house.gate.change(Admission(games_per_address=4))
    assert {house.gate.most_games(at, 5) for at in ("127.0.0.1", "192.0.2.1")} == {4}


def test_how_many_places_lent_bots_may_have() -> None:
    assert [Admission().most_lent(games) for games in (1, 2, 3, 4, 100)] == [1, 1, 1, 2, 50]
    assert [Admission(lending=0.01).most_lent(games) for games in (1, 99, 200)] == [1, 1, 2]
    assert Admission(lending=0.29).most_lent(100) == 29
    assert Admission(lending=1).most_lent(7) == 7


def test_other_limits_hold_at_once_for_what_was_spent_before() -> None:
    house = House(seeks_per_minute=10, handshakes_per_s=2)
    here = [house.came() for _ in range(6)]
    assert [may_seek(house, "ann") for _ in range(10)] == ["yes"] * 10
    flood(house, here[0], 100_000)
    assert flood(house, here[1], 5_000) == 5_000
    house.gate.change(Admission(seeks_per_minute=20, handshakes_per_s=1.4, share_per_address=0.5))
    assert [may_seek(house, "ann") for _ in range(11)].count("yes") == 10
    assert flood(house, house.came(), 5_000) < 110, "its address owes more than it may now"
    assert house.turned_away() == TOO_FAST, "7 of 7 handshakes are spent"
    house.gate.change(Admission(connections_per_address=7))
    house.clock.now += 1
    assert house.came().is_extra


def test_other_limits_forgive_nothing_that_who_is_here_has_sent() -> None:
    house = House()
    crowd = [house.came() for _ in range(5)]
    house.came("192.0.2.2")  # the budget of the first address, which owes nothing, is forgotten
    for caller in crowd:
        flood(house, caller, 100_000)
    house.gate.change(Admission(spectators=9))
    assert flood(house, house.came(), 5_000) < 110


def limited(monkeypatch: pytest.MonkeyPatch, soft: int, hard: int) -> list[tuple[int, int]]:
    """Have the system allow so many open files; return what is asked of it."""
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _which, both: asked.append(both))
    return asked


def test_open_files_are_enough_or_it_is_said_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = limited(monkeypatch, 1_500, 4_096)
    check_admission(Admission(), max_games=2)
    assert asked == [(2_264, 4_096)]
    check_admission(Admission(connections=200), max_games=2)
    assert len(asked) == 1
    with pytest.raises(ValueError, match="6,264"):
        check_admission(Admission(connections=5_000), max_games=2)
    for proxy in ("my-proxy", "10.0.0.1%x"):
        with pytest.raises(ValueError, match=f"'{proxy}'"):
            check_admission(Admission(proxies=(proxy,)), max_games=2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[admission]\nconections = 5", "'conections'"),
        ("[admission]\nhandshakes_per_s = 0", "admission.handshakes_per_s"),
        ("[admission]\nkept = 0", "admission.kept"),
        ('[admission]\nnames = "many"', "admission.names"),
        ("[admission]\nlending = 1.01", "admission.lending"),
        ('[ladder.anchors]\ngood = 1500\nbad = "x"\nworse = "y"', "ladder.anchors.bad"),
        ('[tables.a]\nrules = "b"\n[tables.c]\nrules = 5', "tables.c.rules"),
    ],
)
def test_of_a_servers_file_the_key_that_is_wrong_is_named(
    tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "server.toml").write_text(text)
    with pytest.raises(ValueError, match=re.escape(said)):
        read_config_file(tmp_path / "server.toml", ServerFile)
