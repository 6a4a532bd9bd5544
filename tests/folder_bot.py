"""A bot behind files, written from the description in ``docs/engines.md`` alone.

    python folder_bot.py FOLDER IN OUT [neat | messy | silent]

It lays words of a list of its own, as ``examples/minimal_bot.py`` does. The messy one writes as old
programs do: half lines, CR LF, blanks, a byte order mark, and its file anew each time. The silent
one says that it is ready, and nothing more.
"""

from __future__ import annotations

import runpy
import sys
import time
from pathlib import Path

choose = runpy.run_path(str(Path(__file__).parents[1] / "examples" / "minimal_bot.py"))["choose"]


def play(read: Path, write: Path, manner: str) -> None:
    """Play whatever game is in the file, one after the other."""
    done = set[tuple[str, str]]()
    while True:
        time.sleep(0.005)
        content = read.read_text() if read.exists() else ""
        lines = [line.split() for line in content.splitlines(keepends=True) if line.endswith("\n")]
        for start in (line for line in lines if line[2:3] == ["game"]):
            told = [line for line in lines if line[:1] == start[:1]]
            game, number, what, *_ = told[-1]
            if (game, number) not in done and what in ("game", "move"):
                done.add((game, number))
                if what == "game":
                    say(write, manner, f"{game} {number} ready")
                elif manner != "silent":
                    say(write, manner, f"{game} {number} {move(told)}")


def move(told: list[list[str]]) -> str:
    """Choose a move by all that was told of a game."""
    board = [["."] * 15 for _ in range(15)]
    bag, rack = 100 - 14, ""
    for _, _, what, *rest in told:
        if what == "rack":
            rack = rest[0] if rest else ""
        elif what in ("you", "opponent") and len(rest) == 4:
            bag -= lay(board, rest[2], rest[3])
    found = choose("/".join(map("".join, board)), rack, bag)
    assert isinstance(found, str)
    return found


def lay(board: list[list[str]], square: str, word: str) -> int:
    """Lay a word; give how many tiles it took."""
    across = square[0].isdigit()
    row, column = int(square[:-1] if across else square[1:]) - 1, ord(square[-across]) - ord("A")
    for at, letter in enumerate(word):
        if letter != ".":
            board[row + at * (not across)][column + at * across] = letter
    return len(word.replace(".", ""))


def say(path: Path, manner: str, line: str) -> None:
    """Write a line."""
    if manner != "messy":
        with path.open("a") as file:
            file.write(f"{line}\n")
        return
    with path.open("w", newline="") as file:
        for part in ("\ufeff  ", line[:-2], f"{line[-2:]} \t\r", f"\n{line[:4]}"):
            file.write(part)
            file.flush()
            time.sleep(0.002)


if __name__ == "__main__":
    folder, in_, out, manner = sys.argv[1:]
    play(Path(folder, in_), Path(folder, out), manner)
