"""Good input of every kind, small, to be broken."""

from __future__ import annotations

import asyncio
import json
import lzma
import tempfile
from collections.abc import Callable
from contextlib import closing
from functools import cache, partial
from pathlib import Path
from typing import Any

import msgspec
from match_samples import game as result_of
from match_samples import match_config
from rollout_positions import RULES, scowl
from search_views import view_at

from bot.player import View
from engine.movegen.generator import legal_moves
from engine.notation.cgp import read_cgp
from engine.notation.move_text import format_move
from harness.arbiter.journal import Journal
from harness.arbiter.records import Began, ClockNote, Draws, Failed, Record, Thought, new_game
from harness.arbiter.scorebook import Scorebook
from harness.matches.folder import Absent, Corrected, Joined, Missed, Paused, Returned
from harness.matches.pairings import Pairing, Round
from lexicons.alphabet import Alphabet, TileDistribution
from lexicons.build import build_word_graph
from lexicons.klv import write_klv
from lexicons.kwg import WIDE, write_kwg
from lexicons.leaves import synthetic_leaves
from protocol.parts import Belief, Candidate, Search, TimeControl

FIXTURES = Path(__file__).parents[1] / "fixtures"


def _written(write: Callable[[Path], object], name: str) -> bytes:
    """Return what a function writes into a file of that name."""
    with tempfile.TemporaryDirectory() as folder:
        write(path := Path(folder) / name)
        return path.read_bytes()


FEW_TILES = TileDistribution(
    "few", Alphabet(("?", *"ABC"), ("?", *"abc")), (2, 3, 0, 5), (0, 1, 1, 3), (False, True) * 2
)

# --- configurations -------------------------------------------------------------------------------

SERVE_TOML = """
host = "127.0.0.1"
port = 8484
db = "games.db"
lexicon = "scowl"
threads = 1
ponder = false
max_games = 4
[bots]
quick = "static?temperature=2"
[time]
initial_ms = 300000
increment_ms = 0
first_move_ms = 60000
"""
_EVENT_TOML = """
seats = ["static", "greedy", "sim?time=300ms"]
games = 20
time = "5m"
increment = "2s"
lexicon = "scowl"
seed = 7
concurrency = 2
"""
MATCH_TOML = _EVENT_TOML + 'sprt = "0,10"\nalpha = 0.05\n'
TOURNAMENT_TOML = _EVENT_TOML + 'format = "swiss"\nrounds = 5\nhill = 1\nanchor = ["static=1500"]\n'
BRIDGE_TOML = """
origins = ["https://example.org", "http://localhost:8000"]
port = 8485
tokens = "bridge.tokens"
max_engines = 4
[[engine]]
id = "true"
command = ["true", "-mode", "siu"]
folder = "/"
environment = { OMP_NUM_THREADS = "2" }
memory = 4096
cores = 1
"""
TOKENS = f"# who may play\nann {'a1' * 32}\nbob {'0f' * 32}\n"
BRIDGE_TOKENS = (
    f"ab12 https://example.org 2026-11-01T12:00:00+00:00 {'a1' * 32}\n"
    f"cd34 https://example.org 2026-11-02T12:00:00+00:00 {'0f' * 32}\n"
)

# --- words and tables -----------------------------------------------------------------------------

WORDS = "# a list\nAA\nAAH\nquiz\nRETINA\n\nNASTIER\nzoa\n"
TILES = "?,?,2,0,0\nA,a,9,1,1\nB,b,2,3,0\nCH,ch,1,5,0\nÄ,ä,1,6,1\n"
LAYOUT = '# small\n=..\'..=\n.-.\'.-.\n.."""..\n...-...\n.."""..\n.-.\'.-.\n=..\'..=\nstart 4D\n'
WINPROB = ",0,1,2\n2,1,0.9,0.8\n1,0.75,0.7,0.6\n0,0.5,0.5,0.5\n-1,0.25,0.3,0.4\n"
QUACKLE_TILES = "# comment\nblank 0 2\nA a 1 9 1\nB b 3 2 0\nC c 3 2 0\n"


@cache
def kwg_files() -> tuple[bytes, ...]:
    """Return word graphs: of a few words, in both layouts, and of none."""
    words = [(1, 1), (1, 1, 8), (3, 1, 18, 5), (3, 1, 18, 5, 19), (17, 21, 9, 26), (26, 15, 1)]
    graph = build_word_graph(words)
    graphs = graph, graph.in_layout(WIDE), build_word_graph([])
    return tuple(
        _written(partial(write_kwg, graph=each), f"words{each.layout.suffix}") for each in graphs
    )


@cache
def klv_files() -> tuple[bytes, ...]:
    """Return a leave table of few tiles."""
    leaves = synthetic_leaves(FEW_TILES, 1)
    return (_written(lambda path: write_klv(path, leaves), "few.klv2"),)


@cache
def xz_files() -> tuple[bytes, ...]:
    """Return word lists as xz packs them; one of them is much larger than its file."""
    return lzma.compress(WORDS.encode()), lzma.compress(b"\n" * (1 << 20) + b"AA\n")


EMBEDDED = Path(__file__).parents[2] / "lexicons" / "embedded"
MANIFEST = json.loads((EMBEDDED / "scowl.klv2.json").read_bytes())
RACK_WEIGHTS = json.loads((EMBEDDED / "scowl.rack.json").read_bytes())


# --- games ----------------------------------------------------------------------------------------

GCG = (FIXTURES / "games" / "static_greedy.gcg").read_bytes()
CGPS = tuple(
    path.read_text(encoding="utf-8").strip() for path in sorted(FIXTURES.glob("cgp/*.cgp"))
)
MOVES = (
    *("8D WO.Ds", "H8 QU.cK", "-ABC?", "-3", "-", "15A ZA(G)S", "8D WORDs", "pass", "(exch IUVV)"),
    *("ex.ABC", "rack.ABCDEFG", "8D.WORD.ABCDEFG", "static?temperature=2", "sim?time=300ms"),
    *("ws://localhost:8484/bot", "bot.py:Balance?weight=3", "siu:prog -x?cores=2", "files:folder"),
)
OPENINGS = f"# first racks\nAEINRST\nAEINRST/DGILNOU\n{CGPS[0]}\ngame.gcg@3\n"


def gcg_files() -> tuple[bytes, ...]:
    """Return score sheets, good and bad."""
    return (GCG, *(path.read_bytes() for path in sorted(FIXTURES.glob("gcg/*.gcg"))))


@cache
def view() -> View:
    """Return what a seat sees in the middle of a game."""
    return view_at(read_cgp(CGPS[1], RULES))


@cache
def _played(turns: int = 4) -> tuple[Record, ...]:
    """Return the records of a game that has begun, with some of everything."""
    opened = new_game(("ann", "bob"), scowl(), TimeControl(), Draws.seeded(1, 1), game="g1")
    book = Scorebook(opened, scowl())
    records: list[Record] = [opened, Began(nonces=("", ""))]
    book.take(records[-1])
    for _ in range(turns):
        assert book.game is not None
        position = book.game.position
        best = legal_moves(position, scowl(), RULES)[0].move
        records.append(
            Thought(
                seq=book.next_seq,
                seat=position.on_turn,
                text="so",
                candidates=(Candidate(move="-", equity=-1.5),),
                search=Search(phase="endgame", nodes=300, proven=True),
                belief=Belief(tiles={"?": 0.5}, style={"soft": 0.75, "greedy": 0.25}),
            )
        )
        records.append(book.play(format_move(best, RULES.distribution.alphabet), 1_000))
    records.append(Failed(seat=0, code="disconnect", message="the connection was lost"))
    return tuple(records)


@cache
def _finished() -> tuple[Record, ...]:
    records = _played()
    book = Scorebook.restored(records, None, scowl())
    other = msgspec.structs.replace(records[0], game="g2")
    return (other, *records[1:], book.end("resign", 0, "by bob", 2_000))


# --- journals and folders -------------------------------------------------------------------------


_LABEL = {"sides": [{"kind": "guest", "name": "ann"}, {"kind": "guest", "name": "bob"}]}


@cache
def empty_journal() -> bytes:
    """Return the file of a journal without games."""
    return _written(lambda path: Journal(path).close(), "games.db")


def journal_rows() -> dict[str, list[list[Any]]]:
    """Return the rows of a journal by table: a game that is on, and one that is over."""
    rows: dict[str, list[list[Any]]] = {"games": [], "records": [], "clock_notes": []}
    for game, records in (("g1", _played()), ("g2", _finished())):
        rows["games"].append([game, 1.5, _LABEL, int(game == "g1")])
        rows["records"] += [
            [game, number, 1.5, msgspec.to_builtins(record)]
            for number, record in enumerate(records)
        ]
    rows["clock_notes"].append(["g1", 5, -7, 5])
    return rows


@cache
def journal_files() -> tuple[bytes, ...]:
    """Return the file of a journal with a game that is on."""

    async def write(path: Path) -> None:
        with closing(Journal(path)) as journal:
            records = _played()
            await journal.create(records[0], _LABEL)  # type: ignore[arg-type]
            await journal.append("g1", records[1:])
            journal.note(ClockNote(game="g1", clocks=(5, -7), seq=5))

    return (_written(lambda path: asyncio.run(write(path)), "games.db"),)


@cache
def match_folder() -> dict[str, Any]:
    """Return what the files of a tournament hold."""
    results = [result_of(number, (400, 390)) for number in (1, 2, 3)]
    decisions = (
        Round(1, (Pairing(0, 1), Pairing(2, 3)), (4,)),
        Joined("eve"),
        Absent(1, "gone"),
        Returned(1),
        Missed(4),
        Corrected(1, "g1", (300, 200), "misread"),
        Paused("lunch"),
    )
    config = match_config(games=4, lexicon_checksum="ab" * 32, anchors=(("Old", 1500.0),))
    return {
        "results": [msgspec.to_builtins(result) for result in results],
        "decisions": [msgspec.to_builtins(decision) for decision in decisions],
        "luck": [{"number": 1, "luck": {"points": [1.5, -2.0], "wins": [0.1, 0.0]}}],
        "match": msgspec.to_builtins(config),
    }


def result_lines() -> tuple[bytes, ...]:
    """Return the files of a tournament as text."""
    folder = match_folder()
    return tuple(
        b"".join(json.dumps(line).encode() + b"\n" for line in folder[name])
        for name in ("results", "decisions")
    )


STUDY = {"study": "duel", "seed": 7}
FORWARDED = "192.0.2.1:50001", "[2001:db8::7%eth0]:443, 10.0.0.1", "::ffff:192.0.2.1", "unknown"
RECORDS = '{"study": "duel", "seed": 7}\n{"number": 1, "spread": 12}\n{"number": 2, "spread": -3}\n'

# --- engines --------------------------------------------------------------------------------------

_EMPTY = "/".join(["15"] * 15)
SIU_ANSWERS = (
    "id name Engine 1\nid author Somebody\ncapability gen sim stream stop\n"
    "option name Threads type spin default 1 min 1 max 64\n"
    "option name Cores type spin default 1 min 1 max 8\n"
    "option name Style type combo default x var x var y\nsiuok\nreadyok",
    "info string provenance engine=a leaves=b winpct=c lexicon=d\n"
    "info gen move 8G.QI score 22 eq 23.456 leave AEINR\n"
    "info sim move 8G.QI wp 55.10 wpse 0.50 eq 12.34 eqse 0.40 iters 500\n"
    "info infer leave AEI prob 0.012345\ninfo endgame depth 4 score spread +12 pv 8G.QI pass\n"
    "info peg move 8G.QI w:A|B d:C l: spread +1.50\ninfo string error bad-move no\nbestmove 8G.QI",
)
SIU_COMMANDS = (
    f"siu\nsetoption name Threads value 2\nsetoption name Seed value 7\nisready\nsiunewgame\n"
    f"position cgp {_EMPTY} AEINRST/ 0/0 0 lex scowl;\ngo gen depth 2 iterations 50\nstop",
    f"position cgp {_EMPTY} / 0/0 0 moves 8D.RETINA ex.ABC ex.3 pass rack.AEINRST\n"
    "go auto movetime 100 stopcondition 95 threads 1\ngo sim searchmoves 8D.RETINA pass\nquit",
    f"position cgp {CGPS[1]} bb 35; etl 7; mcnz 6; cr void; bdn CrosswordGame;\n"
    "go infer useinference\ngo endgame firstwin infinite\ngo peg alsosearchmoves ex.ABC",
)
MAGPIE = (
    "  1: 8G QI   AEINR  22  23.456\n  2: (exch VV) AE 0 -2.5\n  3: pass AEINRST 0 nan\n",
    "  1: 8G QI  AEINR  22  - 55.1 0.5 12.3 0.4 23.4 500 1 2\n",
    " 0 greedy 20/20 x\n 1 8G QI 10 2 8 55.0 x\n 2 pass 0 0 0 0.0 x\n",
    " 8G QI 22 (AE) 12 14\nfinished endgame\n(error 51) rack not available\n",
)
QUACKLE = (
    "Position [x] holding AEINRST after drawing AE\nGenerating moves...\n"
    "8G QI (score = 22, equity = 23.456, win% = 55.1, x)\n"
    "-VV (score = 0, equity = -2.5, win% = 40)\n"
    "error: could not load\n"
)
HOST_LINES = (
    "a 0 game first 9000 -\na 1 rack ABCDEFG\na 2 move 9000 9000\n"
    "b 0 game second 9000 scowl\nb 1 rack ABCDEF?\nb 2 opponent 4 4 8G AT\n"
    "b 3 move 9000 8000\nb 4 you 6 6 G8 .D\nnoise\nb 5 rack ABCEFG?\n"
    "b 6 opponent 0 4 -3\nb 7 move 8500 7500\nb 8 refused no\nb 9 move 8500 7500\n"
    "b 10 over out 6 4 x\n"
)
