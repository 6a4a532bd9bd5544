"""``tilewire study``: a server for one person, who looks at positions on its page."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from cyclopts import Parameter

from bot.registry import SeatError
from engine.notation.cgp import write_cgp
from engine.rules.rules import Rules
from harness.arbiter.database import JournalError
from harness.server.ladder.settings import ServerTime
from harness.server.play import Offered

from . import options
from .failing import sentences
from .play import OwnServer, on_page
from .positions import is_file, read_cgp_or_file, read_game
from .preparing import ANALYST, prepare
from .serving import LOOPBACK, time_control


def study(
    what: Annotated[str | None, Parameter(name="FILE")] = None,
    /,
    *,
    host: options.HostOption = LOOPBACK,
    port: options.PortOption | None = None,
    no_browser: Annotated[bool, Parameter(negative="")] = False,
    rules: options.RulesOption = None,
    tables: options.TableOptions = options.TableOptions(),
    verbose: options.VerboseOption = False,
) -> None:
    """Set up a position or open a game, and study it in the browser.

    Starts a server that only this machine reaches, and opens its page. What you do there stays in
    your browser, and is saved as GCG; an analysis takes all cores. Ctrl-C ends it.

    Args:
        what: A game, GAME.gcg, or the position before a line of its score sheet, GAME.gcg@LINE; a
            position as one line of text (CGP) in quotes, or a file that holds one (.cgp). [default:
            an empty board]
        host: The address to listen on; in a container 0.0.0.0.
        port: The port; 0 for any that is free. [default: 0; with another --host 8484]
        no_browser: Print the page's address, and open no browser.
    """
    options.log_to_stderr(verbose)
    equipment = tables.for_game(rules)
    begun = _read(what, options.load_rule_set(equipment.rules))
    clock = time_control(ServerTime(), {}, host)
    options.print_notice("loading words and tables")
    prepare([], equipment, ANALYST)
    offered = Offered(is_private=True, study=begun)
    failures = JournalError, OSError, SeatError
    with TemporaryDirectory() as folder, sentences(kinds=failures, status=1):
        house = OwnServer(equipment, {}, offered, clock, 1, host, port, Path(folder) / "study.db")
        where = "your studies are kept in the browser"
        options.run(on_page(house, "study", where, opens=not no_browser))


def _read(what: str | None, rules: Rules) -> dict[str, Any]:
    """Read a game or a position, or fail with a sentence that says where it is wrong."""
    if what is None:
        return {"data": None, "name": None, "turn": None}
    if game := read_game(what, rules):
        return {"data": game.path.read_bytes(), "name": game.path.name, "turn": game.line}
    position = read_cgp_or_file(what, rules)
    if is_file(what):
        return {"data": Path(what).read_bytes(), "name": Path(what).name, "turn": None}
    text = what if "/" in what else write_cgp(position, rules)  # of a rack
    return {"data": text.encode(), "name": None, "turn": None}
