"""A bot on a page, in JSON: it lays the word that takes the most tiles, and makes no other.

    tilewire lexicon words --out words.txt
    python examples/tiny_bot.py ws://127.0.0.1:8484 greedy words.txt

Put your own moves into ``choose``. protocol/SPEC.md has all the messages, section 4 how moves and
positions are written.
"""

import argparse
import json
import re
from itertools import combinations, permutations, product
from pathlib import Path
from typing import Any

from websockets.sync.client import connect
from websockets.typing import Subprotocol


def choose(turn: dict[str, Any], words: set[str]) -> str:
    """Choose by turn["position"], "rack", "bag", "clocks" and the rest: "8D WORD", "-ABC", "-"."""
    board = re.sub(r"\d+", lambda run: "." * int(run[0]), turn["position"].split()[0]).upper()
    rows = board.split("/")
    columns = ["".join(column) for column in zip(*rows, strict=True)]
    tiles = turn["rack"].replace("?", "")
    orders = [set(permutations(tiles, count)) for count in range(len(tiles) + 1)]
    best = (0, f"-{turn['rack']}" if turn["bag"] >= 7 else "-")
    for lines, number in product((rows, columns), range(15)):
        beside = zip(
            *([*lines, "." * 15][n] for n in (number - 1, number, number + 1)), strict=True
        )
        line = "".join("#" if b == "." and a + c != ".." else b for a, b, c in beside)
        for at, end in combinations(range(16), 2):  # "#": a tile there would make another word
            here, ends = line[at:end], line[at - 1 : at] + line[end : end + 1]
            begins = not board.strip("./") and number == 7 and at <= 7 < end and end - at > 1
            free = here.count(".")
            if "#" in here or ends.strip(".#") or not (here.strip(".") or begins):
                continue
            for order in orders[free] if best[0] < free < len(orders) else ():
                if (word := here.replace(".", "%s") % order) in words:
                    laid = "".join(a if b == "." else "." for a, b in zip(word, here, strict=True))
                    across, down = f"{number + 1}{chr(65 + at)}", f"{chr(65 + number)}{at + 1}"
                    best = (free, f"{across if lines is rows else down} {laid}")
                    break
    return best[1]


def play(url: str, opponent: str, words: Path) -> None:
    """Play a game at a server, against one of its bots."""
    if not words.is_file():
        raise SystemExit(f"{words} is not there; tilewire lexicon words --out {words} writes it")
    known = set(words.read_text(encoding="utf-8").upper().split())
    try:
        connection = connect(url, subprotocols=[Subprotocol("tilewire.v1.json")])
    except OSError as error:
        raise SystemExit(f"no server answers at {url}: {error}") from None
    with connection as server:

        def say(kind: str, **fields: object) -> None:
            server.send(json.dumps({"type": kind, **fields}))

        # With secret="" it would be given one to keep, and only that would come back by its name.
        say("hello", role="player", name="tiny")
        for text in server:
            match message := json.loads(text):
                case {"type": "welcome", "games": [game, *_]}:
                    print(f"goes on with game {game}, which began earlier")
                    say("resume", game=game)
                case {"type": "welcome"}:
                    say("seek", opponent=opponent)
                case {"type": "seeking", "held_back": str(why)} | {
                    "type": "seeking",
                    "absent": str(why),
                }:
                    print("waits:", why)
                case {"type": "new_game", "rules": {"tiles": [_, *_]} | {"board": [_, *_]}}:
                    why = "it knows English tiles and the standard board only"
                    code = "unsupported_rules"
                    say("decline", game=message["game"], code=code, message=why)
                case {"type": "new_game", "game": game, "you": you, "players": players}:
                    opponent = players[1 - you]  # of an earlier game perhaps another
                    say("ready", game=game)
                case {"type": "your_turn", "game": game, "seq": seq}:
                    attempt, move = message.get("attempt", 1), choose(message, known)
                    say("move", game=game, seq=seq, attempt=attempt, move=move)
                case {"type": "refused", "game": game, "seq": seq, "attempt": attempt}:
                    print("refused:", message["message"])
                    say("move", game=game, seq=seq, attempt=attempt + 1, move="-")
                case {"type": "ping", "id": number}:
                    say("pong", id=number)
                case {"type": "game_over", "winner": winner, "scores": scores}:
                    ended = {None: "no winner", you: "won"}.get(winner, "lost")
                    why = f"{message['outcome']}: {message['message']}"
                    print(f"{ended} {scores[you]}–{scores[1 - you]} against {opponent} ({why})")
                    return
                case {"type": "error"}:
                    raise SystemExit(message["message"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("opponent")
    parser.add_argument("words", type=Path)
    play(**vars(parser.parse_args()))
