"""Opens what a launch request names: a recording, a launch file, a bundled kernel, or, as `rfview debug` does, a program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rfview.dap.arguments import Arguments
from rfview.engine.errors import InputError
from rfview.engine.progress import Progress
from rfview.sessions.targets import open_session

if TYPE_CHECKING:
    from rfview.sessions.session import Session


def opened(arguments: Arguments, report: Progress) -> Session:
    """Open the session of a launch request; raises InputError."""
    from rfview.commands import programs    # imported when needed: the adapter has answered by then

    program = arguments.text("program", "")
    if not program:
        raise InputError('launch: "program" is missing: a session file, a launch file, a bundled kernel\'s name, '
                         "FILE.cu::KERNEL or a CUDA program")
    options = _machine_options(arguments)
    if "args" in arguments or "launch" in arguments or "::" in program or programs.starts_program([program]):
        return _as_typed(arguments, program, options, report)
    return open_session(program, progress=report, **options)


def _as_typed(arguments: Arguments, program: str, machine: dict[str, Any], report: Progress) -> Session:
    """Open a program's launch, or a kernel with its arguments, as `rfview debug` with these words does."""
    from rfview import cli      # which imports this module's package when it runs the adapter
    from rfview.commands import options, programs
    from rfview.commands.rerun import Rerun
    from rfview.launching import words

    typed = [word for name in ("design", "scheduler", "preset") if name in machine for word in (f"--{name}", machine[name])]
    typed += [word for name, value in machine.get("settings", {}).items() for word in ("--set", f"{name}={value}")]
    typed += ["--launch", arguments.text("launch")] if "launch" in arguments else []
    try:
        _, args = cli.parsed("debug", [*typed, program, *arguments.texts("args")])
    except SystemExit:
        raise InputError("launch: args: --help is not an argument of a kernel") from None
    args.max_cycles = machine.get("max_cycles", args.max_cycles)
    options.check_names(options.machine_of(args))
    if programs.is_program(args):
        programs.check_core(args)
        origin: words.Again = Rerun(args)
    else:
        origin = words.Again(args)
    session = open_session(str(origin.launch_file(report=report)), progress=report, **options.machine_of(args))
    session.origin = origin
    return session


def _machine_options(arguments: Arguments) -> dict[str, Any]:
    """Return the machine requested by a launch, as keyword arguments of open_session."""
    options: dict[str, Any] = {name: arguments.text(name) for name in ("design", "scheduler", "preset") if name in arguments}
    if "max_cycles" in arguments:
        options["max_cycles"] = arguments.number("max_cycles")
        if options["max_cycles"] < 1:
            raise InputError("launch: max_cycles: expected a whole number of at least 1")
    if "settings" in arguments:
        options["settings"] = arguments.settings("settings")
    return options
