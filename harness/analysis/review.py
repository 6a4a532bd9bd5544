"""The review of a game, turn by turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from bot.search.analysis.findings import Findings, SearchTools, analyse
from bot.search.analysis.over_racks import OverRacks, analyse_over_racks
from bot.search.analysis.questions import as_seen
from engine.notation.gcg import EventKind, GcgGame, Notice
from engine.notation.replaying import LOST_TURN, Replay, ReplayStep
from engine.rules.moves import Move, Place
from engine.rules.position import Position, bag_count
from engine.rules.rules import Rules, rack_tiles, why_not


@dataclass(frozen=True)
class ReviewedTurn:
    """A position to analyse, as the player on turn sees it; in a game, with its next line.

    A rack that is not recorded has the tiles that are played, if there is a bag.
    """

    position: Position
    line: int = 0
    """The score sheet's next line; 0 if the position is of no game."""
    nick: str = ""
    step: ReplayStep | None = None
    taken_back: bool = False
    """Whether the play was a phony taken back by the next line."""
    obstacle: str = ""
    """Why the turn can't be analysed."""
    lacks_tiles: bool = False
    """Whether only a part of the rack is known, among it the tiles played."""
    notices: tuple[Notice, ...] = ()
    """What was not taken as the line is written."""
    tried: Move | None = None
    """A move to compare in place of the played one."""

    @property
    def played(self) -> Move | None:
        """The move to compare: the tried one, or the played one if recorded."""
        return self.step.move if self.tried is None and self.step else self.tried


def turn_before(gcg: GcgGame, replay: Replay, line: int, rules: Rules) -> ReviewedTurn:
    """Return the turn before a line of the score sheet, from 1 to the number of lines plus 1."""
    position = as_seen(replay.after(line - 1))
    step = replay.steps[line - 1] if line <= len(replay.steps) else None
    turn = ReviewedTurn(position, line, gcg.players[position.on_turn].nick)
    if replay.is_over(line - 1):
        return replace(turn, obstacle="the game is over")
    if step is not None and not step.event.kind.is_turn:
        return replace(turn, obstacle=f"a line '{step.event.kind.value}' is no turn")
    if step is not None and LOST_TURN in step.event.note.split("\n"):
        return replace(turn, obstacle="the turn was lost by a challenge")
    following = replay.steps[line].event.kind if line < len(replay.steps) else None
    taken_back, lacks_tiles = following is EventKind.WITHDRAWN, False
    seat, obstacle = position.on_turn, why_not(position, rules)
    bag = bag_count(position.with_rack(seat, ()), rules)
    if obstacle and step and isinstance(step.move, Place) and bag and not taken_back:
        shown = position.racks[seat] or tuple(sorted(rack_tiles(step.move.placed)))
        held = position.with_rack(seat, shown)
        if not why_not(held, rules, whole=False):
            position, obstacle = held, ""
            lacks_tiles = len(shown) < rules.rack_size
    return replace(
        turn,
        position=position,
        step=step,
        taken_back=taken_back,
        obstacle=obstacle,
        lacks_tiles=lacks_tiles,
        notices=tuple(told for told in replay.notices if step and told.line == step.event.line),
    )


def turns_of(gcg: GcgGame, replay: Replay, rules: Rules) -> list[ReviewedTurn]:
    """List the turns of a game.

    Raises:
        ValueError: no turn can be analysed.
    """
    turns = list_turns(gcg, replay, rules)
    if not turns:
        raise ValueError("there are no turns to review")
    if all(turn.obstacle for turn in turns):
        raise ValueError(f"no turn can be reviewed; line {turns[0].line}: {turns[0].obstacle}")
    return turns


def list_turns(gcg: GcgGame, replay: Replay, rules: Rules) -> list[ReviewedTurn]:
    """List the turns of a game, even if none can be analysed."""
    lines = (line for line, step in enumerate(replay.steps, start=1) if step.event.kind.is_turn)
    return [turn_before(gcg, replay, line, rules) for line in lines]


def analyse_turn(
    settings: SearchTools,
    turn: ReviewedTurn,
    stopped: Callable[[], bool],
    told: Callable[[Findings], None] | None = None,
    moves: Sequence[Move] = (),
) -> Findings | OverRacks:
    """Find the best move of a turn (``analyse``), or the play's cost (``analyse_over_racks``)."""
    if turn.lacks_tiles and isinstance(turn.played, Place):
        return analyse_over_racks(settings, turn.position, turn.played, stopped)
    findings = analyse(
        settings,
        turn.position,
        turn.played,
        taken_back=turn.taken_back,
        moves=moves,
        told=told,
        stopped=stopped,
    )
    if turn.step is None or turn.played is not None or moves:
        return findings
    question = replace(findings.question, obstacle="which tiles it was is not recorded")
    return replace(findings, question=question)


def review(
    settings: SearchTools, turns: Sequence[ReviewedTurn], stopped: Callable[[], bool]
) -> Iterator[tuple[ReviewedTurn, Findings | OverRacks | None]]:
    """Analyse turns in order, until stopped; a turn with an ``obstacle`` comes with None."""
    for turn in turns:
        if stopped():
            return
        told, findings = turn, None
        if not turn.obstacle:
            try:
                findings = analyse_turn(settings, turn, stopped)
            except ValueError as error:
                if not turn.lacks_tiles:
                    raise
                told = replace(turn, obstacle=f"the rack is not recorded, and {error}")
        yield told, findings
