"""``tilewire tournament``."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from . import options
from .failing import CommandFailed
from .match import Running, begin, go_on
from .match_settings import (
    Settings,
    TournamentFile,
    TournamentSettings,
    configure,
    read_settings,
    resumed_config,
)


def tournament(
    *seats: str,
    given: TournamentSettings | None = None,
    out: Path | None = None,
    json_: options.JsonOption = False,
    resume: Path | None = None,
    cluster: options.ClusterOption = None,
    page: options.PageOption = False,
    verbose: options.VerboseOption = False,
) -> None:
    """Play a tournament between three seats or more, and print the standings.

    The seats are those of ``tilewire match``. Or there is one file (TOML) with
    ``seats = ["static", "greedy", "sim"]`` and the settings below, such as ``format = "swiss"``;
    options replace what it says.

    The exit status is that of ``tilewire match``.

    Args:
        seats: The seats, the strongest first where seeds matter; or a TOML file.
        out: Where the journal, results and games go. [default: tournaments/TIME]
        json_: End with one JSON object on the last line.
        resume: Go on with the tournament in this folder, to more ``--rounds`` where that is given.
    """
    options.log_to_stderr(verbose)
    settings, how = cast("Settings", given or {}), Running(cluster, json_, page)
    if resume is not None:
        terms = resumed_config(resume, "tournament", settings, anew=bool(seats or out))
        go_on(terms, resume, how)
        return
    entrants = list(seats)
    if len(entrants) == 1 and entrants[0].endswith(".toml"):
        file = Path(entrants[0])
        entrants, said = read_settings(file, TournamentFile)
        settings = cast("Settings", {**said, **settings})
    if len(entrants) < 3:
        raise CommandFailed(
            "a tournament needs three seats, such as: tilewire tournament static greedy vanilla"
        )
    begin(*configure(entrants, settings), out, "tournaments", how)
