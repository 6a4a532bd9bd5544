"""The SIU bridge: web pages drive engines of this machine, over a WebSocket on loopback.

A browser can't start a program. The bridge can, but only those of its configuration, and only for
pages of a configured origin that show a token: a page gets it when the user types a one-time code
into it. The bridge relays lines unchanged, and sends nothing anywhere by itself.

Source: SIU draft 0.2, section 11 (woogles-io/open-protocols, ``siu/siu.md``). The draft leaves
port, pairing and errors open; docs/engines.md defines them.
"""

from .config import BridgeConfig, read_config, tokens_of
from .pairing import TokenFile
from .server import Bridge

__all__ = ["Bridge", "BridgeConfig", "TokenFile", "read_config", "tokens_of"]
