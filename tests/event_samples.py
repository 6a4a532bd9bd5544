"""Folders of tournaments as they are after their end, made without playing for hours."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import asdict
from itertools import combinations
from pathlib import Path

from match_samples import match_config
from positions import legal_moves_of
from tables import NONCES, words

from engine.notation.move_text import format_move
from harness.arbiter.journal import Journal
from harness.arbiter.records import Began, Draws, Record, new_game
from harness.arbiter.scorebook import Scorebook
from harness.matches.config import TournamentConfig, write_config
from harness.matches.folder import MatchFolder
from harness.matches.results import PlannedGame, game_record, game_result
from protocol.parts import Accusation, TimeControl

HOSTILE = "</script><script>alert(1)</script>"
TRANSCRIPT = f"{HOSTILE}, crash: it died\n<img src=https://example.org/x>\n```\n\x1b[2J& so on\n"
FIELD = ("static", "greedy", HOSTILE, '=1+1|"*b*"')


def write_event(
    folder: Path, names: Sequence[str] = FIELD, games: int = 2, openings: tuple[str, ...] = ()
) -> TournamentConfig:
    """Make a round robin; in game 1 the second player has crashed, which cost it no game.

    With openings, all games begin in the first.
    """
    config = match_config(
        seats=("static",) * len(names),
        names=tuple(names),
        games=games,
        openings=openings,
        time=TimeControl(initial_ms=60_000),
    )
    folder.mkdir(parents=True, exist_ok=True)
    write_config(config, folder)
    asyncio.run(_play(config, folder))
    return config


async def _play(config: TournamentConfig, folder: Path) -> None:
    (folder / "games").mkdir()
    pairings = list(combinations(range(len(config.names)), 2))
    journal = Journal(folder / "match.db")
    with MatchFolder(folder) as files:
        for at, players in enumerate(pairings * config.games):
            cycle, place = divmod(at, len(pairings))
            pair = cycle // 2 * len(pairings) + place + 1
            planned = PlannedGame(at + 1, pair, cycle % 2, players)
            book, records = _played(config, planned)
            await journal.create(book.opened, asdict(planned), records[1:])
            files.append(game_result(book, planned))
            path = folder / "games" / f"{at + 1:05d}.gcg"
            path.write_text(game_record(book, f"Game {at + 1}"), encoding="utf-8")
    journal.close()
    (folder / "games" / "00001.faults.txt").write_text(TRANSCRIPT, encoding="utf-8")


def _played(config: TournamentConfig, planned: PlannedGame) -> tuple[Scorebook, list[Record]]:
    """Play a game of good placements, of which each takes some milliseconds more."""
    names = config.names[planned.entrant(0)], config.names[planned.entrant(1)]
    draws = Draws.seeded(config.seed or 0, planned.pair)
    opening = config.openings[0] if config.openings else None
    opened = new_game(names, words(), config.time, draws, opening=opening)
    book = Scorebook(opened, words())
    records: list[Record] = [book.opened, Began(nonces=NONCES)]
    book.take(records[1])
    chance, now = random.Random(planned.number), 0
    while (game := book.game) is not None and game.over is None:
        book.start_clock(now)
        now += 100 + len(book.turns)
        places, exchanges = legal_moves_of(game.position, words(), game.rules).by_kind()
        moves = places[:4] or exchanges[:4]
        move = format_move(chance.choice(moves), words().distribution.alphabet) if moves else "-"
        records.append(book.play(move, now))
    crash = Accusation(seat=1, code="crash", message="the process died")
    faults = [crash] if planned.number == 1 else []
    assert game is not None
    assert game.over is not None
    records.append(book.end(game.over.reason, None, "", now, faults))
    return book, records
