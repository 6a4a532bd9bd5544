"""An SIU engine on one page: tilewire match "siu:python examples/siu_engine.py" greedy --time 1m.

It has a few words and lays the longest that fits where it makes no other. What it gets is on the
left, what it answers on the right; every line ends with a line break, and is flushed:

siu                                             capability sim stop … siuok
siunewgame, stop, setoption …                   nothing
isready                                         readyok
position cgp BOARD … moves 8D.WORD pass rack.ABCDEFG     nothing: the game so far, and its rack
go sim movetime 900                             bestmove 8D.WORD, ex.ABC or pass
quit                                            it ends

It declares ``stop``, since each search ends within 5 s by itself.

A move is its square and its word, with the letters that lie there; a blank is in lower case.
"""

import re
import sys
from collections import Counter
from itertools import product

WORDS = """ad am an as at ax be by do ex go ha he hi if in is it me my no of on or ox so to up us we
cab dig fix gum hive jar joy key lot map oak pea quiz rat red sea sit tie vex wig yes zoo area card
rose stone train alone water house iron noise other under voice great point""".upper().split()


def board_after(cgp: str, moves: list[str]) -> list[str]:
    """Return the rows of a board once these moves are made on it; a dot is an empty square."""
    text = re.sub(r"\d+", lambda run: "." * int(run[0]), cgp)
    rows = [list(row.upper()) for row in text.split("/")]
    for move in moves:
        square, _, word = move.partition(".")
        if at := re.fullmatch(r"(\d+)([A-O])|([A-O])(\d+)", square):
            row, column = int(at[1] or at[4]) - 1, ord(at[2] or at[3]) - 65
            for n, letter in enumerate(word.split(".")[0].upper()):
                rows[row + n * bool(at[3])][column + n * bool(at[1])] = letter
    return ["".join(row) for row in rows]


def choose(rows: list[str], rack: str) -> str:
    """Return the move that takes the most tiles and makes one word only."""
    choices = [(0, "pass")]
    for lines, number in product(
        (rows, ["".join(it) for it in zip(*rows, strict=True)]), range(15)
    ):
        beside = zip(
            *([*lines, "." * 15][n] for n in (number - 1, number, number + 1)), strict=True
        )
        line = f"#{''.join('#' if b == '.' and a + c != '..' else b for a, b, c in beside)}#"
        for at, word in product(range(1, 16), WORDS):
            here, ends = line[at : at + len(word)], line[at - 1] + line[at + len(word) :][:1]
            opening = number + 1 == at == 8 and not "".join(rows).strip(".")
            if ends.strip(".#") or not (here.strip(".") or opening) or not re.fullmatch(here, word):
                continue
            tiles = Counter(a for a, b in zip(word, here, strict=True) if b == ".")
            if tiles and tiles <= Counter(rack):
                across, down = f"{number + 1}{chr(64 + at)}", f"{chr(65 + number)}{at}"
                choices.append((tiles.total(), f"{across if lines is rows else down}.{word}"))
    return max(choices)[1]


rows, rack = ["." * 15] * 15, ""
for said in sys.stdin:
    match said.split():
        case ["siu"]:
            print("id name minimal", "capability sim stop", "siuok", sep="\n", flush=True)
        case ["isready"]:
            print("readyok", flush=True)
        case ["position", "cgp", cgp, *rest]:
            moves = rest[rest.index("moves") + 1 :] if "moves" in rest else []
            rows, rack = board_after(cgp, moves), moves[-1].removeprefix("rack.") if moves else ""
        case ["go", *_]:
            print(f"bestmove {choose(rows, rack)}", flush=True)
        case ["quit"]:
            break
