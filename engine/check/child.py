"""A check in a separate process: `python -m rfview.engine.check.child`.

It reads a run from standard input, pickled by its parent, and writes the findings as JSON. An error in the run is reported
in one line on standard error, with exit code 2.

Nothing imports this module: it is above the machine that it checks.
"""

from __future__ import annotations

import json
import pickle
import sys

from rfview.engine.errors import RfviewError


def main() -> int:
    """Check the run that the parent describes: a simulator's arguments, and whether its module is sent with them."""
    given = pickle.load(sys.stdin.buffer)
    try:
        # start-up: an error on importing the machine (its cache cannot be written) is reported like any other
        from rfview.engine.check.machine import CheckedSimulator, run

        simulator = CheckedSimulator(given.pop("spec"), **given)
        json.dump(run(simulator).as_dict(), sys.stdout)
    except RfviewError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
