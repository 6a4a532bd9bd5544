"""Tiles, boards and words: the data of crossword games."""
