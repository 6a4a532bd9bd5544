"""A real HAProxy for tests, with the configuration that ships, before hosts on loopback."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

MISSING = "HAProxy is not installed; apt-get install haproxy"

CONFIGURATION = Path(__file__).parents[1] / "docs" / "three-hosts" / "haproxy.cfg"
HOSTS = "one", "two", "three"


def program() -> str | None:
    """Return the path of haproxy, or None; Debian has it where only root looks."""
    return shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin")


@contextmanager
def balancer(folder: Path, hosts: Sequence[int], certificate: Path | None = None) -> Iterator[int]:
    """Run HAProxy before up to three hosts, which are given by their ports; yield its own port.

    Args:
        folder: for its configuration.
        hosts: there are as many as in the configuration, or fewer.
        certificate: with its key, to serve TLS.
    """
    haproxy = program()
    assert haproxy is not None, MISSING
    port = _free_port()
    # Of the lenders of bots nobody is here.
    text = CONFIGURATION.read_text(encoding="utf-8").partition("listen bots")[0]
    text = _replaced(text, "    bind :8484", f"    bind 127.0.0.1:{port}")
    if certificate is not None:
        text = _replaced(text, f"    bind 127.0.0.1:{port}", "")
        text = _replaced(text, "# bind :8443", f"bind 127.0.0.1:{port}")
        text = _replaced(text, "/usr/local/etc/haproxy/play.pem", str(certificate))
    for number, name in enumerate(HOSTS):
        there = f"127.0.0.1:{hosts[number]}" if number < len(hosts) else "127.0.0.1:1 disabled"
        text = _replaced(text, f"server {name} {name}:8484", f"server {name} {there}")
    file = folder / "haproxy.cfg"
    file.write_text(text, encoding="utf-8")
    running = subprocess.Popen([haproxy, "-db", "-q", "-f", str(file)])
    try:
        while not _listens(port):
            assert running.poll() is None, f"it does not run with {file}"
            time.sleep(0.01)
        yield port
    finally:
        running.kill()
        running.wait()


def _replaced(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, f"{CONFIGURATION} has {old!r} {text.count(old)} times"
    return text.replace(old, new)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


def _listens(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0
