"""``tilewire train``: what it writes, what it goes on with, and what it refuses in a sentence."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import CommandLine
from e2e.processes import COMMAND, PATIENCE_S

from lexicons.alphabet import load_distribution
from lexicons.klv import read_klv
from lexicons.manifest import read_manifest
from lexicons.rack_features import read_rack_weights
from lexicons.win_probability import read_win_probabilities

WORDS = ["АД", "БАЛ", "БЕ", "БЕДА", "ВАБЕЛ", "ВАЛ", "ВЕДА", "ГАД", "ГЛАВА", "ДА", "ДЕ", "ДЕЛА"]
WORDS += ["ЕВА", "ЕДА", "ЕЛ", "ЖАБА", "ЖАЛ", "ЛЕВ", "ЛЕВА"]
FEW = {"А": 12, "Б": 4, "В": 6, "Г": 5, "Д": 3, "Е": 10, "Ж": 1, "Л": 5}
LONG = ("--games", "3000", "--seed", "1", "--floor", "30")


@pytest.fixture
def tilewire(tilewire: CommandLine, monkeypatch: pytest.MonkeyPatch, ground: Path) -> CommandLine:
    monkeypatch.chdir(ground)
    return tilewire


def tiles(letters: str) -> str:
    """Write a distribution: so many letters, and tiles of few of them."""
    rows = ["?,?,2,0,0"]
    for letter in letters:
        rows.append(f"{letter},{letter.lower()},{FEW.get(letter, 0)},2,{int(letter in 'АЕ')}")
    return "\n".join(rows) + "\n"


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Words and tiles of another alphabet, with fewer letters than English and with more."""
    folder = tmp_path_factory.mktemp("ground")
    (folder / "few.txt").write_text("\n".join(WORDS), encoding="utf-8")
    (folder / "tiles.csv").write_text(tiles("".join(FEW)), encoding="utf-8")
    many = "ЗИЙКМНОПРСТУФХЦЧШЩЪ" + "".join(FEW)
    (folder / "many.csv").write_text(tiles(many), encoding="utf-8")
    return folder


def on(ground: Path, tiles: str = "tiles.csv") -> tuple[str, ...]:
    return "--lexicon", str(ground / "few.txt"), "--distribution", str(ground / tiles)


def start(*arguments: object, most_bytes: int | None = None) -> subprocess.Popen[str]:
    """Start a training of leaves as a process, which may write files of so many bytes at most."""
    python, option, program = COMMAND
    if most_bytes is not None:
        limit = f"resource.setrlimit(resource.RLIMIT_FSIZE, ({most_bytes}, {most_bytes}))"
        program = f"import resource; {limit}; {program}"
    command = [python, option, program, "train", "leaves", *map(str, arguments)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def said(process: subprocess.Popen[str]) -> str:
    """Wait for the end of a process; give what it said."""
    _, err = process.communicate(timeout=PATIENCE_S)
    return err


def wait_for(process: subprocess.Popen[str], words: str) -> None:
    """Wait until a process says something."""
    assert process.stderr is not None
    assert any(words in line for line in process.stderr)


def refused(tilewire: CommandLine, says: str, *arguments: object) -> None:
    """Have a training of leaves refused in a sentence, the last that it says."""
    assert tilewire("train", "leaves", *arguments) == 2, tilewire.err
    last = tilewire.err.splitlines()[-1]
    assert last.startswith("tilewire: ")
    assert says in last
    assert "Traceback" not in tilewire.err


@pytest.fixture(scope="module")
def whole(ground: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of an undisturbed training by two workers."""
    out = tmp_path_factory.mktemp("whole") / "t.klv2"
    process = start("--out", out, *LONG, *on(ground), "--workers", "2")
    told = said(process)
    assert process.returncode == 0, told
    assert "generation 4 of 4" in told
    assert f"{out} is written" in told
    return out


# --- leaves: whole, killed, gone on with ----------------------------------------------------------


def test_what_a_training_writes(ground: Path, whole: Path) -> None:
    names = {path.name for path in whole.parent.iterdir()}
    assert names == {"t.klv2", "t.klv2.json", "t.klv2.png"}
    assert whole.with_name("t.klv2.png").read_bytes().startswith(b"\x89PNG")
    table = read_klv(whole, load_distribution(ground / "tiles.csv"))
    assert table.values.any()
    manifest = read_manifest(whole)
    assert manifest is not None
    assert manifest.is_of(whole.read_bytes())
    assert (manifest.kind, manifest.lexicon, manifest.tiles) == ("leaves", "few", "tiles")
    assert manifest.seed == 1
    assert 3_000 <= manifest.games <= 3_150
    generations = manifest.figures["generations"]
    assert sum(one["games"] for one in generations) == manifest.games
    assert manifest.command.startswith("tilewire train leaves --games 3000 --floor 30 --lexicon ")
    assert manifest.command.endswith("--out t.klv2")


def test_interrupted_and_out_of_disk_and_yet_the_same(
    tilewire: CommandLine, ground: Path, whole: Path, tmp_path: Path
) -> None:
    """Byte for byte the table of two workers that were never stopped."""
    out, checkpoint = tmp_path / "t.klv2", tmp_path / "t.klv2.checkpoint"
    options = ("--out", out, *on(ground), *LONG)
    first = start(*options)
    try:
        wait_for(first, "generation 2 of 4")
        first.send_signal(signal.SIGSTOP)  # it is under way as long as the other takes to start
        refused(tilewire, f"process {first.pid}", *options, "--resume")
        first.send_signal(signal.SIGCONT)
        first.send_signal(signal.SIGINT)
        told = said(first)
    finally:
        first.kill()
        first.wait()
    assert first.returncode == 130
    assert str(checkpoint) in told
    assert "--resume" in told
    assert "Traceback" not in told

    before = checkpoint.read_bytes()
    refused(tilewire, "floor 30, not 31", *options[:-1], "31", "--resume")
    wide = ground / "wide.toml"
    wide.write_text('tiles = "tiles.csv"\nboard = "super"\n', encoding="utf-8")
    by_others = ("--out", out, "--lexicon", ground / "few.txt", "--rules", wide, *LONG)
    refused(tilewire, "training with rules", *by_others, "--resume")
    checkpoint.write_bytes(before[:-1])
    refused(tilewire, str(checkpoint), *options, "--resume")
    checkpoint.write_bytes(before)
    full = start(*options, "--resume", most_bytes=len(before) - 1)
    *told_before, last = said(full).splitlines()
    assert full.returncode == 2, last
    assert str(checkpoint) in last
    assert "--resume" in last
    assert "Traceback" not in "".join(told_before)
    assert checkpoint.read_bytes() == before
    assert not out.exists()

    resumed = start(*options, "--resume")
    told = said(resumed)
    assert resumed.returncode == 0, told
    assert re.search(r"going on after [1-9][\d,]* games", told)
    for name in ("t.klv2", "t.klv2.json"):
        assert (tmp_path / name).read_bytes() == whole.with_name(name).read_bytes(), name
    assert not checkpoint.exists()


# --- what is learned with other tiles ------------------------------------------------------------


def test_a_table_of_other_tiles_is_for_them_alone(
    tilewire: CommandLine, ground: Path, tmp_path: Path
) -> None:
    out = tmp_path / "many.klv2"
    options = ("--games", "100", "--floor", "0", *on(ground, "many.csv"))
    assert tilewire("train", "leaves", "--out", out, *options) == 0, tilewire.err
    assert tilewire("leaves", "--table", out, "--distribution", ground / "many.csv") == 0
    assert {"?", "А", "Ж", "Л"} <= set(re.findall(r"^(\S+)  +[+−]?[\d.]+$", tilewire.out, re.M))
    for command in (
        ("leaves", "--table", out),
        ("match", "static", "greedy", "--games", "1", "--out", tmp_path / "m", "--leaves", out),
        ("train", "winprob", "--games", "10", "--out", tmp_path / "w.csv", "--leaves", out),
    ):
        assert tilewire(*command) == 2
        assert "alphabet" in tilewire.err


# --- win probabilities and features ---------------------------------------------------------------


def test_win_probabilities(tilewire: CommandLine, ground: Path, whole: Path) -> None:
    options = ("--games", "600", "--seed", "3", "--leaves", whole, "--check", "300", *on(ground))
    assert tilewire("train", "winprob", "--out", ground / "w1.csv", *options) == 0
    assert "check: 300 of 300 games" in tilewire.err
    shared = ("--out", ground / "w2.csv", *options, "--workers", "2")
    assert len(tilewire.json("train", "winprob", *shared)) == 10
    written = (ground / "w1.csv").read_bytes()
    assert (ground / "w2.csv").read_bytes() == written
    table = read_win_probabilities(ground / "w1.csv")
    assert table.at(-200, 20) < 0.3
    assert table.at(200, 20) > 0.7
    manifest = read_manifest(ground / "w1.csv")
    assert manifest is not None
    assert manifest.is_of(written)
    assert (manifest.kind, manifest.games, manifest.seed) == ("winprob", 600, 3)
    assert manifest.figures == {"leaves": str(whole)}


def test_without_matplotlib_a_table_has_no_picture(
    tilewire: CommandLine, ground: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    out = ground / "plain.csv"
    options = ("--games", "10", "--check", "0", "--leaves", whole, *on(ground))
    assert tilewire.json("train", "winprob", "--out", out, *options) == [], "nothing was checked"
    assert {path.name for path in ground.glob("plain.csv*")} == {"plain.csv", "plain.csv.json"}
    assert f"{out}.png" in tilewire.err


@pytest.mark.parametrize(("games", "how"), [(200, ()), (2, ("--with-simulation",))])
def test_features(tilewire: CommandLine, tmp_path: Path, games: int, how: tuple[str, ...]) -> None:
    out = tmp_path / "f.json"
    words = ("--lexicon", "scowl", "--distribution", "english", "--games", games)
    assert tilewire("train", "features", "--out", out, "--threads", "2", *words, *how) == 0
    assert out.with_name("f.json.png").read_bytes().startswith(b"\x89PNG")
    made = read_rack_weights(out).made
    given = f"--lexicon scowl --seed 0 --distribution english --games {games}"
    assert made["command"] == " ".join(("tilewire train features", given, *how))
    assert (made["games"], made["seed"]) == (games, 0)
