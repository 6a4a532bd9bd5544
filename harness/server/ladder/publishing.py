"""What a ladder tells over HTTP: lists, players, and rated games as JSON.

The addresses and keys are described in ``docs/ladder.md``; they stay, others may be added.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import msgspec

from harness.arbiter.clock import DAY_S
from harness.arbiter.database import Address
from harness.arbiter.journal_reading import EndedGame, read_ends
from harness.figures import moment
from harness.server.answers import FRESH_S, as_json, wrong
from protocol.websocket import HttpAnswer

from .history import Numbered, PlayerRecord
from .ladder import Ladder, rated_game
from .table import RatedTable, Rating

GAMES_AT_ONCE = 100
"""Games in an answer; its ``before`` leads to the earlier ones."""

_Query = Mapping[str, str]

FromJournal: TypeAlias = Callable[[Address], HttpAnswer]
"""Makes an answer of what it reads in the journal, in a thread; JournalError if it can't."""


class Publisher:
    """Answers requests to ``/api/ladder``; ``lexicon`` returns the lexicon of a server's table."""

    def __init__(
        self,
        ladder: Ladder,
        lexicon: Callable[[str], str],
    ) -> None:
        self._ladder, self._lexicon = ladder, lexicon
        self._lists: dict[tuple[str, bool], tuple[float, HttpAnswer]] = {}

    def answer(self, path: Sequence[str], query: _Query) -> HttpAnswer | FromJournal:
        """Answer a request by what follows ``/api/ladder`` in its address."""
        try:
            match path:
                case []:
                    return self._list(self._table(query), everybody=query.get("all") == "1")
                case ["games"]:
                    return self._games(self._table(query), query)
                case ["players", name]:
                    return self._player(self._table(query), name)
        except ValueError as error:
            return wrong(400, str(error))
        return wrong(404, "there are /api/ladder, /api/ladder/games and /api/ladder/players/NAME")

    def _table(self, query: _Query) -> RatedTable:
        tables = self._ladder.tables
        name = query.get("table", next(iter(tables)))
        if name not in tables:
            raise ValueError(f"there is no table {name[:40]!r}; there are {', '.join(tables)}")
        return tables[name]

    # --- a list ---------------------------------------------------------------------------------

    def _list(self, table: RatedTable, *, everybody: bool) -> HttpAnswer:
        now = time.monotonic()
        at, answer = self._lists.get((table.name, everybody), (-FRESH_S, None))
        if answer is None or now - at >= FRESH_S:
            answer = as_json(self._listed(table, everybody=everybody))
            self._lists[table.name, everybody] = now, answer
        return answer

    def _listed(self, table: RatedTable, *, everybody: bool) -> dict[str, Any]:
        latest = table.latest
        shown = [
            self._row(table, player)
            for player, record in enumerate(table.history.records)
            if record.games or record.name in table.anchors
            if everybody or self._is_active(table, record)
        ]
        shown.sort(key=lambda row: -row["rating"])
        bots = [row for row in shown if row["kind"] != "person"]
        ranked = (row for row in bots if row["active"] and not row["provisional"])
        for rank, row in enumerate(ranked, start=1):
            row["rank"] = rank
        return {
            "table": table.name,
            "tables": list(self._ladder.tables),
            "time": msgspec.to_builtins(table.time),
            "lexicon": self._lexicon(self._ladder.kind(table.name)),
            "games": table.history.games,
            "rated_games": 0 if latest is None else latest.games,
            "rated_at": None if latest is None else moment(latest.at),
            "first_move": None if latest is None else round(latest.listed.first_move, 1),
            "first_move_error": (
                None if latest is None else round(latest.listed.first_move_error, 1)
            ),
            "bots": bots,
            "persons": [row for row in shown if row["kind"] == "person"],
        }

    def _row(self, table: RatedTable, player: int) -> dict[str, Any]:
        record, rating = table.history.records[player], table.rating(player)
        kind = self._kind(table, record.name)
        return {
            "rank": None,
            "name": record.name,
            "kind": kind,
            **_rating(rating),
            "provisional": kind != "anchor" and rating.is_provisional,
            "active": self._is_active(table, record),
            "games": record.games,
            "points": record.points,
            "last": moment(record.last) if record.last else None,
            "state": table.state(player),
        }

    def _is_active(self, table: RatedTable, record: PlayerRecord) -> bool:
        fades = record.last + self._ladder.settings.fade_days * DAY_S
        return record.name in table.anchors or self._ladder.now() < fades

    def _kind(self, table: RatedTable, name: str) -> str:
        if name in table.anchors:
            return "anchor"
        return "person" if name in self._ladder.settings.persons else "bot"

    # --- a player, games ------------------------------------------------------------------------

    def _player(self, table: RatedTable, name: str) -> HttpAnswer:
        history = table.history
        player = history.find(name)
        if player is None:
            return wrong(404, f"nobody called {name[:64]!r} has come to the table {table.name}")
        record = history.records[player]
        opponents = history.opponents(player)
        shown = self._row(table, player)
        del shown["rank"]
        return as_json(
            {
                "table": table.name,
                **shown,
                "wins": sum(row.wins for row in opponents),
                "losses": sum(row.losses for row in opponents),
                "ties": sum(row.ties for row in opponents),
                "moved_first": (record.games + record.lead) // 2,
                "over_time": [
                    {"day": day.isoformat(), **_rating(rating)}
                    for day, rating in table.over_time(player)
                ],
                "opponents": [
                    {
                        "name": history.records[row.player].name,
                        "games": row.games,
                        "wins": row.wins,
                        "losses": row.losses,
                        "ties": row.ties,
                        "spread": row.spread,
                    }
                    for row in opponents
                ],
                "forfeits": dict(record.forfeits.most_common()),
                "faults": dict(record.faults.most_common()),
            }
        )

    def _games(self, table: RatedTable, query: _Query) -> HttpAnswer | FromJournal:
        before, player = table.history.games, None
        if (number := query.get("before")) is not None:
            if not (number.isascii() and number.isdecimal() and len(number) < 10):
                raise ValueError(f"before must be the number of a game (got {number[:40]!r})")
            before = int(number)
        if "player" in query:
            player = table.history.find(query["player"])
            if player is None:
                return wrong(404, f"nobody called {query['player'][:64]!r} has come")
        latest = partial(table.history.latest, before, GAMES_AT_ONCE, player)
        return partial(_told_games, table.name, latest)


def _told_games(
    table: str, latest: Callable[[], Sequence[Numbered]], journal: Address
) -> HttpAnswer:
    games = latest()  # for a player with few games, a search through all
    more = len(games) == GAMES_AT_ONCE and games[-1].number > 0
    ends = read_ends(journal, [each.game for each in games])
    told = [_game(each.number, ends[each.game]) for each in games if each.game in ends]
    following = games[-1].number if more else None
    return as_json({"table": table, "games": told, "before": following})


def _game(number: int, kept: EndedGame) -> dict[str, Any]:
    game = rated_game(kept.game, kept.label, kept.at, kept.ended)
    return {
        "number": number,
        "game": game.game,
        "ended": moment(game.at),
        "players": game.players,
        "scores": game.ended.scores,
        "points": game.points,
        "outcome": game.ended.outcome,
        "turns": game.turns,
    }


def _rating(rating: Rating) -> dict[str, float]:
    return {"rating": round(rating.rating, 1), "error": round(rating.error, 1)}
