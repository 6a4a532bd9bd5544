"""A match or tournament as one page, Markdown or CSV: ``tilewire report``."""
