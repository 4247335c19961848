"""`python -m tests.check.kernels [NAME..]`: check bundled kernels (default: all, at small size) and print the findings.

Exit code 1 if there is a finding that EXPLAINED does not list. `--full` uses the large sizes and takes a minute for all.
"""

from __future__ import annotations

import argparse
import sys

from rfview.engine import kernels
from rfview.engine.launch import load_launch_file

# kernel -> {kind: why this finding is accepted}
EXPLAINED: dict[str, dict[str, str]] = {
    "bfs_levels": {"race-global": "as its program has it: all writers of a launch give a node the same level, which is not "
                                  "the launch's own, so that whoever reads it meanwhile does the same either way"},
}


def main() -> int:
    """Check the requested kernels; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.check.kernels", description=__doc__)
    parser.add_argument("names", nargs="*", help="bundled kernels (default: all)")
    parser.add_argument("--full", action="store_true", help="their large sizes")
    parser.add_argument("--values", action="store_true", help="by values only")
    args = parser.parse_args()
    from rfview.engine.check.functional import CheckedFunctionalSimulator
    from rfview.engine.check.machine import CheckedSimulator, run

    kind = CheckedFunctionalSimulator if args.values else CheckedSimulator

    wrong = 0
    for name in args.names or kernels.names():
        simulator = kind(load_launch_file(kernels.path(name, "full" if args.full else "small")))
        found = run(simulator)
        left = [one for one in found.found if one.kind not in EXPLAINED.get(name, {})]
        wrong += len(left)
        verdict = {None: "nothing to verify", True: "verified", False: "NOT VERIFIED"}[simulator.verify()[0]]
        print(f"{name:<22} {found.length:>28}  {verdict:<17}  "
              f"{len(found.found)} findings, {len(left)} not explained", flush=True)
        for one in left:
            print(one.as_text())
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
