"""SIGHUP: what is read again takes effect, and what is wrong is told and changes nothing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tables import tables

from harness.arbiter.journal import Journal
from harness.cli.access_files import AccessFiles, rereading
from harness.cli.failing import CommandFailed
from harness.server.admission import Admission
from harness.server.certificate import Certificate
from harness.server.ladder.settings import LadderSettings
from harness.server.server import MatchServer
from harness.server.tokens import Gatekeeper, KnownTokens, hash_token
from protocol.parts import TimeControl

TLS = Path(__file__).parents[2] / "fixtures" / "tls"


class Running:
    """A server that nobody can reach, and what its files say."""

    def __init__(self, folder: Path, journal: Journal) -> None:
        self.tokens = folder / "tokens"
        self.tokens.write_text(f"ann {hash_token('a')}\n")
        self.cert = folder / "cert.pem"
        shutil.copy(TLS / "localhost.pem", self.cert)
        self.said: dict[str, Any] = {
            "max_games": 2,
            "time": TimeControl(),
            "admission": Admission(),
            "bots": {"quick": "static"},
            "port": 1,
        }
        self.wrong = ""
        self.told: list[str] = []
        known = KnownTokens(self.tokens, self.told.append)
        self.keeper = Gatekeeper(journal, known)
        self.server = MatchServer(tables(), journal, self.keeper)
        certificate = Certificate(self.cert, TLS / "localhost.key")
        access = AccessFiles(known, None, certificate)
        self.hang_up = rereading(self.server, access, self.said.copy(), self.read, self.told.append)

    def read(self) -> dict[str, Any]:
        if self.wrong:
            raise CommandFailed(self.wrong)
        return self.said.copy()


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    journal = Journal(tmp_path / "games.db")
    yield Running(tmp_path, journal)
    journal.close()


async def test_what_has_changed_takes_effect_or_is_said_to_need_a_restart(running: Running) -> None:
    running.hang_up()
    assert len(running.told) == 3
    running.told.clear()
    running.tokens.write_text(f"ann {hash_token('a')}\nbob {hash_token('b')}\n")
    shutil.copy(TLS / "expired.pem", running.cert)
    fast = TimeControl(initial_ms=1_000)
    strict = Admission(kept=7, spectators=5)
    running.said |= {"max_games": 7, "time": fast, "admission": strict, "port": 2, "seed": 5}
    running.said |= {"bots": {"quick": "greedy", "new": "greedy"}, "ladder": LadderSettings()}
    running.hang_up()
    assert running.keeper.check("bob", "b")
    assert (running.server._lobby.max_games, running.server._lobby.time) == (7, fast)
    assert running.server._admissions.config == strict
    tokens, certificate, now, later = running.told
    assert "bob" in tokens
    assert str(running.cert) in certificate
    assert "admission.kept, admission.spectators, max_games, time.initial_ms" in now
    ladder = "ladder.anchors, ladder.fade_days, ladder.persons, ladder.same_owner, ladder.tables"
    assert f"bots.new, bots.quick, {ladder}, port, seed" in later
    del running.said["seed"], running.said["ladder"]
    running.said["bots"] = {}
    running.told.clear()
    running.hang_up()
    assert "bots.quick, port" in running.told[-1]


async def test_what_is_wrong_changes_nothing(running: Running) -> None:
    running.tokens.write_text("ann\n")
    running.cert.write_text("")
    running.wrong = "serve.toml is not TOML"
    running.hang_up()
    assert running.keeper.check("ann", "a")
    assert running.server._lobby.max_games == 2
    tokens, certificate, settings = running.told
    assert str(running.tokens) in tokens
    assert str(running.cert) in certificate
    assert running.wrong in settings


async def test_more_games_than_the_system_has_files_for_or_no_tokens_are_no_change(
    running: Running,
) -> None:
    running.said["max_games"] = 1_000_000_000
    running.tokens.unlink()
    running.tokens.mkdir()  # a folder can't be read, not even by root
    running.hang_up()
    assert running.server._lobby.max_games == 2
    assert running.keeper.check("ann", "a")
    assert str(running.tokens) in running.told[0]
    assert "open files" in running.told[-1]
