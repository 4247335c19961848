"""`rfview assert`: check that a condition holds in every cycle of a session or run, for continuous integration."""

from __future__ import annotations

import argparse

from rfview.engine.errors import InputError
from rfview.commands import options, query

EPILOG = """examples:
  rfview assert run.rfs "stall.wb_full < 40"
  rfview assert gemm --design hrf "max(rf.buffer.used) <= 16"
  rfview assert run.rfs "total.shift < 5000" --at end
exit codes: 0 it holds, 1 it does not (the first such cycle is named), 2 bad input
`rfview help expressions` describes the conditions"""
FAILED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    query.add_arguments(parser)
    parser.add_argument("condition", metavar="EXPR", help="what must hold")
    parser.add_argument("--at", metavar="WHERE",
                        help="check one cycle only: 1234, 50%%, @mark, end (default: in every cycle)")


def run(args: argparse.Namespace) -> int:
    """Evaluate the condition and report where it first fails."""
    with query.session_at(args, args.at or "end") as session:
        end = session.cycle
        expression = f"not ({args.condition})"
        session.value(args.condition)       # so that errors refer to the text as given
        holds = session.value(expression)
        if not isinstance(holds, bool):
            raise InputError(f"`{args.condition}` has a value per warp, bank or lane; use any(...), all(...) or an index")
        if args.at:
            failed = end if holds else None
        else:
            session.goto("start")
            stop = None if session.value(expression) else session.run_until(expression)
            failed = session.cycle if stop is None or stop.reason == "condition" else None
        first = end if args.at else session.timeline.first
    data = {"condition": args.condition, "holds": failed is None, "first": first, "last": end, "failed_at": failed}
    where = f"at cycle {end:,}" if args.at else f"in cycles {first:,} to {end:,}"
    again = f"{options.command_of('replay' if options.is_session(args.target) else 'debug', args)} --goto {failed}"
    text = f"holds {where}: {args.condition}" if failed is None else (
        f"fails at cycle {failed:,}: {args.condition}\nsee: {again}")
    query.answer(args, text, data)
    return 0 if failed is None else FAILED
