"""Records the runs of the guided tours anew: python -m rfview.learn.make [TOUR ...]; needs the machine."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(names: Sequence[str]) -> int:
    """Record the tours named, or all of them."""
    from rfview import cli
    from rfview.learn.tours import TOURS

    for tour in TOURS.values():
        if not names or tour.name in names:
            tour.recording.parent.mkdir(exist_ok=True)
            code = cli.main(["record", str(tour.launch), *tour.machine_options(), "--output", str(tour.recording)])
            if code:
                return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
