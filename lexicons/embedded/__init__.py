"""The embedded English word list, its licence, and the script that rebuilds it.

Beside it are the tables that were trained on it, each with its manifest (``lexicons.tables``).
"""
