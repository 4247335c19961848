"""The command line: picks the subcommand, imports only that one, and turns every error into a line and an exit code.

A design file with several mistakes gets a line for each.
"""

from __future__ import annotations

import argparse
import difflib
import gc
import importlib
import os
import shlex
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from rfview.engine.errors import RfviewError
from rfview.engine.escapes import visible
from rfview.engine.wording import shortened
from rfview import __version__, ending, streams

# heading -> name -> what it does; each is a module of rfview/commands with add_arguments(parser) and run(args) -> exit code
GROUPS: dict[str, dict[str, str]] = {
    "run a kernel and look at it": {
        "run": "run a kernel to its end, verify it and print a summary",
        "debug": "step through a kernel in the terminal, forwards and backwards",
        "replay": "open a recorded session in the terminal",
        "learn": "short guided tours: predict, step, and see",
        "kernels": "list the bundled kernels",
        "help": "explain a topic or any term of the screens, with its source",
    },
    "record a run and query it": {
        "record": "run a kernel and write a session file",
        "info": "show what a session file holds",
        "script": "run debugger commands over a kernel or session, without a screen",
        "assert": "check that a condition holds in every cycle, for continuous integration",
        "check": "look for races, uninitialised reads, wrong barriers and lane masks as a kernel runs",
        "lines": "show what each line of CUDA, Python or Triton costs: issues, stalls, register traffic",
        "relief": "try what would make a run end earlier, beside what comes by chance",
        "image": "show a buffer as a picture, as text or PNG; on edram next to the exact result",
        "export": "export a session to other tools: Konata, Perfetto, VCD, CSV, SQLite, Parquet",
    },
    "compare designs": {
        "compare": "run a kernel under many designs and schedulers, in one table",
        "sweep": "run many kernels on many machines and collect the results in one Parquet dataset",
        "designs": "list the register-file designs and their parameters; write and check one of your own",
        "reproduce": "check the papers' claims against tables and runs of the bundled kernels",
        "calibrate": "measure what each operation costs on a preset, next to its sources and another machine",
        "map": "racetrack memory: choose which register lies where, so that tapes shift less",
        "tlp": "racetrack memory: find the number of CTAs per SM that runs fastest",
    },
    "bring your own kernels": {
        "launches": "run an unmodified CUDA program, without a GPU, and list its kernel launches",
        "capture": "write one kernel launch of a CUDA program, with its data, as a launch file",
        "generate": "write a kernel with chosen register reuse, banks, memory and divergence",
    },
    "set up": {
        "serve": "serve the same screens to a browser, by default on this machine only",
        "mcp": "give an agent the debugger's commands as tools (Model Context Protocol)",
        "dap": "act as a debug adapter for an editor (Debug Adapter Protocol)",
        "warm": "compile the designs ahead of time",
        "completion": "print a completion script for your shell",
    },
}
COMMANDS = {name: what for commands in GROUPS.values() for name, what in commands.items()}
INTERRUPTED = 130   # 128 + SIGINT, as shells report it
BROKEN_PIPE = 141   # 128 + SIGPIPE
INTERNAL_ERROR = 70  # sysexits' EX_SOFTWARE


class UsageError(RfviewError):
    """An invalid command line (exit code 2)."""


# commands that open recordings, and so take --limit
READ_RECORDINGS = frozenset({"assert", "check", "compare", "dap", "debug", "export", "image", "info", "lines", "mcp",
                             "record", "relief", "replay", "script"})


class Parser(argparse.ArgumentParser):
    """An argument parser that raises UsageError and suggests the nearest known option or word."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        """Raise UsageError instead of printing the usage and exiting."""
        raise UsageError(f"{message} (see `{self.prog} --help`)")

    def refuse(self, unknown: Sequence[str], *, takes_program: bool = False) -> NoReturn:
        """Raise for arguments that are not options, with the nearest known option; say how to pass options to a program."""
        word = unknown[0]
        name = word.split("=")[0]
        if not word.startswith("-") or word == "-":
            self.error(f"unexpected argument {word!r}")
        known = [text for action in self._actions for text in action.option_strings]
        near = difflib.get_close_matches(name, known, n=1)
        mine = f"; if it is the program's: {self.prog} [OPTIONS] PROGRAM {name}" if takes_program else ""
        self.error(f"unknown option {name}" + (f"; did you mean {near[0]}?" if near else "") + mine)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 fine, 1 not verified, 2 bad input, 3 the kernel misbehaved."""
    # NumPy would start threads for matrix products, which rfview never computes; Textual would delay a frame by up to 16 ms
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("TEXTUAL_FPS", "200")
    # modules and machine code create many long-lived objects: frequent garbage collection would only slow the start
    gc.set_threshold(50_000, 10, 10)
    words = list(sys.argv[1:] if argv is None else argv)
    with streams.guarded(), ending.by_signals():
        return _guarded(words)


def _guarded(words: list[str]) -> int:
    """Run one command; turn every error into a line and an exit code."""
    try:
        code = _run(words)
        sys.stdout.flush()
        return code
    except RfviewError as error:
        return _fail(*_lines(str(error), words), code=error.exit_code)
    except KeyboardInterrupt as stop:
        exec("")    # Python notes an interrupt within exec, as of a dataclass, and would end itself by the signal at exit
        return _fail(f"interrupted{_notes(stop)}", code=INTERRUPTED)
    except ending.Ended as stop:
        return _fail(f"ended by a signal{_notes(stop)}", code=int(stop.code or 0))
    except BrokenPipeError:
        streams.give_up(sys.stdout)     # the reader of our output is gone
        return BROKEN_PIPE
    except OSError as error:
        where = f"{error.filename}: " if error.filename is not None else ""
        return _fail(*_lines(f"{where}{error.strerror or error}", words), code=2)
    except MemoryError:
        return _fail("out of memory", code=2)
    except Exception as error:
        if os.environ.get("RFVIEW_TRACEBACK"):
            raise
        package = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
        if package not in ("", "rfview"):
            return _fail(f"this Python ({sys.executable}) lacks the package {package}; pip install . in rfview's folder "
                         "installs all that it needs", code=2)
        from rfview import crash

        return _fail(crash.sentence(error), code=INTERNAL_ERROR)


def _lines(text: str, words: list[str]) -> list[str]:
    """Return an error's lines; a line break in a name or value of the command line is shown as an escape, and ends none."""
    pieces = {piece for word in words for piece in (word, word.partition("=")[2])}
    for part in {part for piece in pieces for part in piece.split(os.sep) if not part.isprintable()}:
        text = text.replace(part, visible(part))
    return text.splitlines()


def _run(words: list[str]) -> int:
    """Parse the words and run the command they name."""
    if not words:
        from rfview.commands import first

        return first.run(parsed)
    name, rest = words[0], words[1:]
    if name in ("-h", "--help"):
        print(overview())
        return 0
    if name in ("-V", "--version"):
        print(f"rfview {__version__}")
        return 0
    try:
        module, args = parsed(name, rest)
    except ending.Ended:
        raise
    except SystemExit as stop:   # --help has printed its text
        return int(stop.code or 0)
    if getattr(args, "limit", None) is not None:
        from rfview.sessions.codec.limits import set_limit      # start-up

        set_limit(args.limit, "--limit")
    return int(module.run(args))


def parsed(name: str, rest: list[str]) -> tuple[Any, argparse.Namespace]:
    """Return a command's module and its parsed arguments; raises UsageError, and SystemExit for --help."""
    if name not in COMMANDS:
        raise UsageError(_unknown(name))
    module = importlib.import_module(f"rfview.commands.{name}")
    parser = Parser(
        prog=f"rfview {name}", description=COMMANDS[name][0].upper() + COMMANDS[name][1:] + ".",
        epilog=getattr(module, "EPILOG", None), formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    declare(name, module, parser)
    takes_program = getattr(module, "TAKES_PROGRAM", False)
    if takes_program:       # other targets may stand before and after options
        from rfview.commands import programs

        own, program = programs.split(parser, rest)
        _no_empty_words(own)
        args, unknown = parser.parse_known_intermixed_args(own)
        args.program = program
    else:
        _no_empty_words(rest)
        args, unknown = parser.parse_known_args(rest)
    if unknown:
        if not takes_program and (refusal := _of_program(args)):
            raise UsageError(refusal)
        parser.refuse(unknown, takes_program=takes_program)
    return module, args


def _of_program(args: argparse.Namespace) -> str:
    """Return what to say of a program that is given to a command for kernels, "" if none is."""
    target = getattr(args, "target", None)
    if not isinstance(target, str):
        return ""
    from rfview.commands import options

    return options.not_a_kernel(target) if options.is_program(target) else ""


def _no_empty_words(words: list[str]) -> None:
    """Raise UsageError for an empty word, as a shell variable without a value leaves it; a program's own may be empty."""
    for at, word in enumerate(words):
        if not word:
            before = f" after {words[at - 1]}" if at else ""
            raise UsageError(f"the argument{before} is empty; is a shell variable not set?")


def declare(name: str, module: Any, parser: argparse.ArgumentParser) -> None:
    """Declare all options of a command."""
    module.add_arguments(parser)
    if name in READ_RECORDINGS:
        parser.add_argument("--limit", metavar="SIZE",
                            help="memory that reading a recording may use, such as 2GB (default 256MB)")


def overview() -> str:
    """Return the text of `rfview --help`."""
    width = max(map(len, COMMANDS))
    lines = [
        f"rfview {__version__}: a time-travelling visual debugger for GPU register files", "",
        "usage: rfview                    the start screen: recordings, lessons, kernels",
        "       rfview COMMAND [OPTIONS]", "",
        "begin with: rfview learn first   a guided tour of five minutes",
        "            rfview debug gemm    a kernel to step through; ? lists the keys",
    ]
    for heading, commands in GROUPS.items():
        lines += ["", heading, *(f"  {name:<{width}}  {what}" for name, what in commands.items())]
    lines += ["", "`rfview COMMAND --help` lists a command's options; `rfview help` has more topics."]
    return "\n".join(lines)


def _unknown(word: str) -> str:
    """Return an error message for a first word that is not a command, with what was probably meant."""
    if word.startswith("-"):
        return f"unknown option {word}; expected a command, --help or --version"
    near = difflib.get_close_matches(word, COMMANDS, n=1)
    if near:
        return f"unknown command {word!r}; did you mean {near[0]!r}?"
    if word.endswith(".rfs"):
        return f"unknown command {word!r}; to open a session: rfview replay {shlex.quote(word)}"
    if word.endswith((".toml", ".ptx")):
        return f"unknown command {word!r}; to run a launch file: rfview run {shlex.quote(word)}"
    return f"unknown command {word!r}; expected one of {', '.join(COMMANDS)}"


def _notes(stop: BaseException) -> str:
    """Return what was added to an interruption, such as which partial file it leaves."""
    return "".join(getattr(stop, "__notes__", ()))


def _fail(*texts: str, code: int) -> int:
    """Print each text as a line on stderr and return `code`."""
    try:
        sys.stdout.flush()
    except (RfviewError, OSError):
        streams.give_up(sys.stdout)     # otherwise Python would retry the buffered output at exit and change the exit code
    try:
        for text in texts:
            print(f"rfview: error: {shortened(' '.join(text.split()))}", file=sys.stderr)
        sys.stderr.flush()
    except (RfviewError, OSError):
        streams.give_up(sys.stderr)
    return code
