"""Questions about a position: ``generate``, ``analyze``, ``endgame``, ``preendgame``, ``infer``."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from cyclopts import Parameter

from bot.cores import usable_cores
from bot.equipment import Resources
from bot.player import View
from engine.inference.likelihood import MODELS, Model, margin, soft
from engine.notation.gcg import EventKind
from engine.notation.move_text import parse_move, parse_told
from engine.notation.replaying import LOST_TURN
from engine.rules.moves import Move, Place
from engine.rules.position import Position, bag_count
from engine.rules.rules import Rules, canonical, check_move

from . import options
from .failing import CommandFailed, sentences
from .positions import (
    GameFile,
    Judge,
    PositionArgument,
    interruptible,
    is_folder,
    note_unknown_words,
    read_game,
    read_position,
    time_to_think,
)
from .study_run import StudyRun, check_drawable, check_writable

if TYPE_CHECKING:
    from engine.endgame.solver import EndgameSolver
    from engine.rules.rules import Rules
    from harness.analysis.review import ReviewedTurn
    from lexicons.store import Lexicon

MOST_RACKS = 200_000
"""The default of ``--racks``."""

ModelName = Literal["deterministic", "margin", "soft"]
PlayOption: TypeAlias = Annotated[str | None, Parameter(allow_leading_hyphen=True)]
MovesOption: TypeAlias = Annotated[
    tuple[str, ...], Parameter(negative="", allow_leading_hyphen=True, show_default=False)
]


def generate(
    what: PositionArgument,
    /,
    *,
    lexicon: options.RulesLexiconOption = "scowl",
    leaves: options.LeavesOption = None,
    top: options.Count | None = None,
    all_: Annotated[bool, Parameter(name="--all", negative="")] = False,
    plain: Annotated[bool, Parameter(negative="")] = False,
    opening: bool = True,
    going_out: bool = True,
    late_bag: bool = True,
    board: options.BoardOptions = options.BoardOptions(),
    json_: options.JsonOption = False,
) -> None:
    """List the moves of a position, the highest equity first.

    Equity is the score, the worth of the leave, and adjustments, each of which can be switched.

    Args:
        what: A CGP in quotes or a file that holds one (.cgp); GAME.gcg@LINE, the position before
            a line of the score sheet as `tilewire show` numbers them.
        top: How many moves. [default: 15]
        all_: Every move.
        plain: Score and leave alone, no adjustment.
        opening: Count vowels that the first play puts beside premium squares.
        going_out: Count tiles that are left when the bag is empty.
        late_bag: Count how many tiles the bag is left with, when they are few.
        json_: Print one JSON object.
    """
    if top is not None and all_:
        raise CommandFailed("give either --top or --all")
    rules, lexicon = board.load(lexicon)
    position = read_position(what, rules, lexicon, strict=board.strict)
    if not position.racks[position.on_turn]:
        raise CommandFailed("the rack of the player on turn is not given")
    judge = Judge.load(options.TableOptions(lexicon, leaves), rules, "engine.movegen.generator")
    note_unknown_words(judge.words, position.board)
    from bot.search.analysis.questions import rank_moves
    from engine.movegen.evaluation import PLAIN, Evaluation

    from .answer_text import print_answer

    adjusted = Evaluation(opening=opening, going_out=going_out, late_bag=late_bag)
    generator = judge.generator(PLAIN if plain else adjusted)
    with sentences():
        ranked = rank_moves(generator, position, None if all_ else top or 15)
    print_answer(ranked, rules, as_json=json_)


def analyze(
    what: PositionArgument,
    /,
    *others: str,
    time: options.PositiveDuration | None = None,
    rollouts: options.Count | None = None,
    plies: options.Count | None = None,
    candidates: options.Count = 15,
    play: PlayOption = None,
    tables: options.TableOptions = options.TableOptions(),
    threads: options.ThreadsOption = 1,
    seed: options.SeedOption = 0,
    board: options.BoardOptions = options.BoardOptions(),
    workers: options.WorkersOption | None = None,
    out: Annotated[Path | None, Parameter(name="--out")] = None,
    alias: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = (),
    json_: options.JsonOption = False,
) -> None:
    """Find the best move of a position by simulation, or review a game, or many.

    Moves are played and followed by turns of static players, again and again, with other tiles
    each time. The last fifth compares the move that was played, if it isn't the best, with the
    best alone. With one or two tiles in the bag a solver then looks at every move with everything
    that may be drawn, if there is time; with an empty bag the endgame is solved instead. Ctrl-C
    ends it with what is known by then.

    Args:
        what: A CGP in quotes or a file that holds one (.cgp); GAME.gcg@LINE, the position before
            a line of the score sheet as `tilewire show` numbers them; GAME.gcg, every turn; a
            folder, the games (.gcg) in it.
        others: More games and folders. Many games are summed up by player.
        time: How long at most; it ends before if it is certain. [default: 10s; 1s for each turn
            of a game]
        rollouts: How many of all candidates together, instead of a time, for each turn of a game;
            then the result is the same everywhere. In the solver's work a rollout stands for 30
            positions, and with an empty bag 20,000 at least are looked at.
        plies: Turns after a candidate. [default: 2; to the end of the game when the bag is low]
        candidates: How many moves, the best by static equity.
        workers: Of many games, how many at once, each on cores of its own. [default: all cores]
        out: A folder for the review of many games: turns.jsonl, with which the same command
            resumes; turns.csv; review.html, a page.
        alias: NAME=SPELLING,SPELLING: names in many games that are one player's.
        play: A move to compare with the best, '8D WORD' or '-ABC', in place of the played one.
        json_: Print one JSON object, or one for each turn of a game; of many games, their tables.
    """
    if time is not None and rollouts is not None:
        raise CommandFailed("give either --time or --rollouts")
    rules, lexicon = board.load(tables.lexicon)
    tables = replace(tables, lexicon=lexicon)
    from .reviewing import read_games, review_games

    is_many = bool(others or workers or out or alias) or is_folder(what)
    game = None if is_many else read_game(what, rules, board.strict)
    is_review = is_many or (game is not None and game.line is None)
    if is_many:
        games, left_out = read_games((what, *others), rules, lexicon, alias, board.strict)
        turns = [turn for each in games.values() for turn in each.turns]
    else:
        turns = _turns(what, game, rules, lexicon)
    if play is not None:
        if is_review:
            raise CommandFailed(f"--play is for one turn: name it, as {what}@7")
        turns = [_trying(turns[0], play, rules)]
    judge = Judge.load(tables, rules, "bot.search.analysis.findings")
    note_unknown_words(judge.words, *(turn.position.board for turn in turns))
    from bot.search.analysis.findings import SearchTools

    from .findings_view import review_game, show_position

    usual_ms = 1_000 if is_review else 10_000
    settings = SearchTools(
        rules,
        Resources(judge.words, judge.leaves, judge.win_probabilities, threads),
        candidates=candidates,
        plies=plies,
        seed=seed,
        seconds=(usual_ms if time is None else time) / 1_000,
        rollouts=rollouts,
    )
    if is_many:
        at_once = min(workers or max(1, usable_cores() // threads), len(games))
        review_games(games, left_out, settings, StudyRun(workers=at_once, out=out, json_=json_))
        return
    stop = threading.Event()
    with sentences(), interruptible(stop.set):
        if is_review:
            review_game(turns, settings, stop.is_set, as_json=json_)
        else:
            show_position(turns[0], settings, stop.is_set, as_json=json_)


def _turns(what: str, game: GameFile | None, rules: Rules, lexicon: str) -> list[ReviewedTurn]:
    """Return the turns of a game, or the one that is asked about, or fail."""
    from harness.analysis.review import ReviewedTurn, turn_before, turns_of

    if game is None:
        return [ReviewedTurn(read_position(what, rules, lexicon, has_choice=True))]
    if game.line is None:
        with sentences(f"{game.path}: "):
            turns = turns_of(game.gcg, game.played, rules)
    else:
        turns = [turn_before(game.gcg, game.played, game.line, rules)]
        if turns[0].obstacle:
            raise CommandFailed(f"{what}: {turns[0].obstacle}")
    game.compare_words(lexicon)
    return turns


def _trying(turn: ReviewedTurn, play: str, rules: Rules) -> ReviewedTurn:
    """Return a turn with the move of ``--play`` in place of the played one, or fail."""
    from harness.analysis.sheet import read_try

    with sentences("--play: "):
        move = read_try(play, turn, rules)
        check_move(turn.position, move, rules, None, bag_count(turn.position, rules))
    return replace(turn, tried=move, taken_back=False)


def endgame(
    what: PositionArgument,
    /,
    *,
    time: options.PositiveDuration = 5_000,
    memory: options.Memory = options.USUAL_MEMORY,
    threads: options.ThreadsOption = 1,
    first_win: Annotated[bool, Parameter(negative="")] = False,
    lexicon: options.RulesLexiconOption = "scowl",
    board: options.BoardOptions = options.BoardOptions(),
    json_: options.JsonOption = False,
) -> None:
    """Work out the best play of a position with an empty bag, and prove it if there is time.

    The value is what the player on turn gains in spread from here to the end of the game, the
    settlement of the racks included. Ctrl-C ends it with what is known by then.

    Args:
        what: A CGP in quotes or a file that holds one (.cgp); GAME.gcg@LINE, the position before
            a line of the score sheet as `tilewire show` numbers them. The opponent's rack may be
            left out: it is what is unseen.
        time: How long at most; it ends before if the value is proven.
        first_win: Prove who wins, and not by how much.
        json_: Print one JSON object: value, with --first-win a bound of it; proven; outcome, won,
            lost or drawn if that is proven, else null; floor and ceiling, what is proven of the
            value, or null; depth, in turns; nodes; seconds; pv, the best play of both; scores, what
            each of its moves scores; spread, at the end of the game, a bound like the value.
    """
    rules, lexicon = board.load(lexicon)
    position = read_position(what, rules, lexicon, strict=board.strict, has_choice=True)
    if bag := bag_count(position, rules):
        from engine.preendgame import MOST_IN_BAG

        tiles = "1 tile is" if bag == 1 else f"{bag} tiles are"
        command = "preendgame" if bag <= MOST_IN_BAG else "analyze"
        raise CommandFailed(
            f"{tiles} in the bag; an endgame has an empty bag: use tilewire {command}"
        )
    words = options.load_words(lexicon, rules.distribution)
    from bot.search.analysis.solving import EndgameProof
    from bot.search.anytime import NODES, Anytime
    from engine.endgame.solver import with_both_racks

    from .answer_text import print_answer

    options.compile_first(["bot.search.analysis.solving"])
    solver = _solver(words, rules, memory, threads)
    with sentences():
        position = with_both_racks(position, rules)
        solver.begin(position, first_win=first_win)
    note_unknown_words(words, position.board)
    with time_to_think(time) as budget:
        began = perf_counter()
        Anytime(solver, NODES).run(budget.remaining_ms)
        seconds = perf_counter() - began
    view = View.of(position, rules, Resources(words))
    print_answer(EndgameProof(view, solver, first_win, seconds), rules, as_json=json_)


def preendgame(
    what: PositionArgument,
    /,
    *,
    time: options.PositiveDuration = 10_000,
    model: Literal["perfect", "rational", "static"] = "perfect",
    candidates: options.Count | None = None,
    only: MovesOption = (),
    protect: MovesOption = (),
    top: options.Count = 15,
    memory: options.Memory = options.USUAL_MEMORY,
    threads: options.ThreadsOption = 1,
    lexicon: options.RulesLexiconOption = "scowl",
    leaves: options.LeavesOption = None,
    seed: options.SeedOption = 0,
    board: options.BoardOptions = options.BoardOptions(),
    json_: options.JsonOption = False,
) -> None:
    """Compare the moves of a position with few tiles in the bag by how often they win.

    Each move, and the pass, is followed to the end of the game with whatever may be in the bag and
    on the other rack. A move is dropped only once another is proven to be no worse. Ctrl-C ends it
    with what is known by then.

    Args:
        what: A CGP in quotes or a file that holds one (.cgp); GAME.gcg@LINE, the position before
            a line of the score sheet as `tilewire show` numbers them. The opponent's rack counts
            where it is given in full.
        time: How long at most; it ends before if more would change nothing.
        model: The opponent, while tiles are in the bag: perfect (it knows the bag and your rack;
            published values take it so), rational (the best by what it can know), static (the
            best by static equity).
        candidates: How many moves, the best by static equity, and the pass. [default: all]
        only: A move to compare, '8D WORD', '-ABC' or 'pass', in place of all; give it again for
            each other.
        protect: A move that is followed to its end, though another is proven to be better.
        top: How many of them are shown.
        json_: Print one JSON object: cases, of bag and other rack, and the mass of them, 1 where
            they are all that there are; how many moves were compared and proven; seconds; moves,
            the best first, with win (a draw counts half) and its error, wins, draws and losses,
            and the spread that is gained to the end of the game, null where no case was looked at;
            beaten, proven no better than the first; by_bag, what comes of the move with each bag.
    """
    rules, lexicon = board.load(lexicon)
    position = read_position(what, rules, lexicon, strict=board.strict, has_choice=True)
    from engine.preendgame import MOST_IN_BAG

    if not (bag := bag_count(position, rules)):
        raise CommandFailed("the bag is empty: use tilewire endgame")
    if bag > MOST_IN_BAG:
        raise CommandFailed(
            f"{bag} tiles are in the bag, but a pre-endgame has 1 to {MOST_IN_BAG}: use tilewire "
            "analyze"
        )
    judge = Judge.load(options.TableOptions(lexicon, leaves), rules, "bot.search.analysis.solving")
    note_unknown_words(judge.words, position.board)
    generator = judge.generator()
    solver = _solver(judge.words, rules, memory, threads)
    from bot.search.analysis.solving import PreEndgameComparison, pre_endgame
    from bot.search.anytime import NODES, Anytime
    from engine.movegen.candidates import with_asked
    from engine.preendgame.solver import likely_candidates

    from .answer_text import print_answer

    view = View.of(position, rules, Resources(judge.words, judge.leaves))
    with sentences():
        chosen, protected = (_read_moves(texts, position, rules) for texts in (only, protect))
        best = [] if chosen else likely_candidates(generator, position, candidates)
        moves = with_asked(generator, position, best, (*chosen, *protected))
        work = pre_endgame(view, solver, moves, protected=protected, model=model, seed=seed)
    with time_to_think(time) as budget:
        began = perf_counter()
        Anytime(work, NODES).run(budget.remaining_ms)
        seconds = perf_counter() - began
    compared = PreEndgameComparison(view, work, model, seconds)
    print_answer(compared, rules, as_json=json_, top=top)


def _read_moves(texts: Sequence[str], position: Position, rules: Rules) -> list[Move]:
    """Return moves in canonical form."""
    board, alphabet, moves = position.board, rules.distribution.alphabet, list[Move]()
    for text in texts:
        move = parse_move("-" if text == "pass" else text, board, alphabet)
        moves.append(canonical(move, board) if isinstance(move, Place) else move)
        check_move(position, moves[-1], rules, None, bag_count(position, rules))
    return moves


def _solver(words: Lexicon, rules: Rules, memory: int, threads: int) -> EndgameSolver:
    """Make a solver, or fail with a sentence; load the kernels."""
    from bot.search.analysis.solving import Solvers
    from lexicons.jit import load

    try:
        with sentences():
            solver = Solvers().solver(words, rules, threads=threads, memory=memory)
    except MemoryError:
        raise CommandFailed(f"{memory:,} bytes of memory are not free; lower --memory") from None
    load()
    return solver


def infer(
    what: PositionArgument,
    /,
    *,
    play: PlayOption = None,
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
    rules, lexicon = board.load(lexicon)
    asked = _asked(what, play, rules, lexicon, strict=board.strict)
    judge = Judge.load(options.TableOptions(lexicon, leaves), rules, "bot.search.analysis.inferred")
    from bot.search.analysis.inferred import infer, observe
    from engine.inference.equity_loss import Judges

    from .answer_text import draw_inference, print_answer

    with sentences():
        judges = Judges(judge.words, rules, judge.leaves)
    with sentences(asked.where), options.working("searching"):
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
class _AskedPlay:
    """A play that is asked about, and where it is from."""

    position: Position
    move: Move | int  # a number: that many tiles are exchanged
    where: str = ""  # what errors begin with
    line: int = 0
    nick: str = ""


def _asked(what: str, play: str | None, rules: Rules, lexicon: str, *, strict: bool) -> _AskedPlay:
    """Read a position and a play; a line of a game has both."""
    game = read_game(what, rules, strict=strict)
    if game is None:
        position = read_position(what, rules, lexicon)
        if play is None:
            raise CommandFailed(
                "which play? A position has none: give --play '8D WORD', '-3' (three tiles "
                "exchanged) or '-' (a pass)"
            )
        return _AskedPlay(position, _read(play, position, rules))
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
    game.compare_words(lexicon)
    return _AskedPlay(step.before, move, where, line, game.gcg.players[step.seat].nick)


def _read(play: str, position: Position, rules: Rules) -> Move | int:
    with sentences("--play: "):
        return parse_told(play.strip(), position.board, rules.distribution.alphabet)
