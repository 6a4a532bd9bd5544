"""Seats by their text: every form, and what is said about mistakes."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bot.player import Player
from bot.players.static import StaticPlayer
from bot.registry import (
    _BUILT_IN,
    _WINS,
    LEVELS,
    SeatError,
    about,
    create_player,
    known_bots,
    load_factory,
)
from bot.seat_text import LONGEST_NAME, parse_seat
from protocol.parts import MAX_NAME

KNOWN = "known: bluff, challenger, champion, greedy, infer, mc, mc[+]rh, rh, sim, static, vanilla"

CHAMPION = {"champion-1s": "champion?time=1s"}
"""A level whose strength was not measured."""

BOT = """
from bot.player import Choice, Player
import neighbour_of_the_bot

class Mine(Player):
    def __init__(self, depth="1", *, style="plain"):
        self.options = depth, style
        if depth == "deep":
            raise ValueError("depth is a number, not 'deep'")

    choose = staticmethod(lambda view, budget, *more: None)

    def observed(self):
        pass

def typed(most: int | None = 1, share: "float" = 0.5, *, style: str = "plain", quick: bool = True):
    return Mine((most * 2, share * 2, style, quick))

def plain(depth=3, share=0.5, flag=False, style="plain", book=None):
    return Mine((depth, share, flag, style, book))

def needs(*, book):
    return Mine(book)

def takes_all(**options):
    return Mine()

number = 5
def wrong():
    return 5
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(sys, "path", sys.path.copy())
    folder = tmp_path / "a folder?"
    folder.mkdir()
    (folder / "neighbour_of_the_bot.py").write_text("")
    (folder / "engine.py").write_text("raise AssertionError('the neighbour hides ours')")
    (folder / "bot.py").write_text(BOT)
    return str(folder / "bot.py").replace("?", "%3F")


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which installed packages are found."""
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def install(folder: Path, package: str, points: str) -> None:
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[tilewire.bots]\n{points}\n")


def test_the_strengths_of_bots_are_those_of_the_documents() -> None:
    docs = Path(__file__).parents[2] / "docs"
    rows = re.findall(
        r"^\| `([\w-]+)` \| `(.*?)` \|.*\| (?:none of 400|([\d.]+) ± .*) \|$",
        (docs / "play.md").read_text("utf-8"),
        re.MULTILINE,
    )
    assert {name: seat for name, seat, _ in rows} | CHAMPION == {
        name: seat for name, (seat, _) in LEVELS.items()
    }
    found = {seat: float(won or 0) for _, seat, won in rows} | {"static": 50.0}
    training = (docs / "results" / "training.md").read_text("utf-8")
    for name, won in re.findall(
        r"^\| `trained (greedy|vanilla)` .* ([\d.]+) % \|$", training, re.M
    ):
        found[name] = round(100 - float(won), 1)
    search = (docs / "results" / "search.md").read_text("utf-8")
    duel = r"`(sim|champion)` \| 600 \| .*? \| ([\d.]+) ±"
    found |= {name: float(won) for name, won in re.findall(duel, search)}
    assert found == _WINS


def test_a_built_in_name() -> None:
    spec = parse_seat("static?temperature=2.5")
    assert (spec.kind, spec.name, spec.built_in) == ("local", "static", True)
    assert spec.target == "bot.players.static:StaticPlayer"
    assert dict(spec.options) == {"temperature": "2.5"}
    assert spec.text == "static?temperature=2.5"
    assert isinstance(create_player(spec), StaticPlayer)


def test_strangers_are_told_no_path() -> None:
    told = about(parse_seat("mc+rh?weights=/home/alice/w.json&plies=3"))
    assert told.endswith("; weights w.json, plies 3")
    assert about(parse_seat("bot.players.static:StaticPlayer")) == "a bot of this server's own"


def test_options_are_decoded() -> None:
    spec = parse_seat("bot.players.static:StaticPlayer?a=1%262%3D3&b=&c=x+y%20z")
    assert spec.options == (("a", "1&2=3"), ("b", ""), ("c", "x+y z"))
    assert not spec.built_in


@pytest.mark.parametrize("name", sorted(_BUILT_IN))
def test_built_in_players_take_the_options_that_are_listed(name: str) -> None:
    factory = load_factory(parse_seat(name))
    assert tuple(inspect.signature(factory).parameters) == _BUILT_IN[name].options


@pytest.mark.parametrize(
    ("seat", "says"),
    [
        *((f"static?temperature={wrong}", "0 or more") for wrong in ("warm", "-1", "nan", "inf")),
        ("sim?candidates=0", "candidates"),
        ("sim?candidates=many", "'many'"),
        ("sim?plies=65", "plies"),
        ("sim?iterations=1000001", "iterations"),
        ("sim?time=0s", "time"),
        ("sim?bag=7-1", "'7-1'"),
        ("sim?iterations=5&time=1s", "not both"),
        ("champion?time=soon", "'soon'"),
        ("champion?exact=maybe", "'maybe'"),
        ("infer?model=fast", "'fast'"),
        ("infer?memory=all", "'all'"),
        ("infer?doubt=2", "doubt"),
        ("infer?racks=0", "racks"),
        ("mc?samples=1", "samples"),
        ("mc+rh?plies=0", "plies"),
    ],
)
def test_values_of_options_that_make_no_sense(seat: str, says: str) -> None:
    with pytest.raises(SeatError, match=says):
        create_player(parse_seat(seat))


def test_a_name_is_as_long_as_the_protocol_has_room_for() -> None:
    assert LONGEST_NAME == MAX_NAME


def test_a_file(file: str) -> None:
    player = create_player(parse_seat(f"{file}:Mine?depth=3"))
    assert type(player).__name__ == "Mine"
    assert isinstance(player, Player)
    assert player.options == ("3", "plain")  # type: ignore[attr-defined]
    assert type(player).__module__ not in {"bot", "__main__"}
    typed = create_player(parse_seat(f"{file}:typed?most=3&share=.25&style=7&quick=no"))
    assert typed.options == ((6, 0.5, "7", False), "plain")  # type: ignore[attr-defined]
    plain = create_player(parse_seat(f"{file}:plain?depth=4&share=1&flag=no&style=7&book=8"))
    assert plain.options == ((4, 1.0, False, "7", "8"), "plain")  # type: ignore[attr-defined]
    import engine

    assert "tilewire" not in (engine.__file__ or "")
    assert sys.path[-1].endswith("a folder?")


def test_a_file_from_the_folder_of_the_day(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(file.replace("%3F", "?")).parent)
    spec = parse_seat("bot.py:Mine?depth=1%263")
    assert (spec.name, spec.text) == ("Mine", "bot.py:Mine?depth=1%263")
    assert Path(spec.target.rpartition(":")[0]).is_absolute()
    create_player(spec)
    monkeypatch.chdir("/")
    again = parse_seat(spec.anywhere)
    assert (again.target, again.options) == (spec.target, spec.options)


def test_a_module_and_an_entry_point(packages: Path) -> None:
    (packages / "their_bots.py").write_text(BOT.replace("import neighbour_of_the_bot", ""))
    spec = parse_seat("their_bots:takes_all?anything=goes")
    assert (spec.kind, spec.name) == ("local", "takes_all")
    create_player(spec)
    install(packages, "theirs", "clever = their_bots:Mine\nstatic = their_bots:Mine")
    assert known_bots()["clever"] == "their_bots:Mine"
    spec = parse_seat("clever?style=bold")
    assert (spec.name, spec.target, spec.built_in) == ("clever", "their_bots:Mine", False)
    assert type(create_player(spec)).__name__ == "Mine"
    assert parse_seat("static").built_in, "built-in names come first"


def test_a_name_of_two_packages_is_nobodys(packages: Path) -> None:
    install(packages, "one", "clever = one:A")
    install(packages, "two", "clever = two:B")
    with pytest.raises(SeatError, match=r"two packages.*one:A of one and two:B of two"):
        parse_seat("clever")


def test_a_bot_elsewhere() -> None:
    spec = parse_seat("wss://example.org:8484/bots/static?seat=1")
    assert (spec.kind, spec.name) == ("remote", "static")
    assert spec.target == "wss://example.org:8484/bots/static?seat=1"
    assert parse_seat("ws://[::1]:80").name == "[::1]:80"
    with pytest.raises(SeatError, match="is a remote bot"):
        load_factory(spec)


@pytest.mark.parametrize(
    ("text", "name", "target", "options"),
    [
        ("siu:engine", "engine", "engine", {}),
        ("siu:engine -x '-y z'?mode=sim", "engine", "engine -x '-y z'", {"mode": "sim"}),
        ("siu:/opt/a%20b/my%3Fengine", "a", "/opt/a 'b/my?engine'", {}),
        ("magpie:/opt/../usr/magpie?name=M%201", "M 1", "/usr/magpie", {"name": "M 1"}),
        ("quackle:./test?data=a/b", "quackle", "{here}/test", {"data": "a/b"}),
        ("files:games?out=a&in=b", "games", "{here}/games", {"out": "a", "in": "b"}),
    ],
)
def test_an_engine_of_others(
    text: str,
    name: str,
    target: str,
    options: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    spec = parse_seat(text)
    assert (spec.kind, spec.dialect) == ("engine", text.partition(":")[0])
    assert (spec.name, spec.target) == (name, target.format(here=tmp_path))
    folder = {"folder": str(tmp_path)} if spec.dialect == "siu" else {}
    assert dict(spec.options) == options | folder
    assert spec.starts_afresh == (spec.dialect != "files")
    monkeypatch.chdir("/")
    assert parse_seat(spec.text) == spec, "it means the same in every folder"
    with pytest.raises(SeatError, match="is an engine of its own"):
        load_factory(spec)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("statc", f"no bot is called 'statc'; {KNOWN}; did you mean static?"),
        ("nothing-like-it", f"{KNOWN}$"),
        ("", f"names no bot; {KNOWN}"),
        ("?a=b", "names no bot"),
        ("sta tic", "'sta tic'"),
        ("static?temprature=2", "'temprature'"),
        ("greedy?a=1&b=2", "no option is called 'a', 'b'; it takes none"),
        ("static?temperature", "'temperature'"),
        ("static?temperature=1&temperature=2", "'temperature' is given twice"),
        ("nowhere.py:Bot", "'nowhere.py'"),
        ("nowhere.py", "there is no file 'nowhere.py'"),
        ("no_such_package.bots:Bot", "'no_such_package'"),
        ("some-thing:Bot", "neither a module's name nor a file"),
        ("bot.players.static:", "is no name of a player's class"),
        ("http://example.org/bot", "begins with ws:// or wss://"),
        ("ws:///static", "names no host"),
        ("ws://host:port/static", "is no address"),
        ("ws://me:secret@host/static", "a secret does not belong in an address"),
        ("siu:", "names no program; write siu:/path/to/it"),
        ("siu:'my engine", "can't be read as a command: No closing quotation"),
        ("quackle:test?lexicon", "'lexicon'"),
    ],
)
def test_what_is_no_seat(text: str, says: str) -> None:
    with pytest.raises(SeatError, match=says) as caught:
        parse_seat(text)
    assert "me:secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("seat", "says"),
    [
        ("Mine?breadth=1", "'breadth'"),
        ("Mine?depth=deep", "'deep'"),
        ("typed?most=deep", "most is a whole number, not 'deep'"),
        ("typed?quick=maybe", "quick is yes or no, not 'maybe'"),
        ("typed?share=1,5", "share is a number, not '1,5'"),
        ("plain?flag=maybe", "flag is yes or no, not 'maybe'"),
        ("needs", "book=…"),
        ("Min", "'Min'; its players: Mine"),
        ("number", "'number', which is no player; its players: Mine"),
        ("wrong", "gives a int, which is no player"),
    ],
)
def test_what_makes_no_player(file: str, seat: str, says: str) -> None:
    with pytest.raises(SeatError, match=says):
        create_player(parse_seat(f"{file}:{seat}"))


@pytest.mark.parametrize(
    ("methods", "says"),
    [
        ("def move(self, view): pass", "has no method choose"),
        ("def chose(self, view, budget): pass", "line 3: write def choose.* in place of chose"),
        ("async def choose(self, view, budget): pass", "in place of async choose"),
        ("def choose(self, view, budget): yield", "in place of async choose"),
        ("def choose(self, view): pass", "view, budget. in place of choose.self, view.$"),
        ("def observ(self, view, play): pass", "line 3: write def observe"),
    ],
)
def test_mistakes_in_a_class_are_found_when_it_is_loaded(
    tmp_path: Path, methods: str, says: str
) -> None:
    code = f"from bot.player import Player\nclass First(Player):\n    {methods}\n"
    (tmp_path / "first.py").write_text(code)
    with pytest.raises(SeatError, match=says):
        create_player(parse_seat(f"{tmp_path}/first.py"))


def test_a_file_alone_is_its_only_player(tmp_path: Path) -> None:
    file = tmp_path / "some%bots.py"
    file.write_text("import unread\nclass _Base(Player): pass\nclass First(_Base): pass\n")
    spec = parse_seat(f"{tmp_path}/some%25bots.py?depth=3")
    assert (spec.name, spec.target, spec.options) == ("First", f"{file}:First", (("depth", "3"),))
    assert parse_seat(spec.anywhere).target == spec.target


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("class A(bot.player.Player): pass\nclass B(A): pass", "has players A, B; write .*:A$"),
        ("def First(): pass", r"no class .*Player.*; write .*:NAME$"),
        ("class First: pass", r"class First does not derive from bot\.player\.Player"),
        ("class First(", "line 1: SyntaxError"),
    ],
)
def test_which_player_of_a_file_is_asked(
    tmp_path: Path, code: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "first.py").write_text(code)
    with pytest.raises(SeatError, match=says):
        parse_seat(f"{tmp_path}/first.py")
    with pytest.raises(SeatError, match=r"did you mean first\.py"):
        parse_seat("first")


def test_a_module_that_is_not_there_is_told_from_one_that_breaks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SeatError, match=r"'bot\.players\.best'"):
        load_factory(parse_seat("bot.players.best:Best"))
    (tmp_path / "breaks_on_import.py").write_text("import surely_not_installed")
    with pytest.raises(ModuleNotFoundError, match="surely_not_installed"):
        load_factory(parse_seat("breaks_on_import:Bot"))
    spec = parse_seat(f"{tmp_path}/breaks_on_import.py:Bot")
    for _ in range(2):
        with pytest.raises(ModuleNotFoundError, match="surely_not_installed"):
            load_factory(spec)


def test_reading_a_seat_brings_in_nothing_heavy() -> None:
    code = (
        "import sys; from bot.seat_text import parse_seat; parse_seat('static?temperature=1');"
        "print(sorted({'numba', 'numpy', 'asyncio', 'msgspec', 'engine'} & set(sys.modules)))"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, check=True)
    assert done.stdout == b"[]\n"


def test_the_network_is_asked_for_by_an_option_that_is_not_the_players() -> None:
    text = "tests/hostile_bots.py:Pries?mark=x&network=yes"
    spec = parse_seat(text)
    assert (spec.has_network, dict(spec.options)) == (True, {"mark": "x"})
    assert parse_seat(spec.anywhere).has_network
    own = parse_seat(text.replace("yes", "net.npz"))
    assert (own.has_network, own.options[1]) == (False, ("network", "net.npz"))
    with pytest.raises(SeatError, match="'network'"):
        parse_seat("static?network=yes")


@pytest.mark.parametrize(
    ("text", "contained", "how"),
    [
        ("greedy", False, ""),
        ("tests/hostile_bots.py:Pries", True, ""),
        ("tests/hostile_bots.py:Pries", False, "not contained"),
        ("tests/hostile_bots.py:Pries?network=yes", True, "network"),
        ("siu:/bin/true", True, "files"),
        ("ws://h:1/bot", True, "elsewhere"),
        ("guest:ann", True, "elsewhere"),
    ],
)
def test_who_could_remember_draws(text: str, contained: bool, how: str) -> None:
    told = parse_seat(text).may_remember(contained=contained)
    assert how in told
    assert bool(how) == bool(told)
