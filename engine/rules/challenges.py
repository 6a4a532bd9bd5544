"""Challenges: what each rule costs the side that loses a challenge.

Under ``void`` nothing can be challenged: an illegal word is refused at once. Under the other rules
words are not looked up before the opponent challenges. A phony comes off the board, its player's
tiles go back on the rack, and the turn is scoreless; under ``triple`` its player loses the game.
A play that stands costs the challenger

* ``single``: nothing;
* ``double``: the turn;
* ``5-point``, ``10-point``: that many points, which the play's player gets;
* ``triple``: the game.

A play is judged whole (``turn``), or only the words that the challenger names (``word``), and
points then count for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from lexicons.alphabet import BLANK_FLAG

ChallengeRule: TypeAlias = Literal["void", "single", "double", "5-point", "10-point", "triple"]
ChallengeUnit: TypeAlias = Literal["turn", "word"]
"""What is judged: the whole play, or the words that are named; points count for each of these."""

CHALLENGE_RULES: tuple[ChallengeRule, ...] = get_args(ChallengeRule)
CHALLENGE_UNITS: tuple[ChallengeUnit, ...] = get_args(ChallengeUnit)

_POINTS: dict[ChallengeRule, int] = {"5-point": 5, "10-point": 10}

Word: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Ruling:
    """The result of a challenge; ``words`` are the phonies, or all words judged if it ``stands``.

    ``points`` go to the player of the play; ``turn_lost`` and ``game_lost`` are about the loser of
    the challenge: the challenger if the play ``stands``, else its player.
    """

    stands: bool
    words: tuple[Word, ...] = ()
    points: int = 0
    turn_lost: bool = False
    game_lost: bool = False


def phonies(words: Iterable[Word], is_word: Callable[[Word], bool]) -> tuple[Word, ...]:
    """Return the words that are invalid; ``is_word`` takes tiles without ``BLANK_FLAG``."""
    return tuple(word for word in words if not is_word(tuple(tile & ~BLANK_FLAG for tile in word)))


def judge(
    rule: ChallengeRule,
    unit: ChallengeUnit,
    words: Sequence[Word],
    named: Sequence[Word],
    is_word: Callable[[Word], bool],
) -> Ruling:
    """Judge a challenge of a play that made ``words``, of which the challenger ``named`` some.

    If none is named, all are judged; with the unit ``turn`` all are judged in any case. A word
    named twice counts once. ``is_word`` takes tiles without ``BLANK_FLAG``.

    Raises:
        ValueError: the rule has no challenges, or the play did not make a named word.
    """
    if rule == "void":
        raise ValueError("under the void rule nothing can be challenged")
    if not set(named) <= set(words):
        raise ValueError("a word is challenged that the play did not make")
    judged = tuple(words) if unit == "turn" or not named else tuple(dict.fromkeys(named))
    if wrong := phonies(judged, is_word):
        return Ruling(stands=False, words=wrong, game_lost=rule == "triple")
    points = _POINTS.get(rule, 0) * (len(judged) if unit == "word" else 1)
    return Ruling(
        stands=True,
        words=judged,
        points=points,
        turn_lost=rule == "double",
        game_lost=rule == "triple",
    )
