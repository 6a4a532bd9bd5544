"""``tilewire siu``."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import Annotated

from cyclopts import Parameter

from bot.seat.runtime import set_pipes_aside, software
from bot.siu.settings import SiuSettings, with_option

from .failing import sentences, stop_status
from .options import SeedOption, TableOptions, ThreadsOption


def siu(
    *,
    tables: TableOptions = TableOptions(),
    threads: ThreadsOption = 1,
    data: str = "",
    seed: SeedOption = 0,
    names_only: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Run as an analysis engine, driven over standard input and output (SIU, draft 0.2).

    Each option but the last is where the SIU option of the same meaning begins (Lexicon, Leaves,
    WinPctTable, Threads, DataPath, Seed); a front end may set others.

    Args:
        data: Folders in which lexicons and tables are looked for, separated by ;.
        names_only: Take no path from a front end, only names of what is embedded or in the folders
            of --data: for a front end that should see no other files.
    """
    settings = SiuSettings()
    for option, name, value in (
        ("--data", "DataPath", data),
        ("--lexicon", "Lexicon", tables.lexicon),
        ("--leaves", "Leaves", tables.leaves),
        ("--winprob", "WinPctTable", tables.winprob),
        ("--threads", "Threads", str(threads)),
        ("--seed", "Seed", str(seed)),
    ):
        with sentences(f"{option}: "):
            settings = settings if value is None else with_option(settings, name, value)
    settings = replace(settings, names_only=names_only)
    from bot.siu.engine import run

    reading, writing = set_pipes_aside()
    status = 0
    try:
        run(settings, software(), "the authors of tilewire", reading, writing)
    except KeyboardInterrupt as stop:
        status = stop_status(stop)
    sys.stderr.flush()
    os._exit(status)  # a search that still runs must not keep the process
