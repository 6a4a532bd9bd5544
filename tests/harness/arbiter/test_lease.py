"""The rules of the lease on random histories in virtual time: crashes, pauses, lost and late words.

``Database`` is a plain twin of the function ``hold`` and of the statement that takes the lease. The
hosts keep their ``Tenure`` as ``PostgresStore`` does; all else is a heap of events.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count

import pytest
from thorough import some

from harness.arbiter.lease import BEAT_S, LEASE_S, Tenure

HISTORIES = some(1_000, 10_000)
FAULTS_S = 9.0
"""After this all goes well, until the end."""
END_S = 22.0
POLL_S = 0.5
GAMES = "ab"


@dataclass
class Database:
    """What is durable: a lease and records."""

    number: int = 0
    until: float = 0.0
    commit: int = 0
    records: list[tuple[str, int, str]] = field(default_factory=list)
    """Game, number in it, content."""
    lengths: dict[str, int] = field(default_factory=dict)
    writers: list[int] = field(default_factory=list)
    """Of each record, the number of the lease under which it was written."""
    fences: bool = True
    counts: bool = True

    def take(self, now: float) -> tuple[int, int] | None:
        if self.until > now:
            return None
        self.number += 1
        self.until = now + LEASE_S
        return self.number, self.commit

    def hold(self, now: float, mine: int, this: int, work: list[tuple[str, str]]) -> str:
        """Do a transaction; return what became of it."""
        if self.fences and mine != self.number:
            return "passed"
        if self.counts and this <= self.commit:
            return "made"
        for game, content in work:
            number = self.lengths[game] = self.lengths.get(game, -1) + 1
            self.records.append((game, number, content))
            self.writers.append(mine)
        self.until, self.commit = now + LEASE_S, max(self.commit, this)
        return "ok"


class Host:
    """A host that waits for the lease, then writes as fast as it is answered."""

    def __init__(self, history: History, name: str) -> None:
        self._history, self.name = history, name
        self._offset = history.chance.uniform(-600, 600)
        """Of its clock: it has nothing to do with any other."""
        self.tenure: Tenure | None = None
        self.life = 0
        """Grows with each start of its process."""
        self.paused_until = 0.0

    def now(self) -> float:
        return self._history.now + self._offset

    def believes(self) -> bool:
        """Whether it takes itself for the owner."""
        tenure = self.tenure
        return tenure is not None and not tenure.is_over(self._history.now + self._offset)

    def start(self) -> None:
        self.life += 1
        self.tenure = None
        self._ask_for_lease()

    def crash(self) -> None:
        self.life += 1
        self.tenure = None

    def _later(self, wait_s: float, do: Callable[[], None]) -> None:
        """Do something later, unless the process has ended; a process that is stopped waits."""
        life = self.life

        def when() -> None:
            if self.life != life:
                return
            if (left := self.paused_until - self._history.now) > 0:
                self._history.after(left, when)
            else:
                do()

        self._history.after(wait_s, when)

    def _ask_for_lease(self) -> None:
        asked, history = self.now(), self._history

        def at_database() -> None:
            answer = history.database.take(history.now)
            back = history.travels()
            if back is not None:
                self._later(back, lambda: self._answered(answer, asked))

        there = history.travels()
        if there is not None:
            history.after(there, at_database)
        self._later(POLL_S, self._ask_again)

    def _ask_again(self) -> None:
        if self.tenure is None:
            self._ask_for_lease()

    def _answered(self, taken: tuple[int, int] | None, asked: float) -> None:
        if taken is None or self.tenure is not None:
            return
        self.tenure = Tenure.taken(*taken, asked)
        self._history.check_owner()
        found = {content for _, _, content in self._history.database.records}
        assert self._history.acknowledged <= found, "what was acknowledged is found at the start"
        self._commit()

    def _commit(self) -> None:
        """Begin new work."""
        assert self.tenure is not None
        number = self.tenure.next_commit()
        least = int(self._history.now > FAULTS_S)
        games = self._history.chance.choices(GAMES, k=self._history.chance.randint(least, 2))
        work = [(game, f"{self.name}{next(self._history.contents)}") for game in games]
        self._send(self.tenure, number, work, self.now())

    def _send(self, tenure: Tenure, number: int, work: list[tuple[str, str]], first: float) -> None:
        asked, history, is_answered = self.now(), self._history, [False]

        def at_database() -> None:
            answer = history.database.hold(history.now, tenure.number, number, work)
            back = history.travels()
            if back is not None:
                self._later(back, lambda: answered(answer))

        def answered(answer: str) -> None:
            if is_answered[0] or self.tenure is not tenure:
                return
            is_answered[0] = True
            if answer == "passed":
                self.start()
                return
            tenure.made(first if answer == "made" else asked)
            history.check_owner()
            if tenure.is_over(self.now()):
                self.start()
                return
            for _, content in work:
                history.acknowledge(content)
            wait_s = BEAT_S if history.now > FAULTS_S else history.chance.choice((0.1, BEAT_S))
            self._later(wait_s, self._commit)

        def stuck() -> None:  # and the bytes may still arrive
            if is_answered[0] or self.tenure is not tenure:
                return
            is_answered[0] = True
            if tenure.is_over(self.now()):
                self.start()
            else:
                self._send(tenure, number, work, first)

        there = history.travels()
        if there is not None:
            history.after(there, at_database)
        self._later(history.chance.choice((0.3, 1.0, LEASE_S)), stuck)


class History:
    """Three hosts and what happens to them, by a seed."""

    def __init__(self, seed: int, database: Database) -> None:
        self.chance = random.Random(seed)
        self.database = database
        self.now = 0.0
        self.acknowledged: set[str] = set()
        self.last_s = 0.0
        """When something was acknowledged last."""
        self.contents = count()
        self._order = count()
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self.hosts = [Host(self, name) for name in "xyz"]

    def after(self, wait_s: float, do: Callable[[], None]) -> None:
        heappush(self._events, (self.now + wait_s, next(self._order), do))

    def travels(self) -> float | None:
        """Return how long a word is on its way; None: it never arrives."""
        if self.now > FAULTS_S:
            return 0.01
        kind = self.chance.random()
        if kind < 0.08:
            return None
        return self.chance.uniform(0, 4) if kind < 0.16 else self.chance.uniform(0, 0.05)

    def acknowledge(self, content: str) -> None:
        self.acknowledged.add(content)
        self.last_s = self.now

    def _trouble(self) -> None:
        host = self.chance.choice(self.hosts)
        if self.chance.random() < 0.5:
            host.crash()
            self.after(self.chance.uniform(0, 3), host.start)
        else:
            host.paused_until = self.now + self.chance.uniform(0, 5)
        if self.now < FAULTS_S:
            self.after(self.chance.uniform(0, 5), self._trouble)

    def run(self) -> None:
        for host in self.hosts:
            host.start()
        self.after(self.chance.uniform(0, 5), self._trouble)
        while self._events:
            at, _, do = heappop(self._events)
            if at > END_S:
                break
            self.now = at
            do()

    def check_owner(self) -> None:
        """Check that there are no two owners, where one begins or goes on: else they only end."""
        assert sum(map(Host.believes, self.hosts)) <= 1, "two own the journal"

    def check(self) -> None:
        """Check what is left at the end."""
        contents = [content for _, _, content in self.database.records]
        assert len(contents) == len(set(contents)), "nothing is doubled"
        assert self.acknowledged <= set(contents), "nothing acknowledged is lost"
        assert self.database.writers == sorted(self.database.writers), (
            "no owner writes after the next"
        )
        for game in GAMES:
            numbers = [number for its, number, _ in self.database.records if its == game]
            assert numbers == list(range(len(numbers))), "events are gapless"
        assert self.last_s > END_S - 3, "games go on in the end"


def histories(seeds: range, broken: str = "") -> Iterator[History]:
    for seed in seeds:
        database = Database(fences=broken != "fences", counts=broken != "counts")
        history = History(seed, database)
        try:
            history.run()
            history.check()
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from None
        yield history


def test_histories_have_one_owner_and_no_gaps() -> None:
    acknowledged = takeovers = 0
    for history in histories(range(HISTORIES)):
        acknowledged += len(history.acknowledged)
        takeovers += history.database.number - 1
    assert acknowledged > 5 * HISTORIES
    assert takeovers > HISTORIES


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [("fences", "(no owner writes after the next|two own)"), ("counts", "nothing is doubled")],
)
def test_each_rule_is_needed(rule: str, sentence: str) -> None:
    with pytest.raises(AssertionError, match=rf"seed \d+: .*{sentence}"):
        for _ in histories(range(HISTORIES // 5), rule):
            pass
