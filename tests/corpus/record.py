"""Record what the product does today, in the directory of the repository:

    PYTHONPATH=tests:. python -m corpus.record [PART…]

Parts are the folders of ``tests/corpus/data``: static, champion, answers, wire, siu; without any,
all are recorded. Look at what ``git diff`` says then: whatever was not meant to change is a
regression.
"""

from __future__ import annotations

import os
import sys

from corpus.artefacts import Artefact


def every_artefact() -> tuple[Artefact, ...]:
    """Return all that the corpus holds."""
    from corpus import champion_games, positions, siu_conversation, static_games, tables_played

    return (
        *static_games.ARTEFACTS,
        *champion_games.ARTEFACTS,
        *positions.ARTEFACTS,
        *tables_played.ARTEFACTS,
        *siu_conversation.ARTEFACTS,
    )


def main(parts: list[str]) -> None:
    """Record parts; kernels check their array bounds, as under test."""
    os.environ.setdefault("TILEWIRE_BOUNDSCHECK", "1")
    every = every_artefact()
    if unknown := set(parts) - (known := {artefact.part for artefact in every}):
        sys.exit(f"no part is called {', '.join(sorted(unknown))}; there are {sorted(known)}")
    for artefact in every:
        if not parts or artefact.part in parts:
            artefact.record()
            print(artefact.name)


if __name__ == "__main__":
    main(sys.argv[1:])
