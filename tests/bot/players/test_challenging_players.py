"""``bluff`` and ``challenger``, what any player challenges, and what a withdrawn phony tells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from search_views import unlimited

from bot.player import Observed, Player, View
from bot.players.challenging import BluffPlayer, ChallengerPlayer
from bot.players.static import StaticPlayer
from bot.search.belief import OpponentModel
from bot.search.static_choice import static_choice
from engine.inference.likelihood import stranger
from engine.rules.moves import Exchange, Place
from engine.rules.position import Position
from engine.rules.rules import check_move, score_play
from lexicons.store import Lexicon

EMPTY = "/".join(["15"] * 15)


def view_of(
    lexicon: Lexicon, rack: str = "AEINRST", *, rule: str = "double", seed: int = 1
) -> View:
    view = View.from_cgp(f"{EMPTY} {rack}/ 0/0 0", lexicon)
    rules = replace(view.rules, challenge=rule)  # type: ignore[arg-type]
    return replace(view, rules=rules, seed=seed)


def is_phony(view: View, move: Place) -> bool:
    made = score_play(view.position.board, move, view.rules).words
    return not all(view.is_word(view.text(word)) for word in made)


def test_bluff_plays_a_phony_as_often_as_it_is_told(lexicon: Lexicon) -> None:
    for rate, least, most in (("0", 0, 0), ("1", 20, 20), ("0.5", 4, 16)):
        phonies = 0
        for seed in range(20):
            view = view_of(lexicon, "?AEKNST", seed=seed)
            choice = BluffPlayer(rate).choose(view, unlimited())
            check_move(view.position, choice.move, view.rules, None, view.bag)
            assert isinstance(choice.move, Place)
            phonies += is_phony(view, choice.move)
            assert choice == BluffPlayer(rate).choose(view, unlimited()), (
                "the same when asked again"
            )
        assert least <= phonies <= most


def test_bluff_plays_none_where_it_would_be_refused(lexicon: Lexicon) -> None:
    view = view_of(lexicon, rule="void")
    assert BluffPlayer("1").choose(view, unlimited()) == static_choice(view)


def observed(view: View, word: str) -> tuple[View, Observed]:
    """The opponent has laid a word on the empty board."""
    move = view.move(f"8G {word}")
    assert isinstance(move, Place)
    made = score_play(view.position.board, move, view.rules)
    words = tuple(view.text(each) for each in made.words)
    play = Observed(1, 1, move, made.score, (0, made.score), view.bag, 0, words=words)
    after = Position(view.position.board.with_move(move), view.position.racks, play.scores)
    return view.after(play, after, view.clocks), play


def test_bluff_plays_no_word_again_that_came_off(lexicon: Lexicon) -> None:
    view, bluff = view_of(lexicon, "OX"), BluffPlayer("1")
    move = bluff.choose(view, unlimited()).move
    assert isinstance(move, Place)
    assert is_phony(view, move)
    _, play = observed(view, "XO")
    after = view.after(replace(play, withdrawn=True), view.position, view.clocks)
    assert bluff.choose(after, unlimited()) == static_choice(after), "no other phony is to be had"


def test_players_challenge_what_their_lexicon_lacks(lexicon: Lexicon) -> None:
    for player in (Player(), StaticPlayer()):
        assert player.challenge(*observed(view_of(lexicon), "QXZ")) == ["QXZ"]
        assert player.challenge(*observed(view_of(lexicon), "HOUSE")) == []
        assert player.challenge(*observed(view_of(lexicon), "HoUSE")) == []


def test_a_challenger_knows_its_share_of_the_words(lexicon: Lexicon) -> None:
    words = ("HOUSE", "TREE", "WATER", "STONE", "GRASS", "LIGHT", "HOrSE", "TRAIN")
    for share, least, most in (("1", 0, 0), ("0", 80, 80), ("0.7", 10, 45)):
        challenged = 0
        for seed in range(10):
            view = view_of(lexicon, seed=seed)
            for word in words:
                challenged += bool(ChallengerPlayer(share).challenge(*observed(view, word)))
        assert least <= challenged <= most
    view = view_of(lexicon)
    assert ChallengerPlayer("1").challenge(*observed(view, "QXZ")) == ["QXZ"]
    assert ChallengerPlayer("1").choose(view, unlimited()).move == static_choice(view).move
    plain = ChallengerPlayer("0").choose(view, unlimited()).move
    assert isinstance(plain, Exchange), "it knows no word to play"


def test_the_tiles_of_a_withdrawn_phony_are_known(lexicon: Lexicon) -> None:
    view = view_of(lexicon)
    opponent = OpponentModel(view, stranger(None), racks=50)
    _, play = observed(view, "QXZ")
    taken_back = replace(play, score=0, scores=(0, 0), withdrawn=True)
    after = view.after(taken_back, replace(view.position, scoreless_turns=1), view.clocks)
    opponent.observe(after, taken_back)
    opponent.think(racks=50)
    belief = opponent.belief(after)
    assert belief is not None
    leaves = opponent.tracker.prior.tiles
    shown = set(after.tiles("QXZ"))
    assert len(leaves)
    assert all(shown <= set(np.asarray(leave).tolist()) for leave in leaves)
    lost = replace(play, move=view.move("-"), lost=True)
    opponent.observe(after, lost)
    assert not opponent._news, "a turn that was lost tells nothing"
