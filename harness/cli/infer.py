"""``tilewire infer``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from cyclopts import Parameter

from engine.inference.likelihood import MODELS, Model, margin, soft
from engine.notation import format_exchange_count, format_full_move, format_move
from engine.rules.moves import Exchange, Move, Pass, Place
from engine.rules.position import Position
from engine.rules.rules import Rules
from harness.figures import counted, duration, number, plain, share, table

from .failing import CommandFailed
from .options import (
    Duration,
    JsonOption,
    LeavesOption,
    LexiconOption,
    check_counts,
    equip,
    load_given,
    load_words,
    say,
)
from .positions import game_and_line, load_rules, position_after, read_position, replay_file

if TYPE_CHECKING:
    from bot.equipment import Equipment
    from engine.inference.inference import Judges
    from harness.analysis.inferred import Inferred
    from lexicons.store import Lexicon

__all__ = ["infer"]

USUAL_TOP = 20
USUAL_RACKS = 200_000

_TILE_COLUMNS = 3
_TILE_HEAD = ("tile", "before", "after")

ModelName = Literal["deterministic", "margin", "soft"]


def infer(
    what: str,
    /,
    *,
    play: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    model: ModelName = "soft",
    margin: float | None = None,
    temperature: float | None = None,
    top: int = USUAL_TOP,
    racks: int = USUAL_RACKS,
    time: Duration | None = None,
    plot: Path | None = None,
    lexicon: LexiconOption = "scowl",
    leaves: LeavesOption = None,
    seed: int = 0,
    distribution: str = "english",
    layout: str = "standard",
    json_: JsonOption = False,
) -> None:
    """Work out what the player on turn keeps who makes a play, as the other sees it.

    A leave is as likely as a rack of it and the tiles shown is to be drawn ("before"), times how
    likely he makes this play with it ("after": Bayes). Tiles and bingos before are those of a
    random rack.

    Args:
        what: A CGP in quotes or a file that holds one (.cgp), before the play: the rack of the
            player on turn unknown, ours next, as in '/GLORRTU'. GAME.gcg@LINE is the position
            before a line of the score sheet as `tilewire show` numbers them. His own rack, where
            it is given, is looked at only to say where the leave that he really kept ranks.
        play: What he plays: '8D WORD', '-3' (three tiles exchanged), or '-' (a pass). [default:
            that line of the game]
        model: Which plays he makes: deterministic (only the best by static equity), margin (any
            that gives up no more than --margin), soft (the less likely, the more it gives up).
        margin: Points, for the margin model. [default: 3]
        temperature: Points over which the chance of a play falls to 1/e, for the soft model.
            [default: several, as of a player who simulates]
        top: So many of the likeliest leaves.
        racks: Look at so many at most: of his leaves, if there are 200,000 or fewer, else of racks
            that are drawn, as for exchanges and passes.
        time: Look for so long instead, as 300ms.
        plot: A picture (PNG) of the likeliest leaves and of each tile.
        lexicon: An embedded lexicon, or a word list or KWG file.
        leaves: What leaves are worth to him: trained, formula, or a leave table (KLV2). [default:
            the players' own]
        seed: For what is drawn.
        distribution: The tiles: an embedded distribution or a CSV file.
        layout: The board: an embedded layout or a text file.
        json_: Print one JSON object: leaves_considered (or so many racks drawn) and
            leaves_surviving; top, the likeliest leaves with prior and posterior; mass_top10;
            entropy_prior and entropy, in bits; seconds, of the inference alone, once kernels are
            compiled and warm; model, margin, temperatures (points, and the share of turns); play,
            score; unseen_mass, the prior of what was not looked at; effective, the effective
            sample size; tiles, the chance of each on his rack now; bingo, the chance that his
            static choice on the board after the play is one, by 400 racks each, with standard
            errors; true, the leave that he really kept, if his rack is given, and its rank; note,
            what went wrong.
    """
    check_counts(top=top, racks=racks)
    player = _model(model, margin, temperature)
    rules = load_rules(distribution, layout)
    case = _case(what, play, rules)
    words = load_words(lexicon, rules.distribution)
    judges = _judges(words, rules, equip(lexicon, leaves))
    try:
        found = _inferred(case, judges, words, player, (racks, time), seed)
    except ValueError as error:
        raise CommandFailed(f"{case.where}{error}") from None
    if plot is not None:
        _draw(found, case, rules, plot, top)
    if json_:
        print(json.dumps(_as_json(found, case, rules, top), ensure_ascii=False))
    else:
        print("\n".join(_as_text(found, case, rules, top)))


class _Case(NamedTuple):
    """A play that is asked about, and where it is from."""

    position: Position
    move: Move | int  # a number: so many tiles were exchanged
    where: str = ""  # what errors begin with
    line: int = 0
    nick: str = ""


# --- what is asked about ------------------------------------------------------------------------


def _model(name: ModelName, points: float | None, temperature: float | None) -> Model:
    for option, value, of in (("margin", points, "margin"), ("temperature", temperature, "soft")):
        if value is not None and name != of:
            raise CommandFailed(f"--{option} is for --model {of}, and this is {name}")
    try:
        if points is not None:
            return margin(points)
        usual = replace(MODELS[name], name=name)
        return usual if temperature is None else soft(temperature)
    except ValueError as error:
        raise CommandFailed(str(error)) from None


def _case(what: str, play: str | None, rules: Rules) -> _Case:
    """Read a position and a play, which a game has itself."""
    named = game_and_line(what)
    if named is not None:
        return _line(*named, play, rules)
    position = read_position(what, rules)
    if play is None:
        raise CommandFailed(
            "which play? A position has none: give --play '8D WORD', '-3' (three tiles exchanged) "
            "or '-' (a pass)"
        )
    return _Case(position, _read(play, position, rules))


def _line(path: Path, line: int | None, play: str | None, rules: Rules) -> _Case:
    gcg, played = replay_file(path, rules)
    last = len(played.steps)
    if line is None or not 1 <= line <= last:
        raise CommandFailed(f"{path} has lines 1 to {last}: say which, as in {path}@1")
    position, step = position_after(played, line - 1), played.steps[line - 1]
    where = f"{path}, line {line} of the score sheet: "
    if not step.event.kind.is_turn:
        raise CommandFailed(f"{where}a line '{step.event.kind.value}' is no turn")
    move: Move | int = int(step.event.detail) if step.move is None else step.move
    if play is not None:
        move = _read(play, position, rules)
    return _Case(position, move, where, line, gcg.players[step.seat].nick)


def _read(play: str, position: Position, rules: Rules) -> Move | int:
    from harness.analysis.inferred import read_play

    try:
        return read_play(play, position.board, rules.distribution.alphabet)
    except ValueError as error:
        raise CommandFailed(f"--play: {error}") from None


def _judges(words: Lexicon, rules: Rules, equipment: Equipment) -> Judges:
    from engine.inference.inference import Judges
    from lexicons.jit import announce_compilation
    from lexicons.tables import leaves_for

    announce_compilation(say)
    given = load_given(equipment, words)
    try:
        return Judges(words, rules, given.leaves or leaves_for(rules.distribution))
    except ValueError as error:
        raise CommandFailed(str(error)) from None


def _inferred(
    case: _Case,
    judges: Judges,
    words: Lexicon,
    model: Model,
    effort: tuple[int, float | None],
    seed: int,
) -> Inferred:
    from harness.analysis.inferred import infer, observe

    observed = observe(case.position, case.move, judges["static"].rules, words)
    racks, time = effort
    seconds = None if time is None else time / 1_000
    return infer(judges, observed, model, racks=racks, seconds=seconds, seed=seed)


# --- how it is shown ----------------------------------------------------------------------------


def _play(case: _Case, rules: Rules) -> tuple[str, str]:
    """Write the play for programs and for people; which tiles are exchanged nobody sees."""
    alphabet = rules.distribution.alphabet
    match case.move:
        case Place() | Pass():
            text = format_full_move(case.move, case.position.board, alphabet)
            return format_move(case.move, alphabet), text
        case Exchange(tiles=tiles):
            count = len(tiles)
        case count:
            pass
    text = format_exchange_count(count)
    return text, f"{text} (an exchange)"


def _player(model: Model) -> str:
    """Say in a few words what kind of player it is."""
    points = {
        "margin": f", {model.margin:g} points",
        "soft": f", temperature {' or '.join(f'{one:g}' for one, _ in model.temperatures)} points",
    }
    return f"{model.name} model{points.get(model.name, '')}"


def _as_json(found: Inferred, case: _Case, rules: Rules, top: int) -> dict[str, Any]:
    alphabet, known, truth = rules.distribution.alphabet, found.posterior, found.truth
    before, after = found.bingo
    leaves = [
        {"leave": alphabet.text(leave), "prior": prior, "posterior": posterior}
        for leave, prior, posterior in known.top(top)
    ]
    tiles = [
        {"tile": tile, "prior": prior, "posterior": posterior}
        for tile, prior, posterior in zip(
            alphabet.letters, *(chances.tolist() for chances in found.tiles), strict=True
        )
    ]
    return {
        **({"line": case.line, "player": case.nick} if case.nick else {}),
        "leaves_considered": known.considered,
        "leaves_surviving": known.surviving,
        "top": leaves,
        "mass_top10": known.mass_of_top(10),
        "entropy_prior": known.entropy_prior,
        "entropy": known.entropy,
        "seconds": found.seconds,
        "model": found.model.name,
        "margin": found.model.margin,
        "temperatures": [list(one) for one in found.model.temperatures],
        "play": _play(case, rules)[0],
        "score": found.observed.play.score,
        "unseen_mass": known.unseen,
        "effective": known.effective,
        "tiles": tiles,
        "bingo": {
            "prior": before.chance,
            "prior_error": before.error,
            "posterior": after.chance,
            "posterior_error": after.error,
        },
        "true": None if truth is None else {**truth._asdict(), "leave": alphabet.text(truth.leave)},
        "note": known.note,
    }


def _as_text(found: Inferred, case: _Case, rules: Rules, top: int) -> Iterator[str]:
    yield _heading(found, case, rules)
    yield ""
    yield _leaves_table(found, rules, top)
    yield ""
    yield from _summary(found, rules)
    yield ""
    yield "one or more of a tile on his rack now"
    yield _tiles_table(found, rules)
    yield ""
    known = found.posterior
    yield f"{duration(1_000 * found.seconds)} for the inference, {_player(found.model)}"
    if known.note:
        yield f"note: {known.note}"


def _heading(found: Inferred, case: _Case, rules: Rules) -> str:
    play, alphabet = found.observed.play, rules.distribution.alphabet
    ours = alphabet.text(case.position.racks[1 - case.position.on_turn])
    who = f"line {case.line}: {plain(case.nick)}, " if case.nick else ""
    eyes = f"seen with {ours}" if ours else "no rack is known"
    points = counted(play.score, "point")
    return f"{who}{_play(case, rules)[1]}, {points}; {eyes}, {play.bag} in the bag"


def _percent(chance: float) -> str:
    return number(100 * chance, 2, unit=" %")


def _leaves_table(found: Inferred, rules: Rules, top: int) -> str:
    alphabet = rules.distribution.alphabet
    rows = [
        (str(rank), alphabet.text(leave) or "nothing", _percent(prior), _percent(posterior))
        for rank, (leave, prior, posterior) in enumerate(found.posterior.top(top), start=1)
    ]
    return table(("", "leave", "before", "after"), rows)


def _summary(found: Inferred, rules: Rules) -> Iterator[str]:
    known, (before, after) = found.posterior, found.bingo
    yield _effort(found)
    yield f"the ten likeliest: {share(known.mass_of_top(10))}"
    yield f"entropy: {number(known.entropy_prior, 2)} bits before, {number(known.entropy, 2)} after"
    yield (
        f"a bingo in his next turn: {share(before.chance)} before, ± {number(100 * before.error)}; "
        f"{share(after.chance)} after, ± {number(100 * after.error)}"
    )
    if (truth := found.truth) is not None:
        leave = rules.distribution.alphabet.text(truth.leave) or "nothing"
        rank = "is not among them" if truth.rank is None else f"ranks {truth.rank:,}"
        chances = f"{_percent(truth.prior)} before, {_percent(truth.posterior)} after"
        yield f"he kept {leave}, which {rank}: {chances}"


def _effort(found: Inferred) -> str:
    """Say how much was looked at."""
    known, listed = found.posterior, len(found.posterior.leaves)
    survive = f"{known.surviving:,} survive{'s' * (known.surviving == 1)}"
    size = f"effective size {number(known.effective, 0)}"
    if known.unseen:
        seen = f"{listed:,} of {known.considered:,} leaves looked at, {share(1 - known.unseen)}"
        return f"{seen} by weight; {survive}; {size}"
    if listed < known.considered:
        drawn = f"{counted(known.considered, 'rack')} drawn, {counted(listed, 'leave')}"
        return f"{drawn}; {survive}; {size}"
    return f"{counted(known.considered, 'leave')} considered; {survive}"


def _tiles_table(found: Inferred, rules: Rules) -> str:
    """Write tiles side by side, reading down."""
    letters = rules.distribution.alphabet.letters
    cells = [
        (tile, share(before), share(after))
        for tile, before, after in zip(letters, *found.tiles, strict=True)
    ]
    height = -(-len(cells) // _TILE_COLUMNS)
    columns = [cells[at : at + height] for at in range(0, len(cells), height)]
    head = _side_by_side([_TILE_HEAD] * len(columns))
    rows = [
        _side_by_side([column[row] if row < len(column) else ("", "", "") for column in columns])
        for row in range(height)
    ]
    return table(head, rows)


def _side_by_side(cells: list[tuple[str, str, str]]) -> tuple[str, ...]:
    """Put an empty column between what stands side by side."""
    return tuple(text for cell in cells for text in (*cell, ""))[:-1]


def _draw(found: Inferred, case: _Case, rules: Rules, path: Path, top: int) -> None:
    from harness.analysis.plots import draw_inferred

    title = f"{_heading(found, case, rules)} – {_player(found.model)}"
    try:
        draw_inferred(found, rules, path, top=top, title=title)
    except OSError as error:
        raise CommandFailed(f"--plot {path} can't be written: {error.strerror}") from None
