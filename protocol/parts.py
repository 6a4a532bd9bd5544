"""The types of fields: bounded numbers and texts, and parts that have fields of their own.

Every number and text is bounded, so that either codec can carry what the other can, and a forwarded
part makes no other message too large to be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType

MAX_SENTENCE = 2_000
"""Characters of the longest text that is meant for a person."""
WITHDRAWN, UPHELD = "--", "(challenge)"
"""In place of a move, what a challenge came to: the play comes off, or it stands."""
MAX_COUNT = 1_000_000
"""Largest number of things that are counted one by one."""
MAX_POINTS = 1_000_000
"""Most points, and the most below zero."""
MAX_NUMBER = 2**53
"""Largest of all numbers: up to here a float can be any whole number."""
MAX_NAME = 64
"""Characters of the longest name."""
MAX_MOVE = 128
"""Characters of the longest move."""
MAX_LEAVES = 20
"""Leaves that a belief may list."""
MAX_MODELS = 16
"""Models of a player that a style may have."""

HEX = r"\A([0-9a-f]{2})*\Z"
NONCE = r"\A([0-9a-f]{2}){16,64}\Z"
"""A shorter one could be guessed."""
NONCE_OR_NONE = r"\A(([0-9a-f]{2}){16,64})?\Z"
PATTERNS = {
    HEX: "bytes as lower-case hexadecimal digits, two each",
    NONCE: "16 to 64 bytes as lower-case hexadecimal digits, two each",
    NONCE_OR_NONE: "16 to 64 bytes as lower-case hexadecimal digits, two each, or empty",
}
"""What a text of each pattern is, for a person."""

Role: TypeAlias = Literal["arbiter", "player", "spectator", "director", "admin"]
Outcome: TypeAlias = Literal[
    "out",
    "zeroes",
    "resign",
    "time",
    "illegal",
    "crash",
    "stall",
    "no_show",
    "host_error",
    "challenge",
]


class OutcomeMeaning(NamedTuple):
    """What an outcome of a game means."""

    sentence: str
    """The outcome in words."""
    won_by: Literal["score", "opponent", "nobody"]
    """Who wins: whoever has the higher score, the opponent of whoever brought it about, or nobody:
    then the game does not count, and may be resumed."""


OUTCOMES: dict[Outcome, OutcomeMeaning] = {
    "out": OutcomeMeaning("a player went out", "score"),
    "zeroes": OutcomeMeaning("six scoreless turns in a row", "score"),
    "resign": OutcomeMeaning("resigned", "opponent"),
    "time": OutcomeMeaning("lost on time", "opponent"),
    "illegal": OutcomeMeaning("lost by illegal moves", "opponent"),
    "crash": OutcomeMeaning("lost, the process died twice", "opponent"),
    "stall": OutcomeMeaning("lost, the process hung twice", "opponent"),
    "no_show": OutcomeMeaning("no game", "opponent"),
    "host_error": OutcomeMeaning("void", "nobody"),
    "challenge": OutcomeMeaning("lost by a challenge", "opponent"),
}
"""What each outcome means."""


def is_void(outcome: Outcome, winner: int | None) -> bool:
    """Return whether a game has no result: it was not decided by the score, and nobody won."""
    return winner is None and OUTCOMES[outcome].won_by != "score"


Action: TypeAlias = Literal[
    "pause", "resume", "end", "withdraw", "join", "bye", "pair", "correct", "release"
]
AdminAction: TypeAlias = Literal[
    "list", "kick", "ban", "unban", "release", "pause", "resume", "void", "adjust", "invite"
]
Presence: TypeAlias = Literal["here", "away", "absent", "withdrawn"]
Challenged: TypeAlias = Literal["open", "won", "lost"]
Retry: TypeAlias = Literal["no", "corrected", "later", "reconnect"]

Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=MAX_NAME)]
GameId: TypeAlias = Annotated[str, Meta(min_length=1, max_length=64)]
Seq: TypeAlias = Annotated[int, Meta(ge=0, le=1_000_000)]
Seat: TypeAlias = Annotated[int, Meta(ge=0, le=1)]
Ms: TypeAlias = Annotated[int, Meta(ge=-MAX_NUMBER, le=MAX_NUMBER)]
MoveText: TypeAlias = Annotated[str, Meta(min_length=1, max_length=MAX_MOVE)]
Hex: TypeAlias = Annotated[str, Meta(max_length=128, pattern=HEX)]
Nonce: TypeAlias = Annotated[str, Meta(max_length=128, pattern=NONCE)]
NonceOrNone: TypeAlias = Annotated[str, Meta(max_length=128, pattern=NONCE_OR_NONE)]
Number: TypeAlias = Annotated[int, Meta(ge=-MAX_NUMBER, le=MAX_NUMBER)]
Amount: TypeAlias = Annotated[int, Meta(ge=0, le=MAX_NUMBER)]
Points: TypeAlias = Annotated[int, Meta(ge=-MAX_POINTS, le=MAX_POINTS)]
Score: TypeAlias = Annotated[int, Meta(ge=-10_000, le=10_000)]
Count: TypeAlias = Annotated[int, Meta(ge=0, le=MAX_COUNT)]
Tiles: TypeAlias = Annotated[str, Meta(max_length=256)]
Label: TypeAlias = Annotated[str, Meta(max_length=256)]
Code: TypeAlias = Annotated[str, Meta(max_length=64)]
BoardRow: TypeAlias = Annotated[str, Meta(min_length=2, max_length=26)]
TileText: TypeAlias = Annotated[str, Meta(min_length=1, max_length=4)]
Cgp: TypeAlias = Annotated[str, Meta(max_length=2_000)]
Sentence: TypeAlias = Annotated[str, Meta(max_length=MAX_SENTENCE)]
Clocks: TypeAlias = tuple[Ms, Ms]
Chance: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
Measure: TypeAlias = Annotated[float, Meta(ge=0, le=MAX_NUMBER)]
Worth: TypeAlias = Annotated[float, Meta(ge=-MAX_NUMBER, le=MAX_NUMBER)]
Style: TypeAlias = Annotated[Mapping[Name, Chance], Meta(max_length=MAX_MODELS)]
"""How a player plays: how likely each model of a player fits it, by the model's name."""


class ListedGame(Struct, frozen=True):
    """One line of a ``game_list``."""

    game: GameId
    """The game's id, for ``watch``."""
    players: tuple[Label, Label]
    """By seat."""
    scores: tuple[Points, Points]
    """By seat."""
    turns: Count
    """Turns taken."""
    rules: Label = "english"
    """The rule set, by name."""
    lexicon: Label = ""
    """The name of the word list; empty: not given."""


class PlayerHere(Struct, frozen=True, kw_only=True):
    """A player who is connected to a server, or has a game there."""

    name: Label
    """The player's name."""
    address: Label = ""
    """The address that it is connected from; empty: it is not connected."""
    seeking: bool = False
    """Whether it waits for an opponent."""
    games: tuple[GameId, ...] = ()
    """Its games that are on."""


class Connected(Struct, frozen=True, kw_only=True):
    """A connection to a server."""

    role: Code
    """A role of ``hello``, or ``analysis``: a page that asks for analysis."""
    name: Label = ""
    """The name that its peer gave, which only players, directors and admins prove; empty: none."""
    address: Label = ""
    """The address and the port that it comes from."""


class Ban(Struct, frozen=True, kw_only=True):
    """Somebody who is not let in."""

    whom: Label
    """A name, an address, or a network such as ``192.0.2.0/24``."""
    minutes: Count | None = None
    """How long it still lasts; null: for good."""
    why: Sentence = ""
    """Who banned it and, after ``: ``, the reason."""


class StandingRow(Struct, frozen=True, kw_only=True):
    """An entrant of a tournament, and its results so far."""

    name: Label
    """The entrant's name."""
    points: Annotated[float, Meta(ge=0, le=1_000_000)]
    """A win or a bye is 1, a tie or a game of a half bye a half."""
    spread: Points
    """Its own scores less its opponents', and what byes add."""
    games: Count
    """Games with a result."""
    byes: Count = 0
    """Rounds without an opponent that count as won."""
    half_byes: Count | UnsetType = UNSET
    """Rounds missed with a director's leave, which count as tied."""
    presence: Presence = "here"
    """``away`` is still paired; ``absent`` missed games in a row, and is paired when it logs in
    again."""


class RoundGame(Struct, frozen=True, kw_only=True):
    """A game of a tournament's round."""

    number: Count
    """The game's number in the tournament, for ``direct``."""
    players: tuple[Label, Label]
    """By seat."""
    scores: tuple[Points, Points] | None = None
    """As they count; null before the game, or if neither player came."""
    game: GameId | None = None
    """The game's id; null if it has not begun."""
    outcome: Code | None = None
    """How it ended: an outcome, or ``corrected``; null if it has not."""
    winner: Seat | UnsetType | None = UNSET
    """The seat that won; null: nobody; left out: it has not ended."""


class Arrangement(Struct, frozen=True, kw_only=True):
    """A bye, or a pair that a director has set for a round to come."""

    round: Count
    """The round."""
    names: tuple[Label, ...]
    """Who has the bye, or both of the pair."""
    half: bool = False
    """Whether it is a bye that counts as a tie, given by a director."""


class TileKind(Struct, frozen=True, kw_only=True):
    """A tile of the game, and how many of it there are."""

    letter: TileText
    """Its text, without brackets: ``A``, ``CH``; the blank is ``?``."""
    blanked: TileText
    """The text of a blank that stands for it: ``a``, ``ch``; for the blank itself, ``?``."""
    count: Annotated[int, Meta(ge=0, le=500)]
    """Tiles in a full bag."""
    points: Annotated[int, Meta(ge=0, le=99)]
    """What it scores."""
    vowel: bool = False
    """Whether it is a vowel; no rule depends on that."""


class RulesInPlay(Struct, frozen=True, kw_only=True):
    """The rules of one game."""

    rack_size: Annotated[int, Meta(ge=1, le=64)] = 7
    """Tiles on a full rack."""
    bingo_bonus: Points = 50
    """Points for placing ``rack_size`` tiles in one turn."""
    exchange_minimum: Annotated[int, Meta(ge=1, le=1_000)] = 7
    """Tiles that the bag must hold for an exchange."""
    scoreless_limit: Annotated[int, Meta(ge=1, le=1_000)] = 6
    """Scoreless turns in a row that end the game."""
    pass_limit: Annotated[int, Meta(ge=1, le=1_000)] | UnsetType = UNSET
    """Passes in a row that end the game; left out: passes have no limit of their own."""
    exchange_limit: Annotated[int, Meta(ge=0, le=1_000)] | UnsetType = UNSET
    """Exchanges that each player may make in a game; left out: no limit."""
    challenge: Literal["void", "single", "double", "5-point", "10-point", "triple"] = "void"
    """What a challenge in vain costs; ``void``: a play with an illegal word is refused at once."""
    challenge_by: Literal["turn", "word"] | UnsetType = UNSET
    """Whether the whole turn is judged and counted, or each word that is named; left out: the
    turn."""
    challenge_ms: Annotated[int, Meta(ge=1, le=2**40)] | UnsetType = UNSET
    """How long a play may be challenged, on the challenger's clock; left out: 20 s."""
    name: Label = "english"
    """The name of the rule set, for people; the other fields say what it means."""
    distribution: Label = "english"
    """The tiles and what they score, by name."""
    tiles: Annotated[tuple[TileKind, ...], Meta(max_length=64)] = ()
    """The blank, then the letters in the order of the alphabet; empty: those of ``english``."""
    layout: Label = "standard"
    """The board with its premium squares, by name."""
    board: Annotated[tuple[BoardRow, ...], Meta(max_length=26)] = ()
    """The rows from the top, a character for each square; empty: the layout ``standard``."""
    start: Annotated[str, Meta(max_length=8)] | None = None
    """The square that the first placement covers, such as ``8H``; null: the centre or, on an even
    board, the square to the right of and below it."""


class TimeControl(Struct, frozen=True, kw_only=True):
    """How long a player may think, and what it costs to think longer."""

    initial_ms: Annotated[int, Meta(ge=1, le=2**40)] = 25 * 60_000
    """Time on each clock at the start."""
    increment_ms: Annotated[int, Meta(ge=0, le=2**40)] = 0
    """Time added to a player's clock after each of its moves."""
    overtime_penalty: Annotated[int, Meta(ge=0, le=1_000)] = 10
    """Points taken off for each minute of overtime begun."""
    max_overtime_ms: Annotated[int, Meta(ge=0, le=2**40)] = 10 * 60_000
    """More overtime than this loses the game; 0: the game is lost when the clock runs out."""
    move_cap_ms: Annotated[int, Meta(ge=1, le=2**40)] | None = None
    """The longest that one turn may take."""
    margin_ms: Annotated[int, Meta(ge=0, le=60_000)] = 0
    """Extra time in every ``deadline_ms``."""
    lag_ms: Annotated[int, Meta(ge=0, le=60_000)] = 0
    """The most network delay that a turn is not charged for."""
    ready_ms: Annotated[int, Meta(ge=1, le=2**40)] = 30_000
    """How long a seat may take to be ready."""
    first_move_ms: Annotated[int, Meta(ge=1, le=2**40)] | None = None
    """The longest that a seat's first turn may take."""


class Candidate(Struct, frozen=True, kw_only=True):
    """One move that a seat considers."""

    move: MoveText
    """The move."""
    score: Points | None = None
    """What it scores."""
    equity: Worth | None = None
    """What it is worth in points: the score and what comes after it."""
    equity_error: Measure | None = None
    """The standard error of ``equity``, in points."""
    win: Chance | None = None
    """The probability that it wins, a draw counting half."""
    win_error: Measure | None = None
    """The standard error of ``win``."""
    samples: Number | None = None
    """Continuations that were looked at."""


class Search(Struct, frozen=True):
    """How a seat arrived at what it says about its candidates."""

    phase: Name
    """``static``, ``simulation``, ``pre-endgame``, ``endgame``, or a word of the seat's own."""
    plies: Count | None = None
    """Turns looked at after a move; null: to the end of the game."""
    compared: Count | None = None
    """How many candidates are compared at this depth; they come first in ``candidates``, which may
    list fewer."""
    rollouts: Amount | None = None
    """Games played on from a candidate so far, at any depth."""
    nodes: Amount | None = None
    """Positions that a solver has visited so far."""
    proven: bool | None = None
    """Whether a solver has proven what the first candidate is worth; null if the search proves
    nothing."""


class LeaveChance(Struct, frozen=True, kw_only=True):
    """One leave that an opponent may have kept."""

    leave: Annotated[str, Meta(max_length=64)]
    """Its tiles; empty after a bingo."""
    prior: Chance
    """Its probability before the play was judged."""
    posterior: Chance
    """Its probability given the play."""


class Belief(Struct, frozen=True, kw_only=True):
    """What a seat believes about its opponent: what it holds, given its play, and how it plays."""

    leaves_considered: Amount = 0
    """Leaves that the opponent may have kept in its last turn, or a sample of them."""
    leaves_surviving: Amount = 0
    """Those that its play does not rule out."""
    top: Annotated[tuple[LeaveChance, ...], Meta(max_length=MAX_LEAVES)] = ()
    """The likeliest leaves, the likeliest first."""
    mass_top10: Chance = 0.0
    """The probability that it kept one of the ten likeliest."""
    entropy_prior: Measure = 0.0
    """The entropy of its leave before its play was judged, in bits."""
    entropy: Measure = 0.0
    """The entropy of its leave now, in bits."""
    unseen: Chance = 0.0
    """The prior probability of the leaves that there was no time to look at."""
    effective: Measure = 0.0
    """The effective sample size, in racks sampled from the prior."""
    tiles: Annotated[
        Mapping[Annotated[str, Meta(min_length=1, max_length=16)], Chance], Meta(max_length=64)
    ] = {}
    """By tile, the probability that its rack has one or more now."""
    bingo: Chance | None = None
    """The probability that it has a bingo in its next turn."""
    seconds: Measure = 0.0
    """The time that it took to compute this."""
    note: Sentence | None = None
    """Why nothing is known; then the prior counts."""
    style: Style = {}
    """How likely each model of a player fits the opponent."""


class Estimates(Struct, frozen=True, kw_only=True):
    """What a seat has found out in its turn."""

    candidates: Annotated[tuple[Candidate, ...], Meta(max_length=100)] = ()
    """The moves considered, the best first."""
    search: Search | None = None
    """How far it has looked."""
    belief: Belief | None = None
    """What it believes about its opponent."""


class Thoughts(Estimates, frozen=True, kw_only=True):
    """What a seat thinks during its turn, as the message and the record of it have it."""

    text: Sentence | None = None
    """Any text."""


def thoughts_of(source: object) -> dict[str, Any]:
    """Return the fields of ``Thoughts`` that a message, a record or a player's choice has."""
    return {name: getattr(source, name) for name in Thoughts.__struct_fields__}


class Accusation(Struct, frozen=True):
    """Something that went wrong in a seat's play, whether or not it decided the game."""

    seat: Seat
    """Whose play it was."""
    code: Code
    """An outcome, ``disconnect``, ``unrevealed`` (its nonce), or for a foreign engine
    ``wrong_score``, ``wrong_rack`` and the codes of its refused moves."""
    message: Sentence
    """What happened."""
