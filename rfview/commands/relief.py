"""`rfview relief`: what would make a run end earlier: each setting that `why` names, tried, beside what comes by chance."""

from __future__ import annotations

import argparse

from rfview.commands import options, query
from rfview.engine.batch import nudge
from rfview.launching import words

EPILOG = f"""examples:
  rfview relief gemm --design hrf
  rfview relief run.rfs --nudge 16
For each of the run's commonest states, `why` is asked about its longest wait, and every setting that it names is tried from
cycle 0. gain: of the cycles of the whole run. floor: the cycles that a unit needs at least, from counts alone. A nudged run
has {nudge.WHAT}: the same work, other coincidences. A gain below twice the range of nudged
runs is never called one. Without nudged runs (--nudge 0) no gain is called one."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    query.add_arguments(parser)
    options.add_nudge(parser, nudge.NUMBER)


@words.takes_kernels
def run(args: argparse.Namespace) -> int:
    """Print the table; a kernel is first run to its end."""
    from rfview.sessions.commands.table import execute

    with options.open_target(args) as session:
        session.goto("end")
        answer = execute(session, f"relief all {args.nudge}")
    query.answer(args, answer.text, answer.data)
    return 0
