"""`rfview script`: run debugger commands over a session file or a kernel, without a terminal."""

from __future__ import annotations

import argparse

from rfview.commands import options, progress
from rfview.launching import words

PATIENCE_S = 1.0      # a command that takes longer reports its progress on stderr
EPILOG = """examples:
  rfview script run.rfs -c "goto 50%; print warp[3].pc; info stalls"
  rfview script gemm --design stt -c "until warp[0].state == stt_write; when"
`rfview help commands` lists the commands, `rfview help expressions` what can be printed and waited for"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    options.add_openable(parser)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("-x", "--file", metavar="FILE", help="a file of commands, or - for standard input")
    what.add_argument("-c", "--command", metavar="COMMANDS", help="commands separated by ;")
    parser.add_argument("--json", action="store_true", help="print one JSON object per command instead of text")
    options.add_machine(parser)
    words.add_arguments(parser)


@words.takes_kernels
def run(args: argparse.Namespace) -> int:
    """Run the commands in order; the first failure ends the script with its error."""
    from rfview.sessions.commands.script import read_commands, run_lines     # start-up

    text = args.command if args.command is not None else read_commands(args.file)

    with options.open_target(args) as session, progress.bar(PATIENCE_S) as report:
        session.compiling = report
        session.progress = lambda cycle: report(None, f"at cycle {cycle:,}")
        return run_lines(session, text, json=args.json, answered=report.close)
