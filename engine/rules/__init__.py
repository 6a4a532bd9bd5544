"""The rules of play as values: positions, moves, what is legal, games and the bag."""
