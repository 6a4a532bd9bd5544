"""The process of a seat: its connection, its games, its answers."""
