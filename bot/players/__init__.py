"""The built-in players, each in a file of its own."""
