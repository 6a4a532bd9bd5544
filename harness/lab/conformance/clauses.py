"""The clauses of ``protocol/SPEC.md`` that can be tried from outside, and a report about them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Literal, NamedTuple, TypeAlias, cast

from protocol.channel import ChannelClosed
from protocol.codec import JSON
from protocol.errors import PeerError
from protocol.messages import Message

Side: TypeAlias = Literal["server", "bot"]


class Clause(Enum):
    """A demand on a server or a bot: whose, the section that makes it, the demand in short."""

    SUBPROTOCOL = "server", "1.1", "takes the first subprotocol offered that it knows"
    FRAMES = "server", "1.1", "closes with 1003 after an error, if a frame is of the wrong kind"
    FIELDS = "server", "1.2", "ignores fields that it does not know"
    TYPES = "server", "1.2", "answers a message of an unknown type with unknown_type, and goes on"
    PINGS = "server", "1.3", "answers a ping with a pong of the same id"
    LARGE = "server", "1.3", "takes a message of 240 KiB"
    HELLO = "server", "2.1", "answers hello with welcome"
    NO_HELLO = "server", "2.1", "closes with 1008 after no_hello, if another message comes first"
    REPLACED = "server", "2.2", "sends goodbye (replaced) to the older of two logins; closes, 1008"
    SEEK = "server", "2.3", "answers a seek with seeking, and then offers the game"
    OPPONENT = "server", "2.3", "answers bad_opponent to a player that seeks itself"
    SPECTATORS = "server", "2.5", "lists a game and shows it to a spectator, without racks"
    EVENTS = "server", "3.1", "numbers events without a gap and sends each in its state"
    REPEATED = "server", "3.2", "answers a repeated move as it did the first time"
    OFFER = "server", "3.3", "offers a game from event 0, and deals a whole rack when it starts"
    TURN = "server", "3.4", "tells the same in your_turn as in the events before it"
    REFUSED = "server", "3.4", "refuses an illegal move, counts attempts, and takes the next one"
    PLAYED = "server", "3.4", "adds scores up, and shows each rack to its player alone"
    THOUGHTS = "server", "3.5", "takes info without an answer"
    POSITION = "server", "4.3", "writes positions as CGP, the receiver first"
    CLOCKS = "server", "5.1", "takes off each clock what the turn cost, and nothing between turns"
    CHARGED = "server", "5.1", "charges a turn what it took"
    DEADLINE = "server", "5.2", "sets the deadline by clock, overtime, caps and margin"
    LATE = "server", "5.2", "ends the game on time if no move comes by the deadline"
    RESUMED = "server", "6.1", "lists the game at a new login, and offers it with what was missed"
    NOT_RESUMED = "server", "6.1", "answers out_of_turn to a move before resume"
    RESULT = "server", "7", "names an outcome, scores and a winner that fit each other"
    RESIGNED = "server", "7", "ends the game for the opponent after resign"
    NONCES = "server", "8.1", "commits to secret and nonces before ours, and opens all in the end"
    DRAWS = "server", "8.2", "deals and draws the tiles that secret and nonces give"
    MESSAGES = "server", "9.1", "answers what it can't read with bad_frame or bad_message"
    ROLES = "server", "9.1", "answers what a player may not send with wrong_role"
    NUMBERS = "server", "9.1", "answers a wrong seq or attempt with bad_seq, bad_attempt"
    UNKNOWN_GAME = "server", "9.1", "answers unknown_game for a game that is not on"
    ERRORS = "server", "9.1", "closes with 1008 after 20 errors"
    TOO_LARGE = "server", "9.4", "closes with 1009 after a frame over 256 KiB"
    VERSION = "server", "12", "answers another version with bad_version, and closes with 1008"

    BOT_FRAMES = "bot", "1.1", "sends frames of the kind that was agreed on"
    BOT_FIELDS = "bot", "1.2", "ignores fields that it does not know"
    BOT_TYPES = "bot", "1.2", "plays on after a message of a type that it does not know"
    BOT_PINGS = "bot", "1.3", "answers a ping with a pong of the same id"
    BOT_HELLO = "bot", "2.1", "connects, and says hello as a player first"
    BOT_SEEK = "bot", "2.3", "asks for a game with seek"
    BOT_STATES = "bot", "3.1", "sends only what the state of the game allows"
    BOT_REPEATED = "bot", "3.2", "drops events that come twice"
    BOT_READY = "bot", "3.3", "answers the offer with ready in time"
    BOT_TURN = "bot", "3.4", "answers each turn with its game, seq and attempt"
    BOT_REFUSED = "bot", "3.4", "answers a refusal with the next attempt of the same turn"
    BOT_MOVES = "bot", "4.2", "writes moves that can be read, and no three bad ones in a turn"
    BOT_DEADLINE = "bot", "5.2", "moves before its deadline"
    BOT_RESUMED = "bot", "6.1", "comes back to its game while the opponent's clock runs"
    BOT_REPEATS = "bot", "6.1", "comes back while its own clock runs, and answers the turn again"
    BOT_OVER = "bot", "7", "sends nothing more about a game that is over"
    BOT_LATE = "bot", "7", "takes it that a game was lost on time, though it had answered"
    BOT_NONCES = "bot", "8.1", "reveals the nonce that it has committed itself to"
    BOT_REPLACED = "bot", "9.4", "does not come back after goodbye (replaced)"
    BOT_MESSAGES = "bot", "11", "sends messages with the fields that they have"

    def __init__(self, side: Side, section: str, demand: str) -> None:
        self.side, self.section, self.demand = side, section, demand


class Result(NamedTuple):
    """What came of a clause."""

    verdict: Literal["pass", "FAIL", "skipped"]
    why: str = ""
    """Of a failure, what was expected and what came; of a clause that was not tried, why."""


NOT_REACHED = Result("skipped", "an earlier step failed")


class Surprise(Exception):
    """Something else came than was expected; the message says both."""


class Unmet(Exception):
    """A clause has failed so that what was to follow can't be tried; it is in the report."""


def shown(message: object) -> str:
    """Return a message for people, cut if it is long."""
    return str(JSON.encode(cast("Message", message)))[:300]


class Report:
    """What came of each clause of one side; the first failure of a clause counts."""

    def __init__(self, side: Side) -> None:
        self._results: dict[Clause, Result | None] = {
            clause: None for clause in Clause if clause.side == side
        }

    def met(self, *clauses: Clause) -> None:
        """Note that clauses were met, unless they have failed elsewhere."""
        for clause in clauses:
            if (result := self._results[clause]) is None or result.verdict == "skipped":
                self._results[clause] = Result("pass")

    def fail(self, clause: Clause, why: str) -> None:
        """Note a failure, and go on."""
        if (result := self._results[clause]) is None or result.verdict != "FAIL":
            self._results[clause] = Result("FAIL", why)

    def skip(self, why: str, *clauses: Clause) -> None:
        """Note why clauses can't be tried here."""
        for clause in clauses:
            self._results[clause] = self._results[clause] or Result("skipped", why)

    @contextmanager
    def trying(self, *clauses: Clause) -> Iterator[None]:
        """Note that clauses are met if the block ends, else that the first of them failed.

        Raises:
            Unmet: it failed.
        """
        try:
            yield
        except (Surprise, ChannelClosed, PeerError, TimeoutError) as error:
            self.fail(clauses[0], str(error) or "no answer came in time")
            raise Unmet from None
        self.met(*clauses)

    def progress(self) -> str:
        """Return how far it has come, for people."""
        return f"{len(self._results) - len(self.untried())} of {len(self._results)} clauses tried"

    def untried(self) -> list[Clause]:
        """Return the clauses that have no result yet."""
        return [clause for clause, result in self._results.items() if result is None]

    def results(self) -> dict[Clause, Result]:
        """Return the result of each clause; those that no step came to count as not tried."""
        return {clause: result or NOT_REACHED for clause, result in self._results.items()}
