"""tilewire as an SIU engine, driven by lines on standard input and output.

``conversation`` decides the answers (no I/O, no threads), ``position`` reads a game, ``searches``
makes the searches, and ``engine`` is the process around them. A mode of ``go`` is a line in
``modes`` and a method of ``searches.Searcher``, built on ``bot.search``. ``protocol.siu`` reads and
writes the lines.

Nothing here imports numba before a search needs it, to keep the handshake fast.

Source: SIU draft 0.2 (woogles-io/open-protocols, ``siu/siu.md``); its sections are cited.
"""
