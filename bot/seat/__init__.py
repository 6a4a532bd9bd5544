"""The process that a seat lives in: its connection, its games, its answers."""
