"""A game at a table on a virtual clock: what it hears, and the bytes that each is sent."""

from __future__ import annotations

import base64
import json
from typing import Any

from corpus.artefacts import INPUTS, Artefact, read_packed
from tables import SHORT, Play

from harness.arbiter.table import Effects
from harness.arbiter.views import Recipient
from protocol.codec import JSON, MSGPACK
from protocol.messages import Message

HEARD = INPUTS / "heard.jsonl.xz"
"""A game with refusals, thoughts, a lost connection, a move that came twice, an exchange, visits of
spectators, and both seats away at once."""

Step = dict[str, Any]


class _Replayed(Play):
    """A table that hears what was noted, and the bytes that come of it."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        super().__init__(SHORT)

    def step(self, step: Step) -> None:
        self.wait(step["at"] - self.now)
        match step["do"]:
            case "attach":
                self.carry_out(self.table.attach(step["seat"], self.now, seen=step["seen"]))
            case "detach":
                self.leave(step["seat"])
            case "watch":
                self.watch()
            case _:
                message = JSON.decode(step["frame"])
                self.lines.append(f"{self.now} from {step['seat']} {_written(message)}")
                heard = self.table.receive(step["seat"], message, self.now, step["lag_ms"])
                self.carry_out(heard)

    def carry_out(self, effects: Effects) -> None:
        """Do as the host does: keep, deliver, start the next clock."""
        for recipient, message in effects.sends:
            self._deliver(recipient, message)
        kinds = [type(record).__name__.removesuffix("Record") for record in effects.records]
        if kinds:
            self.lines.append(
                f"{self.now} records {' '.join(kinds)}, restarts {list(effects.restart)}"
            )
        if {"Turn", "Began"} & set(kinds):
            self.carry_out(self.table.begin_turn(self.now))

    def _deliver(self, recipient: Recipient, message: Message) -> None:
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
