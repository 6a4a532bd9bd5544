"""A scripted engine: it plays what it is told to, or passes, in some dialect, and misbehaves.

    python -I -S standin.py DIALECT key=value …

``moves=pass,swap,8D.WORD``   what it plays, turn by turn; ``swap``: exchange the first tile of the
                              rack; after the last it passes
``fault=NAME+NAME``           what it does wrong, names of ``FAULTS`` or of its dialect
``from=N``                    in its Nth turn and those after it; 1 if nothing is said
``once=FILE``                 only if this file is not there, which is made when the fault happens
``stamp=FILE``                gets the time when it last did wrong, in ns of the monotonic clock
``log=FILE``                  where to write what it hears, a line each
``mark=TEXT``                 is in its own command line and in those of all that it starts
``delay=MS``                  how long it thinks

A dialect derives from ``StandIn``; its file puts this one's folder on ``sys.path`` (``-I`` does
not), imports this one and ends with ``main({"its name": ItsClass})``. It says what happens when,
and the faults of all dialects follow: ``at("start")`` first of all, ``at("search")`` when it is
asked for a move, ``answer(line)`` with the move, which does ``at("answer")`` and ``at("after")``
itself.

It imports as little as it can: there are many of them in the tests, and each has to be up at once.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping

FOREVER_S = 60
"""How long what is not to end by itself lasts; it must not outlive a failed test by much."""

MANY = "info string no end of it " * 8


class StandIn:
    """An engine; a dialect says how it is talked to."""

    illegal = "8D.QQQQQQQ"
    """A move that no rules allow, as the dialect writes it."""
    passes = "pass"

    def __init__(self, options: Mapping[str, str]) -> None:
        self.options = options
        self.faults = options.get("fault", "").split("+")
        self.moves = options["moves"].split(",") if "moves" in options else []
        self.turn = 0
        """The one that it is in, counted from 1."""

    def run(self) -> None:
        """Talk until the input ends."""
        raise NotImplementedError

    def hear(self) -> Iterator[str]:
        """Yield the lines that it is told."""
        for line in sys.stdin:
            if "log" in self.options:
                with open(self.options["log"], "a", encoding="utf-8") as log:  # noqa: PTH123
                    log.write(line)
            yield line.rstrip("\n")

    def say(self, *lines: str) -> None:
        """Print lines at once."""
        os.write(1, "".join(f"{line}\n" for line in lines).encode())

    def move(self) -> str:
        """Return the move of this turn; a dialect that exchanges knows what ``swap`` is."""
        return self.moves[self.turn - 1] if self.turn <= len(self.moves) else self.passes

    def answer(self, line: str) -> None:
        """Answer the question of this turn, unless that is where it fails."""
        if self.due("half"):
            os.write(1, line[: len(line) // 2].encode())
            time.sleep(FOREVER_S)
        self.at("answer")
        self.say(line)
        self.at("after")

    # --- what it does wrong -----------------------------------------------------------------------

    def due(self, fault: str) -> bool:
        """Return whether it does this wrong now; once, if it is to do it only once."""
        if fault not in self.faults or self.turn < int(self.options.get("from", 0)):
            return False
        once = self.options.get("once", "")
        if os.path.exists(once):  # noqa: PTH110 - pathlib would take longer than all the rest
            return False
        if once:
            os.close(os.open(once, os.O_CREAT))
        self.stamp()
        return True

    def stamp(self) -> None:
        """Note the time for whoever asked for it."""
        if "stamp" in self.options:
            with open(self.options["stamp"], "w", encoding="ascii") as file:  # noqa: PTH123
                file.write(str(time.monotonic_ns()))

    def at(self, point: str) -> None:
        """Come to a point where something may go wrong."""
        if point == "start":
            self.turn = 0
        if point == "search":
            self.turn += 1
            time.sleep(int(self.options.get("delay", 0)) / 1_000)
        for name, (where, deed) in FAULTS.items():
            if where == point and self.due(name):
                deed(self)


def _end(_: StandIn) -> None:
    """End, with a word on the way."""
    os.write(2, b"something broke\n")
    os._exit(3)


def _hang(_: StandIn) -> None:
    time.sleep(FOREVER_S)


def _flood(engine: StandIn) -> None:
    until = time.monotonic() + FOREVER_S
    while time.monotonic() < until:
        engine.say(*[MANY] * 64)


def _mute(_: StandIn) -> None:
    """Close its output and live on."""
    os.close(1)
    time.sleep(FOREVER_S)


def _deaf(_: StandIn) -> None:
    """Ignore every signal that can be ignored."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def _children(engine: StandIn) -> None:
    """Start two, one in a session of its own whose parent goes; both outlive everything."""
    mark = engine.options.get("mark", "")
    waiting = [sys.executable, "-I", "-S", "-c", f"import time; time.sleep({FOREVER_S})", mark]
    os.spawnv(os.P_NOWAIT, waiting[0], waiting)
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv(waiting[0], waiting)
        os._exit(0)


FAULTS: dict[str, tuple[str, Callable[[StandIn], object]]] = {
    "crash-start": ("start", _end),
    "hang-start": ("start", _hang),
    "crash-search": ("search", _end),
    "segfault": ("search", lambda _: os.kill(os.getpid(), signal.SIGSEGV)),
    "crash-after": ("after", _end),
    "hang": ("search", _hang),
    "flood": ("search", _flood),
    "shout": ("search", lambda _: [os.write(2, b"warning: " * 4_096 + b"\n") for _ in range(32)]),
    "long-line": ("search", lambda _: os.write(1, b"x" * 200_000)),
    "noise": ("search", lambda _: os.write(1, bytes(range(256)) + b"\n\xff\xfe\x00\n\n\r\n")),
    "mute": ("search", _mute),
    "deaf": ("start", _deaf),
    "children": ("start", _children),
    "parricide": ("start", lambda _: os.kill(os.getppid(), signal.SIGKILL)),
}
"""By name: where, and what. ``half`` (of the answer, and no more) is in ``answer``."""


class Siu(StandIn):
    """SIU; it has faults of its own: ``unready`` ``unready-later`` ``illegal`` ``nonsense``
    ``twice`` ``score`` ``huge`` ``wrong-rack`` ``no-lexicon`` ``until-stop`` ``never-stops``
    ``stays``.

    ``capability=…`` says what it can do, ``lexicon=…`` what it plays with, whatever it is told,
    ``early=…`` what it calls that before it is ready, and ``tiles=…``, with commas, which it takes.
    """

    def run(self) -> None:
        self.position: list[str] = []
        self.lexicon = self.options.get("lexicon", "scowl")
        for line in self.hear():
            words = line.split()
            if words and words[0] not in ("siunewgame", "stop"):
                getattr(self, f"_{words[0]}", self._unknown)(words[1:])

    def _siu(self, _words: list[str]) -> None:
        capability = self.options.get("capability", "gen sim auto stream stop")
        self.say(
            *("id name Stand-in 1", "id author nobody", "what is this line?"),
            f"capability {capability}",
            "option name Lexicon type string default none",
            "option name Threads type spin default 1 min 1 max 2",
            "option name Style type combo default calm var calm var wild",
            "option name Clear Hash type button",
        )
        if "tiles" in self.options:
            known = " ".join(f"var {name}" for name in self.options["tiles"].split(","))
            self.say(f"option name LetterDistribution type combo default english {known}")
        self.say("siuok")

    def _setoption(self, words: list[str]) -> None:
        at = words.index("value") if "value" in words else len(words)
        if " ".join(words[1:at]) == "Lexicon":
            if self.due("no-lexicon"):
                self.say("info string error bad-option there is no lexicon of that name here")
            elif "lexicon" not in self.options:
                self.lexicon = " ".join(words[at + 1 :])

    def _isready(self, _words: list[str]) -> None:
        if "early" in self.options:
            self.say(f"info string provenance lexicon={self.options['early']}")
        if not self.due("unready") and not (self.turn and self.due("unready-later")):
            self.say("readyok")

    def _position(self, words: list[str]) -> None:
        self.position = words

    def _go(self, words: list[str]) -> None:
        provenance = f"engine=Stand-in/1 leaves=none winpct=none lexicon={self.lexicon}"
        self.say(f"info string provenance {provenance}")
        if words == ["gen"]:  # the trial before the game
            self.say("info gen move 8G.AE score 4 eq 4.0 leave INORT", "bestmove 8G.AE")
            return
        self.at("search")
        move = self.move()
        if self.due("illegal") or self.due("nonsense"):
            move = self.illegal if "illegal" in self.faults else "\u2603.\u2603"
        if self.due("wrong-rack"):
            move += ".AAAAAAA"
        if self.due("score") or self.due("huge"):
            score = "9" * 4_000 if "huge" in self.faults else "77"
            self.say(f"info gen move {move} score {score} eq 77.5 leave")
        if self.due("until-stop") or self.due("never-stops"):
            self._search_until_stop(move)
        self.answer(f"bestmove {move}")
        if self.due("twice"):
            self.say("bestmove 8D.QQQQQQQ")

    def move(self) -> str:
        move = super().move()
        return f"ex.{self.position[-1].removeprefix('rack.')[0]}" if move == "swap" else move

    def _search_until_stop(self, move: str) -> None:
        """Search until it is told to stop, and ready meanwhile."""
        self.say(
            f"info sim move {move} wp 61.20 wpse 0.50 eq 7.10 eqse 1.10 iters 400",
            "info sim move 8D.NO wp nan wpse 0.1 eq 1.0 eqse 1.0 iters 3",
            "info sim move nothing wp 1 wpse 1 eq 1 eqse 1 iters 1",
        )
        for line in self.hear():
            if line == "isready":
                self.say("readyok")
            if line == "stop":
                self.stamp()
                if "until-stop" in self.faults:
                    return

    def _quit(self, _words: list[str]) -> None:
        if not self.due("stays"):
            sys.exit()

    def _unknown(self, words: list[str]) -> None:
        self.say("info string error unknown-command")


def main(dialects: Mapping[str, Callable[[Mapping[str, str]], StandIn]]) -> None:
    """Be the engine that the command line asks for."""
    name, *pairs = sys.argv[1:]
    engine = dialects[name](dict(pair.split("=", 1) for pair in pairs))
    engine.at("start")
    engine.run()


if __name__ == "__main__":
    main({"siu": Siu})
