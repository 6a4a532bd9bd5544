"""tilewire as an SIU engine: driven line by line over standard input and output.

``conversation`` says what is answered to what (no I/O, no threads), ``position`` reads a game,
``searches`` does the work, and ``engine`` is the process around them. A mode of ``go`` is a line in
``modes`` and a function in ``searches``. The lines themselves are read and written by
``protocol.siu``.

Nothing here imports numba before a search needs it, so that the handshake takes no time.

Source: SIU draft 0.2 (woogles-io/open-protocols, ``siu/siu.md``), by section in what follows.
"""
