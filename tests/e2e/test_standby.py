"""Three hosts on one PostgreSQL, behind HAProxy: whatever befalls who serves, another goes on."""

from __future__ import annotations

from pathlib import Path

import haproxy
import pytest
from e2e.crashes import Ordeal
from e2e.hosts import ENDS
from e2e.kills import shown
from postgres import Cluster


@pytest.mark.skipif(haproxy.program() is None, reason=haproxy.MISSING)
async def test_games_outlive_their_hosts(tmp_path: Path, cluster: Cluster) -> None:
    ordeal = Ordeal(tmp_path, database=cluster.database())
    await ordeal.run(len(ENDS))
    print(shown(ordeal))
    assert not ordeal.problems, "\n".join(ordeal.problems)
    assert ordeal.kills == len(ENDS)
