"""The built-in players, a module each."""
