from __future__ import annotations

import asyncio
import hashlib
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from harness.arbiter.database import Address
from harness.arbiter.journal import Journal
from harness.seats.seats import GuestSeat
from harness.server.admission import Admission, Admissions, Caller
from harness.server.players import Players
from harness.server.tokens import (
    Gatekeeper,
    Holder,
    KnownTokens,
    WrongToken,
    hash_token,
    new_token,
    read_token_file,
)
from protocol.errors import PeerError

SECRET = "s" * 32
OTHER = "t" * 32


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of tokens that knows bob, and another by a letter."""
    path = tmp_path / "players.tokens"
    path.write_text(f"# who may play\n\nbob {hash_token('b')}\n  bоb\t{hash_token('c')}\n")
    return path


async def turned_away(gate: Gatekeeper, name: str, token: str | None) -> PeerError:
    with pytest.raises(PeerError) as caught:
        await gate.admit(name, token)
    assert (caught.value.code, caught.value.close) == ("forbidden", 1008)
    return caught.value


async def test_a_name_belongs_to_who_first_came_with_a_token(journal: Journal) -> None:
    secret = new_token()
    assert len(secret) == 43, "256 bits in base 64"
    gate = Gatekeeper(journal)
    await gate.admit("alice", None)
    for _ in range(2):
        await gate.admit("alice", secret)
    for token in ("guess", "", None, secret + " ", "\udcff\udc80", "\ud800", "\x00", "ä" * 10_000):
        error = await turned_away(gate, "alice", token)
        assert "'alice'" in error.reply.message
    await gate.admit("alicia", OTHER)
    assert journal.token_hash("alice") == hashlib.sha256(secret.encode()).hexdigest()


@pytest.mark.parametrize("token", ["", "x", "s" * 31])
async def test_a_token_that_can_be_guessed_claims_nothing(journal: Journal, token: str) -> None:
    error = await turned_away(Gatekeeper(journal), "alice", token)
    assert "'tilewire token NAME'" in error.reply.message
    assert journal.token_hash("alice") is None


async def test_of_two_who_claim_a_name_at_once_one_gets_it(journal: Journal) -> None:
    gate = Gatekeeper(journal)
    results = await asyncio.gather(
        *(gate.admit("alice", f"{SECRET} {number}") for number in range(8)), return_exceptions=True
    )
    assert [result is None for result in results].count(True) == 1
    assert all(isinstance(result, PeerError) for result in results if result is not None)


async def test_while_a_name_is_being_claimed_nobody_else_comes_under_it(journal: Journal) -> None:
    gate = Gatekeeper(journal)
    claim = asyncio.create_task(gate.admit("alice", SECRET))
    await asyncio.sleep(0)
    error = await turned_away(gate, "alice", None)
    assert error.reply.message == "the name 'alice' is in use"
    await claim
    assert gate.has_token("alice")


async def test_with_a_token_file_only_its_names_may_play(journal: Journal, file: Path) -> None:
    gate = Gatekeeper(journal, KnownTokens(file, print))
    await gate.admit("bob", "b")
    await gate.admit("bоb", "c")  # whatever it looks like
    for name, token, why in (
        *(("bob", None, "needs its token"), ("bob", "x", "needs its token")),
        *(("eve", None, "no token was sent"), ("eve", "e", "not an unused invitation")),
    ):
        error = await turned_away(gate, name, token)
        assert why in error.reply.message
        assert isinstance(error, WrongToken) == (token is not None)
    assert journal.token_hash("eve") is None


def test_a_file_of_tokens_that_changes_is_read_again(file: Path) -> None:
    said: list[str] = []
    known = KnownTokens(file, said.append)
    assert known.read() == {"bob": hash_token("b"), "bоb": hash_token("c")}
    assert not said
    file.write_text(f"bob {hash_token('new')}\neve {hash_token('e')}\n")
    second = {"bob": hash_token("new"), "eve": hash_token("e")}
    assert known.read() == known.read() == second
    assert said == [f"{file} was read again: new eve; gone bоb; another token for bob"]
    file.write_text("eve\n")
    assert known.read() == known.read() == second
    file.unlink()
    assert known.read() == second
    file.write_text(f"eve {hash_token('e')}\n")
    assert known.read() == {"eve": hash_token("e")}
    _, broken, gone, again = said
    assert f"{file}, line 1: " in broken
    assert f"{file}: No such file" in gone
    assert "names read before stay valid" in broken
    assert again.endswith("gone bob")


@pytest.mark.parametrize(
    "line", ["alice", "alice " + "A" * 64, "a b " + "0" * 64, "alice " + "0" * 63]
)
def test_a_line_that_is_no_name_and_hash_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "tokens"
    path.write_text(f"# first\n{line}\n")
    with pytest.raises(ValueError, match="tokens, line 2"):
        read_token_file(path)


async def test_a_name_in_a_game_from_before_a_start_can_not_be_claimed(journal: Journal) -> None:
    keeper, players = Gatekeeper(journal), Players()
    players.named("ann").seats["game"] = GuestSeat("ann")
    assert players.is_in_use("ann")
    with pytest.raises(PeerError, match="in use"):
        await keeper.admit("ann", "t" * 40, is_in_use=True)
    await keeper.admit("ann", None, is_in_use=True)


@pytest.mark.parametrize("damage", [7, "ä", {"a": 1}])
@pytest.mark.parametrize("mark", ["secret_hash", "address_hash"])
def test_a_damaged_mark_of_a_holder_lets_nobody_in(mark: str, damage: object) -> None:
    holder = Holder.of_marks({mark: damage}, "00" * 32)
    with pytest.raises(PeerError, match="in use"):
        holder.check("ann", SECRET, "192.0.2.1")


def test_of_two_who_come_to_a_free_name_at_once_the_first_has_it() -> None:
    player = Players().named("ann")
    first = player.hold("", "192.0.2.1")
    player.seats["game"] = GuestSeat("ann")
    for secret in ("", OTHER, UNSET):
        with pytest.raises(PeerError, match="in use"):
            player.hold(secret, "192.0.2.1")
    assert player.hold(first, "192.0.2.2") == first
    player.seats.clear()
    assert player.hold("", "192.0.2.2") != first, "the name was free"


# --- names without a token file -------------------------------------------------------------------


async def test_a_claim_expires_unless_its_name_is_used(address: Address) -> None:
    with closing(Journal(address)) as journal:
        claims = Gatekeeper(journal).claims
        for name in ("idle", "here", "player"):
            await claims.claim(name, hash_token(SECRET), "192.0.2.1")
        claims.expire(0, lambda _name: False)
        claims.note_use(["player", "guest"])
        assert set(journal.claimed_names()) == {"idle", "here", "player"}
    for _ in range(2):  # the second after what the first start has forgotten
        with closing(Journal(address)) as journal:
            claims = Gatekeeper(journal).claims
            claims.expire(1e12, lambda name: name == "here")
            assert set(journal.claimed_names()) == {"here", "player"}
            assert claims.unused("192.0.2.99") == 1
    with closing(Journal(address)) as journal:
        gate = Gatekeeper(journal)
        gate.claims.expire(1e12, lambda _name: False)
        await gate.admit("idle", OTHER)
        assert set(journal.claimed_names()) == {"idle", "player"}
        assert journal.token_hash("idle") == hash_token(OTHER)


async def test_a_claim_of_an_earlier_version_stays(address: Address) -> None:
    with closing(Journal(address)) as journal:
        await journal.claim_name("ann", hash_token(SECRET))
        await journal.change(("DROP TABLE origins", ()))
    with closing(Journal(address)) as journal:
        gate = Gatekeeper(journal)
        gate.claims.expire(1e12, lambda _name: False)
        await gate.admit("ann", SECRET)
        await gate.admit("bob", SECRET)
    with closing(Journal(address)) as journal:
        assert set(journal.claimed_names()) == {"ann", "bob"}


async def test_a_network_shuts_registration_to_itself_only(journal: Journal) -> None:
    admissions = Admissions(Admission(names=500, names_per_hour=5), clock=lambda: 0)
    gate = Gatekeeper(journal)

    async def claim(name: str, address: str) -> None:
        check = partial(admissions.check_claim, Caller(admissions, address))
        await gate.admit(name, SECRET, address=address, check_claim=check)

    for number in range(5):
        await claim(f"squatter-{number}", f"192.0.2.{number}")
    for address in ("192.0.2.77", "192.0.2.0"):
        with pytest.raises(PeerError, match=r"192\.0\.2\.0/24 has claimed 5 names") as caught:
            await claim("another", address)
        assert (caught.value.code, caught.value.reply.retry) == ("busy", "later")
    await claim("honest", "192.0.3.1")
    gate.claims.note_use(["squatter-1"])
    await claim("another", "192.0.2.77")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("ice\ufe0f", "VARIATION SELECTOR-16, which can't be seen"),
        ("i\u200bce", "ZERO WIDTH SPACE, which can't be seen"),
        ("\u3164", "can't be seen"),
        ("ice  cold", "choose 'ice cold'"),
        ("\u0301ice", "COMBINING ACUTE ACCENT, which needs a letter before it"),
        ("1\u0335", "needs a letter"),
        ("i" + "\u0315" * 4, "more than 3 marks"),
        ("ﬁsh", "choose 'fish'"),
        ("ice\u2800", "BRAILLE PATTERN BLANK; choose letters"),
        ("iсe", "mixes Cyrillic and Latin"),
        ("tilewire", "the server's own name"),
        ("TiIewire", "looks like 'tilewire'"),
        ("асе", "looks like 'ace'"),
        ("Static", "looks like 'static'"),
        ("ALICE", "looks like 'alice'"),
        ("aIice", "looks like 'alice'"),
        ("rnaja", "looks like 'maja'"),
        ("b0b0", "looks like 'bobo'"),
    ],
)
async def test_a_new_name_that_could_be_taken_for_another_is_refused(
    journal: Journal, name: str, why: str
) -> None:
    gate = Gatekeeper(journal, reserved=("tilewire", "static", "maja", "ace"))
    await gate.admit("alice", SECRET)
    gate.invitations._names_in_use["bobo"] = hash_token("b")
    for token in (None, OTHER):
        error = await turned_away(gate, name, token)
        assert why in error.reply.message
    gate.claims.release("alice")
    await gate.admit("Alice", SECRET)


async def test_a_plain_name_of_any_script_is_welcome(journal: Journal) -> None:
    gate = Gatekeeper(journal, reserved=("tilewire", "static"))
    for name in (
        *("alice", "alicia", "static-2", "v1/x", "O'Neil", "m:1", "Ann Lee"),
        *("Łucja", "Ольга", "שלום", "日本カナー", "한국漢", "ไม้"),
    ):
        await gate.admit(name, OTHER)


async def test_names_of_before_stay_whatever_they_look_like(journal: Journal) -> None:
    await journal.claim_name("ice\ufe0f", hash_token(SECRET))
    gate = Gatekeeper(journal, reserved=("ice",))
    await gate.admit("ice\ufe0f", SECRET)
    await gate.admit("ﬁsh", None, is_in_use=True)
    await gate.admit("ﬁsh", None, is_new=False)


# --- entrants of a tournament ---------------------------------------------------------------------


async def test_a_registered_name_is_its_first_addresss_until_its_token_comes(
    tmp_path: Path,
) -> None:
    address = tmp_path / "match.db"
    given = {"ann": hash_token(SECRET), "bob": hash_token(OTHER)}

    async def come(name: str, token: str | None, host: str, **known: Any) -> None:
        await gate.admit(name, token, address=host, is_new=False, **known)

    with closing(Journal(address)) as journal:
        gate = Gatekeeper(journal, entrants=given)
        with pytest.raises(WrongToken, match="registered"):
            await come("ann", "x" * 40, "192.0.2.9")
        await come("ann", None, "192.0.2.9")
        await come("ann", None, "192.0.2.9", is_in_use=True)
        await come("cem", None, "192.0.2.5")
    with closing(Journal(address)) as journal:
        assert "192.0" not in str(journal.rows("SELECT * FROM origins"))
        gate = Gatekeeper(journal, entrants=given)
        for name, token in (("ann", None), ("cem", None), ("cem", "x" * 40)):
            for host in ("192.0.2.1", "2001:db8::1"):
                with pytest.raises(PeerError, match="another address"):
                    await come(name, token, host)
        await come("cem", "x" * 40, "192.0.2.5")
        await come("ann", SECRET, "192.0.2.1", is_in_use=True)
        with pytest.raises(PeerError, match="needs its token"):
            await come("ann", None, "192.0.2.9")
        for name in ("ann", "cem"):
            assert gate.release(name)
            await come(name, None, "192.0.2.7")
        assert not gate.release("dan")
        gate.claims.expire(1e12, lambda _name: False)
    with closing(Journal(address)) as journal:
        gate = Gatekeeper(journal, entrants=given)
        with pytest.raises(PeerError, match="another address"):
            await come("cem", None, "192.0.2.5")
