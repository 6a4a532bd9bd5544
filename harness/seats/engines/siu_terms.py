"""Our views in SIU's terms, and an engine's results in ours; no I/O."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress

from bot.player import Considered, ExchangedCount, View
from bot.seat.game_session import MAX_CANDIDATES
from bot.seat.offers import Declined
from engine.notation.cgp import challenge_operation, write_cgp
from engine.notation.cgp_moves import CgpMove, format_cgp_turn, parse_cgp_move
from engine.notation.move_text import NotationError, parse_move
from engine.rules.moves import Place
from engine.rules.position import Board, Position, Rack
from engine.rules.rule_sets import rules_for
from engine.rules.rules import IllegalMove, Rules, score_play
from lexicons.text import name_of
from protocol.siu.answers import Fault, InfoGen, InfoSim, Option
from protocol.siu.commands import SetOption, SetPosition

from .engine import Context, EngineChoice, nonstandard_rule

MOST_MOVES = 20_000
"""Moves of a search that are kept: more than most racks have."""

_NUMBERS = {"bingo_bonus": "bb", "exchange_minimum": "etl", "scoreless_limit": "mcnz"}
"""CGP's operations for numeric rules."""
_LIMITS = {"pass_limit": "mcnp", "exchange_limit": "mex"}
"""Operations of ours, told where a limit is not the usual one for the tiles."""
_TILES = "letterdistribution"
_CODES = {"lexicon": "unknown_lexicon", _TILES: "unsupported_rules"}
"""Code of the decline if an option does not take the game's value."""


def settings(
    name: str,
    options: Mapping[str, Option],
    given: Mapping[str, str],
    context: Context,
    rules: Rules,
) -> list[SetOption]:
    """Return the options to set: those ``given`` by the seat, and those of the game.

    ``options`` are the engine's, by name in lower case. Raise Declined if one is missing or refuses
    its value.
    """
    chosen = {}
    for key, value in given.items():
        option = options.get(key.casefold())
        if option is None:
            known = ", ".join(option.name for option in options.values()) or "none"
            raise Declined("unsupported_option", f"{name} has no option {key!r}; it has: {known}")
        chosen[key.casefold()] = _setting(name, option, value)
    is_english = nonstandard_rule(rules, ("distribution",)) is None
    needed = {"lexicon"} if is_english else {"lexicon", _TILES}
    if _TILES in needed - options.keys():
        raise Declined(
            "unsupported_rules",
            f"{name} has no option LetterDistribution, so it can't be told the tiles "
            f"{rules.distribution.name}",
        )
    of_the_game = {  # SIU's reserved options
        "lexicon": context.lexicon.name,
        _TILES: rules.distribution.name,
        "challengerule": rules.challenge,
        "threads": str(context.threads),
    }
    for key, value in of_the_game.items():
        option = options.get(key)
        if option is None or key in chosen:
            continue
        nearest = str(_nearest(option, int(value))) if key == "threads" else value
        if key in needed or _fits(option, nearest):  # of the rest it may know other names
            chosen[key] = _setting(name, option, nearest)
    return list(chosen.values())


def trial(rules: Rules) -> SetPosition:
    """Return a position in which any engine has moves: an empty board and common tiles."""
    counts = rules.distribution.counts
    common = sorted(range(1, len(counts)), key=lambda tile: -counts[tile])[: rules.rack_size]
    begun = Position(Board.empty(rules.layout), (tuple(sorted(common)), ()), (0, 0))
    return SetPosition(write_cgp(begun, rules, rule_operations(rules)))


def rule_operations(rules: Rules) -> tuple[tuple[str, str], ...]:
    """Return the operations that tell the rules of a position.

    English tournaments have none, or only that of the challenge rule.
    """
    told = challenge_operation(rules)
    if nonstandard_rule(rules, (*_NUMBERS, *_LIMITS, "distribution", "layout")) is None:
        return told
    usual = rules_for(rules.distribution)
    numbers = tuple(
        (name, str(getattr(rules, rule)))
        for rule, name in (_NUMBERS | _LIMITS).items()
        if rule in _NUMBERS or getattr(rules, rule) != getattr(usual, rule)
    )
    tiles = ("ld", rules.distribution.name)
    board = () if nonstandard_rule(rules, ("layout",)) is None else (("bdn", rules.layout.name),)
    return (tiles, *board, *numbers, *told)


def score_error(said: InfoGen, rules: Rules) -> list[str]:
    """Return what is wrong with a listed move on an empty board; empty if its score is right."""
    board, alphabet = Board.empty(rules.layout), rules.distribution.alphabet
    try:
        move = parse_cgp_move(said.move, board, alphabet, rules.rack_size).move
        if not isinstance(move, Place):
            return []
        score = score_play(board, move, rules).score
    except (NotationError, IllegalMove) as error:
        return [f"it lists {said.move}: {error}"]
    if score == said.score:
        return []
    return [f"it gives {said.move} {said.score} points, not {score}"]


def game_so_far(view: View, begun: Position, racks: Mapping[int, Rack]) -> SetPosition:
    """Write a game from its beginning to the player's turn, with the rack at the end.

    It has ``begun`` without racks. The player's moves include their ``racks``, if known, by number
    of the turn.
    """
    board = begun.board
    alphabet = view.rules.distribution.alphabet
    moves = []
    for number, play in enumerate(view.history, start=1):
        # Whether a challenge of it cost the next turn.
        was_lost = number < len(view.history) and view.history[number].lost
        move = play.move.count if isinstance(play.move, ExchangedCount) else play.move
        own = racks.get(number) if play.seat == view.seat else None
        turn = CgpMove(move, own, play.withdrawn, play.bonus, was_lost)
        moves.append(format_cgp_turn(turn, board, alphabet))
        if isinstance(play.move, Place) and not play.withdrawn:
            board = board.with_move(play.move)
    return SetPosition(
        write_cgp(begun, view.rules, rule_operations(view.rules)),
        (*moves, f"rack.{alphabet.text(view.rack)}"),
    )


def same_lexicon(name: str, other: str) -> bool:
    """Check whether two names may mean the same words, ignoring case, folder and suffix."""
    return name_of(name).casefold() == name_of(other).casefold()


class SearchResults:
    """Results of a search so far."""

    def __init__(self) -> None:
        self.fault: Fault | None = None
        self._generated: dict[str, InfoGen] = {}
        self._simulated: dict[str, InfoSim] = {}

    def take(self, said: InfoGen | InfoSim | Fault) -> None:
        """Take a line; the newest of a move counts, and ``MOST_MOVES`` are kept."""
        match said:
            case Fault():
                self.fault = said
            case InfoGen(move) if move in self._generated or len(self._generated) < MOST_MOVES:
                self._generated[move] = said
            case InfoSim(move) if move in self._simulated or len(self._simulated) < MOST_MOVES:
                self._simulated[move] = said

    def answer(self, text: str, view: View) -> EngineChoice | str:
        """Convert the end of the search; of an unreadable move the arbiter finds the fault."""
        board, rules = view.position.board, view.rules
        try:
            read = parse_cgp_move(text, board, rules.distribution.alphabet, rules.rack_size)
        except NotationError:
            ours = " ".join(text.split(".")[:2])
            with suppress(NotationError):
                parse_move(ours, board, rules.distribution.alphabet)
                return text
            return ours
        if read.phony or isinstance(read.move, int):
            return text
        generated = self._generated.get(text)
        return EngineChoice(
            read.move,
            score=generated.score if generated else None,
            candidates=self._candidates(view),
            rack=read.rack,
        )

    def _candidates(self, view: View) -> tuple[Considered, ...]:
        by_win = sorted(
            self._simulated.values(),
            key=lambda said: (_or_least(said.win), _or_least(said.equity)),
            reverse=True,
        )
        by_equity = sorted(
            self._generated.values(), key=lambda said: _or_least(said.equity), reverse=True
        )
        board, rules = view.position.board, view.rules
        considered = []
        for said in (by_win or by_equity)[:MAX_CANDIDATES]:
            # Unreadable moves and figures are skipped, and exchanges of unknown tiles.
            with suppress(ValueError):
                alphabet = rules.distribution.alphabet
                move = parse_cgp_move(said.move, board, alphabet, rules.rack_size).move
                if isinstance(move, int):
                    continue
                generated = self._generated.get(said.move)
                score = generated.score if generated else None
                if isinstance(said, InfoGen):
                    considered.append(Considered(move, score=score, equity=said.equity))
                    continue
                considered.append(
                    Considered(
                        move,
                        score=score,
                        win=_known(said.win, 100),
                        win_error=_known(said.win_error, 100),
                        equity=_known(said.equity),
                        equity_error=_known(said.equity_error),
                        samples=said.iterations,
                    )
                )
        return tuple(considered)


def _setting(name: str, option: Option, value: str) -> SetOption:
    if option.type == "button":
        return SetOption(option.name)
    if not _fits(option, value):
        if option.type == "combo":
            takes = f"one of {', '.join(option.values)}"
        else:
            takes = f"a whole number from {option.least} to {option.most}"
        code = _CODES.get(option.name.casefold(), "unsupported_option")
        raise Declined(code, f"{name}: its option {option.name} is {takes}, and not {value!r}")
    return SetOption(option.name, value)


def _fits(option: Option, value: str) -> bool:
    match option.type:
        case "combo" if option.values:
            return value.casefold() in map(str.casefold, option.values)
        case "spin":
            try:
                number = int(value)
            except ValueError:
                return False
            return number == _nearest(option, number)
    return True


def _nearest(option: Option, number: int) -> int:
    number = number if option.most is None else min(number, option.most)
    return number if option.least is None else max(number, option.least)


def _known(number: float, unit: float = 1) -> float | None:
    return None if math.isnan(number) else number / unit


def _or_least(number: float) -> float:
    """Sort NaN behind all numbers."""
    return -math.inf if math.isnan(number) else number
