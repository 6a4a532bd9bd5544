"""The server's certificate, which is renewed while the server runs."""

from __future__ import annotations

import ssl
import time
from contextlib import suppress
from pathlib import Path

from bot.seat.containment import hide

DAY_S = 24 * 60 * 60
SOON_DAYS = 14


class Certificate:
    """A certificate and its key, in PEM; connections that are open keep the one that they had.

    Raises:
        ValueError: they are no certificate and its key, or can't be read.
    """

    def __init__(self, cert: Path, key: Path | None) -> None:
        self._files = cert, key
        hide(key or cert)
        self.context = self._loaded()
        self.expires = self._expiry()
        """When, in seconds since 1970; None if it is over, or has not begun."""

    def renew(self) -> None:
        """Read both files again; raise ValueError and go on with the old ones if they are wrong."""
        self._loaded()
        self.context.load_cert_chain(*self._files)
        self.expires = self._expiry()

    def warning(self) -> str | None:
        """Return a sentence if clients refuse the certificate, or soon will."""
        renew = "renew it, and send this process SIGHUP"
        if self.expires is None:
            return (
                f"{self._files[0]} has expired or is not valid yet, so clients refuse it; {renew}"
            )
        days = int((self.expires - time.time()) // DAY_S)
        if days < SOON_DAYS:
            return f"{self._files[0]} expires in {days} days; {renew}"
        return None

    def _loaded(self) -> ssl.SSLContext:
        cert, key = self._files
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            context.load_cert_chain(cert, key)
        except (OSError, ssl.SSLError) as error:
            for path in (cert, key):
                if path is not None and not path.exists():
                    raise ValueError(f"no TLS: there is no file {path}") from None
            both = f"{cert} and {key}" if key else f"{cert} (certificate and key)"
            raise ValueError(f"no TLS with {both}: {error}") from None
        return context

    def _expiry(self) -> float | None:
        """Shake hands with a client that trusts this certificate, and so says whether it holds."""
        trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        trusting.check_hostname = False
        trusting.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        trusting.load_verify_locations(self._files[0])
        here, there = ssl.MemoryBIO(), ssl.MemoryBIO()
        client = trusting.wrap_bio(here, there)
        server = self.context.wrap_bio(there, here, server_side=True)
        try:
            for end in (client, server, client):
                with suppress(ssl.SSLWantReadError):
                    end.do_handshake()
        except ssl.SSLCertVerificationError:
            return None
        told = client.getpeercert() or {}
        return ssl.cert_time_to_seconds(str(told["notAfter"]))
