"""``tilewire direct``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from harness.figures import number, plain, plain_text
from protocol.messages import Direct, Message, StandingList, Standings
from protocol.parts import Role, RoundGame, StandingRow

from . import options
from .asking import ask
from .failing import CommandFailed, print_json, sentences

_ACTIONS = {
    "standings": "",
    "pause": "",
    "resume": "",
    "withdraw": "NAME",
    "join": "NAME",
    "correct": "GAME SCORE SCORE, or GAME void",
}
"""The arguments of each action, as an error shows them."""


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
    also begins the first round without waiting for entrants. ``withdraw NAME``: an entrant
    leaves. ``join NAME``: one comes, or comes back. ``correct GAME SCORE SCORE``: give a game, by
    its number, another result; the first score is of the entrant that moved first. ``correct GAME
    void``: have it played again.

    Args:
        url: The server, ws://host:port or wss://host:port.
        action: standings, pause, resume, withdraw, join or correct.
        arguments: What the action needs.
        name: The director's name.
        token_file: A file with the director's token.
        why: The reason, for the record.
        ca: Certificates (PEM) to trust for wss, instead of the system's.
        json_: Print one JSON object.
    """
    asked = _asked(action, arguments, why)
    if isinstance(asked, Direct) and (name is None or token_file is None):
        raise CommandFailed(f"{action} is a director's act: give --name and --token-file")
    if token_file is not None and name is None:
        raise CommandFailed("--token-file needs --name, the director's name")
    role: Role = "spectator" if token_file is None else "director"
    listed = ask(url, role, name, token_file, ca, asked, StandingList)
    if json_:
        print_json(listed)
    else:
        print(plain_text(_shown(listed)), end="")


def _asked(action: str, arguments: Sequence[str], why: str) -> Message:
    """Return the message of an action, or fail with a sentence."""
    fields: dict[str, object] = {}
    match action, list(arguments):
        case "standings", []:
            return Standings()
        case (("pause" | "resume"), []):
            pass
        case (("withdraw" | "join"), [name]):
            fields = {"name": name}
        case "correct", [game, "void"]:
            fields = {"number": _number(game)}
        case "correct", [game, first, second]:
            fields = {"number": _number(game), "scores": (_number(first), _number(second))}
        case known, _ if known in _ACTIONS:
            raise CommandFailed(f"write: tilewire direct URL {action} {_ACTIONS[action]}".rstrip())
        case _:
            raise CommandFailed(
                f"no action is called {plain(action)!r}; there are {', '.join(_ACTIONS)}"
            )
    with sentences():
        return msgspec.convert({"action": action, "why": why, **fields}, Direct)


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise CommandFailed(f"{plain(text)} is no whole number") from None


# --- the answer -----------------------------------------------------------------------------------


def _shown(listed: StandingList) -> RenderableType:
    rounds = f" of {listed.rounds}" if listed.rounds else ""
    heading = f"round {listed.round}{rounds}" if listed.round else "no round has begun"
    heading += ", over" if listed.over else ""
    heading += ", paused" if listed.paused else ""
    entrants = _table("", "name", "games", "points", "spread", "byes", "")
    for place, row in enumerate(listed.rows, start=1):
        entrants.add_row(*map(Text, _row(place, row)))
    games = _table("game", "moves first", "", "", "moves second", "")
    for game in listed.games:
        games.add_row(*map(Text, _game(game)))
    return Group(Text(heading), entrants, *([games] if listed.games else []))


def _table(*heads: str) -> Table:
    table = Table(box=box.ROUNDED, header_style="")
    for head in heads:
        is_text = head in ("name", "moves first", "moves second")
        table.add_column(head, justify="left" if is_text else "right", overflow="fold")
    return table


def _row(place: int, row: StandingRow) -> list[str]:
    return [
        str(place),
        plain(row.name),
        str(row.games),
        f"{row.points:g}",
        number(row.spread, 0, sign=True),
        str(row.byes or ""),
        "" if row.presence == "here" else row.presence,
    ]


def _game(game: RoundGame) -> list[str]:
    first, second = map(plain, game.players)
    scores = ("", "") if game.scores is None else tuple(map(str, game.scores))
    state = game.outcome or ("on" if game.game else "to come")
    return [str(game.number), first, scores[0], scores[1], second, state]
