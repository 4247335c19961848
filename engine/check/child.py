"""A check in a process of its own: `python -m rfview.engine.check.child`.

It reads a run from standard input, pickled by its parent, and writes the findings as JSON; what is wrong with the run is
one line on standard error and exit code 2.

Nothing imports this: it stands above the machine that it checks.
"""

from __future__ import annotations

import json
import pickle
import sys

from rfview.engine.errors import RfviewError


def main() -> int:
    """Check the run that the parent describes: the arguments of a simulator, and whether its module goes with them."""
    given = pickle.load(sys.stdin.buffer)
    try:
        # start-up: what importing the machine raises (its cache cannot be written) is told like any other error
        from rfview.engine.check.machine import CheckedSimulator, run

        simulator = CheckedSimulator(given.pop("spec"), **given)
        json.dump(run(simulator).as_dict(), sys.stdout)
    except RfviewError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
