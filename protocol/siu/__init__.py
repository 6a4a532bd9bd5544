"""SIU lines, by which a front end drives an engine over standard input and output.

Each line is a value, both ways: ``parse_command`` and ``parse_answer`` read a line, and a value's
``line()`` writes it. Moves and positions are text, for ``engine.notation`` to read.

Source: SIU draft 0.2 (woogles-io/open-protocols, ``siu/siu.md``); sections are cited.
"""
