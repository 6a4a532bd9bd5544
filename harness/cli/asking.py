"""Asking a server one thing: log in, ask, print the answer; ``tilewire admin`` and ``direct``."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from cyclopts import Parameter
from msgspec import UNSET

from bot.players.options import parse_duration
from harness.arbiter.records import verdict
from harness.figures import counted, number, plain, table
from harness.seats.seats import greeted
from lexicons.text import did_you_mean, read_text
from protocol.channel import Channel, ChannelClosed
from protocol.errors import PeerError
from protocol.messages import (
    Administer,
    Direct,
    Error,
    Message,
    Ping,
    Pong,
    ServerState,
    StandingList,
    Standings,
)
from protocol.parts import Role
from protocol.websocket import dial

from . import options
from .failing import CommandFailed, print_json, sentences

_A = TypeVar("_A", bound=Message)

ANSWER_S = 10.0


def ask(
    url: str,
    role: Role,
    name: str | None,
    token_file: Path | None,
    ca: Path | None,
    request: Message,
    kind: type[_A],
) -> _A:
    """Log in at a server, send a message and return the answer, or fail with a sentence."""
    tls = options.client_tls(url, ca)
    token = None if token_file is None else read_token(token_file)
    options.warn_of_readers(url, token)
    try:
        return options.run(_ask(url, role, name or role, token, tls, request, kind))
    except ChannelClosed as closed:
        raise CommandFailed(plain(str(closed)), status=1) from None


def read_token(path: Path) -> str:
    """Read a token from its file, or fail with a sentence that doesn't repeat what is in it."""
    with sentences(), sentences(f"the token file {path} can't be read: ", (OSError,)):
        words = read_text(path).split()
    if len(words) != 1:
        raise CommandFailed(
            f"{path} has {counted(len(words), 'word')}, but a token file has one: the token that "
            "'tilewire token NAME' prints; it is not the server's file of names and hashes"
        )
    return words[0]


async def _ask(
    url: str,
    role: Role,
    name: str,
    token: str | None,
    tls: ssl.SSLContext | None,
    request: Message,
    kind: type[_A],
) -> _A:
    channel = await greeted(await dial(url, token=token, tls=tls), role, name)
    try:
        return await answered(channel, request, kind)
    finally:
        await channel.close()


async def answered(channel: Channel, request: Message, kind: type[_A]) -> _A:
    """Send a message and return the answer, or fail with a sentence; skip all other messages.

    Raises:
        ChannelClosed: the connection is lost, or the server doesn't answer.
    """
    answer: _A | None = None
    is_settled = False
    await channel.send(request)
    await channel.send(Ping(id=0))  # earlier ones may be news: the last before its pong counts
    try:
        async with asyncio.timeout(ANSWER_S):
            while answer is None or not is_settled:
                match (await channel.receive()).content:
                    case Ping(id=number):
                        await channel.send(Pong(id=number))
                    case Pong(id=0):
                        await channel.send(Ping(id=1))  # what was woken by the act has run by then
                    case Pong():
                        is_settled = True
                    case Error(message=message):
                        raise CommandFailed(plain(message), status=1)
                    case PeerError() as error:
                        raise ChannelClosed(f"{channel.peer} is not understood: {error}")
                    case content if isinstance(content, kind):
                        answer = content
            return answer
    except TimeoutError:
        raise ChannelClosed(f"{channel.peer} does not answer") from None


def admin(
    url: str,
    action: str,
    /,
    *arguments: str,
    name: str,
    token_file: Path,
    for_: Annotated[options.Duration | None, Parameter(name="--for")] = None,
    why: Annotated[str, Parameter(show_default=False)] = "",
    ca: Path | None = None,
    json_: options.JsonOption = False,
) -> None:
    """Administer a server while it runs, and print who is there and what is on.

    ``list`` only asks. ``kick WHOM``: close all connections of a name, an address or a network,
    but no admin's; players' clocks run on. ``ban WHOM``: also let none in, until ``unban WHOM``.
    ``pause``: no game begins, until ``resume``. ``release NAME``: forget who claimed a name, and
    send away who is here with it. ``void GAME``: end a game without a result. ``adjust GAME NAME
    TIME``: give a player time. ``invite``: print a token for somebody who chooses a name with it.

    Args:
        url: The server, ws://host:port or wss://host:port.
        action: list, kick, ban, unban, release, pause, resume, void, adjust or invite.
        arguments: What the action needs.
        name: The admin's name.
        token_file: A file with the admin's token.
        for_: How long a ban lasts, in whole minutes; without it, for good.
        why: The reason, for the record; who is kicked or banned is told.
        ca: Certificates (PEM) to trust for wss, instead of the system's.
        json_: Print one JSON object.
    """
    arguments_of = {
        **dict.fromkeys(("list", "pause", "resume", "invite"), ()),
        **dict.fromkeys(("kick", "ban", "unban"), ("WHOM",)),
        "release": ("NAME",),
        "void": ("GAME",),
        "adjust": ("GAME", "NAME", "TIME"),
    }
    if action not in arguments_of:
        raise CommandFailed(f"no action {plain(action)!r}; there are {', '.join(arguments_of)}")
    needed = arguments_of[action]
    if len(arguments) != len(needed):
        words = " ".join([action, *needed])
        raise CommandFailed(f"write: tilewire admin URL {words} --name … --token-file …")
    if for_ is not None and (action != "ban" or not for_ or for_ % 60_000):
        raise CommandFailed("--for is how long a ban lasts, in whole minutes, at least 1m")
    fields: dict[str, Any] = {"action": action, "why": why}
    if for_ is not None:
        fields["minutes"] = for_ // 60_000
    with sentences():
        for field, text in zip(needed, arguments, strict=True):
            key = {"NAME": "whom", "WHOM": "whom", "GAME": "game", "TIME": "ms"}[field]
            fields[key] = parse_duration(text) if field == "TIME" else text
        act = msgspec.convert(fields, Administer)
    state = ask(url, "admin", name, token_file, ca, act, ServerState)
    if json_:
        print_json(state)
    else:
        if action == "adjust":  # a list has no clocks
            game, player, argument = map(plain, arguments)
            options.print_notice(f"{player} has {argument} more in game {game}")
        print(state.token or state_text(state))


def state_text(state: ServerState) -> str:
    """Return what is on at a server as tables, below what is wrong.

    There are tables of players, of all connections, of games and of bans.
    """
    notes = []
    if state.paused is not None:
        notes.append(f"no game begins: {plain(state.paused)}")
    if state.trouble is not None:
        notes.append(plain(state.trouble))
    if state.invitations:
        notes.append(f"{counted(state.invitations, 'invitation')} not used yet")
    players = [
        (
            plain(player.name),
            plain(player.address) or "away",
            "yes" if player.seeking else "",
            plain(" ".join(player.games)),
        )
        for player in state.players
    ]
    connections = [
        tuple(map(plain, (connection.role, connection.name, connection.address)))
        for connection in state.connections
    ]
    games = [
        (
            plain(game.game),
            plain(" – ".join(game.players)),
            " – ".join(map(str, game.scores)),
            str(game.turns),
        )
        for game in state.games
    ]
    bans = [
        (
            plain(ban.whom),
            "good" if ban.minutes is None else f"{ban.minutes} min",
            *map(plain, ban.why.partition(": ")[::2]),  # an admin's name has no spaces
        )
        for ban in state.bans
    ]
    tables = [
        table(head, rows)
        for head, rows in (
            (("player", "address", "seeks", "game"), players),
            (("role", "name", "connected from"), connections),
            (("game", "players", "scores", "turns"), games),
            (("banned", "for", "by", "why"), bans),
        )
        if rows
    ]
    return "\n\n".join([*notes, *(tables or ["nobody is here"])])


def direct(
    url: str,
    action: str,
    /,
    *arguments: str,
    name: str | None = None,
    token_file: Path | None = None,
    why: Annotated[str, Parameter(show_default=False)] = "",
    ca: Path | None = None,
    json_: options.JsonOption = False,
) -> None:
    """Direct a tournament on a server, and print how it stands.

    ``standings`` only asks, and needs no name. ``pause``: no game begins, until ``resume``, which
    also begins the first round without waiting for entrants. ``end``: no further round is paired,
    unless you ``resume``. ``withdraw NAME``: an entrant leaves. ``join NAME``: one comes, or comes
    back. ``correct GAME SCORE SCORE``: give a game, by its number, another result; the first score
    is of the entrant that moved first. ``correct GAME void``: have it played again. ``release
    NAME``: forget who took an entrant's name, so that it can come with its token, or from another
    address. ``bye NAME ROUND``: half a point for a round that an entrant misses. ``pair NAME
    NAME``: two meet in the next round. Both with ``void`` after it: take that back.

    Args:
        url: The server, ws://host:port or wss://host:port.
        action: standings, pause, resume, end, withdraw, join, bye, pair, correct or release.
        arguments: What the action needs.
        name: The director's name.
        token_file: A file with the director's token.
        why: The reason, for the record.
        ca: Certificates (PEM) to trust for wss, instead of the system's.
        json_: Print one JSON object.
    """
    asked = _direction(action, arguments, why)
    if isinstance(asked, Direct) and (name is None or token_file is None):
        raise CommandFailed(f"{action} is a director's act: give --name and --token-file")
    if token_file is not None and name is None:
        raise CommandFailed("--token-file needs --name, the director's name")
    role: Role = "spectator" if token_file is None else "director"
    listed = ask(url, role, name, token_file, ca, asked, StandingList)
    if json_:
        print_json(listed)
    else:
        print(standings_text(listed))


def _direction(action: str, arguments: Sequence[str], why: str) -> Message:
    """Return the message of a director's action, or fail with a sentence."""
    arguments_of = {
        **dict.fromkeys(("standings", "pause", "resume", "end"), ""),
        **dict.fromkeys(("withdraw", "join", "release"), "NAME"),
        "bye": "NAME ROUND [void]",
        "pair": "NAME NAME [void]",
        "correct": "GAME SCORE SCORE, or GAME void",
    }
    fields: dict[str, object] = {}
    match action, list(arguments):
        case ["standings", []]:
            return Standings()
        case (("pause" | "resume" | "end"), []):
            pass
        case (("withdraw" | "join" | "release"), [name]):
            fields = {"name": name}
        case (("bye" | "pair"), [name, other, *void]) if void in ([], ["void"]):
            what = "number" if action == "bye" else "opponent"
            fields = {"name": name, what: other, "void": bool(void)}
        case ["correct", [game, "void"]]:
            fields = {"number": game}
        case ["correct", [game, first, second]]:
            fields = {"number": game, "scores": (first, second)}
        case [verbs, _] if verbs in arguments_of:
            write = f"tilewire direct URL {action} {arguments_of[action]}"
            raise CommandFailed(f"write: {write.rstrip()}")
        case _:
            close = did_you_mean(action, arguments_of)
            verbs = ", ".join(arguments_of)
            raise CommandFailed(f"no action {plain(action)!r}{close}; there are {verbs}")
    try:
        return msgspec.convert({"action": action, "why": why, **fields}, Direct, strict=False)
    except msgspec.ValidationError:
        limits = "in whole numbers, scores from -10,000 to 10,000, names up to 64 characters"
        raise CommandFailed(f"write: {action} {arguments_of[action]}, {limits}") from None


def standings_text(listed: StandingList) -> str:
    """Return how a tournament stands: a table of entrants, and the games of the round."""
    rounds = f" of {listed.rounds}" if listed.rounds else ""
    heading = f"round {listed.round}{rounds}" if listed.round else "no round has begun"
    heading += (", over" if listed.over else "") + (", paused" if listed.paused else "")
    heading += f"\n{plain(listed.waits)}" if listed.waits else ""
    entrants = [
        (
            str(place),
            plain(row.name),
            str(row.games),
            f"{row.points:g}",
            number(row.spread, 0, sign=True),
            " + ".join(
                filter(None, (str(row.byes or ""), f"{row.half_byes} × ½" if row.half_byes else ""))
            ),
            "" if row.presence == "here" else row.presence,
        )
        for place, row in enumerate(listed.rows, start=1)
    ]
    parts = [heading, table(("", "name", "games", "points", "spread", "byes", ""), entrants)]
    games = []
    for game in listed.games:
        scores = ("", "") if game.scores is None else map(str, game.scores)
        state = game.outcome or ("on" if game.game else "to come")
        if game.winner is not UNSET:
            state += f", {verdict(game.players, game.winner, void=state == 'no_show')}"
        first, second = map(plain, game.players)
        games.append((str(game.number), first, *scores, second, plain(state)))
    arranged = []
    for pairing in listed.arranged:
        bye = (
            ""
            if len(pairing.names) == 2
            else " has half a point a game"
            if pairing.half
            else " has a bye"
        )
        arranged.append(f"round {pairing.round}: {plain(' – '.join(pairing.names))}{bye}")
    parts += ["\n".join(arranged)] if arranged else []
    if games:
        parts.append(table(("game", "moves first", "", "", "moves second", ""), games))
    return "\n\n".join(parts)
