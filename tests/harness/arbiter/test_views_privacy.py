"""What a seat and a spectator are told before the end: nothing of what the others hold.

The host's own screen is told all, as it happens.
"""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from tables import GAME, NONCES, Play, Policy, book_of, random_policy, words

from engine.notation.cgp import read_cgp
from engine.rules.bag import Bag, DrawStream
from engine.rules.game import Game
from engine.rules.rule_sets import load_rules
from engine.rules.rules import rack_tiles
from harness.arbiter import views
from harness.arbiter.records import Draws, TurnRecord, new_game
from harness.arbiter.rules_on_wire import rules_on_wire
from harness.arbiter.views import OWNER, Recipient
from protocol.codec import MSGPACK
from protocol.messages import GameOver, Info, Message, NewGame, Played, Refused, Started, YourTurn
from protocol.parts import Belief, Candidate, TimeControl
from protocol.session import FromArbiter

HARNESS = Path(__file__).parents[3] / "harness"
ALPHABET = words().distribution.alphabet
GAMES = range(20)


@cache
def played_game(seed: int) -> Play:
    """A whole game with exchanges, refusals and seats that come back in the middle."""
    play, policy = (
        Play(draws=Draws(bytes([seed]) * 32, committed=True)).start(),
        random_policy(seed),
    )
    for turn in range(1_000):
        if turn % 6 == 2:
            play.move("8D QQQQQQQ")
        if turn % 8 == 5:
            seat = turn // 8 % 2
            play.leave(seat)
            play.come(seat)
            play.ready(seat)
        play.watch()
        play.move(policy(play), after_ms=500)
        if play.table.over:
            return play
    raise AssertionError("the game never ended")


def told(play: Play, recipient: Recipient) -> list[Message]:
    """All that went to a recipient, read back from the bytes."""
    return [MSGPACK.decode(frame) for frame in play.frames[recipient]]


# --- message by message ---------------------------------------------------------------------------


def check_played(played: Played, turn: TurnRecord, recipient: Recipient) -> None:
    """A turn shows its tiles and the new rack to its player, and the board to all."""
    own = recipient == turn.seat
    assert played.rack == (turn.rack_after if own else None)
    if turn.move.startswith("-") and not own:
        hidden = turn.move if turn.move == "-" else f"-{len(ALPHABET.tiles(turn.move[1:]))}"
        assert played.move == hidden
    else:
        assert played.move == turn.move
    assert played.words == turn.words


def racks_of(turn: TurnRecord) -> tuple[str, str]:
    return turn.rack, turn.rack_after


@pytest.mark.parametrize("recipient", [0, 1, None])
def test_nobody_is_told_what_only_another_may_know(recipient: Recipient) -> None:
    kinds: Counter[type] = Counter()
    for seed in GAMES:
        play = played_game(seed)
        turns = {record.seq: record for record in play.records if isinstance(record, TurnRecord)}
        own = {rack for turn in turns.values() if turn.seat == recipient for rack in racks_of(turn)}
        *before, last = play.frames[recipient]
        for hidden in (play.book.opened.secret, *NONCES):
            assert all(hidden.encode() not in frame for frame in before)
            assert hidden.encode() in last
        for message in told(play, recipient):
            assert getattr(message, "rack", None) in {None, *own}
            kinds[type(message)] += 1
            match message:
                case Played():
                    check_played(message, turns[message.seq], recipient)
                case NewGame():
                    assert message.you == recipient
                    assert (message.rack is None) is (recipient is None or message.seq == 0)
                    for played in message.history:
                        check_played(played, turns[played.seq], recipient)
                case Started():
                    assert (message.rack is None) is (recipient is None)
                case YourTurn():
                    assert turns[message.seq].seat == recipient
                    assert message.rack == turns[message.seq].rack
                    _, racks, *_ = message.position.split(" ")
                    assert racks == f"{message.rack}/"
                case Refused():
                    assert turns[message.seq].seat == recipient
                case _:
                    assert isinstance(message, GameOver), message
    assert kinds[Played] > 200
    assert kinds[GameOver] == len(GAMES)
    assert (kinds[YourTurn] == kinds[Refused] == 0) is (recipient is None)


@pytest.mark.parametrize(
    ("rules", "move", "seen"),
    [
        ("english", "-", "-"),
        ("english", "-?AB", "-3"),
        ("spanish", "-[CH]A", "-2"),
        ("catalan", "-[L·L][NY]?", "-3"),
    ],
)
def test_the_tiles_of_an_exchange_are_counted_as_tiles(rules: str, move: str, seen: str) -> None:
    play = Play(rules=rules_on_wire(load_rules(rules))).start()
    play.move("-")
    turn = msgspec.structs.replace(play.book.turns[-1], move=move)
    told = [views.played(play.book, turn, viewer).move for viewer in (0, 1, None)]
    assert told == [move, seen, seen]


def test_only_the_views_make_messages_of_a_game() -> None:
    kinds = {kind.__name__ for kind in get_args(FromArbiter)}
    makers = {
        path.name
        for folder in ("arbiter", "matches", "server")
        for path in (HARNESS / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in kinds
    }
    assert makers == {"views.py"}


# --- with other tiles in the hidden places --------------------------------------------------------


def dealt_from(order: tuple[int, ...]) -> Play:
    """A table whose bag has a given order."""
    draws = Draws(bytes(32), committed=True)
    opened = new_game(("one", "two"), words(), TimeControl(), draws)
    book = book_of(msgspec.structs.replace(opened, game="the game"))
    bag = Bag(order, DrawStream(bytes(32)))
    book._deal = lambda nonces: Game.start(book.rules, bag)  # type: ignore[method-assign]
    return Play(book=book).start()


def without_exchanges(policy: Policy) -> Policy:
    def choose(play: Play) -> str:
        text = policy(play)
        return "-" if text.startswith("-") else text

    return choose


def with_other_tiles(order: tuple[int, ...], turns: list[TurnRecord], seat: int) -> tuple[int, ...]:
    """Swap what a seat holds and never played for what nobody has drawn yet.

    Without exchanges tiles leave the order from the front. Of equal tiles that a seat drew, those
    it still holds may be taken to be the last.
    """
    drawn: tuple[list[int], list[int]] = (list(range(7)), list(range(7, 14)))
    front = 14
    for turn in turns:
        count = len(turn.rack_after) - len(turn.rack)
        if not turn.move.startswith("-"):
            count += len(rack_tiles(_placed(turn)))
        drawn[turn.seat].extend(range(front, front + count))
        front += count
    held = Counter(ALPHABET.tiles(_rack_now(turns, seat)))
    places = []
    for place in reversed(drawn[seat]):
        if held[order[place]] > 0:
            held[order[place]] -= 1
            places.append(place)
    changed = list(order)
    for place, other in zip(places, reversed(range(front, len(order))), strict=False):
        changed[place], changed[other] = changed[other], changed[place]
    return tuple(changed)


def _placed(turn: TurnRecord) -> tuple[int, ...]:
    return ALPHABET.tiles(turn.move.split(" ")[1].replace(".", ""))


def _rack_now(turns: list[TurnRecord], seat: int) -> str:
    return next(turn.rack_after for turn in reversed(turns) if turn.seat == seat)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("seat", [0, 1])
def test_with_another_rack_the_others_are_told_the_same_to_the_byte(seed: int, seat: int) -> None:
    tiles = words().distribution.all_tiles()
    order, _ = DrawStream(bytes([seed]) * 32).shuffled(tiles)
    policy = without_exchanges(random_policy(seed))
    play = dealt_from(order)
    texts = []
    for _ in range(8 + seed):
        texts.append(policy(play))
        play.move(texts[-1], after_ms=1_000)
    assert not play.table.over
    turns = [record for record in play.records if isinstance(record, TurnRecord)]
    other = dealt_from(with_other_tiles(order, turns, seat))
    for text in texts:
        other.move(text, after_ms=1_000)
    assert other.book.rack_text(seat) != play.book.rack_text(seat), "there is something to hide"
    for recipient in (1 - seat, None):
        assert other.frames[recipient] == play.frames[recipient]
    assert other.frames[seat] != play.frames[seat]


# --- what games share -----------------------------------------------------------------------------


def test_two_remote_games_share_nothing() -> None:
    one, two = (Play(draws=Draws.fresh()).start().book for _ in range(2))
    assert one.opened.secret != two.opened.secret
    assert (one.opened.committed, one.opened.mirrored) == (True, False)
    assert one.game is not None
    assert two.game is not None
    assert one.game.bag.order != two.game.bag.order
    assert one.game.opening_racks != two.game.opening_racks


def test_a_pair_with_a_known_seed_has_mirrored_luck_and_opens_no_secret() -> None:
    plays = [Play(draws=Draws.seeded(7, pair)).start() for pair in (3, 3, 4)]
    first, second, other = (play.book.game.bag.order for play in plays if play.book.game)
    assert first == second != other
    play = plays[0]
    play.play_out(lambda _play: "-")
    assert play.offered(0).commitment is None
    over = play.verdict(1)
    assert (over.secret, over.nonces, over.mirrored) == (None, None, True)


# --- the host's own screen ------------------------------------------------------------------------

CANDIDATES, BELIEF = (Candidate(move="-", win=0.5),), Belief(tiles={"Q": 0.25})


def test_who_comes_late_to_the_own_screen_is_told_all_so_far() -> None:
    play = Play().start()
    play.move(f"-{play.book.rack_text(0)[:3]}")
    play.move(random_policy(3)(play))
    play.say(0, Info(game=GAME, seq=3, candidates=CANDIDATES))
    play.say(0, Info(game=GAME, seq=3, belief=BELIEF))
    book = play.book
    offer, turn, *infos = views.watched(book, play.now, OWNER)
    assert isinstance(offer, NewGame)
    assert (offer.you, offer.rack, offer.known_style) == (None, None, None)
    told = [(played.move, played.rack) for played in offer.history]
    assert told == [(turn.move, turn.rack_after) for turn in book.turns]
    assert isinstance(turn, YourTurn)
    racks = read_cgp(turn.position, book.rules).racks
    assert tuple(map(ALPHABET.text, racks)) == (book.rack_text(0), book.rack_text(1))
    assert [type(info) for info in infos] == [Info, Info]
    play.move("-")
    turns = views.disclosed(play.records, OWNER)
    assert turns is not None
    assert (turns[-1].candidates, turns[-1].belief) == (CANDIDATES, BELIEF)


def test_the_start_and_the_end_are_told_to_the_own_screen() -> None:
    play = Play().start()
    for expected in ([Started, YourTurn], [GameOver]):
        told = views.on_own_screen(play.book, play.records[-1], play.now)
        assert [type(message) for message in told] == expected
        if not play.table.over:
            play.play_out(lambda _play: "-")
