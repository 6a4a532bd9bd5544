"""The SIU bridge: pages in a browser drive engines of this machine, over a WebSocket on loopback.

A browser can't start a program. The bridge can, but only those of its configuration
(``config.py``), and only for pages that the user has let in: a page has to come from one of the
origins of the configuration, and to show a token, which it was given when the user typed a one-time
code into it (``pairing.py``). Then it opens an engine, and lines go both ways as they are
(``page.py``, ``driven.py``). The bridge sends nothing anywhere by itself.

Source: SIU draft 0.2, section 11 (woogles-io/open-protocols, ``siu/siu.md``). The draft leaves the
port, the pairing and the errors open; docs/engines.md says what they are here.
"""

from .config import BridgeConfig, Launch, read_config, tokens_of
from .pairing import Paired, TokenFile
from .server import Bridge

__all__ = ["Bridge", "BridgeConfig", "Launch", "Paired", "TokenFile", "read_config", "tokens_of"]
