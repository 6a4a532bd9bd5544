"""Broken frames and requests over real sockets: nothing uncaught, and honest peers are answered."""

from __future__ import annotations

from pathlib import Path
from random import Random

from fuzz.sockets import ODD_PATHS, Visitors, fuzz_bridge, fuzz_dialler, fuzz_server, open_server


async def test_a_server_survives_its_visitors(tmp_path: Path) -> None:
    visitors = Visitors(Random(1))
    await fuzz_server(tmp_path, visitors, 1_500)
    assert visitors.uncaught.seen == []
    assert visitors.sent["requests"] > 3


async def test_odd_requests_are_answered_and_what_comes_behind_is_left(tmp_path: Path) -> None:
    visitors = Visitors(Random(4))
    request = b"GET %b HTTP/1.1\r\nHost: x\r\n\r\n"
    with visitors.uncaught.watching():
        async with open_server(tmp_path) as server:
            for path in ODD_PATHS:
                answer = await visitors.ask(server.port, request % path)
                assert not answer or answer.startswith((b"HTTP/1.1 2", b"HTTP/1.1 4")), path
            for path in (b"/healthz", b"/api/games", b"/"):
                for behind in (b"no frame", b"\xff" * 20):
                    await visitors.ask(server.port, request % path + behind)
    assert visitors.uncaught.seen == []


async def test_who_dials_survives_a_server(tmp_path: Path) -> None:
    visitors = Visitors(Random(2))
    await fuzz_dialler(visitors, 800)
    assert visitors.uncaught.seen == []


async def test_a_bridge_survives_pages(tmp_path: Path) -> None:
    visitors = Visitors(Random(3))
    await fuzz_bridge(tmp_path, visitors, 150)
    assert visitors.uncaught.seen == []
