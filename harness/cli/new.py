"""``tilewire new``: the beginnings of packages."""

from __future__ import annotations

import re
import shutil
from importlib.util import find_spec
from keyword import iskeyword
from pathlib import Path

from cyclopts import App

from bot.registry import known_bots

from .failing import CommandFailed, sentences

app = App(name="new", help="Begin a bot of your own: a small package.")

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")

_PROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "NAME"
version = "0.1.0"
dependencies = ["tilewire"]

[project.entry-points."tilewire.bots"]
NAME = "NAME:Bot"

[tool.setuptools]
packages = ["NAME"]
"""

_BOT = '''\
"""A bot for tilewire."""

from bot.player import Budget, Choice, Player, View


class Bot(Player):
    """Plays the highest equity: the score, and what the tiles are worth that stay on the rack."""

    def choose(self, view: View, budget: Budget) -> Choice:
        """Return a move."""
        best = view.ranked_moves(1)[0]
        return Choice(best.move, score=best.score, equity=best.equity)
'''

_TEST = '''\
"""The bot finds a good move in a position (CGP): board, racks, scores, scoreless turns."""

from bot.player import Budget, View

from NAME import Bot

POSITION = "15/15/15/15/15/15/15/3HOUSE7/15/15/15/15/15/15/15 AEINST?/ 20/3 0"


def test_it_plays_a_bingo() -> None:
    view = View.from_cgp(POSITION)
    a_second = Budget(1_000, clock=lambda: 0)  # that does not pass
    choice = Bot().choose(view, a_second)
    assert view.score(choice.move) > 60
    assert view.leave_after(choice.move) == ()
'''

_README = """\
# NAME

A bot for tilewire. Here, where this file is:

```sh
tilewire check NAME:Bot
tilewire match NAME:Bot greedy --games 10
python -m pytest    # which pip install pytest brings
```

`NAME/__init__.py` chooses the moves. Installed, with `pip install --no-deps --editable .`, it plays
by its name everywhere, on a server too: `tilewire match NAME greedy`.

What a bot may ask, and six bots to begin with, are in tilewire's `docs/players.md`.
"""


@app.command
def bot(name: str, /) -> None:
    """Write a package with a bot, a test and an entry point, in a new folder.

    Args:
        name: Of the package, its folder and the bot: small letters, digits and _.
    """
    if not _NAME.fullmatch(name):
        small = re.sub(r"\W", "_", name.lower(), flags=re.ASCII)
        example = f", such as {small}" if _NAME.fullmatch(small) else ""
        raise CommandFailed(
            f"{name!r} can't be the name of a package: write small letters, digits and _, a letter "
            f"first, 40 at most{example}"
        )
    folder = Path(name)
    if folder.exists():
        raise CommandFailed(f"{name} is there already; nothing was written")
    for is_taken, why in (
        (name in known_bots(), "a player is called that"),
        (iskeyword(name), "it is a word of Python's own"),
        (find_spec(name) is not None, "a module is called that"),
    ):
        if is_taken:
            raise CommandFailed(f"{name!r} can't be the name: {why}")
    files = {
        "pyproject.toml": _PROJECT,
        "README.md": _README,
        f"{name}/__init__.py": _BOT,
        f"tests/test_{name}.py": _TEST,
    }
    try:
        for path, text in files.items():
            with sentences(f"{folder / path} can't be written: ", (OSError,), 1):
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_text(text.replace("NAME", name), encoding="utf-8")
    except CommandFailed:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    print(f"{name}: a bot in {name}/{name}/__init__.py. Try it:")
    print(f"  cd {name}")
    print(f"  tilewire check {name}:Bot")
    print(f"  tilewire match {name}:Bot greedy")
