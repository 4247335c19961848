"""rfview: a time-travelling visual debugger for GPU register files; `rfview.open` is its public face.

    cli  commands/                 the command line; a module per subcommand
    app  screens/  widgets/        the terminal program; its screens; its panels
    render/                        what panels show, as lines: pure functions, no widget
    line_history  prompt_words     lines typed at the prompt, from one run to the next; what Tab makes of them
    actions  keys  keymap          what keys and the prompt can do; keys read one by one; your own keys
    messages  view                 between the session worker and the screen; how a recording was left
    palette  scales  graphics      colours by role; colours of values; whether the terminal shows pixels
    plain  sentences  dap/         a prompt instead of a screen; its sentences; the Debug Adapter Protocol
    glossary/  learn/              explanations of every term, and help topics; guided tours
    startup  command_line          commands done on opening; the command line that opens a view again
    streams  crash                 standard output and error, to which only text goes; what is said of our own defects
    ending                         signals that end the program
    charts  listing  manual        bar charts; lists of the command line; its manual page
    sweep/                         sweep files, and the datasets that they fill
    capture/                       unmodified programs: their launches run on the machine
    start/                         the start screen of plain `rfview`
    web/                           the screens in a browser: a server, its page
    launching/                     a kernel of one's own with arrays: `rfview.launch`, --arg
    engine/  sessions/             the machine; recordings and verbs (links to folders beside this one in a checkout)
"""

from __future__ import annotations

from rfview.engine import __version__

TYPE_CHECKING = False       # importing typing takes 10 ms, in which Ctrl-C would print a traceback: see __main__
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from rfview.launching.session import LaunchSession
    from rfview.sessions import Session
    from rfview.sessions.commands.verb import Answer
    from rfview.sessions.why import Chain

__all__ = ["__version__", "capture", "execute", "launch", "open", "why"]


def __getattr__(name: str) -> Any:
    """Import `rfview.capture`, a package that can be called, on first use."""
    if name == "capture":
        import rfview.capture

        return rfview.capture
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def open(target: str | Path, **options: Any) -> Session:
    """Open a recorded session (`f.rfs`), a launch file or a bundled kernel's name, and return its Session.

    options: design, scheduler, preset, settings, max_cycles; only for a launch file or a kernel. A recording is read
    without importing numba. `help` of what is returned lists its methods: step, back, goto, value, add_breakpoint, frame
    ...; `why` explains a warp's stall, `execute` runs any debugger command. Raises
    rfview.engine.errors.InputError for a target that cannot be opened.
    """
    from rfview.sessions import open_session

    return open_session(str(target), **options)


def why(session: Session, warp: int | None = None, cycle: int | None = None) -> Chain:
    """Return why a warp does not issue, down to the hardware that holds it up; `.text()` is for reading, `.links` for code.

    warp: None for the warp that has waited longest. cycle: None for the session's own. Raises
    rfview.engine.errors.InputError for a warp slot or cycle that does not exist.
    """
    from rfview.sessions.why import why as chain_of

    return chain_of(session, warp, cycle)


def execute(session: Session, line: str) -> Answer:
    """Run a debugger command, as at the `:` prompt: "stats start end", "fork b set hrf.write_cycles=2", "help".

    The answer's `.text` is for reading, `.data` plain data, `.session` the branch to go on with if the command went to
    another one. Raises rfview.engine.errors.InputError for an unknown command or wrong arguments.
    """
    from rfview.sessions.commands.table import execute as executed

    return executed(session, line)


def launch(kernel: Any, grid: int | Sequence[int], block: int | Sequence[int] | None,
           args: Sequence[Any] | Mapping[str, Any] = (), **options: Any) -> LaunchSession:
    """Launch a kernel with NumPy arrays and numbers, and return its session at cycle 0: step, run, back.

    kernel: PTX as text; FILE.ptx, FILE.cu or FILE.py followed by ::KERNEL; a numba-cuda or Triton kernel. block: None if
    the kernel fixes it. args: in order, or by name; None is a null pointer. options: entry, shared_bytes,
    compile_options; design, scheduler, preset, settings, max_cycles, progress.

    The arrays hold the results once the session first reaches the kernel's end (`session.run()`) or
    `session.results()` is called; it returns them by name. Raises rfview.engine.errors.InputError.
    """
    from rfview.launching.session import launch as launched

    return launched(kernel, grid, block, args, **options)
