"""What is said between an arbiter and a bot, and how it gets there. See ``SPEC.md``."""
