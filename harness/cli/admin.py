"""``tilewire admin``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter

from bot.players.options import parse_duration
from harness.figures import counted, plain, table
from protocol.messages import Administer, ServerState
from protocol.parts import Ban, ListedGame, PlayerHere

from . import options
from .asking import ask
from .failing import CommandFailed, print_json, sentences

_ACTIONS = {
    "list": (),
    "kick": ("NAME",),
    "ban": ("WHOM",),
    "unban": ("WHOM",),
    "pause": (),
    "resume": (),
    "void": ("GAME",),
    "adjust": ("GAME", "NAME", "TIME"),
    "invite": (),
}
"""The arguments of each action."""

_FIELDS = {"NAME": "whom", "WHOM": "whom", "GAME": "game", "TIME": "ms"}


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

    ``list`` only asks. ``kick NAME``: close a player's connection; its clock runs on. ``ban WHOM``:
    don't let in a name, an address or a network, until ``unban WHOM``. ``pause``: no game begins,
    until ``resume``. ``void GAME``: end a game without a result. ``adjust GAME NAME TIME``: give a
    player time. ``invite``: print a token for somebody who chooses a name with it.

    Args:
        url: The server, ws://host:port or wss://host:port.
        action: list, kick, ban, unban, pause, resume, void, adjust or invite.
        arguments: What the action needs.
        name: The admin's name.
        token_file: A file with the admin's token.
        for_: How long a ban lasts, in whole minutes; without it, for good.
        why: The reason, for the record; who is kicked or banned is told.
        ca: Certificates (PEM) to trust for wss, instead of the system's.
        json_: Print one JSON object.
    """
    asked = _asked(action, arguments, for_, why)
    state = ask(url, "admin", name, token_file, ca, asked, ServerState)
    if json_:
        print_json(state)
    elif state.token is not None:
        print(state.token)
    else:
        print(_shown(state), end="")


def _asked(action: str, arguments: Sequence[str], lasts_ms: int | None, why: str) -> Administer:
    if action not in _ACTIONS:
        known = ", ".join(_ACTIONS)
        raise CommandFailed(f"no action is called {plain(action)!r}; there are {known}")
    needed = _ACTIONS[action]
    if len(arguments) != len(needed):
        raise CommandFailed(
            f"write: tilewire admin URL {' '.join([action, *needed])} --name … --token-file …"
        )
    if lasts_ms is not None and (action != "ban" or not lasts_ms or lasts_ms % 60_000):
        raise CommandFailed("--for is how long a ban lasts, in whole minutes, at least 1m")
    fields: dict[str, Any] = {"action": action, "why": why}
    for field, text in zip(needed, arguments, strict=True):
        with sentences():
            fields[_FIELDS[field]] = parse_duration(text) if field == "TIME" else text
    if lasts_ms is not None:
        fields["minutes"] = lasts_ms // 60_000
    with sentences():
        return msgspec.convert(fields, Administer)


# --- the answer -----------------------------------------------------------------------------------


def _shown(state: ServerState) -> str:
    notes = []
    if state.paused is not None:
        notes.append(f"no game begins: {plain(state.paused)}")
    if state.trouble is not None:
        notes.append(plain(state.trouble))
    if state.invitations:
        notes.append(f"{counted(state.invitations, 'invitation')} not used yet")
    parts = [
        _table(("player", "address", "seeks", "game"), map(_player, state.players)),
        _table(("game", "players", "scores", "turns"), map(_game, state.games)),
        _table(("banned", "for", "why"), map(_ban, state.bans)),
    ]
    notes += [part for part in parts if part] or ["nobody is here"]
    return "\n".join(f"{note.rstrip()}\n" for note in notes)


def _table(heads: Sequence[str], rows: Any) -> str:
    listed = list(rows)
    return table(list(heads), listed) if listed else ""


def _player(player: PlayerHere) -> list[str]:
    seeking = "yes" if player.seeking else ""
    games = plain(" ".join(player.games))
    return [plain(player.name), plain(player.address) or "away", seeking, games]


def _game(game: ListedGame) -> list[str]:
    scores = " – ".join(map(str, game.scores))
    return [plain(game.game), plain(" – ".join(game.players)), scores, str(game.turns)]


def _ban(ban: Ban) -> list[str]:
    lasts = "good" if ban.minutes is None else f"{ban.minutes} min"
    return [plain(ban.whom), lasts, plain(ban.why)]
