"""The page's sentences about a position: those of the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from page.modules import asked

from bot.equipment import Resources
from bot.search.analysis.findings import Findings, SearchTools, analyse
from bot.search.analysis.questions import Phony
from engine.movegen.generator import Generator
from engine.notation.cgp import read_cgp
from engine.notation.move_text import parse_move
from engine.rules.moves import PASS
from engine.rules.rules import standard_rules
from engine.simulation.rollout_results import Difference
from harness.analysis.as_json import answer_json
from harness.figures import number
from lexicons.store import load_lexicon

RULES = standard_rules()
MIDGAME = (Path(__file__).parents[1] / "fixtures" / "cgp" / "midgame.cgp").read_text()
ENDGAME = (
    "HOCK2HIYA4F/3EW4ZINGER/3Na9U/3OS2JEANS1MI/4T4GI2ET/3BEG3OD2T1/4F3W1O1DA1/3CULPAE1R1UT1/"
    "4L3B1O1OE1/8STULMS1/9As1O2/2PERINEAL5/1VIRE4A5/9QINDAR/13TI ADEIVXY/ENOR 391/397 0"
)
ONE_IN_BAG = (
    "3X3F7/2BY3A7/2AS3V4M2/2ST2COrBELED1/2TIDE1R4D2/4IF3G2I2/4O4O2C2/NONPROTEIN1JOWL/4I4AHI3/"
    "QUARTERN1DOG1W1/4E5A2E1/MUSES5R2A1/I9I2P1/Z9L2O1/E8HYAENA ILRTTUV/ 374/373 0"
)
ASK = """
const { answers } = JSON.parse(process.argv[2]);
const { verdictText } = await import("./verdict.js");
const { namedMove } = await import("./game.js");
const { readOpening } = await import("./notation.js");
console.log(JSON.stringify(answers.map((found) =>
  verdictText(found, (move) => namedMove(move, 15, readOpening(found.cgp).board)))));
"""


def every_kind() -> Iterator[Findings]:
    """Yield findings that are told differently."""
    lexicon = load_lexicon()
    settings = SearchTools(RULES, Resources(lexicon), candidates=6, rollouts=600)
    generator = Generator(lexicon, RULES)
    midgame, endgame = read_cgp(MIDGAME, RULES), read_cgp(ENDGAME, RULES)
    played = generator.best(midgame, 9)[-1].move
    found = analyse(settings, midgame, played)
    yield found
    yield analyse(settings, midgame, found.best.move)
    for text in ("-V", "-VV"):
        move = parse_move(text, midgame.board, RULES.distribution.alphabet)
        yield analyse(settings, midgame, move)
    yield analyse(settings, midgame, played, stopped=lambda: True)
    yield replace(found, question=replace(found.question, phony=Phony(("QX",), "csw")))
    for apart in (
        *(Difference(win, 0.01, points, 0.5) for win in (0.2, 0.02, 0.0) for points in (9.0, 0.5)),
        *(Difference(win, 0.0, 8.3, 0.5) for win in (0.0, -0.3)),
        Difference(0.0, 0.0, 0.0, 0.0),
    ):
        leads = (apart if row is not found.best else found.behind[0] for row in found.estimates)
        yield replace(found, behind=tuple(leads))
    forced = replace(found.question, candidates=(found.question.candidates[0]._replace(move=PASS),))
    yield replace(found, question=forced, estimates=(replace(found.best, move=PASS),))
    yield analyse(replace(settings, candidates=1), midgame)
    for each in generator.best(endgame, 8)[::7]:
        yield analyse(settings, endgame, each.move)
    yield analyse(replace(settings, rollouts=1), endgame, each.move)
    late = read_cgp(ONE_IN_BAG, RULES)
    yield analyse(replace(settings, rollouts=9_000), late, generator.best(late, 3)[-1].move)


def test_the_page_and_the_terminal_say_the_same(tmp_path: Path) -> None:
    answers = [answer_json(found, RULES) for found in every_kind()]
    texts = [answer["verdict"]["text"].partition(" By the tile ")[0] for answer in answers]
    assert asked(tmp_path, ASK, {"answers": answers}) == texts, "with a table of tiles in its place"
    for words in (
        "can't be told",
        "same thing",
        "it cost 8.3 points",
        "proven",
        "had it",
        "exchange",
    ):
        assert any(words in text for text in texts), words


def test_figures_are_rounded_as_the_terminal_rounds_them(tmp_path: Path) -> None:
    values = [at / 40 for at in range(-90, 90)]
    script = """const { decimal } = await import("./texts.js");
console.log(JSON.stringify(JSON.parse(process.argv[2]).map(decimal)));"""
    assert asked(tmp_path, script, values) == [number(value) for value in values]
