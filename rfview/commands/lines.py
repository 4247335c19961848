"""`rfview lines`: what each line of CUDA C, Python or Triton waits, what waiting it causes, and how it accesses memory."""

from __future__ import annotations

import argparse
from dataclasses import replace

from rfview.commands import options, query
from rfview.engine.errors import InputError
from rfview.launching import words

EPILOG = """examples:
  nvcc -lineinfo -ptx app.cu && rfview lines app.toml                a launch file's PTX
  nvcc -lineinfo app.cu -o app && rfview record ./app 64 && rfview lines app.rfs    a program's
  rfview lines run.rfs --first 10,000 --last 20,000 --top 10
  rfview lines gemm --ptx --design stt
Shares are of the warp-cycles of resident warps. waits: lost before an instruction of the line. causes: the same
warp-cycles, each charged to the line of the instruction that holds the waiting one up (`rfview help causes`): both
columns have one sum, but for what no instruction holds up. per access: cache lines of 128 bytes that its loads and
stores send (shared memory: passes), and the ideal for the bytes they ask for. refused: cycles that its instructions
waited for an operand that the register file refused. --json also has issued, stalled by reason, register traffic, and
who holds whom. An inlined instruction belongs to the innermost line in a file in the kernel's own folder. `break
FILE:LINE`, `next-line` and the LINES panel go to lines."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    query.add_arguments(parser)
    parser.add_argument("--first", metavar="PLACE", help="first cycle: a number, N%% or @MARK (default: the start)")
    parser.add_argument("--last", metavar="PLACE", help="last cycle, likewise (default: the end)")
    parser.add_argument("--top", type=int, metavar="N", help="only the N lines that cause most waiting, the first first")
    parser.add_argument("--ptx", action="store_true", help="count by PTX line instead of source line")


@words.takes_kernels
def run(args: argparse.Namespace) -> int:
    """Print the table; a kernel is first run to its end, or to the end of the range."""
    from rfview.sessions.lines.report import as_text, hottest, line_report

    if args.top is not None and args.top < 1:
        raise InputError(f"--top {args.top}: expected at least 1")
    with options.open_target(args) as session:
        if not args.ptx and not session.lines:
            raise InputError(f"{args.target}: the program has no source lines; compile with nvcc -lineinfo "
                             "(numba-cuda: lineinfo=True), or take --ptx for lines of its PTX or listing")
        session.goto(args.last if args.last is not None else "end")
        report = line_report(session, args.first, ptx=args.ptx)
        fault = session.timeline.fault
    if args.top is not None:
        report = replace(report, lines=tuple(hottest(report, args.top)))
    query.answer(args, as_text(report), report.data())
    if fault:
        options.warn([f"the kernel was stopped: {fault}"])
    return 0
