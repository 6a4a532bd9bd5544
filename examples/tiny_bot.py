"""A bot on half a page, in JSON: it exchanges its rack while it may, and then passes.

Put your own moves into ``choose``. protocol/SPEC.md has all the messages, section 4 how moves and
positions are written.
"""

import argparse
import json
from typing import Any

from websockets.sync.client import connect
from websockets.typing import Subprotocol


def choose(turn: dict[str, Any]) -> str:
    """Choose by turn["position"], "rack", "bag", "clocks" and the rest: "8D WORD", "-ABC", "-"."""
    return f"-{turn['rack']}" if turn["bag"] >= 7 else "-"


def play(url: str, opponent: str) -> None:
    """Play a game at a server, against one of its bots."""
    try:
        connection = connect(url, subprotocols=[Subprotocol("tilewire.v1.json")])
    except OSError as error:
        raise SystemExit(f"no server answers at {url}: {error}") from None
    with connection as server:

        def say(kind: str, **fields: object) -> None:
            server.send(json.dumps({"type": kind, **fields}))

        say("hello", role="player", name="tiny")
        for text in server:
            match message := json.loads(text):
                case {"type": "welcome", "games": [game, *_]}:
                    print(f"goes on with game {game}, which began earlier")
                    say("resume", game=game)
                case {"type": "welcome"}:
                    say("seek", opponent=opponent)
                case {"type": "seeking", "absent": str(why)}:
                    print("waits:", why)
                case {"type": "new_game", "game": game}:
                    say("ready", game=game)
                case {"type": "your_turn", "game": game, "seq": seq}:
                    attempt = message.get("attempt", 1)
                    say("move", game=game, seq=seq, attempt=attempt, move=choose(message))
                case {"type": "refused", "game": game, "seq": seq, "attempt": attempt}:
                    say("move", game=game, seq=seq, attempt=attempt + 1, move="-")
                case {"type": "ping", "id": number}:
                    say("pong", id=number)
                case {"type": "game_over"}:
                    print(message["outcome"], *message["scores"], message["message"])
                    return
                case {"type": "error"}:
                    raise SystemExit(message["message"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("opponent")
    play(**vars(parser.parse_args()))
