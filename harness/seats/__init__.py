"""Whoever sits at a table: local processes, bots elsewhere, engines of others."""
