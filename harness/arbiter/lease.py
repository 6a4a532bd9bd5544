"""Who may write a journal that several hosts can reach: the rules of its lease, without I/O.

The database has one lease. It has a *number*, the fencing token, which grows with each host that
takes it; the number of the last *commit*; and a time, by the database's own clock, until which
nobody else takes it. Each transaction of a host says the number of its lease and a number of its
own, and the database makes it only if

- the lease still has that number, so nothing of a host comes after another took the lease; and
- the commit is higher than the last, so a transaction that was sent twice, or that arrives late
  from a connection long given up, is made once.

The same transaction prolongs the lease, so a host that commits holds it. When a connection is lost
the same commit is sent by another: if the database says that it has that one already, it was made.

A host reads only its own clock, and counts from before it asked. So for the host its lease ends
earlier than for the database. Then it stops, and acknowledges nothing more.
"""

from __future__ import annotations

from dataclasses import dataclass

from .database import JournalError

LEASE_S = 2.5
"""Time after a commit of its host in which nobody else takes a journal."""
BEAT_S = 0.6
"""Time after which a host that has nothing to write makes an empty commit."""


class LeaseLost(JournalError):
    """Another host has the journal, or may have it: whatever was being done is not acknowledged."""


@dataclass(slots=True)
class Tenure:
    """What a host knows of the lease that it took; times are of its own monotonic clock."""

    number: int
    commit: int
    """The last commit asked for; its number is never used again for other work."""
    held_until: float

    @classmethod
    def taken(cls, number: int, commit: int, asked: float) -> Tenure:
        """Return the tenure of a host that got the lease it asked for at the time ``asked``."""
        return cls(number, commit, asked + LEASE_S)

    def next_commit(self) -> int:
        """Return the number of a commit for new work."""
        self.commit += 1
        return self.commit

    def made(self, asked: float) -> None:
        """Note that the commit asked for at the time ``asked`` was made."""
        self.held_until = max(self.held_until, asked + LEASE_S)

    def is_over(self, now: float) -> bool:
        """Return whether another host may have the lease by now."""
        return now >= self.held_until
