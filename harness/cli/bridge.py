"""``tilewire bridge``: the bridge itself, and the pages that were paired with it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from harness.figures import table
from harness.server.bridge import Bridge, BridgeConfig, TokenFile, read_config, tokens_of

from .failing import UNREADABLE, CommandFailed, print_json, sentences
from .options import JsonOption, VerboseOption, log_to_stderr, print_notice, run, until_interrupted

app = App(name="bridge")


@app.default
def bridge(
    *,
    config: Path,
    verbose: Annotated[
        VerboseOption, Parameter(help="Log who comes and what is started; no code and no token.")
    ] = False,
) -> None:
    """Let pages in a browser drive engines of this machine.

    A page of an allowed origin asks to be let in; type the code that is shown here into it, once.
    It then starts engines of the configuration, or tilewire's own, and exchanges lines with them
    (SIU). Only this machine can connect, and nothing is sent anywhere else. Ctrl-C ends the bridge
    and its engines.

    Args:
        config: A TOML file with ``origins``, and ``[[engine]]`` for each engine.
    """
    log_to_stderr(verbose)
    with sentences():
        checked = read_config(config)
    with sentences(kinds=UNREADABLE, status=1):
        run(_run(checked))


@app.command
def tokens(*, config: Path, json_: JsonOption = False) -> None:
    """List the pages that were paired, each with the id that revokes it.

    Args:
        config: The bridge's configuration.
        json_: Print a line of JSON a page.
    """
    with sentences(kinds=UNREADABLE):
        pages = TokenFile(tokens_of(config)).read().values()
    rows = [(page.id, page.origin, page.made) for page in pages]
    if json_:
        for row in rows:
            print_json(dict(zip(("id", "origin", "paired"), row, strict=True)))
        return
    print(table(("id", "origin", "paired"), rows) if rows else "no page is paired")


@app.command
def revoke(*ids: str, config: Path, all: Annotated[bool, Parameter(negative="")] = False) -> None:
    """Make the tokens of pages invalid; connected pages are cut off.

    Args:
        ids: The pages, as ``tilewire bridge tokens`` lists them.
        config: The bridge's configuration.
        all: Every page.
    """
    if bool(ids) == all:
        raise CommandFailed("give either the ids of pages or --all")
    with sentences(kinds=UNREADABLE):
        pages = TokenFile(tokens_of(config))
        gone = pages.revoke(*(pages.read() if all else ids))
    for page in gone:
        print(f"revoked {page.id} of {page.origin}")
    unknown = set(ids) - {page.id for page in gone}
    if unknown:
        raise CommandFailed(f"not known in {pages.path}: {', '.join(sorted(unknown))}")


async def _run(config: BridgeConfig) -> None:
    bridge = Bridge(config, print_notice)
    async with bridge.listening():
        print_notice(
            f"bridge on ws://127.0.0.1:{bridge.port} for {', '.join(sorted(config.origins))}; "
            f"engines: {', '.join(config.engines)}"
        )
        await until_interrupted()
