"""Experiments of others, played again with built-in players."""
