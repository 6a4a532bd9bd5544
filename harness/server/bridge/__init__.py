"""The SIU bridge: web pages drive engines of this machine, over a WebSocket on loopback.

A browser can't start a program. The bridge can, but only those of its configuration
(``config.py``), and only for pages that the user has let in: a page must come from a configured
origin and show a token, which it got when the user typed a one-time code into it (``pairing.py``).
The bridge then opens an engine and relays lines unchanged (``page.py``). It sends nothing anywhere
by itself.

Source: SIU draft 0.2, section 11 (woogles-io/open-protocols, ``siu/siu.md``). The draft leaves
port, pairing and errors open; docs/engines.md defines them.
"""

from .config import BridgeConfig, read_config, tokens_of
from .pairing import TokenFile
from .server import Bridge

__all__ = ["Bridge", "BridgeConfig", "TokenFile", "read_config", "tokens_of"]
