"""The browser of whoever runs a command."""

from __future__ import annotations

import os
import threading
import webbrowser


def open_in_browser(url: str) -> None:
    """Open an address in the default browser; in a text browser only if ``BROWSER`` is set.

    Other processes can read the address, so nothing in it may be secret.
    """
    # This may block until the browser is closed.
    threading.Thread(target=_open, args=(url,), daemon=True).start()


def _open(url: str) -> None:
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return
    if "BROWSER" in os.environ or type(browser) is not webbrowser.GenericBrowser:
        browser.open(url)
