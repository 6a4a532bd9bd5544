"""Players, their processes, the plan of their time, and the registry of plugins."""
