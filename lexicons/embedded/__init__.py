"""The embedded English word list, the tables trained on it (``lexicons.tables``), and its build."""
