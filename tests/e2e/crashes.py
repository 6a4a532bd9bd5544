"""Killing the host in mid-game, over and over, while remote bots play that reconnect.

``Ordeal`` runs a server and pairs of guests in the test's own process. Every guest keeps what was
acknowledged to it and compares what it is told after each restart; all that does not agree goes
into ``Ordeal.problems``. Guests, kills and the server's clocks all go by the machine's one
monotonic clock, so what a clock should show can be told to within the time that messages took.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from e2e.hosts import Hosts
from e2e.processes import SETTINGS, Server
from msgspec import UNSET, UnsetType, structs

from bot.seat.draw_audit import DrawsWitness
from engine.movegen.generator import legal_moves
from engine.notation.cgp import read_cgp
from engine.notation.move_text import format_move
from engine.rules.bag import DrawError
from engine.rules.moves import Place
from engine.rules.rules import Rules, standard_rules
from harness.arbiter.journal import Journal
from harness.arbiter.records import Ended, TurnRecord
from lexicons.alphabet import BLANK
from lexicons.store import Lexicon, load_lexicon
from protocol.channel import ChannelClosed, now_ms
from protocol.errors import PeerError
from protocol.messages import (
    Committed,
    Error,
    GameMessage,
    GameOver,
    Hello,
    Message,
    Move,
    NewGame,
    Played,
    Refused,
    Resume,
    Seek,
    Welcome,
    YourTurn,
)
from protocol.nonces import SeatNonce
from protocol.session import BotSession
from protocol.websocket import WebSocketChannel, dial

RETRY_S = 0.02
OPENING = f"{'/'.join(['15'] * 15)} AEINRST/ 0/0 0"
STEP_MS = 50
"""How often it is looked whether this process stands still."""


@dataclass(frozen=True)
class Restored:
    """What a clock showed after a restart, against what it showed when the host died."""

    kill: int
    thought_ms: int
    """How long the turn had taken since it was last asked for, as the guest saw it."""
    down_ms: int
    """From the death of the host until the guest was told of its clock."""
    above_ms: int
    """By how much the clock is above the truth, at the least: from the arrival of the question to
    the signal."""
    width_ms: int
    """It may be so much more: the question's way, and the time that the host took to die."""
    waited_ms: int
    """For how long the host, ready to run, waited for a core in that time: other programs' doing,
    and it can write nothing down then."""


@dataclass(frozen=True)
class _Question:
    """A turn that a guest was asked for."""

    turn: YourTurn
    at_ms: int
    """When it came; the clock ran since then at the latest."""
    floor_ms: int
    """When the guests said what the turn waited for; the clock ran since then at the earliest."""
    waited_ms: int
    """For how long the host had waited for a core by ``at_ms``."""


@dataclass
class Ordeal:
    """A server, its guests, and what went wrong.

    Args:
        folder: for the server's journal.
        pairs: games at once.
        seed: for moves, thinking times and kills.
        upgrades: whether the server ends in good order each time, for another version to go on.
    """

    folder: Path
    pairs: int = 2
    seed: int = 1
    upgrades: bool = False
    database: str | None = None
    """The URL of a database that three hosts share; None: one host with a file."""
    problems: list[str] = field(default_factory=list)
    restored: list[Restored] = field(default_factory=list)
    in_flight: Counter[str] = field(default_factory=Counter)
    """Moves that were on their way when the host died, by what had become of them."""
    kills: int = 0
    up_ms: list[int] = field(default_factory=list)
    """From each death of the host until it listened again."""
    back_ms: dict[int, int] = field(default_factory=dict)
    """From a death, by its number, until the last guest had its game again."""
    died_ms: tuple[int, int] = (0, 0)
    """Between which milliseconds the host died last."""
    stood_ms: int = 0
    """For how long this process, and so every guest, stood still at most."""

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.lexicon: Lexicon = load_lexicon()
        self.rules: Rules = standard_rules()
        games = f"max_games = {max(4, self.pairs)}"
        settings = SETTINGS.replace("max_games = 4", games)
        self.server: Server | Hosts = (
            Server(self.folder, "--drain", "0s", settings=settings)
            if self.database is None
            else Hosts(self.folder, self.database, settings)
        )
        self.hurry = False
        self.moves = asyncio.Event()
        """Set whenever a guest sends a move."""
        self.moved_ms: dict[tuple[str, int], int] = {}
        """When a move was sent, by game and number."""
        self.guests = [
            Guest(self, f"{pair}{mine}", f"{pair}{theirs}")
            for pair in range(self.pairs)
            for mine, theirs in ("ab", "ba")
        ]

    async def run(self, kills: int, measured: int = 0, thought_ms: int = 0) -> None:
        """Kill the server so many times, then let the games end, and read its journal.

        It kills up to four times as often until at least ``measured`` clocks were held against the
        truth, one of them after thought of ``thought_ms`` or more: whether a kill comes in the
        middle of a turn, and of a long one, is up to chance.
        """
        # Compiled before clocks run: guests and the lines to the database are in this process.
        legal_moves(read_cgp(OPENING, self.rules), self.lexicon, self.rules)
        if isinstance(self.server, Hosts):
            await self.server.open_lines()
        await asyncio.to_thread(self.server.start)
        try:
            async with asyncio.TaskGroup() as tasks:
                playing = [tasks.create_task(guest.play()) for guest in self.guests]
                watching = tasks.create_task(self._watch_itself())
                while self.kills < kills or (
                    self._lacks(measured, thought_ms) and self.kills < 4 * kills
                ):
                    await self._kill()
                    await asyncio.to_thread(self.server.start)
                    self.up_ms.append(now_ms() - self.died_ms[1])
                self.hurry = True
                await asyncio.gather(*playing)
                watching.cancel()
            self.server.terminate()
            status = await asyncio.to_thread(self.server.wait)
            if status != 0:
                self.problems.append(f"the server ended with status {status}: {self.server.said}")
        finally:
            self.server.close()
        self._audit()

    def _lacks(self, measured: int, thought_ms: int) -> bool:
        longest_ms = max((clock.thought_ms for clock in self.restored), default=0)
        return len(self.restored) < measured or longest_ms < thought_ms

    async def _kill(self) -> None:
        """Wait until all are at play, and a moment more, so that it is in mid-turn; kill."""
        await asyncio.gather(*(guest.at_play.wait() for guest in self.guests))
        if self.kills % 3 == 2:  # while a move is on its way
            self.moves.clear()
            await self.moves.wait()
            await asyncio.sleep(self.chance.uniform(0, 0.003))
        else:
            await asyncio.sleep(self.chance.uniform(0, 0.6))
        end = self.server.stop if self.upgrades else self.server.kill
        self.died_ms = await asyncio.to_thread(end)
        self.kills += 1
        for guest in self.guests:
            guest.at_play.clear()

    async def _watch_itself(self) -> None:
        while True:
            due_ms = now_ms() + STEP_MS
            await asyncio.sleep(STEP_MS / 1_000)
            self.stood_ms = max(self.stood_ms, now_ms() - due_ms)

    def _audit(self) -> None:
        """Hold the journal against what the guests were told."""
        journal = Journal(self.server.db)
        try:
            left, kept = journal.unfinished(), list(journal.finished())
        finally:
            journal.close()
        self.problems += [f"game {game.game} was not finished" for game in left]
        told = {game for guest in self.guests for game in guest.told}
        self.problems += [f"game {game} is lost" for game in told - {one.game for one in kept}]
        for game in kept:
            turns = [record for record in game.records if isinstance(record, TurnRecord)]
            ends = [record for record in game.records if isinstance(record, Ended)]
            if [turn.seq for turn in turns] != list(range(1, len(turns) + 1)) or len(ends) != 1:
                self.problems.append(f"game {game.game}: {turns} {ends}")
            if ends[0].outcome not in ("out", "zeroes"):
                self.problems.append(f"game {game.game} ended by {ends[0]}")
            for guest in self.guests:
                for play in guest.told.get(game.game, {}).values():
                    if not _agree(play, turns[play.seq - 1]):
                        self.problems.append(f"{guest.name} was told {play}, kept is {turns}")

    @property
    def games(self) -> int:
        """How many games were begun."""
        return len({game for guest in self.guests for game in guest.told})

    @property
    def plays(self) -> int:
        """How many plays guests were told of, each once."""
        return len(
            {
                (game, seq)
                for guest in self.guests
                for game in guest.told
                for seq in guest.told[game]
            }
        )


def _agree(told: Played, kept: TurnRecord) -> bool:
    """Tell whether a turn that a guest was told of is the one that was kept."""
    hidden = told.move.startswith("-") and told.rack is None  # the other's exchange
    return (told.seat, told.score, told.scores, told.clocks, hidden or told.move) == (
        *(kept.seat, kept.score, kept.scores, kept.clocks),
        hidden or kept.move,
    )


class Guest:
    """A remote bot that reconnects, and remembers whatever was acknowledged to it."""

    def __init__(self, ordeal: Ordeal, name: str, opponent: str) -> None:
        self.name = name
        self.told: dict[str, dict[int, Played]] = {}
        """Plays that it was told of, by game and number."""
        self.at_play = asyncio.Event()
        """Set when the server has told it something about a game since the last restart."""
        self._ordeal = ordeal
        self._opponent = opponent
        self._comes_by_address = name.endswith("b")
        """Whether it knows of no secret, as bots of version 1."""
        self._secret: str | UnsetType = UNSET if self._comes_by_address else ""
        self._session = BotSession()
        self._nonces: dict[str, SeatNonce] = {}
        self._witnesses: dict[str, DrawsWitness] = {}
        self._channel: WebSocketChannel | None = None
        self._game: str | None = None
        self._seat = 0
        self._question: _Question | None = None
        self._answers: dict[tuple[str, int], str] = {}
        self._answering: asyncio.Task[None] | None = None
        self._ready_ms = 0
        self._ready_after = ("", 0)
        """In which game, and after how many deaths, it was ready last: from then on its clock may
        run, though it loses the line."""
        self._resumed: NewGame | None = None
        self._kills_seen = 0
        self._done = False

    async def play(self) -> None:
        """Play games one after another until there is no more hurry to begin another."""
        while not self._done:
            try:
                self._channel = await dial(self._ordeal.server.url)
            except ChannelClosed:
                await asyncio.sleep(RETRY_S)
                continue
            try:
                await self._converse(self._channel)
            except ChannelClosed:
                pass
            finally:
                self._stop_answering()
                await self._channel.close()

    async def _converse(self, channel: WebSocketChannel) -> None:
        await channel.send(Hello(role="player", name=self.name, secret=self._secret))
        welcome, _ = await channel.receive()
        assert isinstance(welcome, Welcome), welcome
        if not self._comes_by_address:
            assert isinstance(welcome.secret, str), "it has no token"
            self._secret = welcome.secret
        if self._game is not None and self._game not in welcome.games:
            self._game = None  # it ended while the connection was lost
        if len(welcome.games) > 1:
            self._blame(f"is in the games {welcome.games} at once")
        if welcome.games:
            await self._say(Resume(game=welcome.games[0], seen=-1))
        else:
            await self._next_game()
        while not self._done:
            content, at_ms = await channel.receive()
            if isinstance(content, PeerError):
                raise content
            await self._hear(content, at_ms)

    async def _next_game(self) -> None:
        self._game = self._question = self._resumed = None
        if self._ordeal.hurry:
            self._done = True
            return
        assert self._channel is not None
        await self._channel.send(Seek(opponent=self._opponent))

    async def _say(self, message: GameMessage) -> None:
        assert self._channel is not None
        self._witness(message)
        await self._channel.send(self._session.send(message))

    def _blame(self, what: str) -> None:
        self._ordeal.problems.append(f"after kill {self._ordeal.kills}: {self.name} {what}")

    # --- what it is told ------------------------------------------------------------------------

    async def _hear(self, message: Message, at_ms: int) -> None:
        match message:
            case Error(code="unknown_game"):
                await self._next_game()
                return
            case Error(code="closing" | "host_error", game=None):
                return  # the host has lost the journal, and hangs up; then another one is dialled
            case Error():
                self._blame(f"got {message}")
                return
            case NewGame():
                self._take_up(message)
            case YourTurn():
                self._note_question(message, at_ms)
            case Refused():
                self._note_refusal(message, at_ms)
            case Played():
                self._note_play(message)
        if not hasattr(message, "game"):
            return
        event, replies = self._session.receive(message)
        assert self._channel is not None
        for reply in replies:
            await self._channel.send(reply)
        self._witness(message)
        match event:
            case NewGame(game=game) as offer:
                self._ready_ms = now_ms()
                self._ready_after = game, self._ordeal.kills
                nonce = self._nonces.setdefault(game, SeatNonce(game, self._seat))
                await self._say(nonce.ready(offer))
            case Committed() as both:
                await self._say(self._nonces[both.game].reveal(both))
            case YourTurn() as turn:
                self._answer_soon(turn, turn.attempt)
            case Refused(attempt=attempt):
                assert self._question is not None
                self._answer_soon(self._question.turn, attempt + 1)
            case GameOver() as over:
                self._check_draws(over)
                await self._next_game()
        if not isinstance(message, NewGame):
            self.at_play.set()

    def _witness(self, message: Message) -> None:
        if isinstance(message, NewGame):
            self._witnesses.setdefault(message.game, DrawsWitness(message))
        if witness := self._witnesses.get(getattr(message, "game", "")):
            witness.hear(message)

    def _check_draws(self, over: GameOver) -> None:
        try:
            chosen = self._witnesses[over.game].check(over)
        except DrawError as error:
            chosen = str(error)
        if chosen:
            self._blame(f"was not dealt as committed to: {chosen}")

    def _note_play(self, play: Played) -> None:
        known = self.told[play.game].setdefault(play.seq, play)
        if known != play:
            self._blame(f"was told {known} and then {play}")
        sent = self._answers.get((play.game, play.seq))
        if play.seat == self._seat and sent != play.move:
            self._blame(f"has played {sent}, and was told {play}")

    def _take_up(self, offer: NewGame) -> None:
        """Compare what is told about a game with all that was told before."""
        assert offer.you is not None
        self._game, self._seat = offer.game, offer.you
        known = self.told.setdefault(offer.game, {})
        if [play.seq for play in offer.history] != list(range(1, max(1, offer.seq))):
            self._blame(f"got a history with gaps: {offer}")
        acknowledged = set(known)
        lost = acknowledged - {play.seq for play in offer.history}
        if lost:
            self._blame(f"lost the acknowledged plays {sorted(lost)} of game {offer.game}")
        for play in offer.history:
            self._note_play(play)
        self._resumed = None
        if offer.clocks is not None and offer.seq > 0:
            ordeal = self._ordeal
            if ordeal.kills:
                ordeal.back_ms[ordeal.kills] = now_ms() - ordeal.died_ms[1]
            self._check_clocks(offer, offer.clocks)
            self._after_the_kill(offer, offer.clocks, acknowledged)

    # --- clocks ---------------------------------------------------------------------------------

    def _check_clocks(self, offer: NewGame, clocks: tuple[int, int]) -> None:
        """See that the clock of the side that waits stands as the last turn left it."""
        full = offer.time.initial_ms
        before = offer.history[-1].clocks if offer.history else (full, full)
        on_turn = (offer.seq - 1) % 2
        if clocks[1 - on_turn] != before[1 - on_turn]:
            self._blame(f"finds a clock at {clocks} that stood at {before}, event {offer.seq}")
        if on_turn == self._seat and self._ready_after != (offer.game, self._ordeal.kills):
            self._resumed = offer

    def _after_the_kill(
        self, offer: NewGame, clocks: tuple[int, int], acknowledged: set[int]
    ) -> None:
        """See what became of the turn that was asked for when the host died."""
        question = self._question
        if self._kills_seen == self._ordeal.kills or question is None:
            return
        self._kills_seen = self._ordeal.kills
        seq = question.turn.seq
        if question.turn.game != offer.game or seq in acknowledged:
            return
        if (offer.game, seq) in self._answers:
            self._ordeal.in_flight["kept" if seq < offer.seq else "not kept"] += 1
        if seq == offer.seq and question.at_ms <= self._ordeal.died_ms[1]:  # by who died, not after
            self._measure(question, clocks[self._seat])

    def _measure(self, question: _Question, restored_ms: int) -> None:
        """Hold a restored clock against what it showed when the host died."""
        signalled_ms, dead_ms = self._ordeal.died_ms
        thought_ms = signalled_ms - question.at_ms
        truth_ms = question.turn.clocks[self._seat] - thought_ms
        width_ms = question.at_ms - question.floor_ms + dead_ms - signalled_ms
        self._ordeal.restored.append(
            Restored(
                kill=self._ordeal.kills,
                thought_ms=thought_ms,
                down_ms=now_ms() - dead_ms,
                above_ms=restored_ms - truth_ms,
                width_ms=width_ms,
                waited_ms=self._ordeal.server.waited_ms - question.waited_ms,
            )
        )

    def _note_question(self, turn: YourTurn, at_ms: int) -> None:
        # The clock stood still until the guest was ready: neither the time down nor the time it
        # took to come back was charged.
        resumed = self._resumed
        if resumed is not None and (resumed.seq, resumed.clocks) != (turn.seq, turn.clocks):
            self._blame(f"was charged while away: {resumed}, then {turn}")
        self._resumed = None
        floor_ms = max(self._ready_ms, self._ordeal.moved_ms.get((turn.game, turn.seq - 1), 0))
        self._question = _Question(turn, at_ms, floor_ms, self._ordeal.server.kept_waiting_ms())

    def _note_refusal(self, refusal: Refused, at_ms: int) -> None:
        """Take the turn as asked for again: the clock stood while the refusal was written down."""
        assert self._question is not None
        turn = self._question.turn
        clocks = list(turn.clocks)
        clocks[self._seat] -= turn.deadline_ms - refusal.deadline_ms
        left = structs.replace(turn, clocks=(clocks[0], clocks[1]), deadline_ms=refusal.deadline_ms)
        sent_ms = self._ordeal.moved_ms[turn.game, turn.seq]
        self._question = _Question(left, at_ms, sent_ms, self._ordeal.server.kept_waiting_ms())

    # --- what it plays --------------------------------------------------------------------------

    def _answer_soon(self, turn: YourTurn, attempt: int) -> None:
        self._stop_answering()
        self._answering = asyncio.create_task(self._answer(turn, attempt))

    def _stop_answering(self) -> None:
        if self._answering is not None:
            self._answering.cancel()

    async def _answer(self, turn: YourTurn, attempt: int) -> None:
        ordeal = self._ordeal
        if not ordeal.hurry:
            longest = 0.06 if ordeal.chance.random() < 0.6 else 0.9
            await asyncio.sleep(ordeal.chance.uniform(0, longest))
        wrong = attempt == 1 and ordeal.chance.random() < 0.05
        text = "8D QQQQ" if wrong else self._choose(turn)
        if not wrong:
            self._answers[turn.game, turn.seq] = text
        ordeal.moved_ms[turn.game, turn.seq] = now_ms()
        ordeal.moves.set()
        try:
            await self._say(Move(game=turn.game, seq=turn.seq, move=text, attempt=attempt))
        except ChannelClosed:
            return  # it is asked again

    def _choose(self, turn: YourTurn) -> str:
        """Choose one of the moves that place the fewest tiles, so that games last."""
        ordeal, alphabet = self._ordeal, self._ordeal.rules.distribution.alphabet
        if turn.bag >= 7 and ordeal.chance.random() < 0.1:
            return f"-{turn.rack[:3]}"
        position = read_cgp(turn.position, ordeal.rules)
        plain = tuple(tile for tile in position.racks[0] if tile != BLANK)
        found = legal_moves(replace(position, racks=(plain, ())), ordeal.lexicon, ordeal.rules)
        places = [scored.move for scored in found if isinstance(scored.move, Place)]
        if not places:
            return "-"
        fewest = min(len(move.placed) for move in places)
        short = [move for move in places if len(move.placed) == fewest]
        return format_move(ordeal.chance.choice(short), alphabet)
