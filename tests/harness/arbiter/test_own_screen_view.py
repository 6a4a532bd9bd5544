"""What the host's own screen is told of a game that is on: all, as it happens."""

from __future__ import annotations

from tables import GAME, Play, random_policy

from engine.notation.cgp import read_cgp
from harness.arbiter.records import Began, Thought, TurnRecord
from harness.arbiter.views import OWNER, disclosed, on_own_screen, watched
from protocol.messages import GameOver, Info, NewGame, Played, Started, YourTurn
from protocol.parts import Belief, Candidate


def thinking() -> Play:
    """A game after an exchange and a play, in whose third turn something was thought."""
    play = Play().start()
    play.move(f"-{play.book.rack_text(0)[:3]}")
    play.move(random_policy(3)(play))
    candidates, belief = (Candidate(move="-", win=0.5),), Belief(tiles={"Q": 0.25})
    play.say(0, Info(game=GAME, seq=3, candidates=candidates))
    play.say(0, Info(game=GAME, seq=3, belief=belief))
    return play


def racks_in(message: YourTurn, play: Play) -> tuple[str, ...]:
    alphabet = play.book.rules.distribution.alphabet
    return tuple(alphabet.text(rack) for rack in read_cgp(message.position, play.book.rules).racks)


def test_who_comes_late_is_told_all_so_far() -> None:
    play = thinking()
    offer, turn, *infos = watched(play.book, play.now, OWNER)
    assert isinstance(offer, NewGame)
    assert (offer.you, offer.rack, offer.known_style) == (None, None, None)
    turns = play.book.turns
    assert [played.move for played in offer.history] == [turn.move for turn in turns]
    assert [played.rack for played in offer.history] == [turn.rack_after for turn in turns]
    assert isinstance(turn, YourTurn)
    assert racks_in(turn, play) == (play.book.rack_text(0), play.book.rack_text(1))
    assert [type(info) for info in infos] == [Info, Info]


def test_a_spectator_is_told_none_of_it() -> None:
    play = thinking()
    (offer,) = watched(play.book, play.now, None)
    assert isinstance(offer, NewGame)
    assert offer.history[0].move == "-3"
    assert {played.rack for played in offer.history} == {None}
    assert disclosed(play.records, None) is None


def test_each_record_is_told_as_it_comes() -> None:
    play = thinking()
    kinds = [type(message) for message in on_own_screen(play.book, play.records[-1], play.now)]
    assert kinds == [Info]
    began = next(record for record in play.records if isinstance(record, Began))
    first = Play().start()
    assert [type(it) for it in on_own_screen(first.book, began, first.now)] == [Started, YourTurn]
    last = [record for record in play.records if isinstance(record, TurnRecord)][-1]
    played, asked = on_own_screen(play.book, last, play.now)
    assert isinstance(played, Played)
    assert isinstance(asked, YourTurn)
    assert (played.move, played.rack, asked.seq) == (last.move, last.rack_after, 3)
    play.play_out(lambda _play: "-")
    told = [on_own_screen(play.book, record, play.now) for record in play.records[-2:]]
    assert [type(it) for messages in told for it in messages] == [Played, GameOver]


def test_turns_of_a_game_that_is_on_are_disclosed_for_the_host_alone() -> None:
    play = thinking()
    turns = disclosed(play.records, OWNER)
    assert turns is not None
    assert [turn.move for turn in turns] == [turn.move for turn in play.book.turns]
    assert sum(isinstance(record, Thought) for record in play.records) == 2
    play.move("-")
    turns = disclosed(play.records, OWNER)
    assert turns is not None
    assert (turns[-1].candidates, turns[-1].belief) == (
        (Candidate(move="-", win=0.5),),
        Belief(tiles={"Q": 0.25}),
    )
