"""Budgets, and who is read first."""

from __future__ import annotations

import asyncio

from protocol.intake import TURN_WORK, Bucket, Intake, OpenVisit, Rates


def test_a_bucket_empties_again_and_holds_no_more_than_its_burst() -> None:
    bucket = Bucket(burst=100, per_second=10)
    assert bucket.spend(100, now=1_000.0)
    assert not bucket.spend(1, now=1_000.0)
    assert bucket.spend(10, now=1_001.1)
    assert bucket.spend(100, now=2_000.0)
    assert not bucket.spend(1, now=2_000.0)


def test_who_goes_far_beyond_the_burst_recovers_all_the_same() -> None:
    bucket = Bucket(burst=100, per_second=10)
    for _ in range(1_000):
        bucket.spend(50, now=5.0)
    assert bucket.owed(now=5.0) == 200
    assert not bucket.has(1, now=14.9)
    assert bucket.has(1, now=15.1)


def test_a_frame_costs_as_many_bytes_as_the_rates_say() -> None:
    rates = Rates(frames_per_s=1_000, bytes_per_s=10_000, burst_s=2)
    small, large = OpenVisit("a", rates), OpenVisit("a", rates)
    assert all(small.spend(1, 6, now=0.0) for _ in range(1_249))  # 1.6 ms each
    assert not small.spend(2, 12, now=0.0)
    assert large.spend(1, 19_990, now=0.0)
    assert not large.spend(0, 10, now=0.0)


class Burst:
    """A connection with bytes to be read."""

    def __init__(self, name: str, slices: int, owes: float, log: list[str]) -> None:
        self.name, self.slices, self.owes, self.log = name, slices, owes, log

    def read_slice(self) -> tuple[int, bool]:
        self.slices -= 1
        self.owes += 1
        self.log.append(self.name)
        return 64, self.slices > 0

    def owed(self) -> float:
        return self.owes


async def test_a_turn_reads_few_frames_and_who_owes_least_first() -> None:
    log: list[str] = []
    intake = Intake()
    assert intake.left > 0
    intake.note(TURN_WORK)
    assert intake.left <= 0
    for burst in (
        Burst("flooder", 9, 100.0, log),
        Burst("player", 2, 0.0, log),
        Burst("guest", 2, 0.5, log),
    ):
        intake.add(burst)
    await asyncio.sleep(0)
    assert log == ["player", "guest", "player"]
    assert intake.left <= 0
    await asyncio.sleep(0)
    assert log[3:] == ["guest", "flooder", "flooder"]
    for _ in range(9):
        await asyncio.sleep(0)
    assert log.count("flooder") == 9
    assert intake.left > 0
