"""The lines of SIU, by which a front end drives an engine over its standard input and output.

Each line is a value here, both ways: ``parse_command`` and ``parse_answer`` read what was said, and
``line()`` of a value writes it. A move or a position is text; ``engine.notation`` reads it.

Source: SIU draft 0.2 (woogles-io/open-protocols, ``siu/siu.md``), by section in what follows.
"""
