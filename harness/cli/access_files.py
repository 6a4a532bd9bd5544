"""Who may enter a server, and how: tokens, admins, certificate."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

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
    """Read the files that a server's settings name, and check its admission; or fail."""
    with sentences():
        passes_on = settings.get("standby", False)
        check_admission(settings["admission"], settings["max_games"], passes_on=passes_on)
        tokens = KnownTokens(settings["tokens"], tell) if "tokens" in settings else None
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
