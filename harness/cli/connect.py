"""Playing for somebody else's host: ``tilewire connect`` and ``tilewire files``."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from msgspec import UNSET, Meta

from bot.equipment import Equipment
from bot.registry import SeatError, SeatSpec, create_player, known_bots, load_factory
from bot.seat.author_errors import in_words
from bot.seat.connection import TurnedAway
from bot.seat.draw_audit import DrawsWitness
from bot.seat.runtime import log_to_stderr
from bot.seat.worker_main import TOKEN, live
from bot.seat_text import parse_seat
from engine.rules.bag import DrawError
from harness.arbiter.records import result_text
from harness.figures import counted, plain
from harness.matches.report import table_text
from harness.matches.results import GameResult, seat_result
from harness.matches.statistics import as_json_object, match_statistics
from harness.seats.engines.files import BOT_FILE, HOST_FILE, FileExchange
from harness.seats.engines.files_host import FilesHost
from harness.seats.seat_factory import SeatMaker, open_remote
from harness.seats.seats import greeted
from harness.server.relay import PLAYED, Relay
from harness.writing import write_file
from lexicons.cache import remove_unused
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
    StandingList,
    Standings,
    Welcome,
)
from protocol.parts import WITHDRAWN
from protocol.websocket import dial

from . import options
from .asking import answered, read_token
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
    rules: options.RulesOption = None,
    games: Annotated[int, Meta(ge=1, le=10_000)] | None = None,
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
        games: How many games. [default: 1; in a tournament all]
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
        equipment = tables.for_game(rules, threads, ponder=ponder)
        if equipment.lexicon not in lexicon_names() or tables.leaves or tables.winprob:
            options.load_equipped(equipment)  # what is embedded is known to be sound
        prepare([("", spec.name, spec)], equipment)  # before it asks for a game
    elif (rules, tables, threads, ponder, seed) != (None, options.TableOptions(), 1, False, None):
        raise CommandFailed(
            f"{spec.text} is elsewhere and has words and tables of its own: leave out --rules, "
            "--lexicon, --leaves, --winprob, --threads, --ponder and --seed"
        )
    # A server's own bots have the known names.
    name_there = name or (f"my-{spec.name}" if spec.name in known_bots() else spec.name)
    lexicon = None if equipment is None else equipment.lexicon
    join = partial(dial, url, token=token, tls=tls)
    if games is None:
        games = 10_000 if options.run(_is_tournament(join, name_there)) else 1
    wish = Seek(opponent=opponent, games=games, table=table)
    played = _Games(name_there, games, wait, lexicon, table)
    try:
        with _failing(spec, played.name, has_token=bool(token), is_named=bool(name)):
            if equipment is None:
                options.run(_relay(join, spec, played.name, wish, played))
            else:
                secret = None if token else _ResumeSecret(url, played.name)
                options.run(_play(join, spec, equipment, wish, seed, played, secret))
    finally:
        played.show(as_json=json_)
    if played.misdealt:
        misdealt = counted(played.misdealt, "game")
        raise CommandFailed(f"{misdealt} not dealt as {url} had committed to", status=1)


async def _is_tournament(join: Callable[[], Awaitable[Channel]], name: str) -> bool:
    """Return whether a server plays a tournament; False also if it can't be asked."""
    try:
        channel = await greeted(await join(), "spectator", name)
        try:
            return not (await answered(channel, Standings(), StandingList)).over
        finally:
            await channel.close()
    except (CommandFailed, ChannelClosed):
        return False


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
        elif "tournament" in str(away):  # the name is not what is wrong
            pass
        elif away.code == "forbidden" and not has_token and "another name" not in str(away):
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
    wish: Seek,
    seed: int | None,
    played: _Games,
    resume_secret: _ResumeSecret | None,
) -> None:
    """Have a bot of this machine play, over connections that may be lost."""
    printed_loss = ""
    """Why the connection is lost, as was printed; empty while there is a connection."""

    def print_loss(why: str) -> None:
        nonlocal printed_loss
        if why != printed_loss:
            options.print_notice(f"{plain(why)}; connecting again for 5 minutes at most")
        printed_loss = why

    def on_message(message: Message) -> None:
        nonlocal printed_loss
        if printed_loss and isinstance(message, Welcome):
            options.print_notice("connected again")
            printed_loss = ""
        if resume_secret is not None and isinstance(message, Welcome) and message.secret:
            resume_secret.store(message.secret)
        played.on_message(message)

    secret = "" if resume_secret is None else resume_secret.read()
    await live(
        *(spec, equipment, lambda runner: runner.run(join, lost=print_loss)),
        name=played.name,
        seed=seed,
        seek=wish,
        on_message=on_message,
        secret=secret,
    )


class _ResumeSecret:
    """The secret by which a bot without a token comes back to its game, also after ``kill -9``.

    A server gives it to a name; it is kept in a file that only this user can read, named by both.
    """

    def __init__(self, url: str, name: str) -> None:
        self._file = sha256(f"{url}\n{name}".encode()).hexdigest()[:32]
        self._has_failed = False

    def read(self) -> str:
        """Return it; empty if there is none."""
        try:
            path = _state_folder() / self._file
            status, text = path.stat(), path.read_text(encoding="ascii")
        except (OSError, ValueError):
            return ""
        is_private = status.st_uid == os.geteuid() and not status.st_mode & 0o077
        return text if is_private and re.fullmatch(r"([0-9a-f]{2}){16,64}", text) else ""

    def store(self, secret: str) -> None:
        """Keep one for the next start; if it can't be kept, say once what that comes to."""
        try:
            folder = _state_folder()
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_file(folder / self._file, secret, private=True)
            remove_unused(folder, "*")
        except OSError as error:
            if not self._has_failed:
                options.print_notice(
                    f"{plain(str(error))}; a bot that is killed now can't come back to its game: "
                    "set XDG_STATE_HOME to a folder that may be written"
                )
            self._has_failed = True


def _state_folder() -> Path:
    """Return the folder of secrets by which bots come back; raise OSError if there is no home."""
    shared = os.environ.get("XDG_STATE_HOME", "")
    try:
        # The XDG specification says to ignore relative paths.
        base = Path(shared) if Path(shared).is_absolute() else Path.home() / ".local" / "state"
    except RuntimeError:
        raise OSError("there is no home folder for its secret") from None
    return base / "tilewire" / "resume"


async def _relay(
    join: Callable[[], Awaitable[Channel]], spec: SeatSpec, name: str, wish: Seek, played: _Games
) -> None:
    """Pass messages between a bot elsewhere and a server elsewhere."""
    ours, server = await open_remote(spec), None
    try:
        server = await greeted(await join(), "player", name)
        await server.send(wish)
        while True:
            match (await server.receive()).content:
                case Seeking() as seeking:
                    played.on_message(seeking)
                    break
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
    if (why := await Relay(server, ours, wish.games, played.on_message).run()) != PLAYED:
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
    maker = SeatMaker(spec, spec.name, equipment, seed, notice=options.notice_once())
    try:
        bot = await maker.worker()
        try:
            options.print_notice(f"{spec.name} waits for a host to write {host.peer}")
            why = await Relay(host, bot.channel).run()
            last_words = bot.stderr_tail.strip()
        finally:
            await bot.kill()
    except ChannelClosed as closed:
        why = str(closed)
    finally:
        await maker.close()
    if host.games:
        raise CommandFailed(f"{why}\n{last_words}" if last_words else why, status=1)


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

    def on_message(self, message: Message) -> None:
        """Take a message that was received or sent.

        Raises:
            TurnedAway: it means that no game will be played.
        """
        if isinstance(message, NewGame) and message.you is not None:
            self._draws.setdefault(message.game, DrawsWitness(message))
        if witness := self._draws.get(getattr(message, "game", None) or ""):
            witness.hear(message)
        if isinstance(message, Seeking) and (why := message.held_back or message.not_rated):
            options.print_notice(f"waits: {plain(why)}" if message.held_back else plain(why))
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
                    at_table = f" at the table {plain(message.table)}" if message.table else ""
                    options.print_notice(
                        f"waits for {plain(message.opponent or 'an opponent')}{at_table}"
                    )
            case Goodbye(code="kicked" | "withdrawn", message=why):
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
            options.print_notice(
                f"the server plays with {plain(offer.lexicon)}, not with {self.lexicon}"
            )
        if new and self._is_earlier(offer.game) and offer.you is not None:
            opponent = plain(offer.players[1 - offer.you])
            options.print_notice(
                f"going on with earlier game {plain(offer.game)} against {opponent}"
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
        try:
            witness = self._draws.pop(over.game, None)
            if witness is not None and (reason := witness.check(over)):
                self._unproven[reason] += 1
        except DrawError as error:
            self.misdealt += 1
            options.print_notice(plain(f"GAME {over.game} WAS NOT DEALT AS COMMITTED TO: {error}"))

    def _is_earlier(self, game: str) -> bool:
        return game in (self._earlier or ())

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
            options.print_notice(
                f"the tiles of {counted(games, 'game')} may have been chosen: {reason}"
            )
        if as_json:
            print_json(as_json_object(stats))


def _result(number: int, offer: NewGame, turns: Sequence[Played], over: GameOver) -> GameResult:
    """Return a game's result, with its player as side a."""
    you, made = offer.you or 0, [turn for turn in turns if turn.challenge in (UNSET, "open")]
    withdrawn = {turn.seq - 1 for turn in turns if turn.move == WITHDRAWN}
    bingos = Counter[int]()
    for turn in made:
        # ``8D [CH]A.s`` puts three tiles on the board.
        placed = re.findall(r"\[[^\]]*\]|[^.]", turn.move.partition(" ")[2])
        bingos[turn.seat] += turn.seq not in withdrawn and len(placed) >= offer.rules.rack_size
    clocks = turns[-1].clocks if turns else (offer.time.initial_ms,) * 2
    own, other = (
        seat_result(seat, offer, turns, over, bingos[seat], clocks[seat]) for seat in (you, 1 - you)
    )
    return GameResult(
        game=offer.game,
        number=number,
        pair=number,
        first=you,
        sides=(own, other),
        outcome=over.outcome,
        winner=None if over.winner is None else int(over.winner != you),
        turns=len(made),
        seconds=(own.think_ms + other.think_ms) / 1_000,
        note="" if over.outcome == "out" else result_text(offer.players, over),
    )
