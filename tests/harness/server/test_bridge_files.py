"""What the SIU bridge keeps and reads: codes, tokens, its configuration."""

from __future__ import annotations

import json
import re
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest
from command_line import CommandLine

from harness.server.bridge import TokenFile, read_config, tokens_of
from harness.server.bridge.pairing import CODE_S, MAX_CODES, Codes

ORIGIN = "https://woogles.io"
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
ORIGINS = f'origins = ["{ORIGIN}"]'
ENGINE = f"{ORIGINS}\n[[engine]]\nid = 'a'\ncommand = "


def test_codes_expire_and_are_few() -> None:
    codes = Codes()
    made = [codes.make(100.0) for _ in range(MAX_CODES)]
    assert codes.make(100.0 + CODE_S - 1) is None
    assert codes.make(100.0 + CODE_S) is not None
    first, second, *_ = made
    assert first is not None
    assert second is not None
    assert not first.accepts(first.text, 100.0 + CODE_S), "too late"
    assert second.accepts(second.text, 100.0 + CODE_S - 1)
    assert not second.accepts(second.text, 100.0 + CODE_S - 1), "used"


def test_tokens_are_kept_as_hashes_in_a_file_of_their_owner(tmp_path: Path) -> None:
    tokens = TokenFile(tmp_path / "new" / "bridge.tokens")
    assert tokens.read() == {}
    token, page = tokens.add(ORIGIN, NOW)
    _, other = tokens.add(ORIGIN, NOW)
    assert len(token) == 43, "256 bits"
    assert stat.S_IMODE(tokens.path.stat().st_mode) == 0o600
    assert tokens.path.read_text().splitlines()[0] == (
        f"{page.id} {ORIGIN} 2026-11-21T12:00:00+00:00 {page.hash}"
    )
    assert tokens.revoke(page.id, "unknown") == [page]
    assert tokens.read() == {other.id: other}
    tokens.path.write_text("half a line\n")
    with pytest.raises(ValueError, match=r"bridge\.tokens, line 1"):
        tokens.read()


def test_tokens_are_listed_and_revoked(tilewire: CommandLine, tmp_path: Path) -> None:
    config = tmp_path / "bridge.toml"
    config.write_text(f"{ENGINE}['/not/there']")
    assert tilewire("bridge", "tokens", "--config", config) == 0
    assert tilewire.out == "no page is paired\n"
    tokens = TokenFile(tokens_of(config))
    pages = [tokens.add(ORIGIN, NOW)[1] for _ in range(3)]
    assert tilewire("bridge", "tokens", "--config", config) == 0
    assert [line.split()[:2] for line in tilewire.out.splitlines()[2:]] == [
        [page.id, ORIGIN] for page in pages
    ]
    assert tilewire("bridge", "tokens", "--config", config, "--json") == 0
    listed = [json.loads(line) for line in tilewire.out.splitlines()]
    assert [page["id"] for page in listed] == [page.id for page in pages]
    assert tilewire("bridge", "revoke", "--config", config) == 2
    assert tilewire("bridge", "revoke", pages[0].id, "0", "--config", config) == 2
    assert tilewire.out == f"revoked {pages[0].id} of {ORIGIN}\n"
    assert "not known" in tilewire.err
    assert tilewire("bridge", "revoke", "--all", "--config", config) == 0
    assert tokens.read() == {}
    assert tilewire("bridge", "--config", config) == 2
    assert "command:" in tilewire.err


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "'origins'"),
        ("origins = []", "origins is empty"),
        ('origins = ["*"]', "'*' is no origin"),
        ('origins = ["https://a.b/"]', "'https://a.b'"),
        ('origins = ["https://A.b:443"]', "'https://a.b'"),
        ('origins = ["http://a.b"]', "only https can't"),
        (f"{ORIGINS}\nport = 70000", "port must be at most 65535"),
        (f"{ORIGINS}\nprot = 1", "'prot'"),
        (f"{ORIGINS}\nmax_engines = 0", "max_engines must be at least 1"),
        (f"{ORIGINS}\n[[engine]]\nid = 'a b'\ncommand = ['sh']", "engine[0]: id 'a b'"),
        (f"{ENGINE}[]", "engine[0]: command is empty"),
        (f"{ENGINE}'sh'", "engine[0].command"),
        (f"{ENGINE}['./a']", "a is not there"),
        (f"{ENGINE}['sh']\nfolder = 'x'", "x is no folder"),
        (f"{ENGINE}['sh']\nmemory = 1", "memory or cores"),
        (f"{ENGINE}['sh']\nenvironment = {{ 'a=' = '' }}", "environment has a name"),
        (f"{ORIGINS}\n" + "[[engine]]\nid = 'a'\ncommand = ['sh']\n" * 2, "engine[1]"),
    ],
)
def test_a_configuration_is_checked(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "b.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(sentence)) as caught:
        read_config(path)
    assert str(path) in str(caught.value)


def test_paths_are_beside_the_configuration(tmp_path: Path) -> None:
    program = tmp_path / "bin"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    path = tmp_path / "b.toml"
    path.write_text(f"{ORIGINS}\n[[engine]]\nid = 'tilewire'\ncommand = ['./bin', 'x']")
    config = read_config(path)
    assert Path(config.tokens) == tmp_path / "b.tokens"
    assert config.engines["tilewire"].command == (str(tmp_path / "bin"), "x")
