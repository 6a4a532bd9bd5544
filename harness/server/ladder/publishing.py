"""What a ladder tells over HTTP: lists, players, and rated games as JSON.

The addresses and keys are described in ``docs/api.md``; they stay, others may be added.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from harness.arbiter.clock import DAY_S
from harness.arbiter.database import Address
from harness.arbiter.journal_reading import EndedGame, read_ends
from harness.figures import moment
from harness.server.answers import as_json, wrong
from protocol.websocket import HttpAnswer

from .history import PlayerRecord
from .ladder import Ladder, rated_game
from .table import RatedTable, Rating

PROVISIONAL = 100.0
"""A rating with a larger error is provisional: about fifty games settle it."""

GAMES_AT_ONCE = 100
"""Games in an answer; its ``before`` leads to the earlier ones."""

_Query = Mapping[str, str]

Job: TypeAlias = Callable[[Address], HttpAnswer]
"""Makes an answer in a thread, perhaps by reading the journal; JournalError if it can't."""


class Publisher:
    """Answers requests to ``/api/ladder``; ``lexicon`` returns the lexicon of a server's table."""

    def __init__(self, ladder: Ladder, lexicon: Callable[[str], str]) -> None:
        self._ladder, self._lexicon = ladder, lexicon

    def answer(self, path: Sequence[str], query: _Query) -> HttpAnswer | Job:
        """Answer a request by what follows ``/api/ladder`` in its address.

        An answer that takes milliseconds is made in a thread, by the job that is returned: games
        that are on, and ends of games, don't wait for it.
        """
        try:
            match path:
                case []:
                    everybody = query.get("all") == "1"
                    return partial(self._list, self._table(query), everybody)
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

    def _list(self, table: RatedTable, everybody: bool, _journal: Address) -> HttpAnswer:
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
        return as_json(
            {
                "table": table.name,
                "tables": list(self._ladder.tables),
                "time": table.time,
                "lexicon": self._lexicon(self._ladder.kind(table.name)),
                "games": table.history.games,
                "rated_games": latest.games if latest else 0,
                "rated_at": moment(latest.at) if latest else None,
                "first_move": round(latest.listed.first_move, 1) if latest else None,
                "first_move_error": round(latest.listed.first_move_error, 1) if latest else None,
                "bots": bots,
                "persons": [row for row in shown if row["kind"] == "person"],
            }
        )

    def _row(self, table: RatedTable, player: int) -> dict[str, Any]:
        record, rating = table.history.records[player], table.rating(player)
        opponents, largest = table.met(player)
        kind = "person" if record.name in self._ladder.settings.persons else "bot"
        if record.name in table.anchors:
            kind = "anchor"
        return {
            "rank": None,
            "name": record.name,
            "kind": kind,
            **_rating_json(rating),
            "provisional": kind != "anchor" and rating.error > PROVISIONAL,
            "active": self._is_active(table, record),
            "games": record.games,
            "points": record.points,
            "met": opponents,
            "largest_share": round(largest, 3),
            "last": moment(record.last) if record.last else None,
            "state": self._ladder.state(table, player),
        }

    def _is_active(self, table: RatedTable, record: PlayerRecord) -> bool:
        fades = record.last + self._ladder.settings.fade_days * DAY_S
        return record.name in table.anchors or self._ladder.now() < fades

    # --- a player, games ------------------------------------------------------------------------

    def _player(self, table: RatedTable, name: str) -> HttpAnswer | Job:
        history = table.history
        player = history.find(name)
        if player is None:
            return wrong(404, f"nobody called {name[:64]!r} has come to the table {table.name}")
        record = history.records[player]
        shown = self._row(table, player)
        del shown["rank"]
        # Counters may change while a thread reads them.
        shown |= {
            "moved_first": (record.games + record.lead) // 2,
            "forfeits": dict(record.forfeits.most_common()),
            "faults": dict(record.faults.most_common()),
        }

        def count_results(_journal: Address) -> HttpAnswer:
            opponents = history.opponents(player)
            return as_json(
                {
                    "table": table.name,
                    **shown,
                    "wins": sum(row.wins for row in opponents),
                    "losses": sum(row.losses for row in opponents),
                    "ties": sum(row.ties for row in opponents),
                    "over_time": [
                        {"day": day.isoformat(), **_rating_json(rating)}
                        for day, rating in table.over_time(player)
                    ],
                    "opponents": opponents,
                }
            )

        return count_results

    def _games(self, table: RatedTable, query: _Query) -> HttpAnswer | Job:
        before, player = table.history.games, None
        if (number := query.get("before")) is not None:
            if not (number.isascii() and number.isdecimal() and len(number) < 10):
                raise ValueError(f"before must be the number of a game (got {number[:40]!r})")
            before = int(number)
        if "player" in query:
            player = table.history.find(query["player"])
            if player is None:
                return wrong(404, f"nobody called {query['player'][:64]!r} has come")

        def read(journal: Address) -> HttpAnswer:
            # For a player with few games, a search through all.
            games = table.history.latest(before, GAMES_AT_ONCE, player)
            more = len(games) == GAMES_AT_ONCE and games[-1].number > 0
            ends = read_ends(journal, [each.game for each in games])
            published = [
                _game_json(each.number, ends[each.game]) for each in games if each.game in ends
            ]
            following = games[-1].number if more else None
            return as_json({"table": table.name, "games": published, "before": following})

        return read


def _game_json(number: int, stored: EndedGame) -> dict[str, Any]:
    """Return a game of the journal, with its number at its table, as answers have it."""
    game = rated_game(stored.game, stored.label, stored.at, stored.ended)
    return {
        "number": number,
        "game": game.game,
        "ended": moment(game.at),
        "players": game.players,
        "scores": game.ended.scores,
        "points": game.points,
        "outcome": game.ended.outcome,
        "turns": max(0, game.ended.seq - 1),
    }


def _rating_json(rating: Rating) -> dict[str, float]:
    return {"rating": round(rating.rating, 1), "error": round(rating.error, 1)}
