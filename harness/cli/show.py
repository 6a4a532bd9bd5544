"""``tilewire show``."""

from __future__ import annotations

from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from engine.notation.cgp import write_cgp
from engine.notation.gcg import EventKind, GcgGame
from engine.notation.move_text import format_full_move, format_move
from engine.notation.replaying import Replay, ReplayStep
from engine.rules.position import Position, bag_count
from engine.rules.rules import Rules
from harness.figures import plain

from .board_view import SideView, fresh_squares, game_view, print_view
from .failing import CommandFailed, print_json
from .options import BoardOptions, JsonOption
from .positions import read_cgp_or_file, read_game


def show(
    what: Annotated[str, Parameter(name="GAME")],
    /,
    *,
    turn: int | None = None,
    moves: Annotated[bool, Parameter(negative="")] = False,
    board: BoardOptions = BoardOptions(),
    json_: JsonOption = False,
) -> None:
    """Print a game (GCG) or a position (CGP).

    A game is printed as its score sheet and the position that it came to.

    Args:
        what: A GCG file; GAME.gcg@LINE, the game before that line of its score sheet; a file that
            holds a CGP (.cgp), or a CGP itself, in quotes. In brackets are scores by the rules,
            where the sheet has others.
        turn: Print the game up to this line, and with it; 0 is the beginning.
        moves: The score sheet alone.
        json_: Print one JSON object: players, lines of the score sheet, and the position after the
            last of them (cgp; racks begin with the player on turn). Of a position: cgp.
    """
    rules, _ = board.load()
    game = read_game(what, rules, strict=board.strict)
    if game is None:
        if turn is not None or moves:
            raise CommandFailed("--turn and --moves are for a game; a CGP is one position")
        position = read_cgp_or_file(what, rules)
        if json_:
            print_json({"cgp": write_cgp(position, rules)})
        else:
            print_view(_view(position, ("on turn", "next"), rules))
        return
    gcg, played, count = game.gcg, game.played, len(game.played.steps)
    last = count if turn is None else turn
    if game.line is not None:
        if turn is not None:
            raise CommandFailed(f"{game.path}@{game.line} and --turn together: name one line")
        last = game.line - 1
    if not 0 <= last <= count:
        raise CommandFailed(f"{game.path} has lines 0 to {count}; there is no {turn}")
    if json_:
        if moves:
            raise CommandFailed("--json has the score sheet and the position; leave --moves out")
        print_json(_as_json(gcg, played, last, rules))
        return
    names = [
        f"{player.name} ({player.nick})" if player.name not in ("", player.nick) else player.nick
        for player in gcg.players
    ]
    about = [gcg.title, f"lexicon {gcg.lexicon}" if gcg.lexicon else "", gcg.id]
    dim = [", ".join(filter(None, about))] if any(about) else []
    view: list[RenderableType] = [Text(plain(" – ".join(names)), "bold")]
    view += [Text(plain(line), "dim") for line in (*dim, *gcg.description.splitlines())]
    view += [Text(plain(line), "italic") for line in gcg.note.splitlines()]
    view += ["", _sheet(played.steps[:last], rules)]
    if not moves:
        steps, fresh, over = played.steps, frozenset[tuple[int, int]](), False
        if last:
            fresh = fresh_squares(steps[last - 1].move, steps[last - 1].before.board)
            over = steps[last - 1].event.kind.is_end
        heading = f"after line {last}" if last else "at the beginning"
        if last == count:
            heading = "final position" if over else "the position at the end of the file"
        nicks = gcg.players[0].nick, gcg.players[1].nick
        position = played.after(last)
        view += ["", _view(position, nicks, rules, heading=heading, over=over, fresh=fresh)]
    print_view(Group(*view))


def _view(
    position: Position,
    names: tuple[str, str],
    rules: Rules,
    *,
    heading: str = "",
    over: bool = False,
    fresh: frozenset[tuple[int, int]] = frozenset(),
) -> RenderableType:
    alphabet = rules.distribution.alphabet
    racks = map(alphabet.text, position.racks)
    on_turn = [not over and seat == position.on_turn for seat in (0, 1)]
    sides = list(map(SideView, names, position.scores, racks, (None, None), on_turn))
    bag = bag_count(position, rules)
    return game_view(position.board, alphabet, sides, heading=heading, bag=bag, fresh=fresh)


def _as_json(gcg: GcgGame, played: Replay, last: int, rules: Rules) -> dict[str, Any]:
    alphabet = rules.distribution.alphabet
    lines = [
        {
            "line": number,
            "player": event.nick,
            "kind": event.kind.value,
            "rack": event.rack,
            "move": format_move(step.move, alphabet) if step.move else None,
            **{name: getattr(event, name) for name in ("score", "total", "note")},
            **{name: getattr(step, name) for name in ("computed", "computed_total")},
        }
        for number, step in enumerate(played.steps[:last], start=1)
        for event in [step.event]
    ]
    return {
        "players": [{"nick": player.nick, "name": player.name} for player in gcg.players],
        **{name: getattr(gcg, name) for name in ("title", "description", "id", "lexicon", "note")},
        "notices": played.notices,
        "lines": lines,
        "cgp": write_cgp(played.after(last), rules),
    }


def _sheet(steps: tuple[ReplayStep, ...], rules: Rules) -> RenderableType:
    """Draw the score sheet: a numbered line an event, and its notes."""
    if not steps:
        return Text("no moves", "dim")
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("", justify="right", style="dim")
    table.add_column("player", overflow="fold", max_width=14)
    table.add_column("rack", overflow="fold")
    table.add_column("move", overflow="fold", max_width=32)
    table.add_column("score", justify="right")
    table.add_column("total", justify="right")
    for number, step in enumerate(steps, start=1):
        event = step.event
        bingo = step.play is not None and step.play.bingo
        table.add_row(
            str(number),
            Text(plain(event.nick), "cyan" if step.seat else "green"),
            Text(plain(event.rack)),
            Text(plain(_what(step, rules)), "bold" if bingo else ""),
            f"{event.score:+d}"
            + (f" ({step.computed:+d})" if event.score != step.computed else ""),
            f"{event.total}"
            + (f" ({step.computed_total})" if event.total != step.computed_total else ""),
        )
        for line in event.note.splitlines():
            table.add_row("", "", "", Text(plain(line), "dim italic"))
    return table


def _what(step: ReplayStep, rules: Rules) -> str:
    """Return what happened in a line of the sheet."""
    detail = step.event.detail
    match step.event.kind:
        case EventKind.PLAY if step.move is not None:
            return format_full_move(step.move, step.before.board, rules.distribution.alphabet)
        case EventKind.EXCHANGE:
            return f"-{detail}"
        case EventKind.WITHDRAWN:
            return "taken back"
        case EventKind.RACK_LEFT:
            return f"2 × ({detail or '?'})"
        case EventKind.RACK_LOST:
            return f"({detail or '?'})"
        case other:
            return str(other.value)
