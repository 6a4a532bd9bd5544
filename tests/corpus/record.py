"""Record what the product does today, in the directory of the repository:

    PYTHONPATH=tests:. python -m corpus.record [PART…]

Parts are the folders of ``tests/corpus/data``: static, champion, answers, wire, siu; without any,
all are recorded. Look at what ``git diff`` says then: whatever was not meant to change is a
regression. ``inputs:positions`` and ``inputs:wire`` make what those parts are made from anew, which
has to be done only if it can't be read any more.
"""

from __future__ import annotations

import os
import sys


def main(parts: list[str]) -> None:
    """Record parts; kernels check their array bounds, as under test."""
    os.environ.setdefault("TILEWIRE_BOUNDSCHECK", "1")
    from corpus.every_part import EVERY, MAKE_INPUTS

    known = {artefact.part for artefact in EVERY} | {f"inputs:{name}" for name in MAKE_INPUTS}
    if unknown := set(parts) - known:
        sys.exit(f"no part is called {', '.join(sorted(unknown))}; there are {sorted(known)}")
    for name, make in MAKE_INPUTS.items():
        if f"inputs:{name}" in parts:
            make()
    for artefact in EVERY:
        if not parts or artefact.part in parts:
            artefact.record()
            print(artefact.name)


if __name__ == "__main__":
    main(sys.argv[1:])
