"""The embedded English word list: scowl.txt.xz, its licence, and the script that rebuilds it."""
