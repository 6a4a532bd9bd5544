"""The page of a match or tournament that runs here: ``--page``."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from harness.matches.config import TournamentConfig
from harness.matches.folder import MatchFolder
from harness.matches.tournament import Tournament
from harness.server.own_screen import OwnScreen, why_not_live
from harness.server.web import OwnSight
from lexicons.store import Lexicon

from . import options
from .browser import open_in_browser


@asynccontextmanager
async def own_screen(
    tournament: Tournament, terms: TournamentConfig, files: MatchFolder, words: Lexicon
) -> AsyncIterator[OwnScreen]:
    """Show a tournament's games on a page; open it, and print its address and code."""
    why = why_not_live(terms.seats)
    async with OwnScreen(tournament, files, words, OwnSight(not why, why), options.say) as screen:
        options.say(f"the page is {screen.url}; type {screen.code} there")
        if why:
            options.say(f"racks and thoughts show after each game: {why}")
        open_in_browser(screen.url)
        yield screen
