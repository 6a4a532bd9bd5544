"""``tilewire play``: who plays whom."""

from __future__ import annotations

import getpass

import pytest

from harness.cli.play import NOBODY, _bots, _person


def test_the_bot_that_is_asked_for_is_among_the_others() -> None:
    specs, opponent = _bots("static?temperature=5")
    assert opponent == "static (temperature=5)"
    assert specs[opponent].options == (("temperature", "5"),)
    assert {"static", "champion"} < specs.keys()
    assert _bots("greedy")[1] == "greedy"
    assert _bots(None)[1] is None


def test_a_person_has_the_name_of_the_login_unless_a_bot_has_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    specs, _ = _bots(None)
    monkeypatch.setattr(getpass, "getuser", lambda: "ann")
    assert _person(None, specs) == "ann"
    assert _person("bob", specs) == "bob"
    monkeypatch.setattr(getpass, "getuser", lambda: "greedy")
    assert _person(None, specs) == NOBODY
