"""The messages of the conversation: frozen values, one closed union.

``SPEC.md`` has their order. Times are whole milliseconds and durations only; seats are 0 (moves
first) and 1; moves are text, ``8D WO.Ds``, ``-ABC``, ``-``; bytes are lower-case hex. Readers
ignore unknown fields, so that a later version may add some. ``protocol.parts`` has the types of
fields.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias, get_args

from msgspec import UNSET, Meta, Struct, UnsetType

from .parts import (
    MAX_COUNT,
    Accusation,
    Action,
    AdminAction,
    Arrangement,
    Ban,
    Cgp,
    Challenged,
    Clocks,
    Code,
    Connected,
    Count,
    GameId,
    Hex,
    Label,
    ListedGame,
    MoveText,
    Ms,
    Name,
    Nonce,
    NonceOrNone,
    Number,
    Outcome,
    PlayerHere,
    Points,
    Retry,
    Role,
    RoundGame,
    RulesInPlay,
    Score,
    Seat,
    Sentence,
    Seq,
    StandingRow,
    Style,
    Thoughts,
    Tiles,
    TimeControl,
)

PROTOCOL_VERSION = 1


class _Message(Struct, frozen=True, tag_field="type", kw_only=True):
    """What every message has: the field ``type`` that names it."""


# --- opening a connection ---------------------------------------------------------------------


class Hello(_Message, frozen=True, tag="hello"):
    """First message of the side that opened the connection."""

    role: Role
    """What the sender is in the games that follow."""
    name: Name
    """The sender's name, which its token proves."""
    protocol: Number = PROTOCOL_VERSION
    """The version of this protocol that the sender speaks."""
    token: Annotated[str, Meta(max_length=256)] | None = None
    """The sender's secret, unless it was in the ``Authorization`` header."""
    software: Annotated[str, Meta(max_length=128)] | None = None
    """Program and version, for the record."""
    secret: NonceOrNone | UnsetType = UNSET
    """Of a player without a token: the ``secret`` of an earlier ``welcome``, or empty."""
    event: Label | UnsetType = UNSET
    """The ``event`` of an earlier ``welcome``, after a lost connection."""


class Welcome(_Message, frozen=True, tag="welcome"):
    """The answer to ``hello``: the conversation is open."""

    name: Name
    """Who answers: the server, or the bot that was asked for."""
    protocol: Number = PROTOCOL_VERSION
    """The version that both sides will speak."""
    software: Annotated[str, Meta(max_length=128)] | None = None
    """Program and version, for the record."""
    bots: tuple[Label, ...] = ()
    """Opponents that a player may seek by name."""
    tables: tuple[Name, ...] = ()
    """Tables that ``seek`` may name, the usual one first; empty: there is one kind of game."""
    games: tuple[GameId, ...] = ()
    """Games in progress that this player is to ``resume``."""
    secret: Nonce | UnsetType = UNSET
    """By which a player without a token comes back."""
    event: Label | UnsetType = UNSET
    """The id of the tournament, or of the server's journal."""


class Error(_Message, frozen=True, tag="error"):
    """Something that was sent could not be taken."""

    code: Code
    """A word from the table in ``SPEC.md``."""
    message: Sentence
    """A sentence for a person: what was wrong and where."""
    retry: Retry = "no"
    """What may be tried next."""
    game: GameId | None = None
    """The game that the error is about, if any."""
    seq: Seq | None = None
    """The event that the error is about or, after ``bad_seq``, the number that comes next."""


class Goodbye(_Message, frozen=True, tag="goodbye"):
    """The sender is about to close the connection."""

    code: Code
    """Why, as a word."""
    message: Sentence
    """Why, as a sentence."""


class Ping(_Message, frozen=True, tag="ping"):
    """Are you there? To be answered at once, even while a move is being chosen."""

    id: Number
    """Any number; the answer repeats it."""


class Pong(_Message, frozen=True, tag="pong"):
    """Here I am."""

    id: Number
    """As in the ``ping``."""


# --- finding a game ---------------------------------------------------------------------------


class Seek(_Message, frozen=True, tag="seek"):
    """A player asks for games against a bot of the server, a player, or anyone."""

    opponent: Name | None = None
    """The name of a bot of the server or of another player; null: anyone."""
    games: Annotated[int, Meta(ge=1, le=10_000)] = 1
    """Games to play, one after another."""
    table: Name | None = None
    """One of ``welcome.tables``; on a ladder, without an opponent, one of its own. Null: the
    first."""


class Seeking(_Message, frozen=True, tag="seeking"):
    """The server has noted what a player seeks."""

    opponent: Name | None = None
    """As in the ``seek``."""
    games: Count = 1
    """Games that are still to be played."""
    absent: Sentence | None = None
    """Why the player waits: nobody of the opponent's name is here now."""
    table: Name | None = None
    """The table at which the player waits, if there are several."""
    held_back: Sentence | None = None
    """Why the player waits: no game may begin for now."""
    not_rated: Sentence | None = None
    """Why the game whose ``new_game`` comes next is not rated."""


class Games(_Message, frozen=True, tag="games"):
    """A spectator asks which games are on."""


class GameList(_Message, frozen=True, tag="game_list"):
    """The games that are on."""

    games: tuple[ListedGame, ...]
    """One entry for each game."""


class Watch(_Message, frozen=True, tag="watch"):
    """A spectator asks to follow a game from its beginning."""

    game: GameId
    """The game, as ``game_list`` names it."""


# --- a tournament -----------------------------------------------------------------------------


class Standings(_Message, frozen=True, tag="standings"):
    """A director, player or spectator asks how the tournament stands."""


class StandingList(_Message, frozen=True, tag="standing_list"):
    """How the tournament stands; also sent to directors after each game and each ``direct``."""

    round: Count
    """The round that is on, or the last; 0: none has begun."""
    rounds: Count | None = None
    """How many there will be; null if results decide that."""
    paused: bool = False
    """Whether a director has paused the tournament, so that no game begins."""
    over: bool = False
    """Whether all rounds are played, or a director has ended the tournament."""
    waits: Sentence = ""
    """Why no game begins, and what a director may do; empty: nothing holds it up, or games of a
    round do. After ``correct``, also that a knockout's later round stays as it is paired."""
    rows: tuple[StandingRow, ...] = ()
    """The entrants, the leader first."""
    games: tuple[RoundGame, ...] = ()
    """The games of the round, and earlier games that are played again."""
    arranged: tuple[Arrangement, ...] = ()
    """Byes of the round, and byes and pairs set for rounds to come."""


class Direct(_Message, frozen=True, tag="direct"):
    """A director's act, answered with ``standing_list``."""

    action: Action
    """What is done, as ``docs/tournaments.md`` says."""
    name: Name | None = None
    """The entrant that it is about."""
    opponent: Name | None = None
    """Whom it is paired with."""
    number: Count | None = None
    """The number of the game that is corrected, or of the round of the bye."""
    void: bool = False
    """Whether a bye or pair is taken back."""
    scores: tuple[Score, Score] | None = None
    """The scores that count; null: the game is played again."""
    why: Sentence = ""
    """The reason, for the record."""


# --- a server's administration ----------------------------------------------------------------


class Administer(_Message, frozen=True, tag="administer"):
    """An act of whoever runs the server, answered with ``server_state``."""

    action: AdminAction
    """What is done, as ``docs/server.md`` says; ``list`` only asks."""
    whom: Label | None = None
    """The player, name, address or network."""
    game: GameId | None = None
    """The game that is voided, or in which time is given."""
    minutes: Annotated[int, Meta(ge=1, le=MAX_COUNT)] | None = None
    """How long a ban lasts; null: for good."""
    ms: Annotated[int, Meta(ge=1, le=86_400_000)] | None = None
    """The time that is given."""
    why: Sentence = ""
    """The reason, for the record and for whoever it is about."""


class ServerState(_Message, frozen=True, tag="server_state"):
    """What is on at a server, for whoever runs it."""

    players: tuple[PlayerHere, ...] = ()
    """Who is here, or has a game."""
    games: tuple[ListedGame, ...] = ()
    """The games that are on."""
    bans: tuple[Ban, ...] = ()
    """Who is not let in."""
    paused: Sentence | None = None
    """Why no game begins; null: games do."""
    trouble: Sentence | None = None
    """What is wrong with the journal; null: nothing."""
    invitations: Count = 0
    """Tokens without a name that nobody has used yet."""
    connections: tuple[Connected, ...] = ()
    """Who is connected, in the order in which they came."""
    token: Annotated[str, Meta(max_length=256)] | None = None
    """The new token, in the answer to ``invite`` only."""


# --- a game -----------------------------------------------------------------------------------


class _InGame(_Message, frozen=True):
    """What a message that belongs to a game has."""

    game: GameId


class Played(_InGame, frozen=True, tag="played"):
    """A turn was taken, or a challenge judged: acknowledges it, and tells the others."""

    seq: Seq
    seat: Seat
    move: MoveText
    """The move; of an exchange all but its player see the number of tiles: -3."""
    score: Points
    """What the turn added."""
    scores: tuple[Points, Points]
    """Both totals after the turn."""
    bag: Count
    """Tiles left in the bag."""
    clocks: Clocks
    """Time left to both; below zero in overtime."""
    words: tuple[Tiles, ...] = ()
    """The words that a placement made, the main word first; of a challenge, those it was about."""
    rack: Tiles | None = None
    """The player's rack after drawing, for that player alone."""
    think_ms: Ms = 0
    """What the turn cost on the clock."""
    lag_ms: Ms = 0
    """The network delay that the turn was not charged for."""
    host_lag_ms: Ms = 0
    """How late the host itself was during the turn."""
    challenge: Challenged | UnsetType = UNSET
    """A play that may be challenged, or the result of a challenge."""


class NewGame(_InGame, frozen=True, tag="new_game"):
    """A game is offered or, if ``seq`` > 0, resumed; a spectator gets it too."""

    seq: Seq
    """The event that comes next; 0: the game has not started. If it is over, that of
    ``game_over``."""
    players: tuple[Label, Label]
    """By seat."""
    you: Seat | None
    """The receiver's seat; null for a spectator."""
    lexicon: Label
    """The name of the word list."""
    lexicon_checksum: Hex | None = None
    """SHA-256 of the word list, as ``SPEC.md`` defines it."""
    rules: RulesInPlay = RulesInPlay()
    """The tiles, the board, and the numbers that define the game."""
    time: TimeControl = TimeControl()
    """The rules of the clock."""
    commitment: Hex | None = None
    """SHA-256 of the secret behind the order of the bag; null if the order has a known seed."""
    commitments: tuple[Hex, Hex] | None = None
    """SHA-256 of each nonce, or empty while it may still change; null if the order has a known
    seed."""
    clocks: Clocks | None = None
    """Time left to both, if the game is being resumed."""
    rack: Tiles | None = None
    """The receiver's rack, if the game is being resumed."""
    opening: Cgp | None = None
    """The position that the game begins in, seat 0 first, without racks; null: an empty board."""
    history: tuple[Played, ...] = ()
    """The plays that the receiver has missed, up to ``seq`` - 1."""
    known_style: Style | None = None
    """How the opponent plays, by earlier games; only for players on the arbiter's machine."""


class Ready(_InGame, frozen=True, tag="ready"):
    """A seat is set to play: loaded, compiled, warm."""

    nonce: NonceOrNone = ""
    """The seat's part in the order of the bag: fresh random bytes."""
    commitment: Hex = ""
    """SHA-256 of the nonce, which then follows in ``reveal``."""


class Committed(_InGame, frozen=True, tag="committed"):
    """Neither nonce can change any more: a seat may reveal its own."""

    commitments: tuple[Hex, Hex]
    """SHA-256 of each nonce."""


class Reveal(_InGame, frozen=True, tag="reveal"):
    """A seat reveals the nonce that it had committed itself to."""

    nonce: Nonce
    """The nonce of the commitment."""


class Decline(_InGame, frozen=True, tag="decline"):
    """A seat can't play this game."""

    code: Code
    """Why, as a word from the list in ``SPEC.md``."""
    message: Sentence
    """Why, as a sentence."""


class Started(_InGame, frozen=True, tag="started"):
    """Both seats are ready: event 0 of the game. From now on clocks may run."""

    seq: Seq
    """Always 0."""
    bag: Count
    """Tiles left in the bag."""
    clocks: Clocks
    """What both clocks show."""
    rack: Tiles | None = None
    """The receiver's rack; sent to that seat alone."""


class YourTurn(_InGame, frozen=True, tag="your_turn"):
    """The receiver is to move, and its clock runs."""

    seq: Seq
    """The number of the event that the move will be."""
    position: Cgp
    """The position (CGP), the receiver first."""
    rack: Tiles
    """The receiver's rack."""
    bag: Count
    """Tiles left in the bag."""
    clocks: Clocks
    """Time left to both when this was sent."""
    deadline_ms: Ms
    """How long until the game is lost on time."""
    attempt: Annotated[int, Meta(ge=1, le=100)] = 1
    """The number of this attempt; a refusal adds 1."""
    challenge_ms: Ms | UnsetType = UNSET
    """How long the opponent's last play may still be challenged; left out: it can't be."""


class Move(_InGame, frozen=True, tag="move"):
    """A seat's choice. Sent again after a lost connection, it gets the same answer again."""

    seq: Seq
    """As in the ``your_turn`` that it answers."""
    move: MoveText
    """The move."""
    attempt: Annotated[int, Meta(ge=1, le=100)] = 1
    """As in the ``your_turn`` or ``refused`` that it answers."""


class Challenge(_InGame, frozen=True, tag="challenge"):
    """A seat challenges its opponent's last play, in place of a move."""

    seq: Seq
    """As in the ``your_turn`` that it answers."""
    words: Annotated[tuple[Tiles, ...], Meta(max_length=32)] = ()
    """The words that are challenged, of ``played.words``; none, or if the turn is judged: all."""
    attempt: Annotated[int, Meta(ge=1, le=100)] = 1
    """As in the ``your_turn`` or ``refused`` that it answers."""


class Accept(_InGame, frozen=True, tag="accept"):
    """A seat accepts its opponent's last play, and goes on thinking; a move accepts it, too."""

    seq: Seq
    """As in the current ``your_turn``."""


class Drawn(_InGame, frozen=True, tag="drawn"):
    """The receiver's last play stands, and it has drawn."""

    seq: Seq
    """The number of the play."""
    rack: Tiles
    """The receiver's new rack."""


class Resign(_InGame, frozen=True, tag="resign"):
    """A seat gives up the game."""

    seq: Seq
    """As in the ``your_turn`` that it answers."""


class Info(_Message, Thoughts, frozen=True, tag="info"):
    """What a seat thinks during its turn: kept for the record, never shown to the opponent."""

    game: GameId
    seq: Seq
    """As in the current ``your_turn``."""


class Refused(_InGame, frozen=True, tag="refused"):
    """The move is against the rules; the clock runs on."""

    seq: Seq
    """As in the ``your_turn``."""
    attempt: Count
    """The attempt that was refused."""
    code: Code
    """Why, as a word from the table in ``SPEC.md``."""
    message: Sentence
    """Why, as a sentence."""
    attempts_left: Count
    """Attempts that are left, 1 or more."""
    deadline_ms: Ms
    """How long until the game is lost on time."""


class Resume(_InGame, frozen=True, tag="resume"):
    """A seat that is back, or has missed something, asks for a game again."""

    seen: Annotated[int, Meta(ge=-1, le=1_000_000)] = -1
    """The last event that the seat has seen; -1: none."""


class GameOver(_InGame, frozen=True, tag="game_over"):
    """The game has ended. Racks, secret, nonces and moves are not shown after ``host_error``."""

    seq: Seq
    """The number of this event, the last."""
    outcome: Outcome
    """How it ended."""
    winner: Seat | None
    """The seat that won; null for a tie or a void game."""
    scores: tuple[Points, Points]
    """Final scores, with racks and overtime settled."""
    message: Sentence
    """The outcome as a sentence."""
    racks: tuple[Tiles, Tiles] = ("", "")
    """The rack of each seat at the end."""
    rack_adjustments: tuple[Points, Points] = (0, 0)
    """What the settlement of the racks added to each score."""
    time_penalties: tuple[Points, Points] = (0, 0)
    """Points taken off for overtime, 0 or more."""
    clocks: Clocks | None = None
    """What both clocks show, the last turn charged."""
    faults: tuple[Accusation, ...] = ()
    """What went wrong, whether or not it decided the game."""
    secret: Hex | None = None
    """The secret behind the order of the bag."""
    nonces: tuple[Hex, Hex] | None = None
    """The nonces, by seat."""
    moves: tuple[MoveText, ...] = ()
    """The move of each ``played`` with exchanged tiles; empty without the secret."""
    mirrored: bool = False
    """Whether each seat drew from its own end of the bag (local pairs only)."""
    opening_racks: tuple[Tiles, Tiles] | None = None
    """What an opening gave each seat before the first draw."""


GameMessage: TypeAlias = (
    NewGame
    | Ready
    | Committed
    | Reveal
    | Decline
    | Started
    | YourTurn
    | Move
    | Challenge
    | Accept
    | Resign
    | Info
    | Played
    | Drawn
    | Refused
    | Resume
    | GameOver
)
"""The messages that belong to one game."""

Message: TypeAlias = (
    GameMessage
    | Hello
    | Welcome
    | Error
    | Goodbye
    | Ping
    | Pong
    | Seek
    | Seeking
    | Games
    | GameList
    | Watch
    | Standings
    | StandingList
    | Direct
    | Administer
    | ServerState
)
"""Every message there is."""

MESSAGES: dict[str, type[Struct]] = {
    str(kind.__struct_config__.tag): kind for kind in get_args(Message)
}
"""The messages by the name in their field ``type``."""
