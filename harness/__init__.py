"""The harness around games: arbiter, seats, matches, server, analysis and command line."""
