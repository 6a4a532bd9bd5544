"""tilewire as an SIU engine: driven line by line over standard input and output.

``conversation`` decides what is answered (no I/O, no threads), ``position`` reads a game,
``searches`` makes the searches, and ``engine`` is the process around them. A mode of ``go`` is a
line in ``modes`` and a method of ``searches.Searcher``; the works behind it are those of
``bot.search``. ``protocol.siu`` reads and writes the lines themselves.

Nothing here imports numba before a search needs it, so that the handshake takes no time.

Source: SIU draft 0.2 (woogles-io/open-protocols, ``siu/siu.md``); its sections are cited.
"""
