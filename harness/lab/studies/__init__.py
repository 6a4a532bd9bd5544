"""Questions of strength and belief, each a ``Study``."""
