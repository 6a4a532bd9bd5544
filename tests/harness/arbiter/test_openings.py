"""Games that begin in a given position: what is dealt, who is told what, and what is kept."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256

import msgspec
import own_draws
import pytest
from tables import GAME, NONCES, SECRET, Play, book_of, random_policy, words

from bot.equipment import Resources
from bot.seat.offers import Declined
from bot.seat.player_view import Watched
from engine.notation.gcg import read_gcg
from engine.notation.replaying import replay
from engine.rules.position import tiles_of
from harness.arbiter.records import Draws, Record, new_game
from harness.arbiter.scorebook import Scorebook
from harness.cli.watch import Followed
from harness.matches.results import game_record
from protocol.messages import NewGame, Started
from protocol.parts import TimeControl

ALPHABET = words().distribution.alphabet
HOUSE = "15/15/15/15/15/15/15/3HOUSE7/15/15/15/15/15/15/15"
RACKS = ("AEIQ", "")
OPENING = f"{HOUSE} {'/'.join(RACKS)} 20/5 1"


def begun(draws: Draws | None = None, opening: str = OPENING) -> Play:
    """Set a game up that begins in a position."""
    draws = draws or Draws(SECRET, committed=True)
    opened = new_game(("one", "two"), words(), TimeControl(), draws, opening=opening)
    return Play(book=book_of(msgspec.structs.replace(opened, game=GAME)))


def rack_of(play: Play, seat: int) -> str:
    (started,) = play.told(seat, Started)
    assert isinstance(started, Started)
    assert started.rack is not None
    return started.rack


def test_what_is_on_board_and_racks_is_not_drawn() -> None:
    game = begun().start().book.game
    assert game is not None
    assert (game.position.scores, game.position.scoreless_turns) == ((20, 5), 1)
    in_play = Counter([*game.bag.order, *tiles_of(game.position.board, game.position.racks)])
    assert in_play == Counter(game.rules.distribution.all_tiles())
    assert [len(rack) for rack in game.position.racks] == [7, 7]
    assert not Counter(ALPHABET.tiles("AEIQ")) - Counter(game.position.racks[0])


def test_the_opening_is_told_without_racks() -> None:
    play = begun()
    play.watch()
    play.start()
    for recipient in (0, 1, None):
        offer = play.told(recipient, NewGame)[0]
        assert isinstance(offer, NewGame)
        assert offer.opening == f"{HOUSE} / 20/5 1"
        assert not any(b"AEIQ" in frame for frame in play.frames[recipient][:1])
    asked = play.asked()
    assert asked.position == f"{HOUSE} {rack_of(play, 0)}/ 20/5 1"
    assert asked.bag == 100 - 5 - 14


def test_a_mirrored_pair_has_the_same_draws_from_an_opening() -> None:
    draws = Draws(SECRET, committed=False, mirrored=True)
    one, other = begun(draws).start(), begun(draws).start()
    policy = random_policy(3)
    for _ in range(6):
        text = policy(one)
        one.move(text)
        other.move(text)
        assert one.book.game == other.book.game


def test_a_committed_game_from_an_opening_can_be_checked() -> None:
    play = begun().start()
    play.play_out(random_policy(0))
    offer, verdict = play.offered(0), play.verdict(1)
    assert verdict.opening_racks == RACKS
    assert verdict.secret is not None
    secret = bytes.fromhex(verdict.secret)
    given = sha256("/".join(RACKS).encode()).digest()
    assert offer.commitment == sha256(secret + given).hexdigest()

    every = Counter(ALPHABET.text(words().distribution.all_tiles()))
    tiles = "".join((every - Counter("HOUSE") - Counter("AEIQ")).elements())
    nonces = bytes.fromhex(NONCES[0]), bytes.fromhex(NONCES[1])
    source = own_draws.numbers(secret, nonces)
    bag = own_draws.order_of("".join(sorted(tiles)), source)
    assert sorted(rack_of(play, 1)) == sorted(bag[:7]), "who was given nothing draws first"
    assert sorted(rack_of(play, 0)) == sorted(["A", "E", "I", "Q", *bag[7:10]])


def test_the_racks_of_a_game_with_a_known_seed_are_not_opened() -> None:
    play = begun(Draws(SECRET, committed=False)).start()
    play.play_out(random_policy(1))
    assert play.offered(0).commitment is None
    assert play.verdict(0).opening_racks is None


def test_it_is_restored_seen_and_written_as_it_was_played() -> None:
    play = begun()
    play.watch()
    play.start()
    play.play_out(random_policy(0))
    records = [msgspec.json.decode(msgspec.json.encode(each), type=Record) for each in play.records]
    again = Scorebook.restored(records, None, words())
    assert again.game == play.book.game
    assert again.scores == play.book.scores

    gcg = read_gcg(game_record(again, "from a position"))
    assert gcg.opening == OPENING
    found = replay(gcg, again.rules)
    assert play.book.game is not None
    racks = tuple(tuple(sorted(rack)) for rack in play.book.game.opening_racks)
    assert found.after(0).racks == racks
    assert found.final.board == play.book.game.position.board
    assert found.final.scores == play.result.scores


def test_a_game_that_never_began_is_written_with_its_players() -> None:
    play = begun()
    play.come(1)
    play.ready(1)
    play.wait(play.book.opened.time.ready_ms)
    gcg = read_gcg(game_record(play.book, "Game 1"))
    players = play.book.opened.players
    assert tuple(player.name for player in gcg.players) == players
    assert (gcg.title, gcg.events) == ("Game 1", ())
    assert gcg.note == f"{players[1]} wins, 0 to 0 ({play.result.message})"


@pytest.mark.parametrize("turns", [0, 1, 8])
def test_who_comes_late_knows_the_opening(turns: int) -> None:
    play, policy = begun().start(), random_policy(5)
    for _ in range(turns):
        play.move(policy(play))
    game = play.book.game
    assert game is not None
    play.watch()
    offer = play.told(None, NewGame)[-1]
    assert isinstance(offer, NewGame)
    followed = Followed.offered(offer, 0)
    assert followed.board == game.position.board
    assert followed.scores == game.position.scores
    assert followed.bag == len(game.bag)
    for seat in (0, 1):
        play.leave(seat)
        play.bots[seat].games.clear()
        play.come(seat)
        resumed = play.offered(seat)
        watched = Watched(resumed, play.book.rules, Resources(words()), 0)
        watched.take_up(resumed)
        view = watched.view
        assert watched.opening is not None
        assert watched.opening.bag == 100 - 5 - 14
        assert (view.position.board, view.bag) == (game.position.board, len(game.bag))
        assert view.position.scores == game.position.scores
        assert view.position.scoreless_turns == game.position.scoreless_turns
        assert view.rack == game.position.racks[seat]


def test_an_opening_that_is_none_is_declined() -> None:
    offer = msgspec.structs.replace(begun().start().offered(0), opening="15/15 / 0/0 0")
    book = begun().book
    with pytest.raises(Declined, match="opening: board"):
        Watched(offer, book.rules, Resources(words()), 0)
    with pytest.raises(ValueError, match="opening: board"):
        Followed.offered(offer, 0)
