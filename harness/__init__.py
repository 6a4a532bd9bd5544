"""Who plays whom, and what comes of it: arbiter, clocks, journal, matches, the command line."""
