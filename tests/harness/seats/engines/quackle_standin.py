"""A scripted Quackle test harness: one process a move, with all that makes it hard to drive.

    python -I -S quackle_standin.py quackle key=value … --lexicon=… --computer=… --position=…

It plays what ``standin.py`` says, ``swap`` and passes, and reads a GCG as Quackle does, mistakes
and all; who wrote it wrongly finds the mover with another rack, or a move that was never made.
Its word list, ``../data/lexica/NAME.dawg``, is plain text. It has these faults of its own:

``complains``   it says that it can't read the game, and ends with status 0
``score``       its moves score what they do not
``illegal``     its first move is against the rules, the others are not
``slow``        a player who simulates is never done
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from standin import FOREVER_S, StandIn, main

BOARD = [f"{row:2}|{'=  -   ' * 2}=|" for row in range(1, 16)]


class Quackle(StandIn):
    """The harness, started once for each question."""

    passes = "- "
    illegal = "8D QQQQQQQ"

    def run(self) -> None:
        data = Path("../data")
        lexicon = data / "lexica" / f"{self.options['--lexicon']}.dawg"
        alphabet = data / "alphabets" / f"{self.options['--alphabet']}.quackle_alphabet"
        self.words = lexicon.read_text().split() if lexicon.is_file() else []
        if not alphabet.is_file():
            self.say("alphabet parameters do not exist: ")
        self.say("Starting up...") if self.words else self.say("Starting up.couldn't open dawg ")
        if self.options.get("--mode") == "anagram":
            self.say(*self.words)
        else:
            self._position(Path(self.options["--position"]))

    def _position(self, file: Path) -> None:
        player = self.options["--computer"]
        self.say("using seed 1", f"Testing 1 positions with {player}.")
        if not file.is_file() or self.due("complains"):
            self.say(f"Could not open gcg {file}")
            return
        self._read(file)
        self.turn = self.moved // 2
        if self.moved and not self.words:
            os.kill(os.getpid(), signal.SIGSEGV)
        self._dump()
        self.say("Generating moves...")
        if player.endswith("Championship Player"):
            self._dump()
            if self.due("slow"):
                time.sleep(FOREVER_S)
        self.at("search")
        score = 77 if self.due("score") else 0
        moves = [self.illegal] if self.due("illegal") else []
        moves += [self._written(self.move()), self.passes]
        value = "equity = 1.5, win% = 0.51)"
        self.answer("\n".join(f"{move} (score = {score}, {value}" for move in moves))

    def _read(self, file: Path) -> None:
        """Read a game as far as it takes to know who is to move, and what he holds."""
        self.moved = 0
        racks = {"1": "?RANDOM", "2": "?RANDOM"}
        for line in file.read_text(encoding="utf-8").splitlines():
            first, *fields = line.split()
            if first.startswith(">"):
                rack = fields.pop(0)
                assert fields, "incomplete move"
                assert not rack.startswith("("), "a game that is over has no next move"
                self.moved += 1
            elif first.startswith("#rack") and self.moved:
                racks[first[-1]] = fields[0]
            elif first == "#incomplete" and fields:
                racks["2" if self.moved % 2 else "1"] = fields[0]
        alone = not self.moved  # without a move it takes the game for one of a single player
        self.rack = "?RANDOM" if alone else racks["2" if self.moved % 2 else "1"]

    def _dump(self) -> None:
        self.say(
            "------------",
            f"Position [turnNumber = 1, current player Human Player Second (id 1) with score 0 "
            f"holding {self.rack} after drawing []",
            "   A B C D E F G H I J K L M N O ",
            *BOARD,
            "Move made is nonmove (score = -9999, equity = -9999, win% = 0)",
            "Bag (86): ?AAAAAAAAB",
            "------------",
            "",
        )

    def _written(self, move: str) -> str:
        return f"-{self.rack[0]}" if move == "swap" else move


if __name__ == "__main__":
    sys.argv[2:] = [word if "=" in word else f"{word}=" for word in sys.argv[2:]]
    main({"quackle": Quackle})
