"""Playing for somebody else's host: ``tilewire connect`` and ``tilewire files``."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from msgspec import UNSET

from bot.equipment import Equipment
from bot.registry import SeatError, SeatSpec, create_player, known_bots, load_factory
from bot.seat.author_errors import in_words
from bot.seat.connection import BotRunner, TurnedAway
from bot.seat.draw_audit import DrawsWitness
from bot.seat.runtime import log_to_stderr
from bot.seat.worker_main import TOKEN, live
from bot.seat_text import parse_seat
from engine.rules.bag import DrawError
from harness.arbiter.records import charged_seat, result_text
from harness.figures import counted, plain
from harness.matches.report import table_text
from harness.matches.results import GameResult, SeatResult, counted_challenges
from harness.matches.statistics import as_json_object, match_statistics
from harness.seats.engines.files import BOT_FILE, HOST_FILE, FileExchange
from harness.seats.engines.files_host import FilesHost
from harness.seats.seat_factory import SeatMaker, open_remote
from harness.seats.seats import greeted
from harness.server.relay import PLAYED, Relay
from lexicons.store import lexicon_names
from protocol.channel import Channel, ChannelClosed
from protocol.errors import PeerError
from protocol.messages import (
    Decline,
    Error,
    GameOver,
    Goodbye,
    Message,
    NewGame,
    Ping,
    Played,
    Pong,
    Seek,
    Seeking,
    Welcome,
)
from protocol.parts import WITHDRAWN
from protocol.websocket import dial

from . import options
from .asking import read_token
from .failing import CommandFailed, print_json, sentences
from .preparing import prepare


def connect(
    url: str,
    /,
    *,
    bot: options.BotOption,
    name: str | None = None,
    opponent: str | None = None,
    wait: Annotated[bool, Parameter(negative="")] = False,
    table: str | None = None,
    rules: options.RulesOption = "english",
    games: options.GamesOption = 1,
    token_file: Path | None = None,
    ca: Path | None = None,
    tables: options.TableOptions = options.TableOptions(),
    threads: options.ThreadsOption = 1,
    ponder: options.PonderOption = False,
    seed: options.BotSeedOption | None = None,
    json_: options.JsonOption = False,
    verbose: options.VerboseOption = False,
) -> None:
    """Join somebody's server as a player, and print the results.

    Args:
        url: The server, ws://host:port or wss://host:port.
        name: The bot's name on the server. [default: its own; of a built-in one my-BOT]
        opponent: Whom to play against. [default: anyone]
        wait: Wait for an opponent that isn't there yet.
        table: The table to play at, of a server that has several, or a ladder. [default: its first]
        token_file: A file with the token of that name. [default: $TILEWIRE_TOKEN, if set]
        ca: Certificates (PEM) to trust for wss, instead of the system's.
        json_: End with one JSON object on the last line.
    """
    log_to_stderr("info" if verbose else "error")
    with sentences():
        spec = parse_seat(bot)
        if spec.kind in ("engine", "guest"):
            load_factory(spec)  # fails, and says why
        if spec.built_in and spec.options:
            create_player(spec)  # a wrong value is told before an opponent waits for it
    tls = options.client_tls(url, ca)
    token = os.environ.pop(TOKEN, None)  # hidden from the player's code
    if token_file is not None:
        token = read_token(token_file)
    options.warn_of_readers(url, token)
    equipment = None
    if spec.kind != "remote":
        if ponder:
            options.check_pondering(1, threads, "--threads")
        equipment = tables.for_rules(options.load_rule_set(rules)).equipment(
            threads, ponder=ponder, rules=rules
        )
        if equipment.lexicon not in lexicon_names() or tables.leaves or tables.winprob:
            options.load_equipped(equipment)  # what is embedded is known to be sound
        prepare([("", spec.name, spec)], equipment)  # before it asks for a game
    elif (rules, tables, threads) != ("english", options.TableOptions(), 1) or (
        ponder or seed is not None
    ):
        raise CommandFailed(
            f"{spec.text} is elsewhere and has words and tables of its own: leave out --rules, "
            "--lexicon, --leaves, --winprob, --threads, --ponder and --seed"
        )
    wish = Seek(opponent=opponent, games=games, table=table)
    # A server's own bots have the known names.
    name_there = name or (f"my-{spec.name}" if spec.name in known_bots() else spec.name)
    lexicon = None if equipment is None else equipment.lexicon
    played = _Games(name_there, games, wait, lexicon, table)

    async def join() -> Channel:
        return await dial(url, token=token, tls=tls)

    try:
        with _failing(spec, played.name, has_token=bool(token), is_named=bool(name)):
            if equipment is None:
                options.run(_relay(join, spec, played.name, wish, played))
            else:
                options.run(_play(join, spec, equipment, played.name, wish, seed, played))
    finally:
        played.show(as_json=json_)
    if played.misdealt:
        misdealt = counted(played.misdealt, "game")
        raise CommandFailed(f"{misdealt} not dealt as {url} had committed to", status=1)


@contextmanager
def _failing(spec: SeatSpec, name: str, *, has_token: bool, is_named: bool) -> Iterator[None]:
    """Turn what ends a bot's games too early into a failure of the command."""
    try:
        yield
    except CommandFailed:
        raise
    except SeatError as error:
        raise CommandFailed(str(error)) from None
    except TurnedAway as away:
        hint = ""
        if away.code == "forbidden" and not has_token and "token" in str(away):
            hint = "; give it by --token-file"
        elif away.code == "forbidden" and not has_token:
            hint = "; choose another --name"
        elif away.code == "forbidden" and not is_named:
            hint = "; give the name of the token's owner by --name"
        raise CommandFailed(f"{plain(str(away))}{hint}", status=1) from None
    except ChannelClosed as closed:
        raise CommandFailed(plain(str(closed)), status=1) from None
    except Exception as error:
        if spec.kind == "remote" or spec.built_in:
            raise
        raise CommandFailed(f"{name}: {in_words(error)}", status=1) from None


async def _play(
    join: Callable[[], Awaitable[Channel]],
    spec: SeatSpec,
    equipment: Equipment,
    name: str,
    wish: Seek,
    seed: int | None,
    played: _Games,
) -> None:
    """Have a bot of this machine play, over connections that may be lost."""

    def lost(why: str) -> None:
        options.say(f"{plain(why)}; connecting again")

    async def talk(runner: BotRunner) -> str:
        return await runner.run(join, lost=lost)

    await live(spec, equipment, talk, name=name, seed=seed, seek=wish, hear=played.hear)


async def _relay(
    join: Callable[[], Awaitable[Channel]], spec: SeatSpec, name: str, wish: Seek, played: _Games
) -> None:
    """Pass messages between a bot elsewhere and a server elsewhere."""
    ours, server = await open_remote(spec), None
    try:
        server = await greeted(await join(), "player", name)
        await server.send(wish)
        is_noted = False
        while not is_noted:
            match (await server.receive()).content:
                case Seeking() as seeking:
                    played.hear(seeking)
                    is_noted = True
                case Ping(id=number):
                    await server.send(Pong(id=number))
                case Error() | PeerError() as refusal:
                    why = refusal.message if isinstance(refusal, Error) else str(refusal)
                    raise TurnedAway(f"{server.peer}: {why}")
    except BaseException:
        await ours.close()
        if server is not None:
            await server.close()
        raise
    if (why := await Relay(server, ours, wish.games, played.hear).run()) != PLAYED:
        raise ChannelClosed(why)


def files(
    folder: Path,
    /,
    *,
    bot: options.BotOption,
    in_: Annotated[str, Parameter(name="--in")] = HOST_FILE,
    out: str = BOT_FILE,
    games: options.GamesOption = 1,
    tables: options.TableOptions = options.TableOptions(),
    threads: options.ThreadsOption = 1,
    seed: options.BotSeedOption | None = None,
    verbose: options.VerboseOption = False,
) -> None:
    """Play for somebody else's host, through two files in a folder.

    The lines are those of a seat ``files:FOLDER``, which is the other side of this;
    ``docs/engines.md`` describes them.

    Args:
        folder: Where the files are, or will be.
        in_: The name of the file that the host writes.
        out: The name of the file that the bot writes.
    """
    options.log_to_stderr(verbose)
    with sentences():
        spec = parse_seat(bot)
        exchange = FileExchange(folder, out, in_)
    if spec.kind in ("engine", "guest"):
        raise CommandFailed(f"--bot {bot}: only a bot can play through files; name one")
    given = tables.leaves, tables.winprob, threads, seed
    if spec.kind == "remote" and given != (None, None, 1, None):
        raise CommandFailed(
            f"{spec.text} is elsewhere and has tables of its own: leave out --leaves, --winprob, "
            "--threads and --seed"
        )

    def shown(over: str) -> None:
        how, own, other, text = [*over.split(maxsplit=3), ""][:4]
        print(plain(f"{own}–{other}  {how}: {text}"), flush=True)

    equipment = tables.equipment(threads)
    words = options.load_equipped(equipment)
    with sentences(kinds=(OSError, SeatError), status=1):
        try:
            exchange.open()
        except BlockingIOError:
            raise CommandFailed(f"another bot already plays through {exchange.out}") from None
        options.run(_exchange(FilesHost(exchange, words, games, shown), spec, equipment, seed))


async def _exchange(
    host: FilesHost, spec: SeatSpec, equipment: Equipment, seed: int | None
) -> None:
    """Pass messages between the bot and the host until all games are played."""
    last_words = ""
    maker = SeatMaker(spec, spec.name, equipment, seed, notice=options.say_once())
    try:
        bot = await maker.worker()
        try:
            options.say(f"{spec.name} waits for a host to write {host.peer}")
            why = await Relay(host, bot.channel).run()
            last_words = bot.stderr_tail.strip()
        finally:
            await bot.kill()
    except ChannelClosed as closed:
        why = str(closed)
    finally:
        await maker.close()
    if host.games:
        raise CommandFailed(f"{why}{chr(10) * bool(last_words)}{last_words}", status=1)


# --- results --------------------------------------------------------------------------------------


@dataclass
class _Games:
    """A bot's games on a server, by its messages; prints a line for each, and a table."""

    name: str
    total: int
    wait: bool
    """Whether to wait for an opponent that isn't there."""
    lexicon: str | None
    """The bot's words; None: a bot elsewhere has its own."""
    table: str | None = None
    """The table of a ladder that is asked for."""
    results: list[GameResult] = field(default_factory=list)
    misdealt: int = 0
    """Games that were not dealt as the server had committed itself to."""
    _earlier: Sequence[str] | None = None
    """Games of the bot that were on already when it joined; they are not counted."""
    _draws: dict[str, DrawsWitness] = field(default_factory=dict)
    _unproven: Counter[str] = field(default_factory=Counter)
    """Games whose draws may have been chosen, by the reason."""
    _offers: dict[str, NewGame] = field(default_factory=dict)
    _plays: dict[str, dict[int, Played]] = field(default_factory=dict)
    """By game and ``seq``."""
    _declined: str = ""
    _sought: bool = False

    def hear(self, message: Message) -> None:
        """Take a message that was received or sent.

        Raises:
            TurnedAway: it means that no game will be played.
        """
        if isinstance(message, NewGame) and message.you is not None:
            self._draws.setdefault(message.game, DrawsWitness(message))
        if witness := self._draws.get(getattr(message, "game", None) or ""):
            witness.hear(message)
        if isinstance(message, Seeking) and message.held_back:
            options.say(f"waits: {plain(message.held_back)}")
        match message:
            case Welcome(games=games) if self._earlier is None:
                self._earlier = games
            case Seeking(absent=absent) if not self._sought:
                self._sought = True
                if self.table is not None and message.table is None:
                    raise TurnedAway("the server has no tables to choose from; leave out --table")
                if absent and not self.wait:
                    raise TurnedAway(f"{absent}; --wait waits until somebody comes with that name")
                if absent or message.opponent is None:
                    at = f" at the table {plain(message.table)}" if message.table else ""
                    options.say(f"waits for {plain(message.opponent or 'an opponent')}{at}")
            case Goodbye(code="kicked", message=why):
                raise TurnedAway(plain(why))
            case NewGame():
                self._begin(message)
            case Played():
                self._plays.setdefault(message.game, {})[message.seq] = message
            case Decline():
                hint = "; --lexicon names the words" if message.code == "unknown_lexicon" else ""
                self._declined = message.message + hint
            case GameOver() if message.game in self._offers:
                self._end(self._offers.pop(message.game), message)

    def _begin(self, offer: NewGame) -> None:
        new = offer.game not in self._offers
        if new and self.lexicon in lexicon_names() and self.lexicon != offer.lexicon:
            options.say(f"the server plays with {plain(offer.lexicon)}, not with {self.lexicon}")
        if new and self._is_earlier(offer.game) and offer.you is not None:
            opponent = plain(offer.players[1 - offer.you])
            options.say(
                f"going on with game {plain(offer.game)} against {opponent}, which began earlier"
            )
        self._offers[offer.game] = offer
        self._plays.setdefault(offer.game, {}).update({play.seq: play for play in offer.history})

    def _end(self, offer: NewGame, over: GameOver) -> None:
        plays = self._plays.pop(offer.game)
        if self._declined:
            raise TurnedAway(f"the game was declined: {self._declined}")
        turns = [plays[seq] for seq in sorted(plays)]
        number = "earlier"
        if not self._is_earlier(over.game):
            self.results.append(_result(len(self.results) + 1, offer, turns, over))
            number = f"{len(self.results)}/{self.total}"
        players = plain(" – ".join(offer.players))
        ending = plain(result_text(offer.players, over))
        print(f"{number}  {players}, {ending}", flush=True)
        self._check_draws(over)

    def _is_earlier(self, game: str) -> bool:
        return game in (self._earlier or ())

    def _check_draws(self, over: GameOver) -> None:
        witness = self._draws.pop(over.game, None)
        if witness is None:
            return
        try:
            if reason := witness.check(over):
                self._unproven[reason] += 1
        except DrawError as error:
            self.misdealt += 1
            options.say(plain(f"GAME {over.game} WAS NOT DEALT AS COMMITTED TO: {error}"))

    def show(self, *, as_json: bool) -> None:
        """Print a table of the games that have ended, if any; JSON even if there are none."""
        if not (self.results or as_json):
            return
        opponents = {result.sides[1].name for result in self.results}
        other = opponents.pop() if len(opponents) == 1 else "the field"
        stats = match_statistics(self.results, (self.name, other))
        columns = shutil.get_terminal_size().columns
        if self.results:
            print(table_text(stats, self.results, columns), end="", flush=True)
        for reason, games in self._unproven.items():
            options.say(f"the tiles of {counted(games, 'game')} may have been chosen: {reason}")
        if as_json:
            print_json(as_json_object(stats))


def _result(number: int, offer: NewGame, turns: Sequence[Played], over: GameOver) -> GameResult:
    """Return a game's result, with its player as side a."""
    you = offer.you or 0
    own, other = (_side(seat, offer, turns, over) for seat in (you, 1 - you))
    return GameResult(
        game=offer.game,
        number=number,
        pair=number,
        first=you,
        sides=(own, other),
        outcome=over.outcome,
        winner=None if over.winner is None else int(over.winner != you),
        turns=sum(turn.challenge in (UNSET, "open") for turn in turns),
        seconds=sum(turn.think_ms for turn in turns) / 1_000,
    )


def _side(seat: int, offer: NewGame, turns: Sequence[Played], over: GameOver) -> SeatResult:
    own = [turn for turn in turns if charged_seat(turn.seat, turn.move) == seat]
    made = [turn for turn in own if turn.challenge in (UNSET, "open")]
    withdrawn = {turn.seq - 1 for turn in turns if turn.move == WITHDRAWN}
    stood = [turn.move for turn in made if turn.seq not in withdrawn]
    left_ms = own[-1].clocks[seat] if own and offer.time.max_overtime_ms else 0
    return SeatResult(
        name=offer.players[seat],
        score=over.scores[seat],
        moves=len(made),
        think_ms=sum(turn.think_ms for turn in own),
        longest_ms=max((turn.think_ms for turn in own), default=0),
        overtime_ms=max(0, -left_ms),
        time_penalty=over.time_penalties[seat],
        bingos=sum(_placed(move) >= offer.rules.rack_size for move in stood),
        faults=tuple(fault.code for fault in over.faults if fault.seat == seat),
        challenges=counted_challenges(own, offer.rules),
    )


def _placed(move: str) -> int:
    """Count the tiles that a move puts on the board: ``8D [CH]A.s`` has three."""
    _, _, word = move.partition(" ")
    return len(re.findall(r"\[[^\]]*\]|[^.]", word))
