"""What ``tilewire analyze`` finds out: which move was best, and what another one cost.

``questions``  what is asked of a position or of each turn of a game
``findings``   the search, and what it has found so far
``verdict``    what that means, in sentences
``view``       tables in a terminal, and JSON
"""
