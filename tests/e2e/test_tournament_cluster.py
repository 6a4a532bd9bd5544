"""A match on a cluster whose worker and scheduler are killed is that of one machine."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from dask_cluster import Cluster
from e2e.processes import COMMAND, PATIENCE_S, run_command
from e2e.test_matches import check_games, games_of
from interrupts import wait_for_lines
from match_samples import match_config

from bot.seat.runtime import software
from harness.arbiter.journal import Journal
from harness.matches.cluster import play_pair
from harness.matches.config import MatchError

GAMES = 12
MATCH = ("static", "greedy", "--time", "1m", "--seed", "11", "--games", str(GAMES))


@pytest.fixture
def clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Cluster]]:
    there: list[Cluster] = []
    yield there
    for cluster in there:
        cluster.close()


def test_a_match_on_a_cluster_is_that_of_one_machine(
    clusters: list[Cluster], tmp_path: Path
) -> None:
    run_command("match", *MATCH, "--transport", "pipe", "--out", tmp_path / "here")
    folder, results = tmp_path / "there", tmp_path / "there" / "results.jsonl"
    clusters.append(Cluster(tmp_path / "first"))
    workers = [clusters[0].add_worker(), clusters[0].add_worker()]
    command = [*COMMAND, "match", *MATCH, "--cluster", clusters[0].address, "--out", str(folder)]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as host:
        wait_for_lines(results, 2, host)
        workers[0].kill()
        wait_for_lines(results, 6, host)
        clusters[0].scheduler.kill()
        _, told = host.communicate(timeout=PATIENCE_S)
    assert host.returncode == 1, told
    assert b"the Dask scheduler at" in told
    assert b"Traceback" not in told
    clusters.append(Cluster(tmp_path / "second"))
    clusters[1].add_worker()
    run_command("match", "--resume", folder, "--cluster", clusters[1].address)
    check_games(folder, GAMES)
    assert games_of(folder) == games_of(tmp_path / "here")
    journal = Journal(folder / "match.db")
    numbers = sorted(kept.label["number"] for kept in journal.finished())
    assert not journal.unfinished()
    journal.close()
    assert numbers == list(range(1, GAMES + 1)), "no game was played twice"


def test_workers_of_another_version_or_with_other_words_are_told_from_ours() -> None:
    config = match_config()
    with pytest.raises(MatchError, match=r"has tilewire .*, and this is 0"):
        play_pair(config, "0", [])
    with pytest.raises(MatchError, match="scowl has other words on a worker"):
        play_pair(config, software(), [])
