"""Experiments of others, played again with players of the house."""
