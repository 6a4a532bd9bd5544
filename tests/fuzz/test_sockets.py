"""Broken frames and requests over real sockets: nothing uncaught, and honest peers are answered."""

from __future__ import annotations

from pathlib import Path
from random import Random

from fuzz.sockets import Visitors, fuzz_bridge, fuzz_dialler, fuzz_server


async def test_a_server_survives_its_visitors(tmp_path: Path) -> None:
    visitors = Visitors(Random(1))
    await fuzz_server(tmp_path, visitors, 1_500)
    assert visitors.uncaught.seen == []
    assert visitors.sent["requests"] > 3


async def test_who_dials_survives_a_server(tmp_path: Path) -> None:
    visitors = Visitors(Random(2))
    await fuzz_dialler(visitors, 800)
    assert visitors.uncaught.seen == []


async def test_a_bridge_survives_pages(tmp_path: Path) -> None:
    visitors = Visitors(Random(3))
    await fuzz_bridge(tmp_path, visitors, 150)
    assert visitors.uncaught.seen == []
