"""The server's certificate, which is renewed while the server runs."""

from __future__ import annotations

import ssl
import time
from contextlib import suppress
from pathlib import Path

from harness.arbiter.clock import DAY_S
from harness.figures import counted

SOON_DAYS = 14


class Certificate:
    """A certificate and its key, in PEM; open connections keep the one that they began with.

    Raises:
        ValueError: the files are not a certificate and its key, or can't be read.
    """

    def __init__(self, cert: Path, key: Path | None) -> None:
        self._files = cert, key
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.renew()

    def renew(self) -> None:
        """Read both files; if they are wrong, go on with the old ones and raise ValueError."""
        # Try a new context first, since a load that fails half-way would spoil the one in use.
        for context in (ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), self.context):
            try:
                # Without a password OpenSSL would ask for one at the terminal; a wrong one fails.
                context.load_cert_chain(*self._files, password="")
            except OSError as error:
                files = " and ".join(str(file) for file in self._files if file is not None)
                raise ValueError(
                    f"no TLS by {files}: {error.strerror}; it takes a certificate and its key in "
                    "PEM, without a password"
                ) from None
        self.expires, self._fault = self._try_connecting()

    def warning(self) -> str | None:
        """Return a sentence if clients refuse the certificate, or soon will."""
        renew = "renew it, and send this process SIGHUP"
        if self._fault:
            return f"{self._files[0]}: {self._fault}, so clients refuse it; {renew}"
        days = int((self.expires - time.time()) // DAY_S)
        if days < SOON_DAYS:
            return f"{self._files[0]} expires in {counted(days, 'day')}; {renew}"
        return None

    def _try_connecting(self) -> tuple[float, str]:
        """Connect a client that trusts the file; return the expiry, and why the client refuses.

        The expiry is in seconds since 1970. It is 0 if the client refuses; else the reason is "".
        """
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
        except ssl.SSLCertVerificationError as error:
            return 0.0, error.verify_message
        fields = client.getpeercert() or {}
        return ssl.cert_time_to_seconds(str(fields["notAfter"])), ""
