"""A scripted MAGPIE console: its two modes, its tables, and all that makes it hard to drive.

    python -I -S magpie_standin.py magpie key=value … set -mode sync …

It plays what ``standin.py`` says, ``swap`` and passes. ``./data/lexica/NAME.kwg`` is plain text,
``SQUARE WORD SCORE`` a line: what ``generate`` lists before the game for a rack with the letters.
In ``async`` the two lines that follow a command are refused, as said to that command. It has these
faults of its own:

``drops``       the second of those lines is not refused, but lost
``rejects``     it does not have the tiles of the rack, which it says behind ``finished cgp``
``mumbles``     it lists no move
``nonsense``    it lists what is no move
``score``       its moves score what they do not
``illegal``     its first move is against the rules, the others are not
``slow``        a search goes on until it is told to stop
``stubborn``    a search goes on for ever
``fails``       it can't search
``garbled``     a simulation lists what is no move
``few``         a simulation has looked at each move once
``empty``       a solver is done before it has looked at a move
``tenth``       the pre-endgame solver has looked at a tenth of the moves

What can go wrong in a search of any engine goes wrong in ``generate``.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from standin import FOREVER_S, StandIn, main

LEXICONS = ("CSW", "NWL", "CEL")
COMMANDS = ("setoptions", "cgp", "generate", "gsimulate", "peg", "endgame")
EVERY_MOVE = "20000"


class Magpie(StandIn):
    """The console; a command is known by its first letters, ``-name value`` is a setting."""

    illegal = "8D QQQQQQQ"

    def run(self) -> None:
        self.settings = {"-mode": "sync"}
        self.refusals = 0
        self.begun = False
        if not self._command(START):
            return
        for line in self.hear():
            if line == "quit":
                return
            if self.refusals:
                self.refusals -= 1
                if self.refusals or not self.due("drops"):
                    self._error(1, f"unrecognized async command '{line}'")
            else:
                self._command(line)

    def _command(self, line: str) -> bool:
        """Obey; tell whether it could."""
        word, *rest = line.split()
        name = next((name for name in COMMANDS if name.startswith(word)), "")
        if not name:
            return self._error(1, f"unrecognized command or argument '{word}'")
        self.refusals = 2 if self.settings["-mode"] == "async" else 0
        for at in reversed(range(len(rest) - 1)):
            if rest[at].startswith("-"):
                self.settings[rest[at]] = rest[at + 1]
                del rest[at : at + 2]
        done: bool = getattr(self, f"_{name}")(rest)
        if not done:
            return False
        self.say(f"finished {name}")
        if name == "cgp" and self.begun and self.due("rejects"):
            self._error(51, f"rack not available in the bag for player 1: {self.rack}")
        return True

    def _error(self, number: int, text: str) -> bool:
        os.write(2, f"(error {number}) {text}\n".encode())
        return False

    def _setoptions(self, _words: list[str]) -> bool:
        lexicon = self.settings["-lex"]
        if not lexicon.startswith(LEXICONS):
            return self._error(157, f"default letter distribution not found for '{lexicon}'")
        if self.settings["-plies"] == "99":
            return self._error(8, "integer value for plies must be between 0 and 25")
        return True

    def _cgp(self, words: list[str]) -> bool:
        _, racks, _, _ = words
        self.rack, self.other = racks.split("/")
        return True

    # --- what it lists ----------------------------------------------------------------------------

    def _generate(self, _words: list[str]) -> bool:
        if self.settings["-numplays"] == EVERY_MOVE:
            self._list_words()
            return True
        self.at("search")
        rows = [f"{move}    {leave} {score}  4.28  " for move, leave, score in self._ranked()]
        if self.due("mumbles"):
            rows = []
        if self.due("nonsense"):
            rows = ["14F Z1(N)E EEIL 33 84.47 "]
        listed = [f"{n}:  {row}" for n, row in enumerate(rows, 1)]
        self.answer("\n".join([*listed, "", f"Showing {len(rows)} of 9 plays"]))
        return True

    def _list_words(self) -> None:
        file = Path(f"data/lexica/{self.settings['-lex']}.kwg")
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines()):
            square, word, score = line.split()
            if set(word) <= set(self.rack):
                leave = "".join(letter for letter in self.rack if letter not in word)
                self.say(f"{number + 1}:   {square} {word}  {leave} {score} {score}.00 ")

    # --- what it finds ----------------------------------------------------------------------------

    def _gsimulate(self, _words: list[str]) -> bool:
        if self.settings["-mode"] == "sync":  # the trial before the game
            self.begun = True
            return True
        samples = 1 if self.due("few") else 400
        numbers = f"84.47 0.4765 25.77 -nan 27.81 {samples} 8.50 12.02 0.00"
        rows = [f"{move} {leave} {score} - {numbers} " for move, leave, score in self._ranked()]
        if self.due("garbled"):
            rows = [f"14F Z1(N)E EEIL 33 - {numbers} "]
        return self._found(*(f"{n}: {row}" for n, row in enumerate(rows, 1)))

    def _peg(self, _words: list[str]) -> bool:
        judged, numbers = "318/318  75.0%", "6     0     2  75.0  +13.9"
        if self.due("tenth"):
            judged = "31/318  75.0%"
        if self.due("empty"):
            judged, numbers = "0/318  -     ", "0     0     0  -100.0  +0.0"
        rows = [f"{n}  {move}  {numbers} " for n, (move, _, _) in enumerate(self._ranked(), 1)]
        return self._found(f"0      greedy    {judged}   1.7s  ", *rows)

    def _endgame(self, _words: list[str]) -> bool:
        rows = [f"{move} {score} ({self.other} +20) 32 3 " for move, _, score in self._ranked()]
        return self._found("Play   V S Turn 2   ", *([] if self.due("empty") else rows[:1]))

    def _found(self, *lines: str) -> bool:
        """End a search with these lines, unless that is where it fails."""
        if self.due("fails"):
            return self._error(187, "this can't be searched")
        if self.due("stubborn"):
            time.sleep(FOREVER_S)
        if self.due("slow"):
            next(line for line in self.hear() if line == "stop")
        self.say(*lines)
        return True

    def _ranked(self) -> list[tuple[str, str, int]]:
        """Return move, leave and score of what it would play, the best first."""
        score = 77 if self.due("score") else 0
        move, leave = self.move(), ""
        if move == "swap":
            move, leave = f"(exch {self.rack[0]})", self.rack[1:]
        wrong = [(self.illegal, "", 88)] if self.due("illegal") else []
        return [*wrong, (move, leave, score), ("pass", self.rack, 0)]


if __name__ == "__main__":
    at = sys.argv.index("set")
    START = " ".join(sys.argv[at:])
    del sys.argv[at:]
    main({"magpie": Magpie})
