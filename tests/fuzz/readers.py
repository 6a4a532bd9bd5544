"""Everything that reads a file or a line from outside: what it is given, what it may refuse with.

A reader takes a piece of input, or raises one of its errors with a sentence; whatever else it
raises is a fault of ours. ``bound`` adds that it ends soon and takes little memory.
"""

from __future__ import annotations

import asyncio
import json
import resource
import signal
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

import numpy as np
from fuzz import samples
from fuzz.mutation import broken_bytes, broken_text, broken_tree
from rollout_positions import RULES, scowl
from siu_talk import ready
from structlog.testing import capture_logs

from bot.registry import SeatError
from bot.seat.offers import Declined
from bot.seat_text import parse_seat
from engine.notation.cgp import read_cgp, write_cgp
from engine.notation.cgp_moves import parse_cgp_move, parse_cgp_rack
from engine.notation.gcg import GcgError, read_gcg, write_gcg
from engine.notation.move_text import NotationError, parse_move, parse_told
from engine.notation.replaying import replay
from harness.analysis.sheet import read_sheet, sheet_json
from harness.arbiter.database import JournalError
from harness.arbiter.journal import Journal
from harness.arbiter.journal_reading import read_games
from harness.arbiter.lag import LagMeter
from harness.cli.match_settings import MatchSettings, TournamentSettings
from harness.cli.serve import ServerFile
from harness.config_file import read_config_file
from harness.lab.study import open_records
from harness.matches.config import MatchError, read_config
from harness.matches.folder import FolderContents
from harness.matches.openings import read_openings
from harness.seats.engines import magpie_terms, quackle_text, siu_terms
from harness.seats.engines.engine import Context
from harness.seats.engines.files import FileExchange
from harness.seats.engines.files_host import FilesHost
from harness.server.admission import Admission, Admissions, client_of, plain_address
from harness.server.bridge.config import read_config as read_bridge_config
from harness.server.bridge.pairing import TokenFile
from harness.server.hosting import Hosting
from harness.server.lobby import Lobby
from harness.server.tables import ServerTables, TableKind
from harness.server.tokens import Gatekeeper, read_token_file
from lexicons.alphabet import load_distribution
from lexicons.klv import read_klv
from lexicons.kwg import read_kwg
from lexicons.layout import load_layout
from lexicons.manifest import parse_manifest
from lexicons.rack_features import read_rack_weights
from lexicons.search_graph import search_nodes
from lexicons.text import read_text
from lexicons.win_probability import read_win_probabilities
from lexicons.wordlist import parse_word_list
from protocol.channel import ChannelClosed
from protocol.messages import NewGame, Ready
from protocol.parts import TimeControl
from protocol.siu.answers import Fault, InfoGen, InfoSim, Option, parse_answer
from protocol.siu.commands import parse_command

CPU_S = 20
MEMORY = 1 << 30
"""What a piece of input may cost; most cost a millisecond and nothing."""

_ALPHABET = RULES.distribution.alphabet


@dataclass(frozen=True)
class Reader:
    """A reader, its input and its errors."""

    name: str
    broken: Callable[[Random], bytes]
    """Makes a piece of bad input."""
    read: Callable[[bytes, Path], object]
    """Reads it; the folder is for files."""
    refusals: tuple[type[Exception], ...]
    """Exactly these classes: what a library raises is no sentence of ours."""

    def take(self, content: bytes, folder: Path) -> str:
        """Return what became of some input; raise whatever is no refusal in a sentence."""
        try:
            self.read(content, folder)
        except self.refusals as error:
            most = 500 + 4 * len(content)  # if it quotes all of it
            if type(error) not in self.refusals or not 8 <= len(str(error)) <= most:
                raise
            return "refused"
        return "taken"


class Hanging(BaseException):
    """A reader takes too long."""


@contextmanager
def bound() -> Iterator[None]:
    """Limit the processor time and the new memory of a block.

    Raises:
        Hanging: it took too long.
        MemoryError: it took too much.
    """

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise Hanging(f"more than {CPU_S} s of processor time")

    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY, before[1]))
    handler = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, CPU_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, handler)
        resource.setrlimit(resource.RLIMIT_AS, before)


# --- how input is broken --------------------------------------------------------------------------


def _texts(*given: str | bytes) -> Callable[[Random], bytes]:
    corpus = [text if isinstance(text, bytes) else text.encode() for text in given]
    return lambda chance: broken_text(chance.choice(corpus), corpus, chance)


def _binary(make: Callable[[], Sequence[bytes]]) -> Callable[[Random], bytes]:
    def broken(chance: Random) -> bytes:
        corpus = make()
        return broken_bytes(chance.choice(corpus), corpus, chance)

    return broken


def _tree(whole: Any) -> Callable[[Random], bytes]:
    """Break the values of a tree; one time in four, the text it is written in."""

    def broken(chance: Random) -> bytes:
        tree = whole
        for _ in range(chance.choice((1, 1, 2))):
            if chance.randrange(4):
                tree = broken_tree(tree, chance)
        text = json.dumps(tree).encode()
        return text if chance.randrange(4) else broken_text(text, [text], chance)

    return broken


def _written(content: bytes, folder: Path, name: str) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


# --- words and tables -----------------------------------------------------------------------------


def _read_kwg(content: bytes, folder: Path) -> None:
    graph = read_kwg(_written(content, folder, "words.kwg"), len(_ALPHABET))
    search_nodes(graph, len(_ALPHABET))
    for word in islice(graph.words(), 1_000):
        assert graph.contains(word)


def _read_klv(content: bytes, folder: Path) -> None:
    table = read_klv(_written(content, folder, "leaves.klv2"), samples.FEW_TILES)
    assert np.isfinite(table.values).all()


def _read_tiles(content: bytes, folder: Path) -> None:
    distribution = load_distribution(_written(content, folder, "tiles.csv"))
    with suppress(ValueError):
        parse_word_list("abach\nstraße\nǆa\n".encode(), distribution.alphabet, "words.txt")
    distribution.all_tiles()


# --- games ----------------------------------------------------------------------------------------


def _read_gcg(content: bytes, _: Path) -> None:
    game = read_gcg(content)
    with suppress(NotationError):
        assert read_gcg(write_gcg(game)).players == game.players
    replay(game, RULES)


def _read_cgp(content: bytes, _: Path) -> None:
    position = read_cgp(content.decode(errors="surrogateescape"), RULES)
    assert read_cgp(write_cgp(position, RULES), RULES) == position


def _read_move(content: bytes, _: Path) -> None:
    text, board = content.decode(errors="surrogateescape"), samples.view().position.board
    for read in (
        lambda: parse_move(text, board, _ALPHABET),
        lambda: parse_cgp_move(text, board, _ALPHABET, 7),
        lambda: parse_cgp_rack(text, _ALPHABET, 7),
        lambda: parse_told(text, board, _ALPHABET),
        lambda: parse_seat(text),
    ):
        with suppress(NotationError, SeatError):
            read()
    raise NotationError("what has a reading in one notation has none in another")


def _read_openings(content: bytes, folder: Path) -> None:
    _written(samples.GCG, folder, "game.gcg")
    read_openings(_written(content, folder, "openings.txt"), RULES)


# --- journals and folders -------------------------------------------------------------------------


def _read_journal(content: bytes, folder: Path) -> None:
    """Read the rows that a tree has, as a command does that lists games, and resume each game."""

    def cell(value: Any) -> Any:
        return json.dumps(value) if isinstance(value, dict | list) else value

    tree = json.loads(content)
    path = folder / "games.db"
    path.write_bytes(samples.empty_journal())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = OFF")
        for table, rows in tree.items():
            for row in rows:
                marks = ", ".join("?" * len(row))
                with suppress(sqlite3.IntegrityError):  # a row that no journal can have
                    connection.execute(f"INSERT INTO {table} VALUES ({marks})", [*map(cell, row)])
        connection.commit()
    _read_database(path)


def _read_database(path: Path) -> None:
    for suffix in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    with closing(Journal(path)) as journal:
        asyncio.run(_resume(journal))
    list(read_games(path))


async def _resume(journal: Journal) -> None:
    """Start as a server does; damage is told and keeps nothing else from going on."""
    with capture_logs():
        hosting = Hosting(ServerTables(TableKind(lexicon=scowl())), journal, LagMeter())
        doors = Gatekeeper(journal), Admissions(Admission())
        lobby = Lobby(hosting, TimeControl(), 4, *doors)
        lobby.restore_all()
        await asyncio.sleep(0)
        await lobby.drain(0, asyncio.Event())


def _rows(chance: Random) -> bytes:
    """Break the cells of a journal, and what is written in them."""
    tree = samples.journal_rows()
    for _ in range(chance.choice((1, 1, 2))):
        rows = tree[chance.choice(list(tree))]
        at = chance.randrange(len(rows))
        row = [*rows[at]]
        cell = chance.randrange(len(row))
        row[cell] = broken_tree(row[cell], chance)
        if chance.randrange(6) == 0:
            text = json.dumps(row[cell]).encode()
            row[cell] = broken_text(text, [text], chance).decode(errors="replace")
        if not isinstance(row[cell], int) or abs(row[cell]) < 2**63:
            rows[at] = row
    return json.dumps(tree).encode()


def _read_folder(content: bytes, folder: Path) -> None:
    """Read the files of a match that a tree has."""
    tree = json.loads(content)
    for name in ("results", "decisions", "luck"):
        text = "".join(f"{json.dumps(line)}\n" for line in tree[name])
        _written(text.encode(), folder, f"{name}.jsonl")
    _written(json.dumps(tree["match"]).encode(), folder, "match.json")
    FolderContents(folder).counting()
    read_config(folder)


def _folder(chance: Random) -> bytes:
    tree = dict(samples.match_folder())
    name = chance.choice(list(tree))
    broken = broken_tree(tree[name], chance)
    tree[name] = broken if name == "match" or isinstance(broken, list) else [broken]
    return json.dumps(tree).encode()


def _read_results(content: bytes, folder: Path) -> None:
    for name in ("results.jsonl", "decisions.jsonl", "luck.jsonl"):
        _written(b"", folder, name)
    _written(
        content, folder, ("results.jsonl", "decisions.jsonl")[content[:14] == b'{"decision": "']
    )
    FolderContents(folder).counting()


def _read_records(content: bytes, folder: Path) -> None:
    with open_records(_written(content, folder, "study.jsonl"), samples.STUDY):
        pass


def _read_bridge_tokens(content: bytes, folder: Path) -> None:
    path = _written(content, folder, "bridge.tokens")
    path.chmod(0o600)
    tokens = TokenFile(path)
    tokens.find("a token", "https://example.org")
    tokens.revoke("ab12")


# --- engines --------------------------------------------------------------------------------------


def _lines(content: bytes) -> list[str]:
    return content.decode(errors="replace").split("\n")


def _read_siu_answers(content: bytes, _: Path) -> None:
    found, options = siu_terms.SearchResults(), {}
    for line in _lines(content):
        answer = parse_answer(line)
        if answer is not None:
            parse_answer(answer.line())
        if isinstance(answer, InfoGen | InfoSim | Fault):
            found.take(answer)
        if isinstance(answer, Option):
            options[answer.name.casefold()] = answer
    view = samples.view()
    found.answer(_lines(content)[-1], view)
    context = Context("engine", view.lexicon.name, view.lexicon)
    siu_terms.settings("engine", options, {"cores": "2", "Style": "x"}, context, RULES)


def _read_siu_commands(content: bytes, _: Path) -> None:
    talk = ready()
    for line in _lines(content)[:40]:
        command = parse_command(line)
        if command is not None:
            parse_command(command.line())
        talk.says(line)
        for load in talk.loads[:]:
            talk.conversation.loaded(load)
            talk.loads.remove(load)
    talk.waits(10**9)


def _read_magpie(content: bytes, _: Path) -> None:
    said, view = _lines(content), samples.view()
    refused = None
    for read in (
        lambda: magpie_terms.generated(said, view),
        lambda: magpie_terms.simulated(said, view),
        lambda: magpie_terms.preendgame(said, view),
        lambda: magpie_terms.endgame(said, view),
        lambda: magpie_terms.words_differ(said, frozenset({"AIDA"}), RULES),
        lambda: magpie_terms.scores_differ(said, RULES),
    ):
        try:
            read()
        except magpie_terms.MoveMissing as unreadable:
            refused = unreadable
    if refused is not None:
        raise magpie_terms.MoveMissing(f"MAGPIE said {str(refused)[:80]!r}")


def _read_quackle(content: bytes, _: Path) -> None:
    reader = quackle_text.MoveReader()
    for line in _lines(content):
        reader.read(line)
    for listed in reader.moves:
        with suppress(NotationError):
            parse_move(listed.text, samples.view().position.board, _ALPHABET)


def _read_files(content: bytes, folder: Path) -> None:
    """Follow a host behind two files, as a bot that says that it is ready."""
    _written(content, folder, "host.txt")
    host = FilesHost(FileExchange(folder, "bot.txt", "host.txt"), scowl(), games=3)
    host._exchange.open()
    try:
        for _ in range(2):
            host._exchange.look()
            host._receive()
            while host._messages:
                message = host._messages.popleft()
                if isinstance(message, NewGame):
                    with suppress(StopIteration):
                        host.send(Ready(game=message.game)).send(None)
    finally:
        host._exchange.close()
        (folder / "bot.txt").unlink()


# --- all of them ----------------------------------------------------------------------------------


def _read_reported(content: bytes, _: Path) -> None:
    address = client_of([content.decode("latin-1")], "10.0.0.1", "10.0.0.1".__eq__)
    assert plain_address(address) == address
    assert len(address) < 64


def _at(like: str, read: Callable[[Path], object]) -> Callable[[bytes, Path], object]:
    """Read a file of that name."""
    return lambda content, folder: read(_written(content, folder, like))


def _settings(kind: Any) -> Callable[[bytes, Path], object]:
    return _at("it.toml", lambda path: read_config_file(path, kind))


def _word_list(name: str) -> Callable[[bytes, Path], object]:
    return lambda content, _: parse_word_list(content, _ALPHABET, name)


def _sheet(content: bytes, _: Path) -> object:
    return sheet_json(read_sheet(content, RULES), RULES, "scowl")


def _manifest(content: bytes, _: Path) -> object:
    return parse_manifest(content, "leaves.klv2.json")


def _quackle_tiles(path: Path) -> object:
    return quackle_text.tiles_differ(read_text(path), RULES.distribution)


@cache
def readers() -> tuple[Reader, ...]:
    """Return all readers."""
    bad, no_move, engine = (ValueError,), (NotationError,), (magpie_terms.MoveMissing,)
    texts, tree, at = _texts, _tree, _at
    games, answers = texts(*samples.gcg_files()), texts(*samples.SIU_ANSWERS)
    tournament, bridge = texts(samples.TOURNAMENT_TOML), texts(samples.BRIDGE_TOML)
    winning, journal = texts(samples.WINPROB), _binary(samples.journal_files)
    alphabet = at("english.quackle_alphabet", _quackle_tiles)
    return (
        Reader("serve's configuration", texts(samples.SERVE_TOML), _settings(ServerFile), bad),
        Reader("a match's configuration", texts(samples.MATCH_TOML), _settings(MatchSettings), bad),
        Reader("a tournament's configuration", tournament, _settings(TournamentSettings), bad),
        Reader("a bridge's configuration", bridge, at("b.toml", read_bridge_config), bad),
        Reader("names and tokens", texts(samples.TOKENS), at("tokens", read_token_file), bad),
        Reader("a bridge's tokens", texts(samples.BRIDGE_TOKENS), _read_bridge_tokens, bad),
        Reader("GCG", games, _read_gcg, (GcgError,)),
        Reader("games for a review", games, _sheet, (GcgError, NotationError, ValueError)),
        Reader("CGP", texts(*samples.CGPS), _read_cgp, no_move),
        Reader("moves and seats", texts(*samples.MOVES), _read_move, no_move),
        Reader("openings", texts(samples.OPENINGS), _read_openings, bad),
        Reader("KWG", _binary(samples.kwg_files), _read_kwg, bad),
        Reader("KLV2", _binary(samples.klv_files), _read_klv, bad),
        Reader("word lists", texts(samples.WORDS), _word_list("words.txt"), bad),
        Reader("packed word lists", _binary(samples.xz_files), _word_list("words.txt.xz"), bad),
        Reader("tiles", texts(samples.TILES), _read_tiles, bad),
        Reader("board layouts", texts(samples.LAYOUT), at("board.txt", load_layout), bad),
        Reader("win probabilities", winning, at("winprob.csv", read_win_probabilities), bad),
        Reader("manifests", tree(samples.MANIFEST), _manifest, bad),
        Reader("rack weights", tree(samples.RACK_WEIGHTS), at("rh.json", read_rack_weights), bad),
        Reader("a journal's rows", _rows, _read_journal, (JournalError,)),
        Reader("a journal's bytes", journal, at("games.db", _read_database), (JournalError,)),
        Reader("addresses that proxies report", texts(*samples.FORWARDED), _read_reported, ()),
        Reader("a match's folder", _folder, _read_folder, (ValueError, MatchError)),
        Reader("results, as text", texts(*samples.result_lines()), _read_results, bad),
        Reader("a study's records", texts(samples.RECORDS), _read_records, bad),
        Reader("an SIU engine's lines", answers, _read_siu_answers, (Declined,)),
        Reader("an SIU front end's lines", texts(*samples.SIU_COMMANDS), _read_siu_commands, ()),
        Reader("MAGPIE's lines", texts(*samples.MAGPIE), _read_magpie, engine),
        Reader("Quackle's lines", texts(samples.QUACKLE), _read_quackle, ()),
        Reader("Quackle's alphabet", texts(samples.QUACKLE_TILES), alphabet, bad),
        Reader("a host's file", texts(samples.HOST_LINES), _read_files, (ChannelClosed,)),
    )
