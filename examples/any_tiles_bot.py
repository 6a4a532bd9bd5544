"""A bot for any tiles and any board, on one page, from protocol/SPEC.md.

It knows no language: `new_game` tells it the tiles and the board, a file the words (UTF-8, one a
line). It lays up to five tiles where they make one word only, those that score most by themselves.
It challenges a play with a word that the file lacks.

    python any_tiles_bot.py ws://127.0.0.1:8484 static words.txt --table polish
"""

import argparse
import json
import re
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

from websockets.sync.client import connect
from websockets.typing import Subprotocol

MOST = 5
ENGLISH = [{"letter": letter, "blanked": letter.lower()} for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"]


class Game:
    """Tiles, board and words of a game; in it each tile is one character, as a blank too."""

    def __init__(self, rules: dict[str, Any], words: str) -> None:
        tiles: list[dict[str, Any]] = rules.get("tiles") or ENGLISH
        self.signs = {"?": "?"}
        self.texts: dict[str, str] = {}
        self.points: dict[str, int] = {}
        for number, tile in enumerate(tile for tile in tiles if tile["letter"] != "?"):
            for text in (tile["letter"], tile["blanked"]):
                self.signs[text] = self.signs[f"[{text}]"] = sign = chr(0xE000 + number)
            self.texts[sign] = tile["letter"] if len(tile["letter"]) == 1 else f"[{tile['letter']}]"
            self.points[sign] = tile.get("points", 1)
        longest_first = sorted(self.signs, key=len, reverse=True)
        self.tile = re.compile("|".join(map(re.escape, longest_first)))
        self.words = set(self.read(words.upper()).split("\n"))
        self.made: list[str] = []  # by the opponent's last play
        side = len(rules.get("board") or range(15))
        square = re.fullmatch(r"(\d+)([A-Z])", rules.get("start") or "")
        self.start = (int(square[1]) - 1, ord(square[2]) - 65) if square else (side // 2, side // 2)

    def read(self, text: str) -> str:
        """Put one character for each tile."""
        return self.tile.sub(lambda tile: self.signs[tile[0]], text)

    def choose(self, position: str, rack: str, bag: int) -> str:
        """Return the move whose tiles score most; if none can be laid, an exchange or a pass."""
        board = re.sub(r"\d+", lambda run: "." * int(run[0]), position.split(maxsplit=1)[0])
        rows = self.read(board).split("/")
        columns = ["".join(column) for column in zip(*rows, strict=True)]
        orders = [set(permutations(self.read(rack.replace("?", "")), n)) for n in range(MOST + 1)]
        best = (0, f"-{rack}" if bag >= 7 and rack else "-")
        for lines, start in ((rows, self.start), (columns, self.start[::-1])):
            for number in range(len(lines)):
                for at, here in self.places(lines, number, start):
                    for tiles in orders[here.count(".")]:
                        if self.filled(here, tiles) in self.words:
                            points = sum(map(self.points.__getitem__, tiles))
                            row, column = (number, at) if lines is rows else (at, number)
                            square = [str(row + 1), chr(65 + column)]
                            name = "".join(square if lines is rows else square[::-1])
                            best = max(best, (points, f"{name} {self.laid(here, tiles)}"))
        return best[1]

    def phonies(self) -> list[str]:
        """Return the words of the opponent's last play that are none."""
        return [word for word in self.made if self.read(word) not in self.words]

    def filled(self, here: str, tiles: tuple[str, ...]) -> str:
        """Return the word that tiles make on the empty squares."""
        left = iter(tiles)
        return "".join(next(left) if sign == "." else sign for sign in here)

    def laid(self, here: str, tiles: tuple[str, ...]) -> str:
        """Return it as a move has it: a dot for each tile that lies there."""
        left = iter(tiles)
        return "".join(self.texts[next(left)] if sign == "." else "." for sign in here)

    def places(self, lines: list[str], number: int, start: tuple[int, int]) -> Iterator[Any]:
        """Yield where a word could lie and make no other: its begin, and what lies there."""
        edge = "." * len(lines)
        beside = zip(*([edge, *lines, edge][number + n] for n in range(3)), strict=True)
        line = "".join("#" if own == "." and a + b != ".." else own for a, own, b in beside)
        begins = not "".join(lines).strip(".")
        for at in range(len(line)):
            if at and line[at - 1] not in ".#":
                continue
            for end in range(at + 2, len(line) + 1):
                here = line[at:end]
                if "#" in here or here.count(".") > MOST:
                    break
                covers = begins and start[0] == number and at <= start[1] < end
                ends = end == len(line) or line[end] in ".#"
                if ends and "." in here and (covers or here.strip(".")):
                    yield at, here


def play(url: str, opponent: str, words: Path, table: str | None) -> None:
    """Play a game at a table of a server, against one of its bots or a player."""
    try:
        text_of_words = words.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SystemExit(f"{words} can't be read: {error}") from None
    with connect(url, subprotocols=[Subprotocol("tilewire.v1.json")]) as server:

        def say(kind: str, **fields: object) -> None:
            server.send(json.dumps({"type": kind, **fields}))

        say("hello", role="player", name="any-tiles")
        for text in server:
            match message := json.loads(text):
                case {"type": "welcome", "games": [game, *_]}:
                    print(f"goes on with game {game}, which began earlier", flush=True)
                    say("resume", game=game)
                case {"type": "welcome"}:
                    say("seek", opponent=opponent, table=table)
                case {"type": "seeking", "absent": str(why)}:
                    print("waits:", why, flush=True)
                case {"type": "new_game", "game": game, "rules": rules}:
                    known = Game(rules, text_of_words)
                    say("ready", game=game)
                case {"type": "played", "words": made}:
                    known.made = made
                case {"type": "your_turn", "challenge_ms": _, "game": game, "seq": seq} if (
                    phonies := known.phonies()
                ):
                    print("challenges:", *phonies, flush=True)
                    say("challenge", game=game, seq=seq, words=phonies)
                case {"type": "your_turn", "game": game, "seq": seq}:
                    move = known.choose(message["position"], message["rack"], message["bag"])
                    say("move", game=game, seq=seq, attempt=message.get("attempt", 1), move=move)
                case {"type": "refused", "game": game, "seq": seq, "attempt": attempt}:
                    print("refused:", message["message"], flush=True)
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
    parser.add_argument("words", type=Path)
    parser.add_argument("--table")
    play(**vars(parser.parse_args()))
