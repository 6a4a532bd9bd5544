"""The players of the house, each in a file of its own."""
