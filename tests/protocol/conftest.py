"""Both sides of TLS, with a certificate of this machine's own."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

TLS = Path(__file__).parents[1] / "fixtures" / "tls"


@pytest.fixture
def served() -> ssl.SSLContext:
    """What a server shows."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(TLS / "localhost.pem", TLS / "localhost.key")
    return context


@pytest.fixture
def known() -> ssl.SSLContext:
    """A client's that trusts it."""
    return ssl.create_default_context(cafile=TLS / "localhost.pem")
