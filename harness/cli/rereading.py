"""SIGHUP: a server that runs reads its configuration, tokens and certificate again."""

from __future__ import annotations

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


def rereading(
    server: MatchServer,
    access: AccessFiles,
    settings: Mapping[str, Any],
    read: Callable[[], Mapping[str, Any]],
    tell: Callable[[str], None],
) -> Callable[[], None]:
    """Return a function that reads a server's files again, for SIGHUP.

    It reports what is wrong, and leaves that part as it was.

    Args:
        settings: those in effect, by name.
        read: returns the settings as they are said now; raises CommandFailed.
        tell: takes a sentence about each thing that was read.
    """
    in_effect = dict(settings)

    def reread() -> None:
        for tokens in (access.tokens, access.admins):
            if tokens is not None:
                tokens.reread()
        if access.certificate is not None:
            renew(access.certificate, tell)
        try:
            said = read()
            passes_on = said.get("standby", False)
            with sentences():
                check_admission(said["admission"], said["max_games"], passes_on=passes_on)
        except CommandFailed as failure:
            tell(f"{failure}; until that is corrected, the old settings stay")
            return
        changed = _changed(in_effect, said)
        at_once = {name: said[name] for name in _AT_ONCE}
        server.change(**at_once)
        in_effect.update(at_once)
        now = [name for name in changed if name.partition(".")[0] in _AT_ONCE]
        tell(f"the settings were read again: {', '.join(now) or 'nothing'} changed")
        if later := [name for name in changed if name not in now]:
            tell(f"{', '.join(later)}: a change takes effect at the next start")

    return reread


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
