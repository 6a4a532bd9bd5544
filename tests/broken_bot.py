"""A bot that passes, and has a fault if one is named: a program of its own.

python tests/broken_bot.py ws://127.0.0.1:8484 "wrong seq"
"""

from __future__ import annotations

import json
import secrets
import sys
import time
from hashlib import sha256
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

KNOWN = {
    *("welcome", "seeking", "new_game", "committed", "started", "your_turn", "played", "refused"),
    *("game_over", "ping", "goodbye", "error"),
}


class Bot:
    """One run, over connections that may be lost."""

    def __init__(self, url: str, fault: str) -> None:
        self.url, self.fault, self.nonce = url, fault, secrets.token_hex(16)
        self.secret = ""
        self.is_over = False

    def run(self) -> None:
        while not self.is_over:
            try:
                json_only = [Subprotocol("tilewire.v1.json")]
                with connect(self.url, subprotocols=json_only) as self.server:
                    self.converse()
            except (ConnectionClosed, OSError):
                time.sleep(0.1)

    server: ClientConnection

    def say(self, kind: str, **fields: object) -> None:
        text = json.dumps({"type": kind, **fields})
        binary = self.fault == "binary frames" and kind == "move"
        self.server.send(text.encode() if binary else text)

    def converse(self) -> None:
        if self.fault != "no hello":
            self.say("hello", role="player", name="broken", secret=self.secret)
        else:
            self.say("seek")
        for text in self.server:
            self.hear(json.loads(text))
            if self.is_over:
                return

    def hear(self, message: dict[str, Any]) -> None:
        fault, kind, game = self.fault, message["type"], message.get("game")
        if fault == "knows all fields" and "x_check" in message:
            raise SystemExit("what is x_check?")
        if fault == "knows all types" and kind not in KNOWN:
            raise SystemExit(f"what is {kind}?")
        self.secret = message.get("secret", self.secret)
        match kind:
            case "welcome" if message.get("games") and fault != "forgets its game":
                self.say("resume", game=message["games"][0])
            case "welcome":
                self.say("seek")
            case "new_game":
                digest = sha256(bytes.fromhex(self.nonce)).hexdigest()
                started = {} if message["seq"] else {"commitment": digest}
                self.say("ready", game=game, **started)
                if fault == "ready twice":
                    self.say("ready", game=game, **started)
            case "committed":
                nonce = secrets.token_hex(16) if fault == "another nonce" else self.nonce
                self.say("reveal", game=game, nonce=nonce)
            case "your_turn":
                time.sleep(1.5 * (fault == "slow"))
                seq = message["seq"] + (fault == "wrong seq")
                number = str(seq) if fault == "numbers as texts" else seq
                move = "I pass" if fault == "moves in words" else "-"
                self.say("move", game=game, seq=number, attempt=message["attempt"], move=move)
            case "refused":
                again = message["attempt"] + (fault != "same attempt")
                move = "I pass" if fault == "moves in words" else "-"
                self.say("move", game=game, seq=message["seq"], attempt=again, move=move)
            case "ping" if fault != "no pong":
                self.say("pong", id=message["id"])
            case "game_over" if fault == "talks on":
                self.say("move", game=game, seq=message["seq"], move="-")
            case "game_over":
                self.is_over = True
            case "goodbye" if fault != "comes back":
                raise SystemExit(message["message"])


if __name__ == "__main__":
    Bot(*sys.argv[1:]).run()
