"""Try the clauses of a server: as a player, on several connections, in three games."""

from __future__ import annotations

import asyncio
import ssl
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from typing import Any, TypeVar, cast

from harness.lab.conformance.clauses import Clause, Report, Surprise, Unmet, shown
from harness.lab.conformance.followed import SLACK_MS, Followed
from protocol import messages as wire
from protocol.channel import ChannelClosed, now_ms
from protocol.codec import CODECS, JSON, MAX_FRAME, MSGPACK
from protocol.errors import PeerError
from protocol.parts import Role
from protocol.session import FromArbiter
from protocol.websocket import WebSocketChannel, dial

M = TypeVar("M", bound=wire.Message)

PATIENCE_S = 10.0
"""How long an answer may take."""
OPPONENT_S = 60.0
"""How long the opponent may take for a move, or to get ready."""
LONGEST_GAME_S = 300.0
"""After this we resign a game that is to be played to its end."""
LONGEST_TURN_MS = 20_000
"""The longest turn that we let pass to see the game lost on time."""
WAIT_S = 0.3
"""How long our first turn takes, so that its cost shows."""
LARGE_ID = 2**40
"""The number of a ping, which takes more than 32 bits."""
STRANGE: dict[str, Any] = {"x_check": ["x" * 8_000]}
"""A field that nobody knows."""

_REFUSALS: tuple[tuple[Clause, wire.Message | Mapping[str, Any], str], ...] = (
    (Clause.TYPES, {"type": "x_check"}, "unknown_type"),
    (Clause.MESSAGES, {"type": "seek", "games": "several"}, "bad_message"),
    (Clause.ROLES, wire.Welcome(name="x_check"), "wrong_role"),
    (Clause.UNKNOWN_GAME, wire.Move(game="x_check", seq=1, move="-"), "unknown_game"),
)
"""What is refused outside games, and by what code."""

_ALONG = (
    *(Clause.EVENTS, Clause.TURN, Clause.PLAYED, Clause.POSITION),
    *(Clause.CLOCKS, Clause.CHARGED, Clause.DEADLINE),
)
"""What is looked at in all messages of a game."""


class Line:
    """One connection to the server."""

    def __init__(self, channel: WebSocketChannel) -> None:
        self.channel = channel
        self.game: Followed | None = None
        """The game that is followed on this connection."""
        self.at_ms = 0
        """When the last message came."""
        self._passed_over: deque[wire.Message] = deque()
        """Messages that came before one that ``expect`` waited for."""

    async def say(self, message: wire.Message | Mapping[str, Any]) -> None:
        """Send a message, or any map."""
        with suppress(ChannelClosed):  # which shows when the answer is waited for
            await self.channel.send(cast("wire.Message", message))

    async def play(self, message: wire.GameMessage) -> None:
        """Send a message of the game that is followed."""
        assert self.game is not None
        await self.say(cast("wire.Message", self.game.say(message)))

    async def receive(self, within_s: float = 0) -> wire.Message:
        """Wait for the next message, by default for ``PATIENCE_S``, and pass it to ``game``.

        Raises:
            Surprise: none came in time, it can't be read, or its game does not allow it now.
        """
        if self._passed_over:
            return self._passed_over.popleft()
        within_s = within_s or PATIENCE_S
        try:
            async with asyncio.timeout(within_s):
                content, self.at_ms = await self.channel.receive()
        except TimeoutError:
            raise Surprise(f"nothing came within {within_s:g} s") from None
        if isinstance(content, PeerError):
            raise Surprise(f"a message came that can't be read: {content}")
        if isinstance(content, wire.Ping):
            await self.say(wire.Pong(id=content.id))
            return await self.receive(within_s)
        if self.game and isinstance(content, FromArbiter):
            self.game.hear(content)
        return content

    async def expect(
        self,
        kind: type[M],
        suits: Callable[[M], bool] = lambda _: True,
        *,
        within_s: float = 0,
        keep: bool = False,
    ) -> M:
        """Return the next message, which is to be of a kind; ``seeking`` may come before it.

        With ``keep`` any other may come before it, and is received again afterwards.
        """
        wanted = f"expected {kind.__struct_config__.tag}; "
        passed_over: list[wire.Message] = []
        try:
            while True:
                try:
                    message = await self.receive(within_s)
                except Surprise as error:
                    raise Surprise(f"{wanted}{error}") from None
                if isinstance(message, kind) and suits(message):
                    return message
                if keep:
                    passed_over.append(message)
                elif not isinstance(message, wire.Seeking):
                    raise Surprise(f"{wanted}there came {shown(message)}")
        finally:
            self._passed_over.extendleft(reversed(passed_over))

    async def error(self, code: str, close: int | None = None) -> None:
        """Wait for an error and, if it closes the connection, for that."""
        answer = await self.expect(wire.Error, keep=True)
        if answer.code != code:
            raise Surprise(f"expected the error {code}; there came {shown(answer)}")
        if close is not None:
            await self.closed(close)

    async def closed(self, code: int) -> None:
        """Wait for the server to close the connection."""
        try:
            while True:
                await self.receive()
        except Surprise as error:
            raise Surprise(f"expected a close with {code}; {error}") from None
        except ChannelClosed as closed:
            if closed.code != code:
                raise Surprise(f"expected a close with {code}; there came {closed.code}") from None


@dataclass(eq=False)
class ServerCheck:
    """One run of the kit against one server, as a player of a name."""

    url: str
    report: Report
    _: KW_ONLY
    name: str = "conformance"
    opponent: str | None = None
    """None: one of its bots."""
    token: str | None = None
    tls: ssl.SSLContext | None = None
    _secret: str = ""
    _bots: tuple[str, ...] = ()
    _games_on: tuple[str, ...] = ()
    """What the last welcome had."""

    async def run(self) -> None:
        """Try all clauses, one after another.

        Raises:
            ChannelClosed: nobody answers at the address.
        """
        await (await self._dial()).channel.close()
        for step in (
            self._try_openings,
            self._try_refusals,
            self._try_limits,
            self._try_two_logins,
            self._try_games,
        ):
            with suppress(Unmet):
                await step()

    async def _dial(self, *subprotocols: str) -> Line:
        """Open a connection, by default with both codings on offer."""
        offered = subprotocols or tuple(CODECS)
        return Line(await dial(self.url, token=self.token, tls=self.tls, subprotocols=offered))

    async def _login(self, *subprotocols: str, role: Role = "player", **more: object) -> Line:
        """Open a connection and say hello; raise Unmet if only others may come."""
        line, is_player = await self._dial(*subprotocols), role == "player"
        secret = {"secret": self._secret} if is_player else {}
        await line.say({"type": "hello", "role": role, "name": self.name} | secret | more)
        answer = await line.receive()
        if isinstance(answer, wire.Error) and answer.code in ("forbidden", "banned"):
            why = f"{self.name} is turned away ({answer.message}); see --name and --token-file"
            self.report.skip(why, *self.report.untried())
            raise Unmet
        if not isinstance(answer, wire.Welcome):
            raise Surprise(f"expected welcome; there came {shown(answer)}")
        if is_player:
            self._bots, self._games_on = answer.bots, answer.games
            self._secret = answer.secret or self._secret
        return line

    # --- outside games --------------------------------------------------------------------------

    async def _try_openings(self) -> None:
        """Choose a coding, and say hello well and badly."""
        trying = self.report.trying
        for first, second in ((JSON, MSGPACK), (MSGPACK, JSON)):
            with trying(Clause.SUBPROTOCOL):
                line = await self._dial(first.subprotocol, second.subprotocol)
                if (took := line.channel.codec) is not first:
                    first_came = f"{first.subprotocol}, which came first"
                    raise Surprise(f"expected {first_came}; it took {took.subprotocol}")
                await line.channel.close()
        with suppress(Unmet), trying(Clause.NO_HELLO):
            line = await self._dial()
            await line.say(wire.Seek())
            await line.error("no_hello", 1008)
        with suppress(Unmet), trying(Clause.VERSION):
            line = await self._dial()
            await line.say(wire.Hello(role="player", name=self.name, protocol=2))
            await line.error("bad_version", 1008)
        with trying(Clause.HELLO):
            await (await self._login()).channel.close()

    async def _try_refusals(self) -> None:
        """Send what a server ignores or refuses, in both codings."""
        trying = self.report.trying
        for subprotocol in CODECS:
            with trying(Clause.FIELDS):
                line = await self._login(subprotocol, **STRANGE)
            seek_itself = (Clause.OPPONENT, wire.Seek(opponent=self.name), "bad_opponent")
            for clause, message, code in (*_REFUSALS, seek_itself):
                with suppress(Unmet), trying(clause):
                    await line.say(message)
                    await line.error(code)
            with suppress(Unmet), trying(Clause.MESSAGES):
                unreadable = b"\xc1" if line.channel.codec is MSGPACK else "{"
                await line.channel.send_frame(unreadable)
                await line.error("bad_frame")
            with suppress(Unmet), trying(Clause.PINGS):
                await line.say(wire.Ping(id=LARGE_ID))
                await line.expect(wire.Pong, lambda pong: pong.id == LARGE_ID)
            await line.channel.close()

    async def _try_limits(self) -> None:
        """Send what is too much, and what is just not."""
        trying = self.report.trying
        with suppress(Unmet), trying(Clause.FRAMES):
            line = await self._login(MSGPACK.subprotocol)
            await line.channel.send_frame('{"type": "ping", "id": 1}')
            async with asyncio.timeout(PATIENCE_S):
                answer = JSON.decode(await line.channel.receive_frame())
            if not isinstance(answer, wire.Error) or answer.code != "bad_frame":
                raise Surprise(f"expected the error bad_frame; there came {shown(answer)}")
            await line.closed(1003)
        with suppress(Unmet), trying(Clause.LARGE):
            line = await self._login()
            await line.say({"type": "ping", "id": 1, "x_check": [STRANGE] * 30})
            await line.expect(wire.Pong)
        with suppress(Unmet), trying(Clause.TOO_LARGE):
            line = await self._login()
            await line.channel.send_frame(bytes(MAX_FRAME + 1))
            await line.closed(1009)
        with suppress(Unmet), trying(Clause.ERRORS):
            line = await self._login()
            for _ in range(20):
                await line.say({"type": "x_check"})
                await line.error("unknown_type")
            await line.closed(1008)

    async def _try_two_logins(self) -> None:
        """Log in twice."""
        with self.report.trying(Clause.REPLACED):
            older, newer = await self._login(), await self._login()
            await older.expect(wire.Goodbye, lambda goodbye: goodbye.code == "replaced")
            await older.closed(1008)
            await newer.channel.close()

    # --- games ----------------------------------------------------------------------------------

    async def _try_games(self) -> None:
        """Play a game to its end, resign one, and lose one on time."""
        report, bots = self.report, self._bots
        opponent = self.opponent or ("greedy" if "greedy" in bots else next(iter(bots), None))
        if opponent is None:
            report.skip("it offers no bot; name an opponent by --opponent", *report.untried())
            return
        await self._play(*await self._begin(opponent))
        turn_ms = await self._resign(*await self._begin(opponent))
        if turn_ms > LONGEST_TURN_MS:
            why = f"a turn may take {turn_ms / 1_000:g} s there; give it a clock of seconds"
            report.skip(why, Clause.LATE)
        else:
            await self._lose(*await self._begin(opponent))

    async def _begin(self, opponent: str) -> tuple[Line, Followed]:
        """Seek a game, and get ready; return when it has started."""
        trying = self.report.trying
        with trying(Clause.SEEK):
            line = await self._login()
            await line.say(wire.Seek(opponent=opponent))
            seeking = await line.expect(wire.Seeking)
            if why := seeking.absent or seeking.held_back:
                self.report.skip(f"no game began: {why}", *self.report.untried())
                raise Unmet
            offer = await line.expect(wire.NewGame)
        with trying(Clause.OFFER):
            if offer.seq or offer.you is None or offer.players[offer.you] != self.name:
                raise Surprise(f"expected an offer of event 0 with our seat: {shown(offer)}")
            try:
                game = line.game = Followed(self.report, offer)
            except ValueError as error:
                raise Surprise(f"its rules can't be played: {error}") from None
            game.hear(offer)
        if offer.commitment is None:
            self.report.skip("it commits itself to nothing", Clause.NONCES)
        with trying(Clause.OFFER if offer.commitment is None else Clause.NONCES):
            ready = game.nonce.ready(offer)
            await line.play(ready)
            if ready.commitment:
                await line.play(game.nonce.reveal(await line.expect(wire.Committed)))
            await line.expect(wire.Started, within_s=OPPONENT_S)
        return line, game

    async def _turn(self, line: Line) -> wire.YourTurn | None:
        """Wait until we are to move; None: the game is over."""
        with self.report.trying(Clause.EVENTS):
            while not isinstance(message := await line.receive(OPPONENT_S), wire.YourTurn):
                if isinstance(message, wire.GameOver):
                    return None
        return message

    async def _play(self, line: Line, game: Followed) -> None:
        """Play a game to its end: with faults in our first turn, a lost connection in the next."""
        report, ends_ms, steps = self.report, now_ms() + LONGEST_GAME_S * 1_000, [self._come_back]
        steps.append(self._err)
        while (turn := await self._turn(line)) is not None:
            if steps:
                line = await steps.pop()(line, game, turn)
            elif now_ms() > ends_ms:
                why = f"the game took longer than {LONGEST_GAME_S:g} s"
                report.skip(why, Clause.RESULT, Clause.DRAWS)
                await line.play(wire.Resign(game=turn.game, seq=turn.seq))
            else:
                await line.play(wire.Move(game=turn.game, seq=turn.seq, move=game.good_move()))
        report.met(*_ALONG)
        await line.channel.close()

    async def _err(self, line: Line, game: Followed, turn: wire.YourTurn) -> Line:
        """Answer a turn late, with faults and thoughts; and again once it is played."""
        trying, asked_ms, move = self.report.trying, line.at_ms, None
        with suppress(Unmet), trying(Clause.NUMBERS):
            await line.say(wire.Move(game=turn.game, seq=turn.seq + 1, move="-"))
            await line.error("bad_seq")
            await line.say(wire.Move(game=turn.game, seq=turn.seq, attempt=2, move="-"))
            await line.error("bad_attempt")
        with suppress(Unmet), trying(Clause.THOUGHTS):
            await line.play(wire.Info(game=turn.game, seq=turn.seq, text="This is the kit."))
            sent_ms = now_ms()
            await line.say(wire.Ping(id=turn.seq))
            await line.expect(wire.Pong)
            game.slack_ms = SLACK_MS + line.at_ms - sent_ms
        await asyncio.sleep(WAIT_S)
        with trying(Clause.REFUSED):
            for attempt, bad in enumerate(game.bad_moves(), start=1):
                move = wire.Move(game=turn.game, seq=turn.seq, attempt=attempt, move=bad)
                await line.play(move)
                told = await line.expect(wire.Refused)
                if (told.seq, told.attempt, told.attempts_left) != (turn.seq, attempt, 3 - attempt):
                    left = f"attempt {attempt}, of which {3 - attempt} are left"
                    raise Surprise(f"expected the refusal of {left}; there came {shown(told)}")
            move = wire.Move(game=turn.game, seq=turn.seq, attempt=3, move=game.good_move())
            game.took_ms = now_ms() - asked_ms
            await line.play(move)
            first = await line.expect(wire.Played)
        with trying(Clause.REPEATED):
            await line.say(move)
            again = await line.expect(
                wire.Played, lambda play: play.seq == first.seq, keep=True, within_s=OPPONENT_S
            )
            if again != first:
                raise Surprise(f"expected {shown(first)} again; there came {shown(again)}")
        return line

    async def _come_back(self, line: Line, game: Followed, turn: wire.YourTurn) -> Line:
        """Lose the connection in our turn, come back, and answer the turn."""
        trying, plays = self.report.trying, game.plays[:]
        move = wire.Move(game=turn.game, seq=turn.seq, move=game.good_move())
        line.channel.cut()
        with trying(Clause.RESUMED):
            line = await self._login()
            if turn.game not in self._games_on:
                listed = list(self._games_on)
                raise Surprise(f"expected {turn.game} in welcome.games; there came {listed}")
        with suppress(Unmet), trying(Clause.NOT_RESUMED):
            await line.say(move)
            await line.error("out_of_turn")
        line.game = game
        with trying(Clause.RESUMED):
            await line.play(wire.Resume(game=turn.game, seen=0))
            offer = await line.expect(wire.NewGame)
            if (offer.seq, offer.rack, list(offer.history)) != (turn.seq, turn.rack, plays):
                expected = f"seq {turn.seq}, the rack {turn.rack} and plays 1 to {len(plays)}"
                raise Surprise(f"expected {expected} as before; there came {shown(offer)}")
            await line.play(game.nonce.ready(offer))
            await line.expect(
                wire.YourTurn, lambda it: (it.seq, it.attempt) == (turn.seq, turn.attempt)
            )
        await line.play(move)
        return line

    async def _resign(self, line: Line, game: Followed) -> int:
        """Resign in our first turn, before a spectator's eyes; return how long it may take."""
        trying, turn = self.report.trying, await self._turn(line)
        assert turn is not None, "nobody ends a game before it has begun"
        with suppress(Unmet), trying(Clause.SPECTATORS):
            watcher = await self._login(role="spectator")
            await watcher.say(wire.Games())
            listed = await watcher.expect(wire.GameList)
            if all(each.game != turn.game for each in listed.games):
                raise Surprise(f"expected {turn.game} in game_list; there came {shown(listed)}")
            await watcher.say(wire.Watch(game=turn.game))
            offer = await watcher.expect(wire.NewGame)
            if offer.you is not None or any([offer.rack, *(it.rack for it in offer.history)]):
                raise Surprise(f"expected no seat and no racks; there came {shown(offer)}")
            await watcher.channel.close()
        with trying(Clause.RESIGNED):
            await line.play(wire.Resign(game=turn.game, seq=turn.seq))
            await self._over(line, game, "resign")
        return turn.deadline_ms

    async def _lose(self, line: Line, game: Followed) -> None:
        """Let the deadline pass."""
        turn, asked_ms = await self._turn(line), line.at_ms
        assert turn is not None, "nobody ends a game before it has begun"
        with self.report.trying(Clause.LATE):
            most_ms = turn.deadline_ms + game.offer.time.lag_ms
            await self._over(line, game, "time", most_ms / 1_000 + PATIENCE_S)
            if (took_ms := line.at_ms - asked_ms) < turn.deadline_ms - SLACK_MS:
                raise Surprise(f"expected {turn.deadline_ms} ms; the end came after {took_ms} ms")

    async def _over(self, line: Line, game: Followed, outcome: str, within_s: float = 0) -> None:
        """Wait for the end of a game that the opponent has won."""
        over = await line.expect(wire.GameOver, within_s=within_s)
        if (over.outcome, over.winner) != (outcome, 1 - game.me):
            told = f"the outcome {outcome} and the opponent as winner"
            raise Surprise(f"expected {told}; there came {shown(over)}")
        await line.channel.close()
