"""SIGHUP: a server that runs reads its configuration, tokens and certificate again."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from harness.server.admission import check_admission
from harness.server.certificate import Certificate
from harness.server.server import MatchServer

from .access_files import AccessFiles
from .failing import CommandFailed, sentences

_AT_ONCE = ("max_games", "time", "admission")
"""Settings that take effect without a restart; games that are on keep their clocks."""


class Rereading:
    """What SIGHUP does to a server.

    Args:
        settings: those in effect, by name.
        read: returns the settings as they are said now; raises CommandFailed.
        tell: takes a sentence about each thing that was read.
    """

    def __init__(
        self,
        server: MatchServer,
        access: AccessFiles,
        settings: Mapping[str, Any],
        read: Callable[[], Mapping[str, Any]],
        tell: Callable[[str], None],
    ) -> None:
        self._server = server
        self._access = access
        self._read = read
        self._settings = dict(settings)
        self._tell = tell

    def on_signal(self) -> None:
        """Read again whenever SIGHUP comes."""
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, self)

    def __call__(self) -> None:
        """Read all again; report what is wrong, and leave that part as it was."""
        for tokens in (self._access.tokens, self._access.admins):
            if tokens is not None:
                tokens.reread()
        if self._access.certificate is not None:
            renew(self._access.certificate, self._tell)
        try:
            settings = self._read()
            passes_on = settings.get("standby", False)
            with sentences():
                check_admission(settings["admission"], settings["max_games"], passes_on=passes_on)
        except CommandFailed as failure:
            self._tell(f"{failure}; until that is corrected, the old settings stay")
            return
        changed = _changed(self._settings, settings)
        at_once = {name: settings[name] for name in _AT_ONCE}
        self._server.change(**at_once)
        self._settings |= at_once
        now = [name for name in changed if name.partition(".")[0] in _AT_ONCE]
        self._tell(f"the settings were read again: {', '.join(now) or 'nothing'} changed")
        if later := [name for name in changed if name not in now]:
            self._tell(f"{', '.join(later)}: a change takes effect at the next start")


def renew(certificate: Certificate, tell: Callable[[str], None]) -> None:
    """Read a certificate again; if something is wrong, report it and keep the old one."""
    try:
        certificate.renew()
    except ValueError as error:
        tell(f"{error}; until that is corrected, the old certificate stays")
        return
    tell(certificate.warning() or "the certificate was read again")


def _changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Name the settings that differ, those in a table as ``table.key``."""
    old, new = _flat(before), _flat(now)
    return sorted(name for name in old | new if old.get(name) != new.get(name))


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        table = msgspec.structs.asdict(value) if isinstance(value, msgspec.Struct) else value
        if isinstance(table, dict):
            flat |= {f"{name}.{key}": inner for key, inner in table.items()}
        else:
            flat[name] = value
    return flat
