"""A bot on one page, from protocol/SPEC.md: it plays whole games at a tilewire server.

It has a few words and no lexicon, so it lays a word only where it makes no other, and challenges
nothing. Games with other tiles or another board than the usual ones it declines.
"""

import argparse
import re
import secrets
import ssl
import time
from collections import Counter, defaultdict
from hashlib import sha256
from itertools import product

import msgpack
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

WORDS = """ad am an as at ax be by do ex go ha he hi if in is it me my no of on or ox so to up us we
cab dig fix gum hive jar joy key lot map oak pea quiz rat red sea sit tie vex wig yes zoo area card
rose stone train alone water house iron noise other under voice great point""".upper().split()

NONCES: dict[str, str] = defaultdict(lambda: secrets.token_hex(32))  # by game


def free_line(lines: list[str], number: int) -> str:
    """Return a line between # signs, and # for an empty square that has a tile beside it."""
    beside = zip(*([*lines, "." * 15][n] for n in (number - 1, number, number + 1)), strict=True)
    return f"#{''.join('#' if b == '.' and a + c != '..' else b for a, b, c in beside)}#"


def choose(position: str, rack: str, bag: int) -> str:
    """Lay the word that takes the most tiles."""
    board = re.sub(r"\d+", lambda run: "." * int(run[0]), position.split(maxsplit=1)[0]).upper()
    rows = board.split("/")
    columns = ["".join(column) for column in zip(*rows, strict=True)]
    choices = [(0, f"-{rack}" if bag >= 7 else "-")]
    for lines, number in product((rows, columns), range(15)):
        line = free_line(lines, number)
        for at, word in product(range(1, 16), WORDS):
            here, ends = line[at : at + len(word)], line[at - 1] + line[at + len(word) :][:1]
            opening = number + 1 == at == 8 and not board.strip("./")
            if ends.strip(".#") or not (here.strip(".") or opening) or not re.fullmatch(here, word):
                continue
            laid = "".join(a if b == "." else "." for a, b in zip(word, here, strict=True))
            tiles = Counter(laid.replace(".", ""))
            if tiles and tiles <= Counter(rack):
                across, down = f"{number + 1}{chr(64 + at)}", f"{chr(65 + number)}{at}"
                choices.append((tiles.total(), f"{across if lines is rows else down} {laid}"))
    return max(choices)[1]


def play(server: ClientConnection, options: argparse.Namespace) -> None:
    """Speak with a server until all games are over, or the connection is."""

    def say(kind: str, **fields: object) -> None:
        server.send(msgpack.packb({"type": kind, **fields}))

    name = options.name or "minimal"
    say("hello", role="player", name=name, token=options.token, secret=options.secret)
    while options.games:
        message = msgpack.unpackb(server.recv())
        if message["type"] == "welcome":  # by its secret a name without a token comes back
            options.secret = message.get("secret", options.secret)
        match message:
            case {"type": "welcome", "games": [game, *_]}:
                say("resume", game=game)
            case {"type": "welcome"} | {"type": "error", "code": "unknown_game"}:
                say("seek", opponent=options.opponent)
            case {"type": "seeking", "absent": str(why)}:
                print("waits:", why, flush=True)
            case {"type": "new_game", "rules": {"tiles": [_, *_]} | {"board": [_, *_]}}:
                why = "it knows English tiles and the standard board only"
                say("decline", game=message["game"], code="unsupported_rules", message=why)
            case {"type": "new_game", "game": game, "you": you}:
                known = message.get("commitments")
                if known and not known[1 - you]:  # the opponent could still choose its nonce
                    digest = sha256(bytes.fromhex(NONCES[game])).hexdigest()
                    say("ready", game=game, commitment=digest)
                else:
                    say("ready", game=game, nonce=NONCES[game])
            case {"type": "committed", "game": game}:
                say("reveal", game=game, nonce=NONCES[game])
            case {"type": "your_turn", "game": game, "seq": seq}:
                move = choose(message["position"], message["rack"], message["bag"])
                say("move", game=game, seq=seq, attempt=message.get("attempt", 1), move=move)
            case {"type": "refused", "game": game, "seq": seq, "attempt": attempt}:
                say("move", game=game, seq=seq, attempt=attempt + 1, move="-")
            case {"type": "game_over"}:
                print(message["outcome"], *message["scores"], message["message"], flush=True)
                options.games -= 1
                if options.games:
                    say("seek", opponent=options.opponent)
            case {"type": "ping", "id": number}:
                say("pong", id=number)
            case {"type": "error", "retry": "later"}:  # it may not have put that game away
                time.sleep(0.5)
                say("seek", opponent=options.opponent)
            case {"type": "error"} | {"type": "goodbye", "code": "replaced"}:
                raise SystemExit(message["message"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("url", "--name", "--opponent", "--token", "--ca"):
        parser.add_argument(option)
    parser.add_argument("--games", type=int, default=1)
    parser.set_defaults(secret="")  # kept in a file, it would also outlive this program
    options = parser.parse_args()
    tls = ssl.create_default_context(cafile=options.ca) if options.ca else None
    while options.games:
        try:
            with connect(options.url, ssl=tls) as connection:
                play(connection, options)
        except (OSError, WebSocketException) as error:
            print(f"no connection: {error}", flush=True)
            time.sleep(1)
