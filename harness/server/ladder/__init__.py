"""A standing ladder: who plays whom next, ratings of the whole history, what is told of it."""
