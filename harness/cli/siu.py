"""``tilewire siu``."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import Annotated

from cyclopts import Parameter

from bot.seat.runtime import set_pipes_aside, software
from bot.siu.settings import Settings, with_option

from .failing import CommandFailed
from .options import LeavesOption, LexiconOption, ThreadsOption, WinprobOption

__all__ = ["siu"]

AUTHOR = "the authors of tilewire"


def siu(
    *,
    lexicon: LexiconOption = "scowl",
    leaves: LeavesOption = None,
    winprob: WinprobOption = None,
    threads: ThreadsOption = 1,
    data: str = "",
    seed: int = 0,
    names_only: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Be an engine for analysis: speak SIU (draft 0.2) on standard input and output.

    What is given here is where the options of the same meaning begin; a front end may set others.

    Args:
        lexicon: An embedded lexicon, or a word list or KWG file (Lexicon).
        leaves: trained, formula, or a leave table (KLV2) (Leaves).
        winprob: trained, or a table of win probabilities (CSV) (WinPctTable).
        threads: How many a search may use (Threads).
        data: Folders in which lexicons and tables are looked for, separated by ; (DataPath).
        seed: For what is drawn (Seed).
        names_only: Take no path from a front end, only names of what is embedded or in the folders
            of --data: for one that should see no other files.
    """
    settings = Settings()
    for option, name, value in (
        ("--data", "DataPath", data),
        ("--lexicon", "Lexicon", lexicon),
        ("--leaves", "Leaves", leaves),
        ("--winprob", "WinPctTable", winprob),
        ("--threads", "Threads", str(threads)),
        ("--seed", "Seed", str(seed)),
    ):
        try:
            settings = settings if value is None else with_option(settings, name, value)
        except ValueError as error:
            raise CommandFailed(f"{option}: {error}") from None
    settings = replace(settings, names_only=names_only)
    from bot.siu.engine import run

    reading, writing = set_pipes_aside()
    status = 0
    try:
        run(settings, software(), AUTHOR, reading, writing)
    except KeyboardInterrupt:
        status = 130
    sys.stderr.flush()
    os._exit(status)  # a search that is on must not keep the process
