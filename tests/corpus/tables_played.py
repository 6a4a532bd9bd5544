"""A game at a table on a virtual clock: what it hears, and the bytes that each is sent."""

from __future__ import annotations

import base64
import json
from typing import Any

from corpus.artefacts import INPUTS, Artefact, read_packed
from tables import SHORT, START_MS, Play, book_of

from harness.arbiter.table import Effects, Table
from harness.arbiter.views import Recipient, watched
from protocol.codec import JSON, MSGPACK
from protocol.messages import Message

HEARD = INPUTS / "heard.jsonl.xz"
"""A game with refusals, thoughts, a lost connection, a move that came twice, an exchange, visits of
spectators, and both seats away at once."""

Step = dict[str, Any]


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
