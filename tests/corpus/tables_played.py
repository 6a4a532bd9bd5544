"""A game at a table on a virtual clock: what it hears, and the bytes that each is sent."""

from __future__ import annotations

import base64
import json
from typing import Any

from corpus.artefacts import INPUTS, Artefact, read_packed, write_packed
from corpus.product import JSON, MSGPACK, Effects, Message, Recipient, Table, watched
from tables import SHORT, START_MS, Play, book_of, random_policy, words

HEARD = INPUTS / "heard.jsonl.xz"

Step = dict[str, Any]


# --- recording ------------------------------------------------------------------------------------


class _Logged(Play):
    """Notes what comes to its table."""

    def __init__(self) -> None:
        super().__init__(SHORT)
        self.steps: list[Step] = []

    def _note(self, do: str, **more: Any) -> None:
        self.steps.append({"at": self.now, "do": do, **more})

    def come(self, seat: int) -> None:
        self._note("attach", seat=seat, seen=self.resume(seat).seen)
        super().come(seat)

    def leave(self, seat: int) -> None:
        self._note("detach", seat=seat)
        super().leave(seat)

    def hear(self, seat: int, message: Message, *, lag_ms: int = 0) -> None:
        frame = JSON.encode(message)
        self._note("hear", seat=seat, frame=frame, lag_ms=lag_ms)
        super().hear(seat, message, lag_ms=lag_ms)

    def watch(self) -> None:
        self._note("watch")
        super().watch()


def make_inputs() -> None:
    """Play a game in which much happens."""
    play = _Logged()
    play.start()
    policy = random_policy(11)
    play.watch()
    turn = 0
    while not play.table.over:
        turn += 1
        if turn in (2, 7):
            play.think("hm …")
        if turn == 3:
            play.move("8H ZZZZZ", after_ms=300)  # refused, and asked again
            play.move("nonsense", after_ms=300)
        if turn == 4:
            play.watch()
        if turn == 5:
            play.leave(play.seat)
            play.wait(700)
            play.come(play.seat)
            play.ready(play.seat)
        if turn == 6:
            said = play.the_move(policy(play))
            seat = play.seat
            play.wait(400)
            play.say(seat, said)
            play.hear(seat, said)  # once more: it was on its way twice
            continue
        if turn == 8:
            rack = play.book.game
            assert rack is not None
            held = rack.position.racks[play.seat]
            text = words().distribution.alphabet.text(held[:3])
            play.move(f"-{text}", after_ms=1_200)
            continue
        if turn == 9:
            play.leave(0)
            play.leave(1)
            play.wait(500)
            play.come(1)
            play.ready(1)
            play.come(0)
            play.ready(0)
        play.move(policy(play), after_ms=900, lag_ms=turn % 3 * 10)
    play.watch()
    write_packed(HEARD, "".join(json.dumps(step) + "\n" for step in play.steps))


# --- replaying ------------------------------------------------------------------------------------


class _Replayed:
    """A table that hears what was noted, and the bytes that come of it."""

    def __init__(self) -> None:
        self.now = START_MS
        self.lines: list[str] = []
        book = book_of(Play(SHORT).book.opened)
        self._table = Table(book, self.now, (None, None), (None, None))

    def step(self, step: Step) -> None:
        self._wait(step["at"])
        match step["do"]:
            case "attach":
                self._carry_out(self._table.attach(step["seat"], self.now, seen=step["seen"]))
            case "detach":
                self._carry_out(self._table.detach(step["seat"], "the connection was lost"))
            case "watch":
                for said in watched(self._table.book, self.now, None):
                    self._tell(None, said)
            case _:
                message = JSON.decode(step["frame"])
                self.lines.append(f"{self.now} from {step['seat']} {_written(message)}")
                heard = self._table.receive(step["seat"], message, self.now, step["lag_ms"])
                self._carry_out(heard)

    def _wait(self, until: int) -> None:
        while (due := self._table.deadline()) is not None and due <= until:
            self.now = max(self.now, due)
            self._carry_out(self._table.tick(self.now))
        self.now = until

    def _carry_out(self, effects: Effects) -> None:
        """Do as the host does: keep, deliver, start the next clock."""
        for recipient, message in effects.sends:
            self._tell(recipient, message)
        kinds = [type(record).__name__.removesuffix("Record") for record in effects.records]
        if kinds:
            self.lines.append(
                f"{self.now} records {' '.join(kinds)}, restarts {list(effects.restart)}"
            )
        if {"Turn", "Began"} & set(kinds):
            self._carry_out(self._table.begin_turn(self.now))

    def _tell(self, recipient: Recipient, message: Message) -> None:
        whom = "spectators" if recipient is None else str(recipient)
        self.lines.append(f"{self.now} to {whom} {_written(message)}")


def _written(message: Message) -> str:
    """Write a message in both codecs, and see that both read it."""
    as_json, packed = JSON.encode(message), MSGPACK.encode(message)
    assert isinstance(packed, bytes)
    assert JSON.decode(as_json) == message == MSGPACK.decode(packed)
    return f"{as_json!s} {base64.b64encode(packed).decode()}"


def _conversation() -> str:
    replayed = _Replayed()
    for line in read_packed(HEARD).splitlines():
        replayed.step(json.loads(line))
    return "\n".join((*replayed.lines, ""))


ARTEFACTS = (Artefact("wire/conversation.txt.xz", _conversation),)
