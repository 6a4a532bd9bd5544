"""Who may enter a server, and how: tokens, admins, certificate; SIGHUP, which reads them again."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from harness.arbiter.clock import is_loopback
from harness.server.admission import check_admission
from harness.server.certificate import Certificate
from harness.server.server import MatchServer
from harness.server.tokens import KnownTokens

from . import options
from .failing import CommandFailed, sentences

_AT_ONCE = ("max_games", "time", "admission")
"""Settings that take effect without a restart; games that are on keep their clocks."""


class AccessFiles(NamedTuple):
    """The files of a server that say who may enter; read again after SIGHUP."""

    tokens: KnownTokens | None
    """Of players; None: anybody may play."""
    admins: KnownTokens | None
    certificate: Certificate | None
    hidden: tuple[Path, ...] = ()
    """Those that players must not see: of tokens, and of the key."""

    @property
    def tls(self) -> ssl.SSLContext | None:
        """The context to serve wss with; None without a certificate."""
        return self.certificate.context if self.certificate else None


def read_access_files(settings: Mapping[str, Any], log_line: Callable[[str], None]) -> AccessFiles:
    """Read the files that a server's settings name, and check its admission; or fail.

    Anybody may play at loopback; elsewhere only where ``open_to_all`` says so.
    """
    host, has_tokens = settings["host"], "tokens" in settings
    if settings["open_to_all"] and has_tokens:
        raise CommandFailed("--tokens lets in those it names, --open-to-all anybody: choose one")
    if not (has_tokens or settings["open_to_all"] or is_loopback(host)):
        raise CommandFailed(
            f"--host {host}: anybody who can reach it could play; --tokens FILE lets in whom you "
            "know, --open-to-all anybody"
        )
    with sentences():
        check_admission(settings["admission"], settings["max_games"])
        tokens = KnownTokens(settings["tokens"], log_line) if has_tokens else None
        admins = KnownTokens(settings["admins"], log_line) if "admins" in settings else None
    cert, key = settings.get("tls_cert"), settings.get("tls_key")
    if key is not None and cert is None:
        raise CommandFailed("--tls-key needs --tls-cert")
    certificate = None
    if cert is not None:
        with sentences():
            certificate = Certificate(cert, key)
        if warning := certificate.warning():
            options.print_notice(warning)
    private = settings.get("tokens"), settings.get("admins"), key or cert
    hidden = tuple(path for path in private if path is not None)
    return AccessFiles(tokens, admins, certificate, hidden)


def rereading(
    server: MatchServer,
    access: AccessFiles,
    settings: Mapping[str, Any],
    read: Callable[[], Mapping[str, Any]],
    log_line: Callable[[str], None],
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
            renew(access.certificate, log_line)
        server.check_tokens()
        try:
            problem = read()
            with sentences():
                check_admission(problem["admission"], problem["max_games"])
        except CommandFailed as failure:
            log_line(f"{failure}; until that is corrected, the old settings stay")
            return
        old, new = _flat(in_effect), _flat(problem)
        changed = sorted(name for name in old | new if old.get(name) != new.get(name))
        at_once = {name: problem[name] for name in _AT_ONCE}
        server.change(**at_once)
        in_effect.update(at_once)
        now = [name for name in changed if name.partition(".")[0] in _AT_ONCE]
        log_line(f"the settings were read again: {', '.join(now) or 'nothing'} changed")
        if later := [name for name in changed if name not in now]:
            log_line(f"{', '.join(later)}: a change takes effect at the next start")

    return reread


def renew(certificate: Certificate, log_line: Callable[[str], None]) -> None:
    """Read a certificate again; if something is wrong, report it and keep the old one."""
    try:
        certificate.renew()
    except ValueError as error:
        log_line(f"{error}; until that is corrected, the old certificate stays")
        return
    log_line(certificate.warning() or "the certificate was read again")


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings by name, those in a table as ``table.key``."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        table = msgspec.structs.asdict(value) if isinstance(value, msgspec.Struct) else value
        if isinstance(table, dict):
            flat |= {f"{name}.{key}": inner for key, inner in table.items()}
        else:
            flat[name] = value
    return flat
