"""A table, also one at which plays are challenged: what must hold whatever both seats do."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import settings
from hypothesis.stateful import invariant, precondition, rule
from hypothesis.strategies import booleans, integers, lists
from table_machine import AtTheTable
from tables import GAME, Play, random_policy, words

from bot.equipment import Resources
from bot.seat.player_view import Watched
from engine.rules.challenges import CHALLENGE_RULES, CHALLENGE_UNITS
from harness.arbiter.records import Accepted, TurnRecord
from harness.arbiter.scorebook import Scorebook
from harness.cli.watch import Followed
from protocol.errors import PeerError
from protocol.messages import Challenge, Drawn, NewGame, Played, Started, YourTurn
from protocol.parts import RulesInPlay, TimeControl

AtTheTable.TestCase.settings = settings(max_examples=60, stateful_step_count=40)
TestAtTheTable = AtTheTable.TestCase


class WithChallenges(AtTheTable):
    """Phonies, challenges and acceptances, besides all that may happen anyway."""

    def open(self, control: TimeControl, seed: int) -> None:
        super().open(control, seed)
        self.play = Play(
            control,
            rules=RulesInPlay(
                challenge=CHALLENGE_RULES[1 + seed % 5],
                challenge_by=CHALLENGE_UNITS[seed % 2],
                challenge_ms=2_000,
            ),
        )
        self.policy = self.perhaps_phony
        self.honest = random_policy(seed)

    def perhaps_phony(self, play: Play) -> str:
        """Return a legal move, or one with the letters of its word turned round."""
        text = self.honest(play)
        square, _, word = text.partition(" ")
        if not word or play.book.next_seq % 3 == 0 or "." in word or "[" in word:
            return text
        return f"{square} {word[::-1]}"

    @rule(challenges=lists(booleans(), max_size=8))
    @precondition(lambda self: self.settled)
    def plays_are_made_and_challenged(self, challenges: list[bool]) -> None:
        for challenge in challenges:
            if not self.play.table.over:
                self.both_are_there_and_ready()
            if self.to_move() and self.play.book.is_open and challenge:
                self.play.challenge()
            if self.to_move():
                self.says(self.policy(self.play))

    @rule(ms=integers(0, 2_500))
    @precondition(lambda self: self.to_move())
    def a_play_is_challenged(self, ms: int) -> None:
        self.play.wait(ms)
        if self.to_move():
            self.play.challenge()

    @rule()
    @precondition(lambda self: self.to_move())
    def a_play_is_accepted(self) -> None:
        self.play.accept()

    @rule(seat=integers(0, 1), seq=integers(0, 6))
    @precondition(lambda self: self.settled)
    def a_challenge_comes_out_of_turn(self, seat: int, seq: int) -> None:
        before = len(self.play.records)
        if seat != self.play.book.on_turn:
            with suppress(PeerError):
                self.play.hear(seat, Challenge(game=GAME, seq=seq))
            assert len(self.play.records) == before

    # --- what holds -----------------------------------------------------------------------------

    @invariant()
    def who_has_an_open_play_has_not_drawn(self) -> None:
        game = self.play.book.game
        if game is not None and game.is_open:
            turn = game.turns[-1]
            assert not turn.drawn
            assert len(game.position.racks[turn.seat]) < len(turn.rack)

    def teardown(self) -> None:
        """The journal gives the same game, and each seat has followed it."""
        super().teardown()
        if not self.settled:
            return
        book = self.play.book
        assert Scorebook.restored(self.play.records, None, words()).game == book.game
        won = [
            record
            for record in self.play.records
            if isinstance(record, TurnRecord) and record.challenge == "won"
        ]
        assert book.game is None or len(won) == sum(turn.withdrawn for turn in book.game.turns)
        accepted = [record.seq for record in self.play.records if isinstance(record, Accepted)]
        assert len(accepted) == len(set(accepted))
        assert not {record.seq - 1 for record in won} & set(accepted)
        if book.game is not None:
            for seat in (0, 1):
                self.check_view(seat)
            self.check_spectator()

    def check_view(self, seat: int) -> None:
        """A seat that hears what it was told knows the game as it is."""
        book = self.play.book
        watched: Watched | None = None
        for to, said in self.play.sent:
            if to != seat:
                continue
            match said:
                case NewGame():
                    watched = watched or Watched(said, book.rules, Resources(words()), 1)
                    watched.take_up(said)
                case Started() if watched:
                    watched.started(said)
                case Played() if watched:
                    watched.played(said)
                case Drawn() if watched:
                    watched.drawn(said)
                case YourTurn() if watched:
                    watched.turn(said)
        game = book.game
        if watched is None or game is None or watched.seen < book.next_seq - 2:
            return  # it was away at the end
        assert watched.view.position.board == game.position.board
        told = [(play.seat, play.withdrawn, play.lost) for play in watched.view.history]
        assert told == [(turn.seat, turn.withdrawn, turn.lost) for turn in game.turns]
        bonuses = [play.bonus for play in watched.view.history]
        assert bonuses == [turn.bonus for turn in game.turns]
        if game.over is None and not game.is_open:
            assert watched.view.position.scores == game.position.scores

    def check_spectator(self) -> None:
        """Who comes at the end, and hears the whole game, has the same board."""
        game = self.play.book.game
        (offer,) = (said for said in self.play.watched() if isinstance(said, NewGame))
        known = Followed.offered(offer, 0)
        assert game is not None
        assert known.board == game.position.board
        assert known.on_turn == game.position.on_turn


WithChallenges.TestCase.settings = settings(max_examples=60, stateful_step_count=25)
TestWithChallenges = WithChallenges.TestCase
