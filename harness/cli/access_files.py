"""Who may enter a server, and how: tokens, admins, certificate."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from harness.arbiter.clock import is_loopback
from harness.server.admission import check_admission
from harness.server.certificate import Certificate
from harness.server.tokens import KnownTokens

from . import options
from .failing import CommandFailed, sentences


class AccessFiles(NamedTuple):
    """The files of a server that say who may enter; read again after SIGHUP."""

    tokens: KnownTokens | None
    """Of players; None: anybody may play."""
    admins: KnownTokens | None
    certificate: Certificate | None

    @property
    def tls(self) -> ssl.SSLContext | None:
        """The context to serve wss with; None without a certificate."""
        return self.certificate.context if self.certificate else None


def read_access_files(settings: Mapping[str, Any], tell: Callable[[str], None]) -> AccessFiles:
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
        passes_on = settings.get("standby", False)
        check_admission(settings["admission"], settings["max_games"], passes_on=passes_on)
        tokens = KnownTokens(settings["tokens"], tell) if has_tokens else None
        admins = KnownTokens(settings["admins"], tell) if "admins" in settings else None
    return AccessFiles(
        tokens, admins, _certificate(settings.get("tls_cert"), settings.get("tls_key"))
    )


def _certificate(cert: Path | None, key: Path | None) -> Certificate | None:
    if cert is None and key is None:
        return None
    if cert is None:
        raise CommandFailed("--tls-key needs --tls-cert")
    with sentences():
        certificate = Certificate(cert, key)
    if warning := certificate.warning():
        options.say(warning)
    return certificate
