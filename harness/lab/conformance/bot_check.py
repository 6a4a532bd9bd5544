"""Try the clauses of a bot that connects: it plays at a server of ours, with the kit in between.

The kit passes messages on, and now and then does what a server may do: it sends a field or a type
that the bot does not know, has a move refused, sends an event twice, loses the connection.
"""

from __future__ import annotations

import asyncio
import dataclasses
import os
import shlex
import signal
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from engine.rules.rules import Rules
from harness.arbiter.journal import Journal
from harness.arbiter.seat import Came, Said
from harness.arbiter.seat import Report as SeatReport
from harness.lab.conformance.clauses import Clause, Report, Surprise, Unmet, shown
from harness.server.server import MatchServer
from harness.server.tables import ServerTables, TableKind
from harness.server.tokens import Gatekeeper
from lexicons.store import Lexicon
from protocol import messages as wire
from protocol.channel import ChannelClosed, now_ms
from protocol.errors import PeerError
from protocol.parts import TimeControl
from protocol.session import Answer
from protocol.websocket import WebSocketChannel, dial, listen

OPPONENT = "greedy"
START_S = 30.0
"""How long a bot may take from its start to its hello, and to get ready."""
BACK_S = 20.0
"""How long it may take to come back by itself; if its process ends, it is started again."""
PONG_S = 5.0
"""How long a pong may take, beside the time for the move that is on."""
ENDS_S = 5.0
"""How long a process whose connection is gone has to end, so that its last words are known."""
QUIET_S = 2.0
"""How long we wait for what should not come."""
STRANGE = {"x_check": [{"of": "the kit"}]}
"""A field that nobody knows."""
LATE_MS = 1_500
"""The longest turn of the game that is lost on time."""

_BLAMED = {
    "bad_nonce": Clause.BOT_NONCES,
    "bad_version": Clause.BOT_HELLO,
    "busy": Clause.BOT_SEEK,
    "forbidden": Clause.BOT_HELLO,
}
"""What an error of the server says about the bot; any other: that it does not keep to states."""

_MAY_GAIN_FIELDS = wire.YourTurn, wire.Played, wire.Refused, wire.GameOver
_ANSWERS = wire.Move, wire.Challenge, wire.Resign
_PING = wire.Ping(id=65)
MOST_STARTS = 3
"""How often a bot is started again until it comes back."""


class _Opponent:
    """A seat that passes, or resigns."""

    name = OPPONENT
    is_ours = False  # so that it has no nonce, and the bot may commit itself to its own

    def __init__(self) -> None:
        self.resigns = self.holds = False
        self._held: wire.YourTurn | None = None
        self._report: SeatReport = lambda _happening: None

    def start(self, report: SeatReport) -> None:
        self._report = report
        report(Came())

    def send(self, message: wire.Message) -> None:
        match message:
            case wire.NewGame(game=game):
                self._say(wire.Ready(game=game))
            case wire.YourTurn() if self.holds:
                self._held = message
            case wire.YourTurn(game=game, seq=seq) if self.resigns:
                self._say(wire.Resign(game=game, seq=seq))
            case wire.YourTurn(game=game, seq=seq):
                self._say(wire.Move(game=game, seq=seq, move="-"))

    def go_on(self) -> None:
        """Move, if its turn has waited."""
        self.holds, held = False, self._held
        if held is not None:
            self.send(held)

    def _say(self, message: wire.Message) -> None:
        self._report(Said(message, now_ms(), 0))

    def restart(self) -> None:
        """Do nothing: it never fails."""

    def refuse(self, error: PeerError) -> None:
        """Do nothing: its messages are valid."""

    async def stop(self) -> None:
        """Do nothing: it holds no resources."""


class BotCheck:
    """One run of the kit against one bot, which a command starts."""

    def __init__(self, command: str, time_ms: int, report: Report) -> None:
        self.report = report
        self._command, self._time_ms = command, time_ms
        self._opponent = _Opponent()
        self._process: asyncio.subprocess.Process | None = None
        self._url = ""
        self._output = Path()
        self._bot: WebSocketChannel | None = None
        self._server: WebSocketChannel | None = None
        self._came: asyncio.Queue[tuple[object, object]] = asyncio.Queue()
        """A channel, and what came on it: a message, a PeerError, its end; or an ended process."""
        self._pongs: set[int] = set()
        self._has_begun = False
        """Whether a game has begun."""
        self._clause = Clause.BOT_TURN
        """What is tried in the turn that is on."""

    async def run(self, lexicon: Lexicon, rules: Rules) -> None:
        """Try all clauses, in three games.

        Raises:
            OSError: the command can't be run.
        """
        rules = dataclasses.replace(rules, scoreless_limit=1_000, pass_limit=1_000)
        kind = TableKind(lexicon=lexicon, rules=rules, bots={OPPONENT: lambda: self._opponent})
        slow, quick = TimeControl(move_cap_ms=self._time_ms), TimeControl(first_move_ms=LATE_MS)
        for act, time in (self._whole, slow), (self._replaced, slow), (self._late, quick):
            if act != self._whole and not self._has_begun:
                return  # nothing would come of it
            self._opponent, self._came = _Opponent(), asyncio.Queue()
            self._bot, self._server, self._clause = None, None, Clause.BOT_TURN
            with TemporaryDirectory() as folder, closing(Journal(Path(folder) / "db")) as journal:
                tables, self._output = ServerTables(kind), Path(folder) / "output"
                server = MatchServer(tables, journal, Gatekeeper(journal), time=time, drain_s=0)
                await server.start()
                attend = partial(self._attend, f"ws://127.0.0.1:{server.port}")
                there = await listen("127.0.0.1", 0, attend)
                self._url = f"ws://127.0.0.1:{next(iter(there.sockets)).getsockname()[1]}"
                try:
                    await self._start()
                    with suppress(Unmet):
                        await act()
                finally:
                    await self._kill()
                    there.close()
                    await there.wait_closed()
                    await server.stop()

    # --- its process and connections ------------------------------------------------------------

    async def _start(self) -> None:
        parts = [part.replace("{url}", self._url) for part in shlex.split(self._command)]
        with self._output.open("ab") as output:
            self._process = await asyncio.create_subprocess_exec(
                *parts,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        process, came = self._process, self._came
        ended = asyncio.create_task(process.wait())
        ended.add_done_callback(lambda _: came.put_nowait((process, None)))

    async def _kill(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()

    def _how_it_is(self) -> str:
        """Return how its process ended and what it last wrote; empty while it runs."""
        if self._process is None or self._process.returncode is None:
            return ""
        lines = self._output.read_text(encoding="utf-8", errors="replace").split("\n")
        last = next((line for line in reversed(lines) if line.strip()), "nothing")[:200]
        return f"; its process ended, status {self._process.returncode}, and last wrote: {last}"

    async def _attend(self, inner: str, bot: WebSocketChannel, _request: object) -> None:
        """Take a connection of the bot, and note what comes until it ends."""
        server = await dial(inner, subprotocols=[bot.codec.subprotocol])
        self._bot, self._server = bot, server

        async def note(channel: WebSocketChannel, other: WebSocketChannel) -> None:
            try:
                while True:
                    self._came.put_nowait((channel, (await channel.receive()).content))
            except ChannelClosed as closed:
                self._came.put_nowait((channel, closed))
                await other.close(closed.code if closed.code in (1003, 1008, 1009) else 1000)

        await asyncio.gather(note(bot, server), note(server, bot))

    # --- what is said ---------------------------------------------------------------------------

    async def _tell(self, message: wire.Message | dict[str, Any]) -> None:
        """Send the bot a message."""
        if self._clause is Clause.BOT_FIELDS and isinstance(message, _MAY_GAIN_FIELDS):
            message = msgspec.to_builtins(message) | STRANGE
        if self._bot is not None:
            with suppress(ChannelClosed):
                await self._bot.send(cast("wire.Message", message))

    async def _pass_on(self, message: wire.Message) -> None:
        """Send the server a message of the bot."""
        if self._server is not None:
            with suppress(ChannelClosed):
                await self._server.send(message)

    async def _until(self, *kinds: Any, within_s: float) -> Any:
        """Pass messages on until one of a kind comes; one of the bot's then is not passed on.

        Raises:
            Surprise: it does not come, or the bot's connection or process ends first.
        """
        wanted = " or ".join(kind.__struct_config__.tag or "hello" for kind in kinds)
        try:
            async with asyncio.timeout(within_s):
                while True:
                    source, content = await self._came.get()
                    if source is self._process and self._bot is None:
                        raise Surprise(f"expected {wanted}{self._how_it_is()}")
                    if source is self._server and isinstance(content, wire.Message):
                        await self._from_server(content)
                    elif source is not self._bot:
                        continue
                    elif isinstance(content, ChannelClosed):
                        if self._process is not None:
                            with suppress(TimeoutError):
                                await asyncio.wait_for(self._process.wait(), ENDS_S)
                        raise Surprise(f"expected {wanted}; it is gone{self._how_it_is()}")
                    elif isinstance(content, PeerError):
                        clause = Clause.BOT_FRAMES if content.close else Clause.BOT_MESSAGES
                        self.report.fail(clause, f"it sent what can't be read: {content}")
                        raise Unmet
                    elif not isinstance(content, kinds):
                        await self._from_bot(cast("wire.Message", content))
                    if isinstance(content, kinds):
                        return content
        except TimeoutError:
            raise Surprise(f"expected {wanted} within {within_s:g} s; none came") from None

    async def _from_server(self, message: wire.Message) -> None:
        clause, fail = self._clause, self.report.fail
        match message:
            case wire.Error(code=code):
                blamed = _BLAMED.get(code, Clause.BOT_STATES)
                fail(blamed, f"it was answered {code}: {message.message}")
            case wire.GameOver(outcome="time") if clause is not Clause.BOT_LATE:
                fail(Clause.BOT_DEADLINE, f"it lost the game: {message.message}")
            case wire.GameOver(outcome="illegal"):
                fail(Clause.BOT_MOVES, f"it lost the game: {message.message}")
            case wire.Refused(attempt=1) if clause is Clause.BOT_REFUSED:
                pass  # which was our doing
            case wire.Refused(code="not_a_move"):
                fail(Clause.BOT_MOVES, f"it was refused a move: {message.message}")
        await self._tell(message)
        if clause is Clause.BOT_REPEATED and isinstance(message, wire.Played):
            await self._tell(message)

    async def _from_bot(self, message: wire.Message) -> None:
        match message:
            case wire.Pong(id=number):
                self._pongs.add(number)
            case wire.Error(code="unknown_type") if self._clause is Clause.BOT_TYPES:
                pass
            case wire.Error():
                self.report.fail(self._clause, f"it answered {message.code}: {message.message}")
            case _:
                await self._pass_on(message)

    # --- three games ----------------------------------------------------------------------------

    async def _begin(self) -> wire.YourTurn:
        """Let the bot in, and give it a game; return its first turn."""
        report = self.report
        with report.trying(Clause.BOT_HELLO):
            hello = await self._until(msgspec.Struct, within_s=START_S)
            if not isinstance(hello, wire.Hello) or hello.role != "player":
                raise Surprise(f"expected hello of a player; it began with {hello}")
            await self._pass_on(hello)
        with report.trying(Clause.BOT_SEEK):
            seek = await self._until(wire.Seek, within_s=START_S)
            await self._pass_on(replace(seek, opponent=OPPONENT, games=1, table=None))
        with report.trying(Clause.BOT_READY):
            ready = await self._until(wire.Ready, within_s=START_S)
            await self._pass_on(ready)
        if not ready.commitment:
            report.skip("it commits itself to no nonce", Clause.BOT_NONCES)
        with report.trying(Clause.BOT_NONCES if ready.commitment else Clause.BOT_READY):
            if ready.commitment:
                await self._pass_on(await self._until(wire.Reveal, within_s=PONG_S))
            turn: wire.YourTurn = await self._until(wire.YourTurn, within_s=PONG_S)
        self._has_begun = True
        return turn

    async def _answer(self, turn: wire.YourTurn, clause: Clause, attempt: int = 1) -> Answer:
        """Wait for the answer to a turn, and check its numbers; it is not passed on."""
        with self.report.trying(clause):
            answer = await self._until(*_ANSWERS, within_s=self._time_ms / 1_000 + PONG_S)
        with self.report.trying(clause if attempt > 1 else Clause.BOT_TURN):
            told = answer.game, answer.seq, getattr(answer, "attempt", attempt)
            if told != (turn.game, turn.seq, attempt):
                asked = f"seq {turn.seq} and attempt {attempt} of game {turn.game}"
                came = f"seq {told[1]} and attempt {told[2]} of game {told[0]}"
                raise Surprise(f"expected {asked}; there came {came}")
        return cast("Answer", answer)

    async def _next_turn(self, answer: Answer, clause: Clause) -> wire.YourTurn:
        """Pass an answer on, and those to refusals; return the next turn, in which we try this."""
        self._clause = clause
        if clause is Clause.BOT_TYPES:
            await self._tell({"type": "x_check"})
        await self._pass_on(answer)
        with self.report.trying(clause):
            return cast("wire.YourTurn", await self._unless_over(wire.YourTurn))

    async def _unless_over(self, kind: type) -> Any:
        """Wait for a message of the server; if the game ends before, what is to follow is off."""
        came = await self._until(kind, wire.GameOver, within_s=self._time_ms / 1_000 + PONG_S)
        if isinstance(came, wire.GameOver):
            self.report.fail(Clause.BOT_TURN, f"expected the game to go on: {came.message}")
            raise Unmet
        return came

    async def _whole(self) -> None:
        """Begin a game, have a move refused, lose the connection twice, and end it."""
        report, turn = self.report, await self._begin()
        await self._answer(turn, Clause.BOT_TURN)
        self._clause = Clause.BOT_REFUSED
        await self._pass_on(wire.Move(game=turn.game, seq=turn.seq, move="(no move)"))
        answer = await self._answer(turn, Clause.BOT_REFUSED, attempt=2)
        for clause in (Clause.BOT_FIELDS, Clause.BOT_REPEATED, Clause.BOT_TYPES):
            turn = await self._next_turn(answer, clause)
            answer = await self._answer(turn, clause)
        turn = await self._next_turn(answer, Clause.BOT_PINGS)
        await self._tell(_PING)
        answer = await self._answer(turn, Clause.BOT_TURN)
        with suppress(Unmet), report.trying(Clause.BOT_PINGS):
            if not self._pongs:
                self._pongs.add((await self._until(wire.Pong, within_s=PONG_S)).id)
            if self._pongs != {_PING.id}:
                raise Surprise(f"expected the id {_PING.id}; there came {self._pongs}")
        self._clause, self._opponent.holds = Clause.BOT_RESUMED, True
        await self._pass_on(answer)
        with report.trying(Clause.BOT_RESUMED):
            await self._unless_over(wire.Played)
            await self._come_back()
            self._opponent.go_on()
            turn = await self._until(wire.YourTurn, within_s=PONG_S)
        await self._answer(turn, Clause.BOT_TURN)
        with report.trying(Clause.BOT_REPEATS):
            await self._come_back()
            turn = await self._until(wire.YourTurn, within_s=PONG_S)
        answer = await self._answer(turn, Clause.BOT_REPEATS)
        self._opponent.resigns, self._clause = True, Clause.BOT_OVER
        await self._pass_on(answer)
        with report.trying(Clause.BOT_OVER):
            await self._until(wire.GameOver, within_s=self._time_ms / 1_000)
            await self._expect_no(wire.GameMessage, "no word about the game")
        report.met(
            *(Clause.BOT_STATES, Clause.BOT_MOVES, Clause.BOT_DEADLINE),
            *(Clause.BOT_FRAMES, Clause.BOT_MESSAGES),
        )

    async def _replaced(self) -> None:
        """Say that the bot is replaced, while it waits."""
        answer = await self._answer(await self._begin(), Clause.BOT_TURN)
        self._opponent.holds = True
        await self._pass_on(answer)
        with self.report.trying(Clause.BOT_REPLACED):
            await self._unless_over(wire.Played)
            await self._tell(wire.Goodbye(code="replaced", message="you logged in elsewhere"))
            await cast("WebSocketChannel", self._bot).close(1008, "replaced")
            await self._expect_no(wire.Hello, "no new connection")

    async def _late(self) -> None:
        """Keep the bot's answer back until the game is lost on time."""
        turn, self._clause = await self._begin(), Clause.BOT_LATE
        with self.report.trying(Clause.BOT_LATE):
            while not isinstance(
                await self._until(*_ANSWERS, wire.GameOver, within_s=PONG_S), wire.GameOver
            ):
                pass
            # Its answer may have crossed with the end.
            await self._expect_no(wire.GameMessage, "no word about the game", but_seq=turn.seq)

    async def _expect_no(self, kind: Any, what: str, but_seq: int = -1) -> None:
        """Wait a while in which the bot should say nothing of a kind; pass nothing on."""
        with suppress(TimeoutError):
            async with asyncio.timeout(QUIET_S):
                while True:
                    source, content = await self._came.get()
                    is_late = getattr(content, "seq", None) == but_seq
                    if source is self._bot and isinstance(content, kind) and not is_late:
                        raise Surprise(f"expected {what}; there came {shown(content)}")

    async def _come_back(self) -> None:
        """Lose the connection; wait until the bot is back in its game, started again if need be."""
        bot, self._bot, self._server = self._bot, None, None
        if bot is not None:
            bot.cut()
        starts = 0
        while True:
            try:
                if self._how_it_is():
                    await self._start()
                    starts += 1
                await self._pass_on(await self._until(wire.Hello, within_s=BACK_S))
                break
            except Surprise:
                if not self._how_it_is() or starts == MOST_STARTS:
                    raise
        back = await self._until(wire.Resume, wire.Seek, within_s=START_S)
        if isinstance(back, wire.Seek):
            raise Surprise("expected resume of the game in welcome.games; there came seek")
        await self._pass_on(back)
        await self._pass_on(await self._until(wire.Ready, within_s=START_S))
