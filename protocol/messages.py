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
    """The sender's name; if the server asks for a token, the token proves it."""
    protocol: Number = PROTOCOL_VERSION
    """The version of this protocol that the sender speaks."""
    token: Annotated[str, Meta(max_length=256)] | None = None
    """The sender's secret, unless it was in the ``Authorization`` header."""
    software: Annotated[str, Meta(max_length=128)] | None = None
    """Program and version, for the record."""
    secret: NonceOrNone | UnsetType = UNSET
    """Of a player without a token: the ``secret`` of an earlier ``welcome``, empty if there was
    none; left out: the client knows of no such secret (version 1)."""
    event: Label | UnsetType = UNSET
    """The ``event`` of an earlier ``welcome``, on a connection that replaces a lost one."""


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
    """The tables that a player may name in ``seek``; without a name it is the first. Empty: there
    is one kind of game."""
    games: tuple[GameId, ...] = ()
    """Games in progress in which this player has a seat, to be resumed."""
    secret: Nonce | UnsetType = UNSET
    """By which a player without a token comes back, in ``hello``; only for a player that sent a
    ``secret`` there."""
    event: Label | UnsetType = UNSET
    """The id of what a player plays in: a tournament, or whatever a server keeps in one journal."""


class Error(_Message, frozen=True, tag="error"):
    """Something that was sent could not be taken; the conversation goes on unless it is closed."""

    code: Code
    """A word from the table of codes in ``SPEC.md``."""
    message: Sentence
    """A sentence for a person: what was wrong and where."""
    retry: Retry = "no"
    """What may be tried next: nothing, the same corrected, the same later, or a new connection."""
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
    """The table to play at, one of ``welcome.tables``; on a server with a ladder, if there is no
    opponent, a table of the ladder. Null: the first."""


class Seeking(_Message, frozen=True, tag="seeking"):
    """The server has noted what a player seeks."""

    opponent: Name | None = None
    """As in the ``seek``."""
    games: Count = 1
    """Games that are still to be played."""
    absent: Sentence | None = None
    """A sentence if nobody of the opponent's name is here now; the player then waits for that
    opponent."""
    table: Name | None = None
    """The table at which the player waits, if there are several; on a ladder, if there is no
    opponent, the table for rated games."""
    held_back: Sentence | None = None
    """Why the player waits: the server, or the player's address, has as many games as it may have,
    the server is paused, or a tournament is paused or waits."""
    not_rated: Sentence | None = None
    """A sentence if the player sought a rated game and gets one that is not: its ``new_game`` comes
    next."""


class Games(_Message, frozen=True, tag="games"):
    """A spectator asks which games are on."""


class GameList(_Message, frozen=True, tag="game_list"):
    """The games that are on."""

    games: tuple[ListedGame, ...]
    """One entry for each game."""


class Watch(_Message, frozen=True, tag="watch"):
    """A spectator asks to follow a game, from its beginning to its end."""

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
    """Why no game begins: who has paused the tournament, and the reason, or what its next round
    waits for, and what a director may do; empty: nothing holds it up, or games of a round do. After
    ``correct``, also that a knockout's later round stays as it is paired."""
    rows: tuple[StandingRow, ...] = ()
    """The entrants, the leader first."""
    games: tuple[RoundGame, ...] = ()
    """The games of the round, and earlier games that are played again."""
    arranged: tuple[Arrangement, ...] = ()
    """Byes of the round, and byes and pairs that a director has set for rounds to come."""


class Direct(_Message, frozen=True, tag="direct"):
    """A director's act, answered with ``standing_list``."""

    action: Action
    """``pause``: no game begins, and games in progress go on. ``resume``: games begin; the first
    round no longer waits for entrants that are not here; a tournament that was ended goes on.
    ``end``: no further round is paired. ``withdraw``: an entrant is not paired
    again. ``join``: an entrant comes, or comes back if it was absent or had withdrawn. ``correct``:
    a game gets another result. ``bye``: an entrant of a Swiss is not paired in a round, or was not,
    and has half a point a game for it. ``pair``: two entrants meet in the next round. ``release``:
    it is forgotten who claimed a name, or where it first came from, and whoever is here with it is
    sent away."""
    name: Name | None = None
    """The entrant that withdraws, joins, has the bye or is paired, or whose name is released."""
    opponent: Name | None = None
    """Whom it is paired with."""
    number: Count | None = None
    """The number of the game that is corrected, or of the round of the bye."""
    void: bool = False
    """Whether a bye or pair is taken back."""
    scores: tuple[Score, Score] | None = None
    """The scores that count, by seat; null: the game is void, and is played again."""
    why: Sentence = ""
    """The reason, for the record."""


# --- a server's administration ----------------------------------------------------------------


class Administer(_Message, frozen=True, tag="administer"):
    """An act of whoever runs the server, answered with ``server_state``."""

    action: AdminAction
    """``list`` only asks. ``kick`` closes all connections of a name, an address or a network, but
    no admin's; ``ban`` also keeps it out, until ``unban``. ``release``: it is forgotten who claimed
    a name, and whoever is here with it is sent away; its games go on. ``pause``: no game begins,
    until ``resume``. ``void`` ends a game without a result; ``adjust`` gives a player time in a
    game. ``invite`` makes a token without a name."""
    whom: Label | None = None
    """The player, name, address or network."""
    game: GameId | None = None
    """The game that is voided, or in which a player is given time."""
    minutes: Annotated[int, Meta(ge=1, le=MAX_COUNT)] | None = None
    """How long a ban lasts; null: for good."""
    ms: Annotated[int, Meta(ge=1, le=86_400_000)] | None = None
    """The time that is given."""
    why: Sentence = ""
    """The reason, for the record; who is kicked or banned, or whose name is released, is told
    it."""


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
    """Who is connected, in whatever role, in the order in which they came."""
    token: Annotated[str, Meta(max_length=256)] | None = None
    """The new token, in the answer to ``invite`` only; the server keeps its hash."""


# --- a game -----------------------------------------------------------------------------------


class _InGame(_Message, frozen=True):
    """What a message that belongs to a game has."""

    game: GameId


class Played(_InGame, frozen=True, tag="played"):
    """A turn was taken, or a challenge judged: acknowledges it, and tells the others."""

    seq: Seq
    seat: Seat
    move: MoveText
    """The move; only its player sees which tiles were exchanged, others see their number: -3.
    ``--``: the seat's last play is taken back; ``(challenge)``: that play stands."""
    score: Points
    """What the turn added."""
    scores: tuple[Points, Points]
    """Both totals after the turn."""
    bag: Count
    """Tiles left in the bag."""
    clocks: Clocks
    """Time left to both; below zero in overtime."""
    words: tuple[Tiles, ...] = ()
    """The words that a placement made, the main word first; for a challenge the phonies or, if
    there are none, the words that were challenged."""
    rack: Tiles | None = None
    """The player's rack after drawing; sent to that player alone."""
    think_ms: Ms = 0
    """What the turn cost on its player's clock, or a challenge on the challenger's."""
    lag_ms: Ms = 0
    """The network delay that the turn was not charged for."""
    host_lag_ms: Ms = 0
    """How late the host itself was during the turn, by its own measurement."""
    challenge: Challenged | UnsetType = UNSET
    """``open``: a play that may be challenged, for which nothing is drawn yet; ``won`` or ``lost``:
    the result of a challenge. Left out otherwise."""


class NewGame(_InGame, frozen=True, tag="new_game"):
    """A game is offered or, if ``seq`` > 0, resumed; a spectator gets it too."""

    seq: Seq
    """The number of the event that comes next; 0: the game has not started. If the game is over,
    the number of ``game_over``."""
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
    """SHA-256 of the secret behind the order of the bag, and of the racks of an opening, as
    ``SPEC.md`` says; null if the order has a known seed."""
    commitments: tuple[Hex, Hex] | None = None
    """By seat, SHA-256 of its nonce, or empty while the nonce may still change; those of the
    arbiter's own seats are there from the beginning. Null if the order has a known seed."""
    clocks: Clocks | None = None
    """Time left to both, if the game is being resumed."""
    rack: Tiles | None = None
    """The receiver's rack, if the game is being resumed."""
    opening: Cgp | None = None
    """The position that the game begins in, seat 0 first, without racks; null: an empty board."""
    history: tuple[Played, ...] = ()
    """The plays that the receiver has missed, as it may see them; the last has the number ``seq`` -
    1."""
    known_style: Style | None = None
    """How the receiver's opponent plays, learned from earlier games; sent only to players that run
    on the arbiter's own machine."""


class Ready(_InGame, frozen=True, tag="ready"):
    """A seat is set to play: loaded, compiled, warm."""

    nonce: NonceOrNone = ""
    """The seat's part in the order of the bag: 16 to 64 fresh random bytes."""
    commitment: Hex = ""
    """The SHA-256 of the nonce, in place of the nonce, which then follows in ``reveal``."""


class Committed(_InGame, frozen=True, tag="committed"):
    """Both seats are ready and neither nonce can change any more: a seat may reveal its own."""

    commitments: tuple[Hex, Hex]
    """By seat, SHA-256 of its nonce."""


class Reveal(_InGame, frozen=True, tag="reveal"):
    """A seat reveals the nonce that it had committed itself to."""

    nonce: Nonce
    """The nonce whose SHA-256 is the commitment."""


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
    """The position as CGP, the receiver's rack first and the other empty."""
    rack: Tiles
    """The receiver's rack."""
    bag: Count
    """Tiles left in the bag."""
    clocks: Clocks
    """Time left to both at the moment of sending."""
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
    """The words that are challenged, each one of ``played.words``; none: all. If the rules judge
    the whole turn, all its words are judged in any case."""
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
    """Why, as a word: ``not_a_word``, ``not_on_rack``, … (table in ``SPEC.md``)."""
    message: Sentence
    """Why, as a sentence."""
    attempts_left: Count
    """Attempts that are left, 1 or more; if the last is bad, too, the game is lost."""
    deadline_ms: Ms
    """How long until the game is lost on time."""


class Resume(_InGame, frozen=True, tag="resume"):
    """A seat that is back, or has missed something, asks for a game again, from an event on."""

    seen: Annotated[int, Meta(ge=-1, le=1_000_000)] = -1
    """The last event that the seat has seen; -1: none."""


class GameOver(_InGame, frozen=True, tag="game_over"):
    """The game has ended. It shows the racks and, if there was a commitment, the secret, nonces and
    moves; after ``host_error`` none of these.
    """

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
    """What both clocks show at the end, the turn in which the game ended charged."""
    faults: tuple[Accusation, ...] = ()
    """What went wrong, whether or not it decided the game."""
    secret: Hex | None = None
    """The secret behind the order of the bag: with it every draw can be checked."""
    nonces: tuple[Hex, Hex] | None = None
    """The seats' parts in the order of the bag, by seat."""
    moves: tuple[MoveText, ...] = ()
    """The move of each ``played``, in order and with exchanged tiles, since those went back into
    the bag; empty if the secret is not revealed."""
    mirrored: bool = False
    """Whether each seat drew from its own end of the bag (local pairs only)."""
    opening_racks: tuple[Tiles, Tiles] | None = None
    """What an opening gave each seat before the first draw, if the secret is revealed."""


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
