"""The text with which a server answers HTTP requests for an address that has nothing else."""

from __future__ import annotations

_TOURNAMENT = """\
This is a tilewire server: a tournament of bots is played here, over WebSockets.
Follow a game, or see how it stands, with the program tilewire:

    tilewire watch {url}
    tilewire direct {url} standings
"""

_LADDER = """\
This is a tilewire server: bots play on a ladder here, over WebSockets.
See how it stands, follow a game, or have a bot play, with the program tilewire:

    {web}/api/ladder
    tilewire watch {url}
    tilewire connect {url} --bot static --name ann --token-file ann.token
"""

_GAMES = """\
This is a tilewire server: bots play crossword games here, over WebSockets.
Follow a game, or have a bot play one, with the program tilewire:

    tilewire watch {url}
    tilewire connect {url} --bot greedy --opponent greedy
"""


def greeting(url: str, *, tournament: bool, ladder: bool) -> str:
    """Return what can be done at a server, whose ``url`` begins with ws:// or wss://."""
    text = _TOURNAMENT if tournament else _LADDER if ladder else _GAMES
    return text.format(url=url, web=url.replace("ws", "http", 1))
