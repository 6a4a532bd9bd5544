"""``tilewire infer``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from engine.inference.likelihood import MODELS, Model, margin, soft
from engine.notation.gcg import EventKind
from engine.notation.move_text import parse_told
from engine.notation.replaying import LOST_TURN
from engine.rules.moves import Move
from engine.rules.position import Position
from engine.rules.rules import Rules

from . import options
from .failing import CommandFailed, sentences
from .positions import (
    GameFile,
    Judge,
    PositionArgument,
    note_unknown_words,
    read_game,
    read_position,
)
from .study_run import check_drawable, check_writable

MOST_RACKS = 200_000
"""The default of ``--racks``."""

ModelName = Literal["deterministic", "margin", "soft"]


def infer(
    what: PositionArgument,
    /,
    *,
    play: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    model: ModelName = "soft",
    margin: float | None = None,
    temperature: float | None = None,
    top: options.Count = 20,
    racks: options.Count | None = None,
    time: options.Duration | None = None,
    plot: Path | None = None,
    lexicon: options.RulesLexiconOption = "scowl",
    leaves: str | None = None,
    seed: options.SeedOption = 0,
    board: options.BoardOptions = options.BoardOptions(),
    json_: options.JsonOption = False,
) -> None:
    """Work out what the player on turn keeps after a play, as the opponent sees it.

    A leave is as likely as a rack of it and the tiles shown is to be drawn ("before"), times how
    likely this play is with it ("after": Bayes). An exchange shows no tiles: before is then how
    often a random rack keeps these, the best tiles of it by --leaves. Tiles and bingos before are
    those of a random rack.

    Args:
        what: A CGP in quotes or a file that holds one (.cgp), before the play: the rack of the
            player on turn unknown, ours next, as in '/GLORRTU'. GAME.gcg@LINE is the position
            before a line of the score sheet as `tilewire show` numbers them. The rack on turn, if
            it is given, only serves to rank the leave that was really kept.
        play: The play: '8D WORD', '-3' (three tiles exchanged), or '-' (a pass). [default: that
            line of the game]
        model: Which plays the player makes: deterministic (only the best by static equity), margin
            (any that gives up no more than --margin), soft (the less likely, the more it gives
            up).
        margin: Points, for the margin model. [default: 3]
        temperature: Points over which the chance of a play falls to 1/e, for the soft model.
            [default: several, as of a player who simulates]
        top: How many of the likeliest leaves.
        racks: How many are looked at, at most: leaves, if there are 200,000 or fewer, else racks
            that are drawn, as for exchanges and passes. [default: 200,000]
        time: How long to look, instead of --racks, as 300ms.
        leaves: What leaves are worth to the player: trained, formula, or a leave table (KLV2).
            [default: the players' own]
        plot: A picture (PNG) of the likeliest leaves and of each tile.
        json_: Print one JSON object: leaves_considered (or racks drawn) and leaves_surviving;
            top, the likeliest leaves with prior and posterior; mass_top10; entropy_prior and
            entropy, in bits; seconds, of the inference alone, once kernels are compiled and warm;
            model, margin, temperatures (points, and the share of turns); play, score; unseen_mass,
            the prior of what was not looked at; effective, the effective sample size; tiles, the
            chance of each on the rack now; bingo, the chance that the static choice on the board
            after the play is one, by 400 racks each, with standard errors; true, the leave that
            was really kept, if the rack is given, and its rank; note, what went wrong.
    """
    if racks is not None and time is not None:
        raise CommandFailed("give either --time or --racks")
    if plot is not None:
        check_drawable("--plot")
        check_writable("--plot", plot)
    player = _model(model, margin, temperature)
    rules = board.load()
    lexicon = options.lexicon_for(lexicon, rules.distribution)
    asked = _asked(what, play, rules, lexicon)
    judge = Judge.load(options.TableOptions(lexicon, leaves), rules, "harness.analysis.inferred")
    from engine.inference.equity_loss import Judges
    from harness.analysis.inferred import infer, observe

    from .answer_text import draw_inference, print_answer

    with sentences():
        judges = Judges(judge.words, rules, judge.leaves)
    with sentences(asked.where):
        observed = observe(asked.position, asked.move, rules, judge.words)
        most, seconds = racks or MOST_RACKS, None if time is None else time / 1_000
        inferred = infer(judges, observed, player, racks=most, seconds=seconds, seed=seed)
    note_unknown_words(judge.words, asked.position.board)
    if plot is not None:
        with sentences(f"--plot {plot} can't be written: ", (OSError,)):
            draw_inference(inferred, rules, plot, top=top, line=asked.line, nick=asked.nick)
    print_answer(inferred, rules, as_json=json_, top=top, line=asked.line, nick=asked.nick)


def _model(name: ModelName, points: float | None, temperature: float | None) -> Model:
    for option, value, of in (("margin", points, "margin"), ("temperature", temperature, "soft")):
        if value is not None and name != of:
            raise CommandFailed(f"--{option} is for --model {of}, and this is {name}")
    with sentences():
        if points is not None:
            return margin(points)
        return replace(MODELS[name], name=name) if temperature is None else soft(temperature)


@dataclass(frozen=True)
class _Asked:
    """A play that is asked about, and where it is from."""

    position: Position
    move: Move | int  # a number: that many tiles are exchanged
    where: str = ""  # what errors begin with
    line: int = 0
    nick: str = ""


def _asked(what: str, play: str | None, rules: Rules, lexicon: str) -> _Asked:
    """Read a position and a play; a line of a game has both."""
    game = read_game(what, rules)
    if game is not None:
        asked = _line(game, play, rules)
        game.compare_words(lexicon)
        return asked
    position = read_position(what, rules, lexicon)
    if play is None:
        raise CommandFailed(
            "which play? A position has none: give --play '8D WORD', '-3' (three tiles exchanged) "
            "or '-' (a pass)"
        )
    return _Asked(position, _read(play, position, rules))


def _line(game: GameFile, play: str | None, rules: Rules) -> _Asked:
    line, steps = game.named_line, game.played.steps
    where = f"{game.path}@{line}: "
    if line > len(steps):
        raise CommandFailed(f"{where}no play is recorded after the last line")
    step = steps[line - 1]
    if not step.event.kind.is_turn:
        raise CommandFailed(f"{where}a line '{step.event.kind.value}' is no turn")
    if play is not None:
        move = _read(play, step.before, rules)
    elif LOST_TURN in step.event.note.split("\n"):
        raise CommandFailed(f"{where}the turn was lost by a challenge")
    elif line < len(steps) and steps[line].event.kind is EventKind.WITHDRAWN:
        raise CommandFailed(f"{where}the play was taken back, and its player holds what it showed")
    else:
        move = int(step.event.detail) if step.move is None else step.move
    return _Asked(step.before, move, where, line, game.gcg.players[step.seat].nick)


def _read(play: str, position: Position, rules: Rules) -> Move | int:
    with sentences("--play: "):
        return parse_told(play.strip(), position.board, rules.distribution.alphabet)
