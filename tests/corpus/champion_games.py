"""Games of ``champion``, played by a clock that goes by work."""

from __future__ import annotations

from hashlib import sha256

from corpus import by_work
from corpus.artefacts import Artefact
from msgspec import structs

from bot.player import Budget, Choice, Observed, Player, Result, View
from bot.players.champion import champion
from bot.players.static import StaticPlayer
from engine.notation.move_text import format_move
from engine.rules.game import Game
from engine.rules.rules import Rules, standard_rules
from harness.lab.in_process import play_game
from harness.lab.study_context import Field
from lexicons.store import load_lexicon
from protocol.channel import now_ms

GAMES = 8
AGAINST_ITSELF = 4
"""Of these games, in which both are champions."""
PONDERED = 3
"""Of these games, the champion searches while the opponent would think."""
TIME = "40ms"
PONDERING_MS = 20


class Noted(Player):
    """Has a player play, who may ponder after its turns, and notes what it says of each choice."""

    def __init__(self, player: Player, ponders: bool) -> None:
        self.said: list[str] = []
        self._player, self._ponders = player, ponders

    def warm_up(self, lexicon: object, rules: Rules) -> None:
        self._player.warm_up(load_lexicon(), rules)

    def make_room(self, view: View) -> None:
        self._player.make_room(view)

    def new_game(self, view: View) -> None:
        self._player.new_game(view)

    def observe(self, view: View, play: Observed) -> None:
        self._player.observe(view, play)
        if self._ponders and play.seat == view.seat and not view.is_over:
            self._player.ponder(view, Budget(now_ms() + PONDERING_MS))

    def choose(self, view: View, budget: Budget) -> Choice:
        choice = self._player.choose(view, budget)
        self.said.append(_said(choice))
        return choice

    def game_over(self, view: View, result: Result) -> None:
        self._player.game_over(view, result)


def _said(choice: Choice) -> str:
    """Write what a player thinks of its choice, as far as it is the same everywhere."""
    said = [] if choice.equity is None else [f"equity {choice.equity:.6g}"]
    if choice.text:
        said.append(choice.text)
    if choice.search is not None:
        parts = structs.asdict(choice.search).items()
        said.append(", ".join(f"{name} {value}" for name, value in parts if value is not None))
    if choice.candidates:
        best, looked = choice.candidates[0], len(choice.candidates)
        said.append(f"{looked} candidates, win {best.win or 0:.6g}, {best.samples} samples")
    if choice.belief is not None:
        belief = choice.belief
        leaves, note = belief.leaves_considered, belief.note or ""
        said.append(f"{leaves} leaves, {belief.entropy:.6g} bits, {note}")
    return "; ".join(said)


def game_text(number: int) -> str:
    secret = sha256(b"corpus %d" % number).digest()
    own = Noted(champion(time=TIME), ponders=number < PONDERED)
    is_mirror = number < AGAINST_ITSELF
    other = Noted(champion(time=TIME) if is_mirror else StaticPlayer(), ponders=False)
    seats = (own, other) if number % 2 else (other, own)
    game = play_game(seats, Field.of(load_lexicon(), standard_rules()), secret)
    return "\n".join((f"game {number}", *_turns(game, seats), ""))


def _turns(game: Game, seats: tuple[Noted, Noted]) -> list[str]:
    alphabet = game.rules.distribution.alphabet
    said = [iter(seat.said) for seat in seats]
    lines = [
        f"{turn.seat} {alphabet.text(turn.rack)} {format_move(turn.move, alphabet)} "
        f"{turn.score:+d} {turn.total} | {next(said[turn.seat])}"
        for turn in game.turns
    ]
    assert game.over is not None
    return [*lines, f"{game.over.reason} {game.position.scores}"]


ARTEFACTS = (Artefact("champion/games.txt", lambda: "".join(by_work.run("games"))),)
