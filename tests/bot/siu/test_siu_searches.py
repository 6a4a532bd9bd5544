"""The searches of an SIU engine, with real words and kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

import pytest
from rollout_positions import late_position
from search_views import Clock
from siu_talk import EMPTY, LAST

from bot.player import Budget
from bot.search.analysis.solving import Solvers
from bot.siu.beliefs import believed
from bot.siu.modes import SearchTask
from bot.siu.position import read_position
from bot.siu.report import Report
from bot.siu.searches import Follower, SearchMaker
from bot.siu.settings import SiuSettings
from engine.inference.leave_prior import LeavePrior
from engine.movegen.generator import legal_moves
from engine.notation.cgp import write_cgp
from engine.notation.cgp_moves import format_cgp_move
from engine.rules.rules import standard_rules
from engine.simulation.simulation import Estimate
from lexicons.store import load_lexicon
from protocol.siu.answers import (
    Answer,
    Fault,
    Ignored,
    InfoEndgame,
    InfoGen,
    InfoInfer,
    InfoSim,
    InfoText,
    Provenance,
)
from protocol.siu.commands import Go, SetPosition, parse_command

OPENING = f"{EMPTY} AEINRST/ 0/0 0"
UNKNOWN = f"{EMPTY} / 0/0 0"
# From MAGPIE's README: one tile in the bag, and the opponent's rack is known.
LATE = (
    "15/3Q7U3/3U2TAURINE2/1CHANSONS2W3/2AI6JO3/DIRL1PO3IN3/E1D2EF3V4/F1I2p1TRAIK3/O1L2T4E4/"
    "ABy1PIT2BRIG2/ME1MOZELLE5/1GRADE1O1NOH3/WE3R1V7/AT5E7/G6D7 ENOSTXY/{theirs} 356/378 0"
)
# After 20 nodes a move is proven to win by 12, and another is thought to gain 40.
WON = (
    "OW3QIGONG4/YET7I2D1/1FOH3q2M2O1/1TWO1PAUROPODS1/3E3A2I2E1/3C3R1BE2HA/3A3R1IS3D/3KATTI2T3U/"
    "2ME1A1E6L/1ZAS1B1R6T/2R2L8L/2V2I8y/2Y2ENFACING2/5R9/IDOLISE8 AEEEJNV/ENNUUX {scores} 0"
)
ALPHABET = standard_rules().distribution.alphabet


@pytest.fixture(scope="module")
def searcher() -> SearchMaker:
    searcher = SearchMaker("tilewire/1", lambda _sentence: None)
    searcher.load(SiuSettings())
    return searcher


def task(go: str, cgp: str, moves: str = "", *, game: int = 0, **settings: object) -> SearchTask:
    given = SiuSettings(**{"usual_ms": 200, **settings})  # type: ignore[arg-type]
    read = parse_command(f"go {go}")
    assert isinstance(read, Go)
    situation = read_position(SetPosition(cgp, tuple(moves.split())), given)
    only, also = (
        tuple(situation.read_move(text)[0] for text in texts)
        for texts in (read.searchmoves, read.alsosearchmoves)
    )
    named = dict(map(situation.read_move, (*read.searchmoves, *read.alsosearchmoves)))
    threads = read.threads or given.threads
    return SearchTask(1, game, read.mode, read, situation, given, only, also, named, threads)


@dataclass
class Heard:
    """What a search tells."""

    best: str = ""
    answers: list[Answer] = field(default_factory=list)
    offers: list[str] = field(default_factory=list)
    last: list[InfoSim] = field(default_factory=list)
    """What was told at last of each move."""

    def __call__(self, answers: Sequence[Answer], best: str | None) -> None:
        self.answers += answers
        self.last = [one for one in answers if isinstance(one, InfoSim)] or self.last
        self.offers += [best] if best else []

    @property
    def moves(self) -> list[str]:
        return [one.move for one in self.answers if isinstance(one, InfoGen | InfoSim)]

    @property
    def results(self) -> dict[str, InfoSim]:
        return {one.move: one for one in self.answers if isinstance(one, InfoSim)}

    @property
    def leaves(self) -> dict[str, float]:
        return {one.leave: one.probability for one in self.answers if isinstance(one, InfoInfer)}


def searched(searcher: SearchMaker, wanted: SearchTask) -> Heard:
    heard, budget = Heard(), Budget(10**15)
    budget.limit(wanted.settings.limit_ms(wanted.go) or 60_000)
    heard.best = searcher.search(wanted, budget, heard)
    return heard


# --- gen ------------------------------------------------------------------------------------------


def test_moves_that_are_asked_for(searcher: SearchMaker) -> None:
    heard = searched(searcher, task("gen alsosearchmoves 8h.TEA H8.TEA ex.RS", OPENING, lines=2))
    assert heard.moves[2:] == ["8H.TEA", "H8.TEA", "ex.RS"]
    heard = searched(searcher, task("gen searchmoves pass 8H.TSRNIEA", OPENING))
    (_, phony, passed) = heard.answers  # a phony is ranked as if it stood
    assert isinstance(phony, InfoGen)
    assert (phony.move, phony.score, phony.leave) == ("8H.TSRNIEA", 66, "")
    assert isinstance(passed, InfoGen)
    assert (passed.score, passed.leave) == (0, "AEINRST")


# --- sim ------------------------------------------------------------------------------------------


def test_only_those_moves_are_simulated(searcher: SearchMaker) -> None:
    heard = searched(searcher, task("sim iterations 10 searchmoves 8D.RETAINS ex.AE", OPENING))
    assert heard.results.keys() == {"8D.RETAINS", "ex.AE"}
    heard = searched(
        searcher, task("sim iterations 10 alsosearchmoves ex.AE", OPENING, candidates=3, lines=1)
    )
    assert len(heard.results) == 2
    assert "ex.AE" in heard.results


def test_what_was_told_of_a_move_is_kept_up_to_date() -> None:
    wanted = task("sim", OPENING, lines=1)
    first, second = (
        Estimate(wanted.situation.read_move(move)[0], 66, (), 0, 20, 0.6, 0.1, 1.0, 1.0)
        for move in ("8D.RETAINS", "8E.RETAINS")
    )
    report = Report(wanted, Heard())
    assert [one.move for one in report.simulated([first, second])] == ["8D.RETAINS"]
    told = report.simulated([second, first])
    assert [one.move for one in told] == ["8E.RETAINS", "8D.RETAINS"]


def test_a_simulation_without_a_limit_ends_when_its_move_is_clear(searcher: SearchMaker) -> None:
    """With some tiles in the bag, where a player would look deeper in stages, too."""
    cgp = write_cgp(late_position(20), standard_rules())
    (best, *_) = searched(searcher, task("gen", cgp)).moves
    heard, budget = Heard(), Budget(2_000, clock=Clock(1))
    searcher.search(task(f"sim searchmoves {best} pass", cgp), budget, heard)
    assert not budget.expired
    assert heard.offers[-1] == best


def test_a_simulation_ends_when_the_leader_is_certain(searcher: SearchMaker) -> None:
    wanted = task("sim stopcondition 99 searchmoves 8D.RETAINS ex.AEINRST", OPENING)
    heard = searched(searcher, wanted)  # with a minute of time
    best, other = heard.results["8D.RETAINS"], heard.results["ex.AEINRST"]
    assert heard.best == "8D.RETAINS"
    assert best.win - other.win > 2 * (best.win_error + other.win_error)


def test_a_search_without_time_has_a_move(searcher: SearchMaker) -> None:
    for mode in ("sim", "auto"):
        wanted, heard, budget = task(f"{mode} infinite", OPENING), Heard(), Budget(10**15)
        budget.cancel()
        assert len(searcher.search(wanted, budget, heard).partition(".")[2]) == 7
        assert not heard.results


# --- infer ----------------------------------------------------------------------------------------


def test_what_the_opponent_kept_is_inferred_and_drawn_from(
    searcher: SearchMaker, tmp_path: Path
) -> None:
    moves = "8D.IMINO rack.GLORRTU"
    wanted = task("infer", UNKNOWN, moves, infer_model="deterministic", lines=40, usual_ms=5_000)
    heard = searched(searcher, wanted)
    assert heard.best == "none"
    assert isinstance(heard.answers[0], Provenance)
    assert heard.leaves["?O"] > 0.01  # Richards and Amir's example
    assert all(len(leave) == 2 for leave in heard.leaves)
    sim = "sim iterations 8 useinference"
    informed = searched(searcher, task(sim, UNKNOWN, moves, candidates=3))
    plain = searched(searcher, task("sim iterations 8", UNKNOWN, moves, candidates=3))
    assert informed.results != plain.results
    assert not any(isinstance(one, Ignored) for one in informed.answers)
    other = searched(searcher, task(sim, UNKNOWN, "8D.IMINO rack.GLORRTE", candidates=3))
    assert not any(isinstance(one, Ignored) for one in other.answers)  # our rack is not its subject
    other = searched(searcher, task(sim, UNKNOWN, "8H.ZA rack.GLORRTU", candidates=3))
    assert other.answers[0] == Ignored("useinference")
    tiles, words = tmp_path / "tiles.csv", tmp_path / "words.txt"
    english = files("lexicons").joinpath("data/english.csv").read_text(encoding="utf-8")
    tiles.write_text(english.replace("Z,z,1,10,0\n", ""), encoding="utf-8")
    words.write_text("IMINO\nROT\n")
    other = searched(
        searcher, task(sim, UNKNOWN, moves, distribution=str(tiles), lexicon=str(words))
    )
    assert other.answers[0] == Ignored("useinference")
    (source,) = (one for one in other.answers if isinstance(one, Provenance))
    assert (source.leaves, source.winpct) == ("formula", "formula"), "no tables are for these tiles"
    searcher.load(SiuSettings())  # others have no time to


@pytest.mark.parametrize(
    ("moves", "leave"),
    [
        ("8H.ZA.ABCDEFZ", "BCDEF"),
        ("phony.8H.QUA pass 8H.ZA rack.AEINRST", "QU"),
        ("ex.3", ""),
    ],
)
def test_what_is_known_is_not_guessed(
    searcher: SearchMaker, moves: str, leave: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.siu.searches.USUAL_RACKS", 2_000)
    heard = searched(searcher, task("infer iterations 1", UNKNOWN, moves, lines=5))  # no time limit
    assert heard.leaves
    assert all(set(leave) <= set(one) for one in heard.leaves)
    assert len(leave) < 5 or heard.leaves == {leave: 1.0}


@pytest.mark.parametrize(
    ("cgp", "moves", "sentence"),
    [
        (UNKNOWN, "", "has no move of the opponent"),
        (UNKNOWN, "phony.8H.ZAX", "the opponent holds what it showed"),
        (LAST, "pass", "the bag is empty"),
    ],
)
def test_where_there_is_nothing_to_infer(
    searcher: SearchMaker, cgp: str, moves: str, sentence: str
) -> None:
    heard = searched(searcher, task("infer", cgp, moves))
    assert isinstance(heard.answers[-1], Fault)
    assert sentence in heard.answers[-1].text
    assert heard.best == "none"


# --- what is certain ------------------------------------------------------------------------------


def test_tiles_that_were_shown_are_on_his_rack(searcher: SearchMaker) -> None:
    kit = searcher.load(SiuSettings())

    def belief_in(wanted: SearchTask) -> LeavePrior | None:
        return believed(kit.view(wanted), wanted.situation.known, None)

    belief = belief_in(task("sim", UNKNOWN, "phony.8H.ZAX rack.AEINRST"))
    assert belief is not None
    assert belief.doubt == 0
    shown = set(ALPHABET.tiles("ZAX"))
    assert all(shown <= set(leave) for leave in belief.tiles.tolist())
    assert belief_in(task("sim", OPENING)) is None
    known = task("sim iterations 20", LATE.format(theirs="ACEISUY"))
    assert belief_in(known) is None  # it is in the position
    assert searched(searcher, known).results


# --- the end of the game --------------------------------------------------------------------------


def test_what_can_not_be_solved_of_searchmoves_is_left_out(searcher: SearchMaker) -> None:
    heard = searched(searcher, task("endgame searchmoves B13.MIZ B13.ZIM", LAST))
    assert heard.best == "B13.MIZ"
    (fault,) = (one for one in heard.answers if isinstance(one, Fault))
    assert (fault.code, fault.text.partition(":")[0]) == ("bad-move", "B13.ZIM")
    assert searched(searcher, task("endgame searchmoves B13.ZIM", LAST)).best == "none"
    position = task("endgame", LAST).situation.position
    every = legal_moves(position, load_lexicon(), standard_rules())
    names = [format_cgp_move(one.move, position.board, ALPHABET) for one in every]
    many = searched(searcher, task(f"endgame searchmoves {' '.join(names)}", LAST))
    assert many.best in names
    (fault,) = (one for one in many.answers if isinstance(one, Fault))
    assert fault.text.startswith(f"{len(names) - 64} of searchmoves, the lowest by static equity")


def test_a_move_that_is_proven_to_win_comes_before_a_guess(searcher: SearchMaker) -> None:
    """As a player chooses; where it does not win, the guess is told."""
    won = searched(searcher, task("endgame depth 0", WON.format(scores="0/0")))
    certainty, found = won.answers[-2:]
    assert certainty == InfoText("string not proven, at least +12")
    assert found == InfoEndgame(0, 12, ("11K.JAVEL",))
    assert {won.best, *won.offers} == {"11K.JAVEL"}
    behind = searched(searcher, task("endgame depth 0", WON.format(scores="0/12")))
    found = behind.answers[-1]
    assert isinstance(found, InfoEndgame)
    assert found.spread > 12
    assert found.line_of_play[0] == behind.best != "11K.JAVEL"


def test_with_too_little_memory_for_its_threads_fewer_search(searcher: SearchMaker) -> None:
    heard = searched(searcher, task("endgame movetime 60000 threads 3", LAST, endgame_mb=48))
    says = InfoText("string an EndgameHash of 48 is enough for 2 of 3 threads")
    assert says in heard.answers
    assert heard.best != "none"


@pytest.mark.parametrize("go", ["endgame", "auto"])
def test_without_memory_for_the_solver_the_first_move_is_played(
    searcher: SearchMaker, monkeypatch: pytest.MonkeyPatch, go: str
) -> None:
    def solver(*_arguments: object, **_named: object) -> None:
        raise MemoryError("64 GiB can't be allocated")

    monkeypatch.setattr(Solvers, "solver", solver)
    wanted = task(go, LAST, game=7)
    heard = searched(searcher, wanted)
    faults = [one for one in heard.answers if isinstance(one, Fault)]
    assert [fault.code for fault in faults] == ["no-memory"]
    assert faults[0].text.endswith("64 GiB can't be allocated")
    assert heard.best == searcher.at_once(wanted)[1] != "none"


def test_a_pre_endgame_of_one_move_looks_at_all_of_it_and_of_many_ends_with_a_sure_win(
    searcher: SearchMaker,
) -> None:
    one = task("peg movetime 60000 searchmoves 1D.SEXTO", LATE.format(theirs=""))
    (*_, counted, cover) = searched(searcher, one).answers
    assert isinstance(counted, InfoText)
    assert int(counted.text.split("nodes ")[1].split()[0]) > 7 * 64 * 4, "more than a first look"
    assert isinstance(cover, InfoText)
    assert cover.text.startswith("string 7 of 7 cases looked at, 100.0 % of what can be; ")
    sure = task("peg firstwin", LATE.format(theirs="ACEISUY"), peg_model="pessimistic")
    assert searched(searcher, sure).best in ("1D.SEXTON", "1A.OXES", "1D.SEXTO")


# --- auto -----------------------------------------------------------------------------------------


def test_the_champion_chooses(searcher: SearchMaker) -> None:
    for cgp in (OPENING, LATE.format(theirs=""), LATE.format(theirs="ACEISUY"), LAST):
        heard = searched(searcher, task("auto movetime 500", cgp))
        assert isinstance(heard.answers[0], Provenance)
        assert heard.best in heard.results
        assert heard.offers


def test_the_champion_is_kept_as_long_as_a_game_goes_on(searcher: SearchMaker) -> None:
    kit, follower = searcher.load(SiuSettings()), Follower()

    def player(moves: str, game: int = 0, go: str = "auto") -> object:
        told, view = follower.player(task(go, UNKNOWN, moves, game=game), kit)
        assert len(view.history) == sum(not one.startswith(("rack", "ph")) for one in moves.split())
        return told

    first = player("8H.ZA rack.ABEINRT")
    assert player("8H.ZA rack.ABEINRT") is first
    assert player("8H.ZA rack.ABEINRT", go="auto threads 2") is not first  # nor is its solver
    first = player("8H.ZA rack.ABEINRT")
    assert player("8H.ZA 7G.AB ex.2 rack.EINRTUU") is first
    assert player("8H.ZA 7G.AB ex.3 rack.EINRTUU") is not first  # another game
    second = player("8H.ZA 7G.AB phony.6F.XYQ rack.EINRTUU")
    assert player("8H.ZA 7G.AB rack.ABCDEFG") is not second  # the other's turn
    third = player("8H.ZA 7G.AB rack.ABCDEFG")
    assert player("8H.ZA 7G.AB rack.ABCDEFG", game=1) is not third


def test_the_champion_knows_what_was_shown(searcher: SearchMaker) -> None:
    moves = "8H.ZA 7G.AB phony.9H.QAT rack.EINRTUU"
    heard = searched(searcher, task("auto movetime 300", UNKNOWN, moves))
    assert heard.results
    follower, kit = Follower(), searcher.load(SiuSettings())
    player, view = follower.player(task("auto", UNKNOWN, moves), kit)
    assert player.opponent is not None
    player.opponent.take_in(view, Budget(10**15))
    belief = player.opponent.belief(view)
    assert belief is not None
    shown = set(ALPHABET.tiles("QAT"))
    assert all(shown <= set(leave) for leave in belief.tiles.tolist())


# --- words ----------------------------------------------------------------------------------------


def test_other_words(tmp_path: Path) -> None:
    (tmp_path / "Mini.txt").write_text("TEA\nEAT\n")
    searcher = SearchMaker("tilewire/1", lambda _sentence: None)
    mini = str(tmp_path / "Mini.txt")
    heard = searched(searcher, task("gen", OPENING, lexicon=mini, lines=50))
    assert isinstance(heard.answers[0], Provenance)
    assert heard.answers[0].lexicon == "Mini"
    words = {move.partition(".")[2] for move in heard.moves if not move.startswith("ex.")}
    assert words == {"TEA", "EAT"}
    named = task("gen", f"{OPENING} lex scowl;", lexicon=mini)
    assert len(searched(searcher, named).best) > len("8D.TEA")


def test_a_file_that_is_no_lexicon_is_said_to_be_none(
    tmp_path: Path, searcher: SearchMaker
) -> None:
    broken = tmp_path / "broken.kwg"
    broken.write_bytes(b"abc")
    with pytest.raises(ValueError, match=r"broken\.kwg"):
        searcher.load(SiuSettings(lexicon=str(broken)))
    heard = searched(searcher, task("gen", OPENING, lexicon=str(broken)))
    assert isinstance(heard.answers[-1], Fault)
    assert heard.best == "none"
