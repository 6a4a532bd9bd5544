"""Ranked moves, proofs, comparisons and inferences as tables and text; an inference as a picture.

Findings, of a position or a whole game, are in ``findings_view``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

import numpy as np
from rich.text import Text

from bot.search.analysis.inferred import BINGO_SAMPLES, Inferred, written_play
from bot.search.analysis.questions import RankedMoves
from bot.search.analysis.solving import EndgameProof, PreEndgameComparison, best_play
from engine.inference.likelihood import Model as LikelihoodModel
from engine.inference.rack_forecast import Sampled
from engine.movegen.evaluation import POINT
from engine.notation.move_text import format_full_move
from engine.rules.moves import PASS, Move, Place
from engine.rules.position import Position, Rack, unseen
from engine.rules.rules import Rules
from harness.analysis.as_json import Answer, answer_json
from harness.analysis.verdict import MODELS, by_tile, plus_minus
from harness.figures import counted, duration, number, plain, share, table
from harness.pictures import picture

from .board_view import WIDTH, print_view, terminal_width
from .failing import print_json

ALL = 0.9995  # a share of all cases that is written as all of them
_TILE_COLUMNS = 3  # at most
_TILE_COLUMN = 26  # characters that a column takes
_MOST_BARS = 40  # more are not legible


def print_answer(
    answer: Answer,
    rules: Rules,
    *,
    as_json: bool,
    top: int = sys.maxsize,
    line: int = 0,
    nick: str = "",
) -> None:
    """Print an answer, other than that of ``analyze``, as text or as an object of JSON."""
    if as_json:
        print_json(answer_json(answer, rules, top, line=line, nick=nick))
        return
    width = terminal_width()
    match answer:
        case RankedMoves():
            lines = _ranked(answer, rules, width)
        case EndgameProof():
            lines = _endgame(answer, rules, width)
        case PreEndgameComparison():
            lines = _preendgame(answer, rules, top, width)
        case Inferred():
            lines = _inference(answer, rules, top, _title(answer, rules, line, nick), width)
        case _:
            raise TypeError(type(answer))
    text = "\n".join(lines)
    if width is None:
        print(text)
    else:
        print_view(Text(text))  # breaks lines between words


def heading(position: Position, rules: Rules) -> str:
    """Return a line about racks, scores and the bag, as the player on turn sees them."""
    alphabet, seat = rules.distribution.alphabet, position.on_turn
    own, other = position.scores[seat], position.scores[1 - seat]
    opponent_rack = alphabet.text(position.racks[1 - seat])
    bag = max(sum(unseen(position, seat, rules)) - rules.rack_size, 0)
    return plain(
        f"{alphabet.text(position.racks[seat])}, {number(own, 0)} : {number(other, 0)}, "
        f"{bag} in the bag" + (f", the opponent holds {opponent_rack}" if opponent_rack else "")
    )


def _points(value: float) -> str:
    return number(value, 0, sign=True)


# --- ranked moves ---------------------------------------------------------------------------------


def _ranked(ranked: RankedMoves, rules: Rules, width: int | None) -> Iterator[str]:
    rows = [
        (*_move_cells(row.move, row.score, row.leave, ranked.position, rules), equity)
        for row in ranked.moves
        for equity in [number(None if row.move == PASS else row.equity / POINT, 3)]
    ]
    counts = ranked.counts
    kinds = counted(counts["place"], "placement"), counted(counts["exchange"], "exchange")
    shown = "" if len(rows) == sum(counts.values()) else f"; shown: the best {len(rows)}"
    yield table(("move", "score", "leave", "equity"), rows, width, ("leave",))
    yield f"{', '.join(kinds)} and the pass{shown}"


def _move_cells(
    move: Move, score: int, leave: Rack, position: Position, rules: Rules
) -> tuple[str, str, str]:
    alphabet = rules.distribution.alphabet
    return format_full_move(move, position.board, alphabet), str(score), alphabet.text(leave)


# --- the end of a game ----------------------------------------------------------------------------


def _endgame(proof: EndgameProof, rules: Rules, width: int | None) -> Iterator[str]:
    view, solution = proof.view, proof.solver.solution
    best = best_play(proof.solver, view.position, rules)
    board, spread, end, rows = view.position.board, view.spread, view.spread + solution.value, []
    for turn, (move, score) in enumerate(zip(best.moves, best.scores, strict=True)):
        side, gain = ("opponent", -score) if turn % 2 else ("on turn", score)
        spread += gain
        text = format_full_move(move, board, rules.distribution.alphabet)
        rows.append((side, text, str(score), _points(spread)))
        board = board.with_move(move) if isinstance(move, Place) else board
    if not proof.first_win:
        rest = "tiles that are left" if best.ends_game else "what comes after"
        rows.append(("", rest, _points(end - spread), _points(end)))
    value = f"value {_points(solution.value)}, spread at the end {_points(end)}"
    if proof.first_win and solution.proven:
        verdict, outcome = "proven: a draw", solution.outcome(view.spread)
        if outcome == "won" and solution.floor is not None:
            verdict = f"proven: a win, by {view.spread + solution.floor} at least"
        if outcome == "lost" and solution.ceiling is not None:
            verdict = f"proven: a loss, by {-(view.spread + solution.ceiling)} at least"
    elif solution.proven:
        verdict = f"{value}: proven"
    else:
        bounds = (("at least", solution.floor), ("at most", solution.ceiling))
        bounds_text = " and ".join(
            f"{relation} {_points(bound)}" for relation, bound in bounds if bound is not None
        )
        more = "--memory" if proof.solver.is_over else "--time"
        bounds_text = f" ({bounds_text} is)" if bounds_text else ""
        verdict = f"{value}: not proven{bounds_text}; more {more} may change it"
    yield heading(view.position, rules)
    yield ""
    yield table(("", "move", "score", "spread"), rows, width, ("score",))
    yield ""
    yield verdict
    yield f"{counted(solution.depth, 'turn')} deep, {_pace(solution.nodes, proof.seconds)}"


def _pace(nodes: int, seconds: float) -> str:
    rate = nodes / max(seconds, 0.001)
    return f"{nodes:,} nodes in {seconds:.2f} s ({rate:,.0f} a second)"


def _preendgame(
    compared: PreEndgameComparison, rules: Rules, top: int, width: int | None
) -> Iterator[str]:
    position, work, outcomes = compared.view.position, compared.work, compared.work.outcomes()
    yield heading(position, rules)
    yield ""
    rows = [
        (
            *_move_cells(row.move, row.score, row.leave, position, rules),
            *(
                number(100 * part if row.cases else None)
                for part in (row.win, row.wins, row.draws, row.losses)
            ),
            number(row.spread if row.cases else None, sign=True),
            str(row.cases),
            "proven" if row.proven else "worse, proven" if row.beaten else "",
        )
        for row in outcomes[:top]
    ]
    parts = ("wins", "draws", "losses")
    head = ("move", "score", "leave", "win %", *parts, "spread", "cases", "value")
    yield table(head, rows, width, (*parts, "cases", "leave"))
    yield ""
    best = outcomes[0]
    if compared.view.bag == 1 and best.cases:
        clause = by_tile(work.draws(best.move), rules.distribution.alphabet.text)
        yield f"by the tile in the bag the best {clause}"
    cases = f"{counted(work.cases, 'case')} of bag and other rack"
    if work.mass < ALL:
        yield (
            f"{cases}: {number(100 * work.mass, 1, unit=' %')} of what there can be; "
            f"the best wins {number(100 * best.win)} ± {number(196 * best.error)} %"
        )
    else:
        yield f"{cases}, {'all that there are' if work.cases > 1 else 'the only one'}"
    stays = "the best stays best with" if work.is_settled else "another may be best with"
    yield f"{work.compared} of {counted(len(outcomes), 'move')} compared, {work.proven} proven"
    yield f"proven: certain in every case, or no better than another; {stays} more time"
    yield f"opponent: {work.model}, {MODELS[work.model]}"
    yield _pace(sum(row.nodes for row in outcomes), compared.seconds)


# --- an inference ---------------------------------------------------------------------------------


def _inference(
    inferred: Inferred, rules: Rules, top: int, title: str, width: int | None
) -> Iterator[str]:
    posterior, alphabet = inferred.posterior, rules.distribution.alphabet
    is_explained = posterior.surviving > 0
    times = ("before", "after") if is_explained else ("before",)
    yield title
    if not is_explained:
        yield (
            f"no rack{' looked at' * bool(posterior.unseen)} explains this play under this model;\n"
            "what follows is what was known before"
        )
    yield ""
    rows = [
        (str(rank), alphabet.text(leave) or "nothing", *map(_percent, chances[: len(times)]))
        for rank, (leave, *chances) in enumerate(posterior.top(top), start=1)
    ]
    yield table(("", "leave", *times), rows, width, times[:-1])
    if isinstance(inferred.observed.play.move, int):
        tiles_kept = counted(inferred.observed.play.kept, "tile")
        yield f"before: how often these are the best {tiles_kept} to keep of a random rack"
    yield ""
    # How much was looked at.
    listed, size = (
        len(posterior.leaves),
        f"as exact as {number(posterior.effective, 0)} drawn racks",
    )
    survive = f"{posterior.surviving:,} survive{'s' * (posterior.surviving == 1)}"
    weight = f", {share(1 - posterior.unseen)} by weight" if posterior.unseen else ""
    if posterior.is_drawn:
        drawn = f"{counted(posterior.considered, 'rack')} drawn, {counted(listed, 'leave')}"
        yield f"{drawn}{weight}; {survive}; {size}"
    elif posterior.unseen:
        yield f"{listed:,} of {posterior.considered:,} leaves looked at{weight}; {survive}; {size}"
    else:
        yield f"{counted(posterior.considered, 'leave')} considered; {survive}"
    yield f"the ten likeliest: {share(posterior.mass_of_top(10))}"
    bits, play = (posterior.entropy_prior, posterior.entropy)[: len(times)], inferred.observed.play
    equal = _at_times(times, [number(2**each, 0) for each in bits], " equal chances")
    yield f"as uncertain as {equal} (entropy {', '.join(number(each, 2) for each in bits)} bits)"
    bingos = [_bingo(each, play.bag >= play.held - play.kept) for each in inferred.bingo]
    yield f"a bingo in the next turn: {_at_times(times, bingos)} ({BINGO_SAMPLES} racks)"
    if (truth := inferred.truth) is not None:
        leave = alphabet.text(truth.leave) or "nothing"
        rank = "is not among them" if truth.rank is None else f"ranks {truth.rank:,}"
        both = _at_times(times, (_percent(truth.prior), _percent(truth.posterior)))
        yield f"it kept {leave}, which {rank}: {both}"
    yield ""
    yield "one or more of a tile on the rack now"
    # Tiles are in columns side by side, as many as fit, reading down.
    cells = [
        (tile, *map(share, chances[: len(times)]))
        for tile, *chances in zip(alphabet.letters, *inferred.tiles, strict=True)
    ]
    fitting = (width or WIDTH) // _TILE_COLUMN
    height = -(-len(cells) // min(max(fitting, 1), _TILE_COLUMNS))
    columns = [cells[index : index + height] for index in range(0, len(cells), height)]
    tables = ([("tile", *times), *column] for column in columns)
    side_by_side = zip_longest(*tables, fillvalue=("",) * (1 + len(times)))
    head, *lines = [[text for cell in row for text in (*cell, "")][:-1] for row in side_by_side]
    yield table(head, lines)
    yield ""
    yield f"{duration(1_000 * inferred.seconds)} for the inference, {_player(inferred.model)}"
    if inferred.model.name == "soft":
        yield "temperature: points given up that make a play 2.7 times less likely"
    if posterior.note and is_explained:
        yield f"note: {posterior.note}"


def _at_times(times: Sequence[str], texts: Sequence[str], unit: str = "") -> str:
    first, *rest = [f" {time}" for time in times]
    return ", ".join(map(str.__add__, texts, [unit + first, *rest]))


def _bingo(sampled: Sampled, is_possible: bool) -> str:
    """Write a chance; if all samples agree and no rule says so, its bound at 95 %."""
    rarest = 0.05 ** (1 / BINGO_SAMPLES)
    if sampled.error or not is_possible:
        return plus_minus(share(sampled.chance), sampled.error, 100)
    return f"over {share(rarest)}" if sampled.chance else f"below {share(1 - rarest)}"


def _title(inferred: Inferred, rules: Rules, line: int, nick: str) -> str:
    """Return a line about the play and what was known before it."""
    observed, alphabet = inferred.observed, rules.distribution.alphabet
    move, play, before = observed.move, observed.play, observed.position
    if isinstance(play.move, int):
        text = f"{written_play(move, alphabet)} (an exchange)"
    elif not isinstance(move, int):
        text = format_full_move(move, before.board, alphabet)
    ours = alphabet.text(before.racks[1 - before.on_turn])
    eyes = f"seen with {ours}" if ours else "no rack is known"
    who = f"line {line}: {plain(nick)}, " if nick else ""
    return f"{who}{text}, {counted(play.score, 'point')}; {eyes}, {play.bag} in the bag"


def _player(model: LikelihoodModel) -> str:
    temperatures = " or ".join(f"{points:g}" for points, _ in model.temperatures)
    points = {
        "margin": f", {model.margin:g} points",
        "soft": f", temperature {temperatures} points",
    }
    return f"{model.name} model{points.get(model.name, '')}"


def _percent(chance: float) -> str:
    return number(100 * chance, 2, unit=" %")


def draw_inference(
    inferred: Inferred, rules: Rules, path: Path, *, top: int, line: int = 0, nick: str = ""
) -> None:
    """Draw the likeliest leaves, and each tile before and after, into a PNG file.

    Raises:
        OSError: the file cannot be written.
    """
    alphabet, count = rules.distribution.alphabet, len(inferred.posterior.leaves)
    bars = min(top, _MOST_BARS, count)
    leaves, prior, posterior = zip(*inferred.posterior.top(bars), strict=True)
    rows, places, width = np.arange(bars), np.arange(len(alphabet.letters)), 0.4
    before, after = (100 * chances for chances in inferred.tiles)
    with picture(path, 15, max(6.0, 1.5 + 0.25 * bars)) as figure:
        left, right = figure.subplots(1, 2, width_ratios=(2, 3))
        title = _title(inferred, rules, line, nick)
        no = "" if inferred.posterior.surviving else "no rack explains this play: "
        figure.suptitle(f"{no}{title} – {_player(inferred.model)}")
        left.barh(rows, 100 * np.array(posterior), color="tab:blue", label="after the play")
        left.plot(100 * np.array(prior), rows, "|", color="black", ms=9, mew=2, label="before it")
        left.set_yticks(rows, [alphabet.text(leave) or "nothing" for leave in leaves])
        left.invert_yaxis()
        leaves_title = f"what was kept: the likeliest of {counted(count, 'leave')}"
        left.set(xlabel="chance, %", title=leaves_title)
        left.set_xlim(left=0)
        left.grid(axis="x", alpha=0.3)
        left.legend(loc="lower right")
        right.bar(
            places - width / 2, before, width, color="lightgrey", ec="grey", label="before it"
        )
        right.bar(places + width / 2, after, width, color="tab:blue", label="after the play")
        right.set_xticks(places, list(alphabet.letters))
        right.set(ylabel="chance of one or more, %", title="tiles on the rack now")
        right.margins(x=0.01)
        right.grid(axis="y", alpha=0.3)
        right.legend()
