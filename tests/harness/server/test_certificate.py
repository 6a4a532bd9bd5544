"""A certificate that expires, and is renewed while the server runs."""

from __future__ import annotations

import shutil
import ssl
from pathlib import Path

import pytest

from harness.arbiter.clock import DAY_S
from harness.server.certificate import Certificate
from protocol.channel import ChannelClosed
from protocol.websocket import dial, listen

TLS = Path(__file__).parents[2] / "fixtures" / "tls"

OTHER_KEY = """\
-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIDxSp1uk9RY7BbYvxKIj5GguOJQldFC6q1Sm1ah2Ynro
-----END PRIVATE KEY-----
"""
ENCRYPTED_KEY = """\
-----BEGIN ENCRYPTED PRIVATE KEY-----
MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgwrHKKtZNoBgICCAAw
DAYIKoZIhvcNAgkFADAdBglghkgBZQMEAQIEEAhLrqvAnL5KQJ5ugxBQ9sEEQMM6
wGpC8JO0xKjnolrD3nKycsaM2rkJAA8rDCy1yDaB/uT1GaxxbFHYzS18r1YXcDXS
UVxuDvyRnH0Iin6Xkmo=
-----END ENCRYPTED PRIVATE KEY-----
"""


@pytest.fixture
def certificate(tmp_path: Path) -> Certificate:
    shutil.copy(TLS / "localhost.pem", tmp_path / "cert.pem")
    return Certificate(tmp_path / "cert.pem", TLS / "localhost.key")


async def test_clients_meet_the_certificate_of_today(
    certificate: Certificate, tmp_path: Path
) -> None:
    async def greet(_channel: object, _request: object) -> None:
        return

    server = await listen("127.0.0.1", 0, greet, tls=certificate.context)
    url = f"wss://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"

    async def meet(trusted: str) -> None:
        channel = await dial(url, tls=ssl.create_default_context(cafile=TLS / trusted))
        await channel.close()

    await meet("localhost.pem")
    assert certificate.warning() is None

    shutil.copy(TLS / "expired.pem", tmp_path / "cert.pem")
    certificate.renew()
    with pytest.raises(ChannelClosed, match="its certificate is not trusted: certificate has exp"):
        await meet("expired.pem")
    assert "certificate has expired" in (certificate.warning() or "")

    shutil.copy(TLS / "localhost.pem", tmp_path / "cert.pem")
    certificate.renew()
    await meet("localhost.pem")

    shutil.copy(TLS / "localhost.key", tmp_path / "cert.pem")
    with pytest.raises(ValueError, match=r"^no TLS by .*cert\.pem"):
        certificate.renew()
    await meet("localhost.pem")
    server.close()
    await server.wait_closed()


@pytest.mark.parametrize(("days", "said"), [(3.5, "3 days"), (1.5, "1 day")])
def test_a_certificate_that_expires_soon_is_said(
    certificate: Certificate, monkeypatch: pytest.MonkeyPatch, days: float, said: str
) -> None:
    soon = certificate.expires - days * DAY_S
    monkeypatch.setattr("time.time", lambda: soon)
    assert f"expires in {said}; renew it" in (certificate.warning() or "")


def test_a_certificate_that_is_not_for_servers_is_said() -> None:
    certificate = Certificate(TLS / "client.pem", TLS / "localhost.key")
    assert "client.pem: unsuitable certificate purpose" in (certificate.warning() or "")


@pytest.mark.parametrize("key", ["", OTHER_KEY, ENCRYPTED_KEY, None])
def test_a_key_that_is_not_the_certificates_is_refused(tmp_path: Path, key: str | None) -> None:
    if key is not None:
        (tmp_path / "key.pem").write_text(key, encoding="ascii")
    with pytest.raises(ValueError, match=r"^no TLS by .*key\.pem"):
        Certificate(TLS / "localhost.pem", tmp_path / "key.pem")
