"""`rfview help TOPIC`: explain one thing on one screen; tables come from the code that uses them."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Callable

from engine.errors import InputError

LAUNCH = """\
A launch file brings a kernel: TOML beside its PTX. Paths are relative to the file.

  module = "saxpy.ptx"
  [[launch]]                      # one or more, run in order on the same memory
  kernel = "saxpy"                # may be left out where the module has one entry
  grid = [64, 1, 1]
  block = [256, 1, 1]
  shared_bytes = 0                # dynamic shared memory
  args = [{value = 16384}, {value = 2.0}, {buffer = "x"}, {buffer = "y"}]
                                  # also {buffer = "x", offset = 256}, {symbol = "t"}, {null = true}, {bytes = "0a0000"}
  [buffers.x]
  shape = [16384]
  dtype = "float32"
  random = {seed = 1, low = 0.0, high = 1.0}     # or zeros = true, value = 1.0, arange = true, or file = "x.npy"
  [buffers.y]
  file = "y.npy"
  [symbols.d_table]               # a .const or .global variable of the module
  file = "table.npy"
  [expect.y]                      # a buffer or symbol after the last launch; what `rfview run` verifies
  file = "y_expected.npy"
  rtol = 1e-6

PTX comes from any compiler: nvcc -ptx, numba.cuda.compile_ptx, Triton. Then: rfview run saxpy.toml"""

EXIT_CODES = """\
0    fine
1    the run ended, and a result is not the expected one
2    bad input: a file, option, expression or session that cannot be used
3    the kernel misbehaved: out-of-bounds or misaligned access, barrier deadlock, trap, cycle limit
70   a defect of rfview itself (RFVIEW_TRACEBACK=1 shows where)
130  interrupted"""

ENVIRONMENT = """\
RFVIEW_CACHE_DIR      folder for compiled designs (default: rfview in the user's cache folder)
RFVIEW_TRACEBACK      set: internal errors show where they happened
NUMBA_DISABLE_JIT     1: run the machine as plain Python, some hundred times slower
NO_COLOR              set: no colours, attributes and glyphs only"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("topic", nargs="?", metavar="TOPIC", help=f"one of {', '.join(TOPICS)}, or a command")


def run(args: argparse.Namespace) -> int:
    """Print the topic's text; without one, the overview and the topics."""
    from rfview import cli

    if args.topic is None:
        print(f"{cli.overview()}\n\ntopics: {', '.join(TOPICS)}   (rfview help TOPIC)")
    elif args.topic in TOPICS:
        print(TOPICS[args.topic]())
    elif args.topic in cli.COMMANDS:
        return cli.main([args.topic, "--help"])
    else:
        near = difflib.get_close_matches(args.topic, [*TOPICS, *cli.COMMANDS], n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"topics are {', '.join(TOPICS)}"
        raise InputError(f"help {args.topic}: no such topic; {hint}")
    return 0


def stalls_text() -> str:
    """Return the table of warp states."""
    from engine.stalls import STALLS

    lines = ["Every warp slot has one state in every cycle: issued, or the one reason why not.", ""]
    lines += [f"  {stall.glyph} {stall.ascii}  {stall.name:<17} {stall.sentence}" for stall in STALLS]
    return "\n".join(lines)


def keys_text() -> str:
    """Return the table of keys and commands that the screens use."""
    from rfview.actions import ACTIONS, CATEGORIES

    rows = [(action.category, "  ".join(action.keys).replace(" *", " _"), action.command, action.sentence)
            for action in ACTIONS]
    wide, wider = (max(len(row[column]) for row in rows) for column in (1, 2))
    lines = []
    for category in CATEGORIES:
        lines += [category, *(f"  {keys:<{wide}}  {command:<{wider}}  {sentence}"
                              for of, keys, command, sentence in rows if of == category), ""]
    return "\n".join([*lines, "Digits before a key are a count; the commands are the same behind `:`."])


def commands_text() -> str:
    """Return the table of debugger commands, the same in scripts and behind `:`."""
    from sessions import script

    return script.help_text()


def expressions_text() -> str:
    """Return what conditions and prints can name, as the expression compiler itself says it."""
    from sessions import expressions

    return (expressions.__doc__ or "").strip()


def schedulers_text() -> str:
    """Return the warp schedulers."""
    return (
        "lrr              loose round robin: the next ready warp after the last one that issued\n"
        "gto              greedy then oldest: the same warp until it stalls, then the oldest ready one (default)\n"
        "two_level        a small active set of warps, the rest wait for memory outside it\n"
        "switch_on_stall  one warp runs until it needs a pending long-latency result, then the next ready one\n"
        "paper            the design's own"
    )


TOPICS: dict[str, Callable[[], str]] = {
    "launch": lambda: LAUNCH,
    "keys": keys_text,
    "commands": commands_text,
    "expressions": expressions_text,
    "stalls": stalls_text,
    "schedulers": schedulers_text,
    "exit": lambda: EXIT_CODES,
    "environment": lambda: ENVIRONMENT,
}
