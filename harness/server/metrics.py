"""What ``/metrics`` says, in the format of Prometheus: counts of what happens, and no names."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    Metric,
    SummaryMetricFamily,
)
from prometheus_client.registry import Collector

from harness.arbiter.records import Ended
from harness.arbiter.scorebook import Scorebook
from protocol.websocket import HttpAnswer

from .admission import Admissions
from .lobby import Lobby

_LATE_S = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)


class Metrics(Collector):
    """The metrics of one server: its counters, and values that its parts have when asked."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._games = Counter(
            "tilewire_games", "Games that ended, by outcome.", ["outcome"], registry=self._registry
        )
        self._turns = Counter(
            "tilewire_turns", "Turns taken in games that ended.", registry=self._registry
        )
        self._turned_away = Counter(
            "tilewire_turned_away",
            "Connections that were refused after their handshake, by code.",
            ["code"],
            registry=self._registry,
        )
        self._late = Histogram(
            "tilewire_loop_late_seconds",
            "How late the event loop was, every 20 ms; players are not charged for it.",
            buckets=_LATE_S,
            registry=self._registry,
        )
        ProcessCollector(registry=self._registry)

    def watch(self, lobby: Lobby, admissions: Admissions) -> None:
        """Read the values of these parts for each answer."""
        self._lobby, self._admissions = lobby, admissions
        self._registry.register(self)

    def game_ended(self, book: Scorebook, ended: Ended) -> None:
        """Count a game."""
        self._games.labels(ended.outcome).inc()
        self._turns.inc(len(book.turns))

    def turned_away(self, code: str) -> None:
        """Count a connection that was refused."""
        self._turned_away.labels(code).inc()

    def loop_late(self, ms: int) -> None:
        """Note how late the event loop was."""
        self._late.observe(ms / 1_000)

    def answer(self) -> HttpAnswer:
        """Return all metrics."""
        return HttpAnswer(200, generate_latest(self._registry).decode(), CONTENT_TYPE_LATEST)

    def collect(self) -> Iterator[Metric]:
        """Yield values that the parts of a server have anyway, as they are now."""
        lobby, journal = self._lobby, self._lobby.journal
        hosting = lobby.hosting
        players = list(lobby.present())
        for name, value, meaning in (
            ("connections", self._admissions.connections, "Connections, of all roles."),
            (
                "players",
                sum(bool(player.address) for player in players),
                "Players who are connected.",
            ),
            (
                "seeking",
                sum(player.seeking for player in players),
                "Players who wait for an opponent.",
            ),
            ("games_on", len(hosting.games), "Games that are on."),
            ("games_set_aside", hosting.set_aside, "Games that could not go on at the start."),
            ("lent_bots", lobby.lent, "Bots that play elsewhere."),
            ("max_games", lobby.max_games, "Most games and lent bots at once."),
            ("paused", lobby.paused is not None, "1 while an admin lets no game begin."),
            (
                "journal_failing",
                journal.trouble() is not None,
                "1 while the journal can't be written.",
            ),
            ("journal_bytes", journal.size(), "Size of the journal and its write-ahead log."),
        ):
            yield GaugeMetricFamily(f"tilewire_{name}", meaning, value)
        refused = CounterMetricFamily(
            "tilewire_refused",
            "Connections that were refused before their handshake, by the limit that they met.",
            labels=["limit"],
        )
        for limit, times in self._admissions.refused.items():
            refused.add_metric([limit], times)
        yield refused
        yield SummaryMetricFamily(
            "tilewire_journal_commit_seconds",
            "Commits of the journal, and the time that they took.",
            count_value=journal.commits,
            sum_value=journal.commit_s,
        )
