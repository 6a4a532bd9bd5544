"""The server's certificate, which is renewed while the server runs."""

from __future__ import annotations

import ssl
import time
from contextlib import suppress
from pathlib import Path

from bot.seat.containment import hide
from harness.arbiter.clock import DAY_S
from harness.figures import counted

SOON_DAYS = 14
_END = "-----END CERTIFICATE-----"


class Certificate:
    """A certificate and its key, in PEM; open connections keep the one that they began with.

    Raises:
        ValueError: the files are not a certificate and its key, or can't be read.
    """

    def __init__(self, cert: Path, key: Path | None) -> None:
        self._files = cert, key
        hide(key or cert)
        self.context = self._loaded()
        self.dialling = _trusting_none()
        """For dialling a host that has the same certificate, or one that was read here before."""
        self._trust_own()
        self.expires, self._fault = self._tried()

    def renew(self) -> None:
        """Read both files again; raise ValueError and go on with the old ones if they are wrong."""
        self._loaded()
        self.context.load_cert_chain(*self._files)
        self._trust_own()
        self.expires, self._fault = self._tried()

    def warning(self) -> str | None:
        """Return a sentence if clients refuse the certificate, or soon will."""
        renew = "renew it, and send this process SIGHUP"
        if self._fault:
            return f"{self._files[0]}: {self._fault}, so clients refuse it; {renew}"
        days = int((self.expires - time.time()) // DAY_S)
        if days < SOON_DAYS:
            return f"{self._files[0]} expires in {counted(days, 'day')}; {renew}"
        return None

    def _loaded(self) -> ssl.SSLContext:
        cert, key = self._files
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            context.load_cert_chain(cert, key, password=_no_password)
        except (OSError, _Encrypted) as error:
            raise ValueError(f"no TLS: {_fault(cert, key or cert, error)}") from None
        return context

    def _trust_own(self) -> None:
        """Trust the file's first certificate only: its issuer also signs those of strangers."""
        first, end, _ = self._files[0].read_text(errors="replace").partition(_END)
        self.dialling.load_verify_locations(cadata=first + end)

    def _tried(self) -> tuple[float, str]:
        """Have a client that trusts the file connect; return the expiry, and why it refuses, if so.

        The expiry is in seconds since 1970, and 0 if the client refuses.
        """
        trusting = _trusting_none()
        trusting.load_verify_locations(self._files[0])
        here, there = ssl.MemoryBIO(), ssl.MemoryBIO()
        client = trusting.wrap_bio(here, there)
        server = self.context.wrap_bio(there, here, server_side=True)
        try:
            for end in (client, server, client):
                with suppress(ssl.SSLWantReadError):
                    end.do_handshake()
        except ssl.SSLCertVerificationError as error:
            return 0.0, error.verify_message
        told = client.getpeercert() or {}
        return ssl.cert_time_to_seconds(str(told["notAfter"])), ""


def _trusting_none() -> ssl.SSLContext:
    """Return a client's context that trusts no certificate yet, and checks no host name."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return context


class _Encrypted(Exception):
    """A key asks for a password."""


def _no_password() -> str:
    raise _Encrypted


def _fault(cert: Path, key: Path, error: Exception) -> str:
    """Say which of two files is wrong, and what to do; OpenSSL does not."""
    for path in (cert, key):
        try:
            path.read_bytes()
        except FileNotFoundError:
            return f"there is no file {path}"
        except OSError as unread:
            return f"{path}: {unread.strerror}"
    if isinstance(error, _Encrypted):
        return f"{key} is encrypted; write the key without its password (openssl pkey)"
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cert)
    except ssl.SSLError:
        return f"{cert} holds no certificate in PEM (-----BEGIN CERTIFICATE-----)"
    if b"PRIVATE KEY-----" in key.read_bytes():
        return f"{key} is damaged, or the key of another certificate than {cert}"
    return f"{key} holds no private key in PEM (-----BEGIN PRIVATE KEY-----)"
