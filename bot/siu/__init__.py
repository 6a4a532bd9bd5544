"""tilewire as an SIU engine, driven by lines on standard input and output.

``conversation`` decides the answers (no I/O, no threads), ``searches`` makes the searches, and
``engine`` is the process around them. Nothing here imports numba before a search needs it, to keep
the handshake fast.

Source: SIU draft 0.2 (woogles-io/open-protocols, ``siu/siu.md``); its sections are cited.
"""
