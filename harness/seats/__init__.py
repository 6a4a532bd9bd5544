"""Seats at a table: local processes, remote bots, foreign engines."""
