"""What a seat and a spectator are told before the end: nothing of what the others hold."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import get_args

import msgspec
import own_draws
import pytest
from tables import NONCES, Play, Policy, book_of, random_policy, words

from engine.notation.move_text import parse_move
from engine.rules.bag import Bag, DrawStream
from engine.rules.game import Game
from engine.rules.moves import Exchange, Move, Place
from engine.rules.position import Board
from engine.rules.rule_sets import load_rules
from engine.rules.rules import rack_tiles
from harness.arbiter import views
from harness.arbiter.records import Draws, TurnRecord, new_game
from harness.arbiter.rules_on_wire import rules_on_wire
from harness.arbiter.views import Recipient
from protocol.codec import MSGPACK
from protocol.messages import GameOver, Message, NewGame, Played, Refused, Started, YourTurn
from protocol.parts import TimeControl
from protocol.session import FromArbiter

HARNESS = Path(__file__).parents[3] / "harness"
ALPHABET = words().distribution.alphabet
GAMES = range(50)


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


@pytest.mark.parametrize("recipient", [0, 1, None])
def test_nobody_is_told_what_only_another_may_know(recipient: Recipient) -> None:
    kinds: Counter[type] = Counter()
    for seed in GAMES:
        play = played_game(seed)
        turns = {record.seq: record for record in play.records if isinstance(record, TurnRecord)}
        racks_held = {seq: turn.rack for seq, turn in turns.items()}
        for message in told(play, recipient):
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
                    assert message.rack == racks_held[message.seq]
                    _, racks, *_ = message.position.split(" ")
                    assert racks == f"{message.rack}/"
                case Refused():
                    assert turns[message.seq].seat == recipient
                case _:
                    assert isinstance(message, GameOver), message
    assert kinds[Played] > 500
    assert kinds[GameOver] == len(GAMES)
    assert (kinds[YourTurn] == kinds[Refused] == 0) is (recipient is None)


@pytest.mark.parametrize("recipient", [0, 1, None])
def test_the_secret_and_the_nonces_are_in_no_frame_before_the_last(recipient: Recipient) -> None:
    for seed in GAMES:
        play = played_game(seed)
        *before, last = play.frames[recipient]
        opened = play.book.opened
        for hidden in (opened.secret, *NONCES):
            assert all(hidden.encode() not in frame for frame in before)
            assert hidden.encode() in last


def test_the_racks_told_to_a_seat_are_its_own() -> None:
    for seed in GAMES:
        play = played_game(seed)
        turns = [record for record in play.records if isinstance(record, TurnRecord)]
        for seat in (0, 1):
            own = {turn.rack for turn in turns if turn.seat == seat}
            own |= {turn.rack_after for turn in turns if turn.seat == seat}
            for message in told(play, seat):
                rack = getattr(message, "rack", None)
                assert rack is None or rack in own


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


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("seat", [0, 1])
def test_with_another_rack_the_others_are_told_the_same_to_the_byte(seed: int, seat: int) -> None:
    tiles = words().distribution.all_tiles()
    order, _ = DrawStream(bytes([seed]) * 32).shuffled(tiles)
    policy = without_exchanges(random_policy(seed))
    play = dealt_from(order)
    texts = []
    for _ in range(8 + seed % 5):
        texts.append(policy(play))
        play.move(texts[-1], after_ms=1_000)
    if play.table.over:
        return  # nothing but passes
    turns = [record for record in play.records if isinstance(record, TurnRecord)]
    other = dealt_from(with_other_tiles(order, turns, seat))
    for number, text in enumerate(texts):
        if number == len(texts) - 1:
            assert other.book.rack_text(seat) != "", "there is something to hide"
        other.move(text, after_ms=1_000)
    assert other.book.rack_text(seat) != play.book.rack_text(seat)
    for recipient in (1 - seat, None):
        assert other.frames[recipient] == play.frames[recipient]
    assert other.frames[seat] != play.frames[seat]


# --- the draws can be checked ---------------------------------------------------------------------

Checked = tuple[list[tuple[int, Move, tuple[int, ...]]], tuple[tuple[int, ...], tuple[int, ...]]]


def seen_by_both(play: Play) -> Checked:
    """The opening racks and each turn with what was drawn, from what the two seats were told."""
    racks: list[Counter[int]] = [Counter(), Counter()]
    for seat in (0, 1):
        (started,) = play.told(seat, Started)
        assert isinstance(started, Started)
        racks[seat] = Counter(ALPHABET.tiles(started.rack or ""))
    opening = tuple(sorted(racks[0].elements())), tuple(sorted(racks[1].elements()))
    board, turns = Board.empty(play.book.rules.layout), []
    mine = {
        said.seq: said
        for to, said in play.sent
        if isinstance(said, Played) and to == said.seat and said.rack is not None
    }
    for _, played in sorted(mine.items()):
        move = parse_move(played.move, board, ALPHABET)
        used: tuple[int, ...] = ()
        if isinstance(move, Place):
            used, board = rack_tiles(move.placed), board.with_move(move)
        elif isinstance(move, Exchange):
            used = move.tiles
        after = Counter(ALPHABET.tiles(played.rack or ""))
        drawn = after - (racks[played.seat] - Counter(used))
        racks[played.seat] = after
        turns.append((played.seat, move, tuple(drawn.elements())))
    return turns, opening


def opened_at_the_end(play: Play) -> tuple[bytes, tuple[bytes, bytes], bytes]:
    verdict, offer = play.verdict(0), play.told(0, NewGame)[0]
    assert isinstance(offer, NewGame)
    assert verdict.secret is not None
    assert verdict.nonces is not None
    assert offer.commitment is not None
    nonces = bytes.fromhex(verdict.nonces[0]), bytes.fromhex(verdict.nonces[1])
    return bytes.fromhex(verdict.secret), nonces, bytes.fromhex(offer.commitment)


@pytest.mark.parametrize("seed", range(8))
def test_the_draws_of_a_game_can_be_checked_by_who_played_it(seed: int) -> None:
    play = played_game(seed)
    turns, opening = seen_by_both(play)
    secret, nonces, committed = opened_at_the_end(play)
    rules = play.book.rules
    source = own_draws.numbers(secret, nonces)
    bag = own_draws.order_of(ALPHABET.text(rules.distribution.all_tiles()), source)
    assert sha256(secret).digest() == committed
    assert (sorted(bag[:7]), sorted(bag[7:14])) == tuple(
        sorted(map(ALPHABET.tile_text, rack)) for rack in opening
    )
    del bag[:14]
    for _, move, drawn in turns:
        used = move.tiles if isinstance(move, Exchange) else getattr(move, "placed", ())
        shown, bag = bag[: len(used)], bag[len(used) :]
        assert sorted(shown) == sorted(map(ALPHABET.tile_text, drawn))
        if isinstance(move, Exchange):
            own_draws.put_back("".join(map(ALPHABET.tile_text, move.tiles)), bag, source)


def test_two_remote_games_share_nothing() -> None:
    plays = [Play(draws=Draws.fresh()).start() for _ in range(2)]
    one, two = (play.book for play in plays)
    assert one.opened.secret != two.opened.secret
    assert one.opened.committed
    assert not one.opened.mirrored
    assert one.game is not None
    assert two.game is not None
    assert one.game.bag.order != two.game.bag.order
    assert one.game.opening_racks != two.game.opening_racks


def test_a_pair_with_a_known_seed_has_mirrored_luck_and_opens_no_secret() -> None:
    plays = [Play(draws=Draws.seeded(7, pair)).start() for pair in (3, 3, 4)]
    games = [play.book.game for play in plays]
    assert games[0] is not None
    assert games[1] is not None
    assert games[2] is not None
    assert games[0].bag.order == games[1].bag.order != games[2].bag.order
    offer = plays[0].offered(0)
    assert offer.commitment is None
    verdict = plays[0]
    verdict.play_out(lambda _play: "-")
    over = verdict.verdict(1)
    assert (over.secret, over.nonces, over.mirrored) == (None, None, True)
