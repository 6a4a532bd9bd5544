"""One game of a bot: its player, its thread, and what it has to say.

``SeatGame`` takes what the arbiter says about the game, keeps the player told, and says what is to
be answered through the function that it is given. It outlives connections: a search goes on while
the connection is lost, and its answer goes out when the same turn is asked again.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace

import structlog

from bot.equipment import Resources
from bot.player import Believed, Budget, Choice, Considered, Player, View
from bot.players.static import static_choice
from bot.search.time_plan import LagSeen, plan, pondering
from engine.notation.move_text import format_move
from engine.rules.rules import Rules
from lexicons.alphabet import Alphabet
from protocol.channel import now_ms
from protocol.messages import (
    GameMessage,
    GameOver,
    Info,
    Move,
    NewGame,
    Played,
    Ready,
    Refused,
    Started,
    YourTurn,
)
from protocol.parts import MAX_LEAVES, Belief, Candidate, LeaveChance

from .player_thread import PlayerThread, think
from .player_view import Watched

__all__ = ["SeatGame", "info_about"]

log = structlog.get_logger(__name__)

NONCE_BYTES = 32
MAX_TEXT = 2_000
MAX_CANDIDATES = 25

REPORT_MS = 500
REPORTS = 50
"""What a player thinks so far is told every ``REPORT_MS``, and in a long turn about ``REPORTS``
times: arbiters keep only so many."""


class SeatGame:
    """A game that this bot has a seat in.

    Args:
        offer: the arbiter's.
        rules: what it is played by.
        resources: what it is played with.
        make_player: makes the player, afresh for this game.
        seed: for the player's chance.
        built_in: whether the player is built in, and may be overruled.
        say: takes what is to be sent; tells whether it may be said now.
        failed: told what the player's own code raised.
        clock: milliseconds, on the clock that arrivals are stamped with.
    """

    def __init__(
        self,
        offer: NewGame,
        rules: Rules,
        resources: Resources,
        make_player: Callable[[], Player],
        *,
        seed: int,
        built_in: bool,
        say: Callable[[GameMessage], bool],
        failed: Callable[[BaseException], None],
        clock: Callable[[], int] = now_ms,
    ) -> None:
        self.name = offer.game
        self.thread = PlayerThread(f"player of {offer.game}")
        self.watched = Watched(offer, rules, resources, seed)
        self._make_player = make_player
        self._player = Player()
        self._built_in = built_in
        self._say = say
        self._failed = failed
        self._clock = clock
        self._told = False
        self._search: asyncio.Task[None] | None = None
        self._turn: tuple[int, int] | None = None
        """What is being thought about: the number of the turn and of the try."""
        self._budget: Budget | None = None
        self._kept: list[GameMessage] = []
        """An answer that could not be given, since the arbiter has yet to ask again."""
        self._may_ponder = resources.ponder
        self._pondering: Budget | None = None
        self._lag = LagSeen()

    async def prepare(self, *, freeze: bool = False) -> None:
        """Make the player, compile, load, warm up: in the player's thread, before the first word.

        With ``freeze`` our kernels take no new types after it, since compiling one in mid-game
        would stop the game for seconds.

        Raises:
            Exception: whatever the player raises.
        """
        view = self.watched.view

        def work() -> None:
            self._player = self._make_player()
            import engine.movegen.generator  # noqa: F401 - registers what is to be warmed up
            from lexicons import jit

            jit.warm_up()
            self._player.warm_up(view.lexicon, view.rules)
            self._player.make_room(view)
            if self._built_in:
                static_choice(_with_some_rack(view))  # what is loaded when it is first wanted
            if freeze:
                jit.freeze()

        await asyncio.wrap_future(self.thread.submit(work))

    # --- what the arbiter says ------------------------------------------------------------------

    def offered(self, offer: NewGame) -> None:
        """Take the game up, for the first time or again, and say that the player is ready.

        Raises:
            MissedPlays: turns are missing in the offer.
        """
        self._stop_pondering()
        try:
            self.watched.take_up(offer)
        finally:
            self._tell()
        self._say(Ready(game=self.name, nonce=secrets.token_hex(NONCE_BYTES)))

    def started(self, message: Started) -> None:
        """The tiles are dealt."""
        self._stop_pondering()
        self.watched.started(message)
        self._tell()

    def played(self, message: Played) -> None:
        """A turn was taken.

        Raises:
            MissedPlays: an earlier turn was not told.
        """
        self._stop_pondering()
        self.watched.played(message)
        self._lag.played(message, self.watched.view.time.increment_ms)
        own_news = message.seat == self.watched.seat and bool(self.watched.news)
        self._tell()
        view = self.watched.view
        if own_news and self._may_ponder and not view.is_over:
            self._pondering = pondering(view, self._clock)
            self._run(self._player.ponder, view, self._pondering)

    def asked(self, message: YourTurn, at_ms: int, lag_ms: int) -> None:
        """The player is to move; the question came at ``at_ms``."""
        self._stop_pondering()
        self.watched.turn(message)
        self._lag.asked(message.seq, message.clocks[self.watched.seat], at_ms)
        self._think((message.seq, message.attempt), message.deadline_ms, at_ms, lag_ms)

    def refused(self, message: Refused, at_ms: int, lag_ms: int) -> None:
        """The move was against the rules; the player has to find another."""
        move = self.watched.refused(message)
        log.warning(
            "move refused", game=self.name, seq=message.seq, code=message.code, why=message.message
        )
        if move is not None:
            self._run(self._player.refused, self.watched.view, move, message.message)
        self._think((message.seq, message.attempt + 1), message.deadline_ms, at_ms, lag_ms)

    def over(self, message: GameOver) -> None:
        """The game has ended."""
        self._stop_pondering()
        self._drop_search()
        try:
            self._run(self._player.game_over, self.watched.view, self.watched.result(message))
        finally:
            self.thread.close()

    def abandon(self) -> None:
        """Nobody will say how it ended."""
        self._stop_pondering()
        self._drop_search()
        self.thread.close()

    # --- the player -----------------------------------------------------------------------------

    def _tell(self) -> None:
        """Tell the player that the game has begun, and each turn that was taken since."""
        watched = self.watched
        if not self._told and watched.opening is not None:
            self._told = True
            self._run(self._player.new_game, watched.opening)
        if watched.news:
            self._drop_search()  # what it was about has been decided
        for view, play in watched.news:
            self._run(self._player.observe, view, play)
        watched.news.clear()

    def _run(self, function: Callable[..., None], *args: object) -> None:
        """Have the player told something; nobody waits, but what it raises is not lost."""
        self.thread.submit(function, *args).add_done_callback(
            self._watch(asyncio.get_running_loop())
        )

    def _watch(self, loop: asyncio.AbstractEventLoop) -> Callable[[Future[None]], None]:
        def done(future: Future[None]) -> None:
            error = future.exception()
            if error is not None and not loop.is_closed():
                loop.call_soon_threadsafe(self._failed, error)

        return done

    # --- thinking -------------------------------------------------------------------------------

    def _think(self, turn: tuple[int, int], deadline_ms: int, at_ms: int, lag_ms: int) -> None:
        if self._turn == turn and (self._kept or self._search is not None):
            # Asked again after a lost connection: the search goes on, or is over.
            kept, self._kept = self._kept, []
            for message in kept:
                self._say(message)
            return
        self._drop_search()
        view = self.watched.view
        lag_ms = max(lag_ms, self._lag.ms)
        budget = plan(view, deadline_ms, asked_ms=at_ms, lag_ms=lag_ms, clock=self._clock)
        self._turn, self._budget = turn, budget
        self._search = asyncio.create_task(self._answer(turn, view, budget))
        self._search.add_done_callback(self._search_done)

    async def _answer(self, turn: tuple[int, int], view: View, budget: Budget) -> None:
        seq, attempt = turn
        began = self._clock()
        reports = asyncio.create_task(self._report(seq, view, budget))
        reports.add_done_callback(self._search_done)
        try:
            choice = await think(self._player, self.thread, view, budget, built_in=self._built_in)
        finally:
            reports.cancel()
        text = format_move(choice.move, view.rules.distribution.alphabet)
        self.watched.sent(seq, attempt, choice.move)
        answer: list[GameMessage] = [Move(game=self.name, seq=seq, move=text, attempt=attempt)]
        if choice.equity is not None or choice.text or choice.candidates or choice.belief:
            answer.insert(0, info_about(view, seq, choice))
        self._kept = [message for message in answer if not self._say(message)]
        ended = self._clock()
        self._lag.answered(ended)
        log.debug("move", game=self.name, seq=seq, move=text, took_ms=ended - began)

    async def _report(self, seq: int, view: View, budget: Budget) -> None:
        """Say every now and then what the player thinks so far, if it says so and it is news."""
        began = self._clock()
        told: Choice | None = None
        while True:
            every_ms = max(REPORT_MS, (budget.stretch_ms - began) // REPORTS)
            await asyncio.sleep(every_ms / 1_000)
            best = budget.best
            if best is not None and best is not told and best.candidates:
                told = best
                # What it believes goes out once, with the move: the arbiter keeps it all.
                self._say(info_about(view, seq, replace(best, belief=None)))

    def _search_done(self, search: asyncio.Task[None]) -> None:
        error = None if search.cancelled() else search.exception()
        if error is not None:
            self._failed(error)

    def _drop_search(self) -> None:
        if self._budget is not None:
            self._budget.cancel()
        if self._search is not None:
            self._search.cancel()
        self._search = self._turn = self._budget = None
        self._kept = []

    def _stop_pondering(self) -> None:
        """Something has happened in the game: the opponent's time is over."""
        if self._pondering is not None:
            self._pondering.cancel()
            self._pondering = None


def _with_some_rack(view: View) -> View:
    """Put tiles on the rack of a game that has not begun."""
    rules = view.rules
    rack = rules.distribution.all_tiles()[-rules.rack_size :]
    racks = (rack, ()) if view.seat == 0 else ((), rack)
    return replace(view, position=replace(view.position, racks=racks))


def info_about(view: View, seq: int, choice: Choice) -> Info:
    """Say what a player thinks; of the moves that it has looked at the first."""
    considered = choice.candidates[:MAX_CANDIDATES] or (
        Considered(choice.move, score=choice.score, equity=choice.equity),
    )
    believed, alphabet = choice.belief, view.rules.distribution.alphabet
    return Info(
        game=view.game,
        seq=seq,
        text=choice.text[:MAX_TEXT] if choice.text else None,
        candidates=tuple(_candidate(one, view) for one in considered),
        belief=None if believed is None else _belief(believed, alphabet),
    )


def _candidate(considered: Considered, view: View) -> Candidate:
    return Candidate(
        move=format_move(considered.move, view.rules.distribution.alphabet),
        score=considered.score,
        equity=considered.equity,
        equity_error=considered.equity_error,
        win=None if considered.win is None else _chance(considered.win),
        win_error=considered.win_error,
        samples=considered.samples,
    )


def _belief(believed: Believed, alphabet: Alphabet) -> Belief:
    return Belief(
        leaves_considered=int(believed.considered),
        leaves_surviving=int(believed.surviving),
        top=tuple(
            LeaveChance(leave=alphabet.text(leave), prior=_chance(prior), posterior=_chance(now))
            for leave, prior, now in believed.top[:MAX_LEAVES]
        ),
        mass_top10=_chance(believed.mass_top10),
        entropy_prior=_measure(believed.entropy_prior),
        entropy=_measure(believed.entropy),
        unseen=_chance(believed.unseen),
        effective=_measure(believed.effective),
        tiles={alphabet.tile_text(at): _chance(one) for at, one in enumerate(believed.tiles)},
        bingo=None if believed.bingo is None else _chance(believed.bingo),
        seconds=_measure(believed.seconds),
        note=believed.note[:MAX_TEXT] or None,
        style={name: _chance(odds) for name, odds in believed.style.items()},
    )


def _chance(number: float) -> float:
    """Round a chance into its bounds; numpy's numbers become plain ones."""
    return float(min(max(number, 0.0), 1.0))


def _measure(number: float) -> float:
    return float(max(number, 0.0))
