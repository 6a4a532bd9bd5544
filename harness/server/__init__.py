"""The server: listening, lobby, tokens, and the bridge for pages."""
