"""Who chooses a move, and how time is spent: players, their processes, the registry of plugins."""
