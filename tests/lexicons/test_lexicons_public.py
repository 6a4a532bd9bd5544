from __future__ import annotations

import lexicons


def test_what_the_package_offers() -> None:
    assert lexicons.__all__ == [
        "Alphabet",
        "BoardLayout",
        "Lexicon",
        "TileDistribution",
        "WordGraph",
        "lexicon_names",
        "load_distribution",
        "load_layout",
        "load_lexicon",
    ]
    assert all(hasattr(lexicons, name) for name in lexicons.__all__)
