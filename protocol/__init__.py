"""The conversation between an arbiter and a bot, and its channels. See ``SPEC.md``."""
