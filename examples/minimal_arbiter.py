"""A one-page harness, from protocol/SPEC.md: a tilewire bot plays its game with one who passes."""

import argparse
import random
import re
import ssl
import time

import msgpack
from websockets.sync.client import connect

TILES = "A9B2C2D4E12F2G3H2I9J1K1L4M2N6O8P2Q1R6S4T6U4V2W2X1Y2Z1?2"
GROUPS = {1: "AEIOULNSTR", 2: "DG", 3: "BCMP", 4: "FHVWY", 5: "K", 8: "JX", 10: "QZ"}
POINTS = {letter: points for points, letters in GROUPS.items() for letter in letters}
QUARTER = ["=..'...=", '.-..."..', "..-...'.", "'..-...'", "....-...", '."..."..', "..'...'."]
HALF = [row + row[-2::-1] for row in QUARTER]
BOARD = "/".join([*HALF, "=..'...-...'..=", *HALF[::-1]])  # a tile takes its premium's place
LINES = [slice(16 * y, 16 * y + 15) for y in range(15)] + [slice(x, None, 16) for x in range(15)]


def say(kind: str, answer: str = "", **fields: object) -> dict[str, str]:
    """Send a message, and wait for the answer if one is due."""
    state = {"game": game, "seq": seq, "bag": len(bag), "clocks": clocks, "scores": scores}
    bot.send(msgpack.packb({"type": kind, **state, **fields}))  # what is of no use is ignored
    message = {"type": ""}
    while message["type"] != answer:
        message = msgpack.unpackb(bot.recv(clocks[0] / 1_000))
        if message["type"] == "ping":
            say("pong", id=message["id"])
        elif message["type"] not in (answer, "info"):
            raise SystemExit(f"the bot says {message}")
    return message


def lay(move: str, board: str) -> tuple[str, str, int]:
    """Lay a word, without a lexicon: the board with it, the tiles that it took, the points."""
    where, word = move.split()
    letter, number = where.strip("0123456789"), where.strip("ABCDEFGHIJKLMNO")
    start, step = 16 * int(number) - 16 + ord(letter) - ord("A"), 16 if where[0] == letter else 1
    squares = zip(range(start, start + step * len(word), step), word, strict=True)
    laid = {square: tile for square, tile in squares if not board[square].isalpha()}
    after = "".join(laid.get(square, old) for square, old in enumerate(board))
    points = 50 if len(laid) == 7 else 0
    for line in LINES:
        for made in re.finditer("[A-Za-z]{2,}", after[line]):
            under = board[line][made.start() : made.end()]
            if under != made[0]:  # the word is new, or longer than it was
                pairs = zip(made[0], under, strict=True)
                value = sum(POINTS.get(t, 0) * {"'": 2, '"': 3}.get(p, 1) for t, p in pairs)
                points += value * 2 ** under.count("-") * 3 ** under.count("=")
    return after, re.sub("[a-z]", "?", "".join(laid.values())), points


parser = argparse.ArgumentParser(description=__doc__)
for option in ("url", "--token", "--ca", "--seed"):
    parser.add_argument(option)
options = parser.parse_args()
tls = ssl.create_default_context(cafile=options.ca) if options.ca else None
random.seed(options.seed)
bag = random.sample(re.sub(r"(.)(\d+)", lambda tile: tile[1] * int(tile[2]), TILES), 100)
rack, other, bag = sorted(bag[:7]), bag[7:14], bag[14:]
game, seq, board, scores, zeros = f"harness {time.time_ns()}", 0, BOARD, [0, 0], 0
clocks = [300_000, 300_000]
limits = {"initial_ms": clocks[0], "max_overtime_ms": 0}
with connect(options.url, ssl=tls) as bot:
    say("hello", "welcome", role="arbiter", name="harness", token=options.token)
    say("new_game", "ready", players=["bot", "passer"], you=0, lexicon="scowl", time=limits)
    say("started", rack="".join(rack))
    while rack and zeros < 6:
        seq, zeros = seq + 1, zeros + 1
        if seq % 2 == 0:
            say("played", seat=1, move="-", score=0)
            continue
        squares = re.sub("[^A-Za-z/]+", lambda gap: str(len(gap[0])), board)
        position = f"{squares} {''.join(rack)}/ {scores[0]}/0 {zeros - 1}"
        turn, asked = {"rack": "".join(rack), "deadline_ms": clocks[0]}, time.monotonic()
        move = say("your_turn", "move", position=position, **turn)["move"]
        clocks[0] -= int((time.monotonic() - asked) * 1_000)
        used, points = move[1:], 0
        if move[0] != "-":
            (board, used, points), zeros = lay(move, board), 0
        for tile in used:
            rack.remove(tile)
        rack, bag = sorted(rack + bag[: len(used)]), bag[len(used) :]
        if move[0] == "-":
            bag = random.sample([*bag, *used], len(bag) + len(used))
        scores[0] += points
        say("played", seat=0, move=move, score=points, rack="".join(rack))
        print(move, points, scores[0], flush=True)
    mine, theirs = (sum(POINTS.get(tile, 0) for tile in tiles) for tiles in (rack, other))
    scores = [scores[0] - mine, -theirs] if rack else [scores[0] + 2 * theirs, 0]
    seq, outcome = seq + 1, "zeroes" if rack else "out"
    winner = None if scores[0] == scores[1] else int(scores[0] < scores[1])
    say("game_over", outcome=outcome, winner=winner, scores=scores, message="That was it.")
    print(outcome, *scores)
