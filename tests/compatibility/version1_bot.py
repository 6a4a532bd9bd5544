"""A bot that speaks version 1 of the protocol as of November 2026, for ever: don't change it.

It imports nothing of ours, and stands for the bots that others have written. It lays a few words,
keeps quiet about challenges, and checks what it is told: numbers, scores, racks, its first draw. It
prints a line of JSON for each game.
"""

import argparse
import hmac
import json
import re
import secrets
import socket
import time
from collections import Counter
from hashlib import sha256
from itertools import product
from typing import Any

import msgpack
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

TILES = "?2A9B2C2D4E12F2G3H2I9J1K1L4M2N6O8P2Q1R6S4T6U4V2W2X1Y2Z1"
WORDS = """ad am an as at ax be by do ex go ha he hi if in is it me my no of on or ox so to up us we
cab dig fix gum hive jar joy key lot map oak pea quiz rat red sea sit tie vex wig yes zoo area card
rose stone train alone water house iron noise other under voice great point""".upper().split()
FOR_EVERYBODY = {"type", "game", "seq"}
FIELDS = {
    "welcome": {"name", "protocol", "software", "bots", "tables", "games"},
    "new_game": {"players", "you", "lexicon", "lexicon_checksum", "rules", "time", "commitment"}
    | {"commitments", "clocks", "rack", "opening", "history"},
    "started": {"bag", "clocks", "rack"},
    "your_turn": {"position", "rack", "bag", "clocks", "deadline_ms", "attempt"},
    "played": {"seat", "move", "score", "scores", "bag", "clocks", "words", "rack", "think_ms"}
    | {"lag_ms", "host_lag_ms"},
    "refused": {"attempt", "code", "message", "attempts_left", "deadline_ms"},
    "game_over": {"outcome", "winner", "scores", "message", "racks", "rack_adjustments", "secret"}
    | {"time_penalties", "faults", "nonces", "moves", "mirrored", "opening_racks"},
}
"""What it may rely on."""


def choose(turn: dict[str, Any]) -> str:
    """Lay the word that takes the most tiles and makes no other; else exchange or pass."""
    squares = turn["position"].split()[0].upper()
    rows = re.sub(r"\d+", lambda run: "." * int(run[0]), squares).split("/")
    columns = ["".join(column) for column in zip(*rows, strict=True)]
    choices = [(0, f"-{turn['rack']}" if turn["bag"] >= 7 else "-")]
    for (lines, down), number in product(((rows, False), (columns, True)), range(15)):
        beside = [*lines, "." * 15]
        free = (a + c == ".." for a, c in zip(beside[number - 1], beside[number + 1], strict=True))
        squares_and_free = zip(lines[number], free, strict=True)
        line = "".join("#" if b == "." and not may else b for b, may in squares_and_free)
        for at, word in product(range(15), WORDS):
            here, ends = line[at : at + len(word)], line[max(at - 1, 0) : at]
            ends += line[at + len(word) : at + len(word) + 1]
            opening = number == at == 7 and not squares.strip("1234567890/")
            joins = here.strip(".") or opening
            if ends.strip(".#") or not joins or not re.fullmatch(here, word):
                continue
            laid = "".join(a if b == "." else "." for a, b in zip(word, here, strict=True))
            tiles = Counter(laid.replace(".", ""))
            if tiles and tiles <= Counter(turn["rack"]):
                across, downwards = f"{number + 1}{chr(65 + at)}", f"{chr(65 + number)}{at + 1}"
                choices.append((tiles.total(), f"{downwards if down else across} {laid}"))
    return max(choices)[1]


def first_racks(secret: str, nonces: list[str]) -> list[str]:
    """Deal by what a host opens at the end of a game."""
    digests = b"".join(sha256(bytes.fromhex(nonce)).digest() for nonce in nonces)
    key = hmac.digest(bytes.fromhex(secret), b"tilewire draws 1" + digests, "sha256")
    blocks = (hmac.digest(key, at.to_bytes(8, "big"), "sha256") for at in range(10**6))
    words = (block[at : at + 4] for block in blocks for at in range(0, 32, 4))
    numbers = (int.from_bytes(word, "big") for word in words)
    bag = list(re.sub(r"(\D)(\d+)", lambda tile: tile[1] * int(tile[2]), TILES))
    for last in range(len(bag) - 1, 0, -1):
        limit = 2**32 // (last + 1) * (last + 1)
        at = next(number for number in numbers if number < limit) % (last + 1)
        bag[last], bag[at] = bag[at], bag[last]
    return ["".join(sorted(bag[:7])), "".join(sorted(bag[7:14]))]


class Bot:
    """A bot, on one connection after another."""

    line: ClientConnection

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.left = options.games
        self.losses = options.lose_line
        self.game = ""
        self.nonce = secrets.token_hex(16)
        self.offer: dict[str, Any] = {}
        self.turn: dict[str, Any] = {}
        self.sent = ""
        self.seen = -1
        self.scores = [0, 0]
        self.dealt = ""

    def converse(self) -> None:
        """Dial, and speak until all games are over; raise ConnectionClosed if the line is lost."""
        codec = Subprotocol(f"tilewire.v1.{self.options.codec}")
        with connect(self.options.url, subprotocols=[codec], compression=None) as self.line:
            assert self.line.subprotocol == codec, self.line.subprotocol
            self.say("hello", role="player", name=self.options.name, token=self.options.token)
            while self.left:
                frame = self.line.recv(timeout=60)
                assert isinstance(frame, bytes if self.options.codec == "msgpack" else str)
                load = msgpack.unpackb if isinstance(frame, bytes) else json.loads
                self.hear(load(frame))

    def say(self, kind: str, **fields: object) -> None:
        """Send a message."""
        pack = msgpack.packb if self.options.codec == "msgpack" else json.dumps
        self.line.send(pack({"type": kind, **fields}))

    def hear(self, message: dict[str, Any]) -> None:
        """Do as a message asks."""
        missing = FIELDS.get(message["type"], set()) - message.keys()
        assert not missing, f"{message} lacks {missing}"
        match message:
            case {"type": "welcome", "protocol": 1, "games": [game, *_]}:
                self.say("resume", game=game, seen=self.seen if game == self.game else -1)
            case {"type": "welcome", "protocol": 1}:
                self.say("seek", opponent=self.options.opponent)
            case {"type": "seeking" | "drawn"}:
                pass
            case {"type": "new_game", "rules": {"tiles": [], "board": []}}:
                self.take_up(message)
            case {"type": "new_game", "game": game}:
                self.say("decline", game=game, code="unsupported_rules", message="other tiles")
            case {"type": "committed", "game": game}:
                self.say("reveal", game=game, nonce=self.nonce)
            case {"type": "started", "seq": 0, "rack": str(rack)}:
                self.seen, self.dealt = 0, rack
            case {"type": "played"}:
                self.note(message)
            case {"type": "your_turn", "game": game, "seq": seq, "attempt": attempt}:
                assert seq == self.seen + 1, (seq, self.seen)
                if seq != self.turn.get("seq"):
                    self.sent = choose(message)
                self.turn = message
                thought = {"candidates": [{"move": self.sent}], "text": "as long as it is short"}
                self.say("info", game=game, seq=seq, **thought)
                self.say("move", game=game, seq=seq, attempt=attempt, move=self.sent)
                if self.losses and seq > 8:
                    self.losses -= 1
                    self.line.socket.shutdown(socket.SHUT_RDWR)
            case {"type": "refused", "game": game, "seq": seq, "attempt": attempt}:
                self.sent = "-"
                self.say("move", game=game, seq=seq, attempt=attempt + 1, move="-")
            case {"type": "game_over", "game": self.game}:
                self.end(message)
            case {"type": "ping", "id": number}:
                self.say("pong", id=number)
            case {"type": "error", "retry": "later"}:
                time.sleep(0.2)
                self.say("seek", opponent=self.options.opponent)
            case {"type": "error" | "goodbye"}:
                raise SystemExit(f"{message['code']}: {message['message']}")
            case _:
                why = f"no message is called {message['type']}"
                self.say("error", code="unknown_type", message=why, retry="no")

    def take_up(self, offer: dict[str, Any]) -> None:
        """Begin a game, or go on with it."""
        game, you, theirs = offer["game"], offer["you"], offer.get("commitments")
        if game != self.game:
            self.nonce, self.scores, self.turn, self.dealt = secrets.token_hex(16), [0, 0], {}, ""
            self.offer, self.seen = offer, 0 if offer["seq"] else -1
        assert offer["commitment"] == self.offer["commitment"], "another secret"
        self.game = game
        for play in offer["history"]:
            self.note(play)
        assert self.seen == max(offer["seq"], 0) - 1, (offer["seq"], self.seen)
        if theirs and not theirs[1 - you]:
            digest = sha256(bytes.fromhex(self.nonce)).hexdigest()
            self.say("ready", game=game, commitment=digest)
        else:
            self.say("ready", game=game, nonce=self.nonce)

    def note(self, play: dict[str, Any]) -> None:
        """Check a turn that was taken."""
        seat, mine = play["seat"], play["seat"] == self.offer["you"]
        assert play["seq"] == self.seen + 1, f"{play} after {self.seen}"
        self.seen = play["seq"]
        self.scores[seat] += play["score"]
        assert play["scores"] == self.scores, f"{play} makes {self.scores}"
        assert (play["rack"] is not None) == mine, f"{play} shows the wrong racks"
        if mine and self.turn.get("seq") == self.seen and "challenge" not in play:
            assert play["move"] == self.sent, f"{play} is not {self.sent}"

    def end(self, over: dict[str, Any]) -> None:
        """Check the end of a game, and begin another if there is one."""
        assert over["seq"] == self.seen + 1, over
        if over["outcome"] in ("out", "zeroes"):
            sums = zip(self.scores, over["rack_adjustments"], over["time_penalties"], strict=True)
            assert over["scores"] == [a + b - c for a, b, c in sums], over
        assert sha256(bytes.fromhex(over["secret"])).hexdigest() == self.offer["commitment"]
        assert len(over["moves"]) == self.seen, over
        if self.dealt:
            assert over["nonces"][self.offer["you"]] == self.nonce, over
            assert first_racks(over["secret"], over["nonces"])[self.offer["you"]] == self.dealt
        told = {key: over[key] for key in ("game", "outcome", "winner", "scores", "moves")}
        print(json.dumps({**told, "you": self.offer["you"]}), flush=True)
        self.left -= 1
        if self.left:
            self.say("seek", opponent=self.options.opponent)


def main() -> None:
    """Play games."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--codec", choices=["msgpack", "json"], default="msgpack")
    parser.add_argument("--games", type=int, default=1)
    parser.add_argument("--lose-line", type=int, default=0, help="how often it loses its line")
    for option in ("--name", "--token", "--opponent"):
        parser.add_argument(option)
    bot = Bot(parser.parse_args())
    while bot.left:
        try:
            bot.converse()
        except (ConnectionClosed, OSError):
            time.sleep(0.2)
    assert not bot.losses, "the games were too short to lose the line in"


if __name__ == "__main__":
    main()
