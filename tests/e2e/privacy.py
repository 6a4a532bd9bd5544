"""What pages receive while games are on, byte by byte, held against the journal afterwards.

    PYTHONPATH=.:tests .venv/bin/python -m e2e.privacy --games 50

Each game has two players and two spectators, one of whom comes late, who speak as the page does;
after each turn all addresses are asked that a page may ask. A field that ``FIELDS`` does not have
is a finding too, so whoever adds a field says what it may hold.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import secrets
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from servers import served
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from engine.movegen.generator import Generator
from engine.notation.cgp import read_cgp
from engine.notation.move_text import format_move
from engine.rules.rules import standard_rules
from harness.arbiter.journal_reading import read_ended_game
from harness.arbiter.records import Began, Opened, TurnRecord
from harness.server.admission import Admission
from harness.server.server import MatchServer
from lexicons.store import load_lexicon

ADDRESSES = ("games", "games/{}", "games/{}.gcg", "standings", "ladder", "play")
"""Under ``/api/``, with the game's id."""
LATE = 5
"""The turn before which the second spectator comes."""
SHORTEST = 4
"""So many tiles of a rack in a text are no accident."""

MOST_SHOWN = 20
"""Problems that are printed."""

Viewer = int | None
"""A seat, or None: a spectator."""


@dataclass(frozen=True)
class Received:
    """What a page received while a game was on."""

    viewer: Viewer
    turns: int
    """How many had been played."""
    text: str


@dataclass(eq=False)
class Page:
    """A connection as the page makes it; it keeps what it receives before the end."""

    viewer: Viewer
    connection: ClientConnection
    received: list[Received] = field(default_factory=list)
    turns: int = 0
    nonce: str = ""

    @classmethod
    async def open(cls, url: str, viewer: Viewer, role: str, name: str) -> Page:
        """Connect and say hello."""
        subprotocol = Subprotocol("tilewire.v1.json")
        page = cls(viewer, await connect(url, subprotocols=[subprotocol], proxy=None))
        await page.say(type="hello", role=role, name=name)
        await page.until("welcome")
        return page

    async def say(self, **message: object) -> None:
        """Send a message."""
        await self.connection.send(json.dumps(message))

    async def until(self, *kinds: str) -> dict[str, Any]:
        """Wait for a message of a kind."""
        while True:
            text = await self.connection.recv()
            assert isinstance(text, str)
            message: dict[str, Any] = json.loads(text)
            if message["type"] == "played":
                self.turns = message["seq"]
            elif message["type"] == "new_game":
                self.turns = max(0, message["seq"] - 1)
            if message["type"] != "game_over":
                self.received.append(Received(self.viewer, self.turns, text))
            if message["type"] in kinds:
                return message


@dataclass(frozen=True)
class Truth:
    """A game as the journal has it."""

    opened: Opened
    nonces: tuple[str, str]
    turns: list[TurnRecord]

    @classmethod
    def read(cls, journal: Path, game: str) -> Truth:
        """Read a game that is over."""
        kept = read_ended_game(journal, game)
        assert kept is not None
        began = next(record for record in kept.records if isinstance(record, Began))
        turns = [record for record in kept.records if isinstance(record, TurnRecord)]
        return cls(cast("Opened", kept.records[0]), began.nonces, turns)

    def racks(self, seat: int) -> set[str]:
        """Return all that a seat ever held."""
        own = [turn for turn in self.turns if turn.seat == seat]
        return {rack for turn in own for rack in (turn.rack, turn.rack_after)}

    def move(self, turn: TurnRecord, viewer: Viewer) -> str:
        """Return a move as a viewer may know it."""
        if viewer == turn.seat or not turn.move[1:] or turn.move[0] != "-":
            return turn.move
        return f"-{len(turn.move[1:])}"  # a character is a tile in English


_Check = Callable[[Truth, Received, Any], bool]


def _any(_truth: Truth, _received: Received, _value: Any) -> bool:
    return True


def _nothing(_truth: Truth, _received: Received, value: Any) -> bool:
    return value is None


def _number(_truth: Truth, _received: Received, value: Any) -> bool:
    return value is None or isinstance(value, int)


def _game(truth: Truth, _received: Received, value: Any) -> bool:
    return value == truth.opened.game or isinstance(value, int)


def _move(truth: Truth, received: Received, value: Any) -> bool:
    past = truth.turns[: received.turns]
    return value in {truth.move(turn, received.viewer) for turn in past}


def _word(truth: Truth, received: Received, value: Any) -> bool:
    return isinstance(value, bool) or value in {
        word for turn in truth.turns[: received.turns] for word in turn.words
    }


def _rack(truth: Truth, received: Received, value: Any) -> bool:
    if received.viewer is None:
        return value is None
    return value is None or value in truth.racks(received.viewer)


def _position(truth: Truth, received: Received, value: Any) -> bool:
    own, other = value.split(" ")[1].split("/")
    return received.viewer is not None and own in truth.racks(received.viewer) and not other


def _commitment(truth: Truth, _received: Received, value: Any) -> bool:
    secrets = truth.opened.secret, *truth.nonces
    return value in {sha256(bytes.fromhex(secret)).hexdigest() for secret in secrets} | {""}


def _text(truth: Truth, received: Received, value: Any) -> bool:
    """Whether a text has no tiles of a rack that its reader may not know."""
    hidden = [Counter(turn.rack) for turn in truth.turns if turn.seat != received.viewer]
    words = (word.strip(".,:;'\"()") for word in str(value).split())
    played = {truth.move(turn, None).split(" ")[-1] for turn in truth.turns[: received.turns]}
    return value is None or not any(
        len(word) >= SHORTEST and word.isupper() and word not in played and not Counter(word) - rack
        for word in words
        for rack in hidden
    )


SAME = ("event", "rules", "time", "board", "tiles", "bots")
"""Fields that have nothing of a game: they are the same in all."""

PUBLIC = """type game players lexicon lexicon_checksum name software code retry opponent table
    tournament ladder token past before"""
NUMBERS = """seq seat you score scores bag clocks think_ms lag_ms host_lag_ms deadline_ms attempt
    attempts_left protocol turns analysis study study_file casual"""

FIELDS: dict[str, _Check] = {
    **dict.fromkeys((*PUBLIC.split(), *SAME), _any),
    **dict.fromkeys(NUMBERS.split(), _number),
    **dict.fromkeys(("over", "known_style", "begun", "opening", "own"), _nothing),
    **dict.fromkeys(("message", "error", "absent", "held_back", "not_rated"), _text),
    **dict.fromkeys(("commitment", "commitments"), _commitment),
    "games": _game,
    "move": _move,
    "words": _word,
    "rack": _rack,
    "position": _position,
}
"""By name of a field, what it may hold while the game is on; ``past`` are games that are over."""


def findings(truth: Truth, received: Received, same: dict[str, str]) -> Iterator[str]:
    """Yield what is wrong with something received; ``same`` has what ``SAME`` held before."""
    viewer, text = received.viewer, received.text
    who = "a spectator" if viewer is None else f"seat {viewer}"
    hidden = {"secret": truth.opened.secret}
    hidden |= {f"nonce of seat {seat}": truth.nonces[seat] for seat in (0, 1) if seat != viewer}
    for name, value in hidden.items():
        if value in text:
            yield f"{who} is told the {name}: {text}"
    try:
        content = json.loads(text)
    except ValueError:
        content = {"error": text}
    for name, value in _leaves(content, ""):
        check = FIELDS.get(name)
        if name in SAME:  # in lists of games the rules are a name, in an offer they are spelled out
            form, told = f"{name}: {type(value).__name__}", json.dumps(value)
            check = _any if same.setdefault(form, told) == told else None
        if check is None or not check(truth, received, value):
            yield f"{who} is told {name} = {value!r} after turn {received.turns}: {text[:100]}"


def _leaves(content: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the values of JSON, each with the name of its field; public fields are not opened."""
    if FIELDS.get(name) is _any:
        yield name, content
    elif isinstance(content, dict):
        for key, value in content.items():
            yield from _leaves(value, key)
    elif isinstance(content, list):
        for value in content:
            yield from _leaves(value, name)
    else:
        yield name, content


@dataclass(eq=False)
class Watch:
    """A server, and games on it that pages play and watch."""

    folder: Path
    seed: int
    received: int = 0
    turns: int = 0
    size: int = 0
    exchanges: int = 0
    problems: list[str] = field(default_factory=list)
    _same: dict[str, str] = field(default_factory=dict)

    async def run(self, games: int) -> None:
        """Play games; note what nobody should have been told."""
        path = self.folder / "games.db"
        async with served(path, admission=Admission(handshakes_per_s=100_000)) as server:
            for number in range(games):
                game, received = await self._play(server, random.Random(f"{self.seed} {number}"))
                self._check(Truth.read(path, game), received)

    def _check(self, truth: Truth, received: list[Received]) -> None:
        self.received += len(received)
        self.turns += len(truth.turns)
        self.size += sum(len(each.text.encode()) for each in received)
        self.exchanges += sum(truth.move(turn, None) != turn.move for turn in truth.turns)
        for each in received:
            self.problems += findings(truth, each, self._same)

    async def _play(self, server: MatchServer, chance: random.Random) -> tuple[str, list[Received]]:
        url = f"ws://127.0.0.1:{server.port}"
        pages = [await Page.open(url, seat, "player", name) for seat, name in enumerate("ab")]
        for page, other in zip(pages, "ba", strict=True):
            await page.say(type="seek", opponent=other)
        for page in pages:
            offer = await page.until("new_game")
            page.viewer = offer["you"]
            page.nonce = secrets.token_hex(32)
        pages.sort(key=lambda page: cast("int", page.viewer))
        game = str(offer["game"])
        for page in pages:
            digest = sha256(bytes.fromhex(page.nonce)).hexdigest()
            await page.say(type="ready", game=game, commitment=digest)
        for page in pages:
            await page.until("committed")
            await page.say(type="reveal", game=game, nonce=page.nonce)
        players = tuple(pages)
        pages.append(await self._spectator(url, game))
        asked: list[Received] = []
        turns = 0
        while (host := server._hosting.games.get(game)) is not None and not host.book.ended:
            asked += [await self._ask(server.port, game, turns, path) for path in ADDRESSES]
            if turns == LATE:
                pages.append(await self._spectator(url, game))
            await self._move(players[turns % 2], game, chance)
            for page in pages:
                await page.until("played")
            turns += 1
        for page in pages:
            await page.connection.close()
        return game, [*(each for page in pages for each in page.received), *asked]

    async def _ask(self, port: int, game: str, turns: int, path: str) -> Received:
        """Ask as a page does."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(
            f"GET /api/{path.format(game)} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            "Accept: application/json\r\nConnection: close\r\n\r\n".encode()
        )
        answer = (await reader.read()).decode()
        writer.close()
        await writer.wait_closed()
        return Received(None, turns, answer.partition("\r\n\r\n")[2])

    async def _spectator(self, url: str, game: str) -> Page:
        page = await Page.open(url, None, "spectator", "page")
        await page.say(type="games")
        await page.say(type="watch", game=game)
        await page.until("new_game")
        return page

    async def _move(self, page: Page, game: str, chance: random.Random) -> None:
        """Have a player move, at times first what is no word."""
        turn = await page.until("your_turn")
        move = {"type": "move", "game": game, "seq": turn["seq"], "attempt": 1}
        if chance.random() < 0.2 and "?" not in turn["rack"]:
            await page.say(**move, move=f"1A {turn['rack'][:3]}")
            await page.until("refused")
            move["attempt"] = 2
        await page.say(**move, move=_chosen(turn, chance))


def _chosen(turn: dict[str, Any], chance: random.Random) -> str:
    """Choose a move: mostly the best, at times an exchange."""
    rack = turn["rack"]
    if turn["bag"] >= len(rack) and chance.random() < 0.2:
        return f"-{''.join(chance.sample(rack, chance.randint(1, len(rack))))}"
    generator = _generator()
    best = generator.best(read_cgp(turn["position"], generator.rules))
    return format_move(best[0].move, generator.rules.distribution.alphabet)


@cache
def _generator() -> Generator:
    return Generator(load_lexicon(), standard_rules())


def main() -> None:
    """Play games; fail if a page was told what it may not know."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        watch = Watch(Path(folder), given.seed)
        asyncio.run(watch.run(given.games))
    print(
        f"{given.games} games, {watch.exchanges} exchanges; while they were on pages received "
        f"{watch.received:,} messages and answers of {watch.size:,} bytes"
    )
    print("\n".join(watch.problems[:MOST_SHOWN]) or "nothing was told that was hidden")
    sys.exit(1 if watch.problems else 0)


if __name__ == "__main__":
    main()
