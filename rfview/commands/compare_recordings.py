"""`rfview compare A B ...`: recorded or new runs of one program side by side, on the screen or as text."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rfview.engine import defaults
from rfview.engine.errors import InputError
from rfview import streams
from rfview.commands import fair, options, progress, screen

if TYPE_CHECKING:
    from rfview.sessions.timeline.base import Timeline

POINTS = 10


def is_meant(targets: list[str]) -> bool:
    """Return whether the targets mean runs side by side rather than the table of designs."""
    return len(targets) > 1 or any(options.is_session(target) or "@" in target for target in targets)


def run(args: argparse.Namespace) -> int:
    """Open every target, recording those that are not recordings, and show or print the comparison."""
    from rfview import keymap

    check(args)
    own_keys = keymap.load()
    if len(args.targets) < 2:
        raise InputError(f"{args.targets[0]}: name a second run to compare it with: another session file, or "
                         "KERNEL@DESIGN to run it now")
    with ExitStack() as stack:
        shared = fair_settings(args)
        timelines = [open_run(target, args, stack, shared) for target in args.targets]
        if screen.is_terminal() and not args.json:
            from rfview.screens.compare.app import run_compare

            return run_compare(timelines, list(args.targets), ascii_only=streams.is_ascii(), own_keys=own_keys)
        print(report(timelines, list(args.targets), as_json=args.json))
    return 0


def check(args: argparse.Namespace) -> None:
    """Raise InputError for errors that are detectable before anything runs: unknown names, different kernels."""
    from rfview.engine.launch import load_launch_file

    kernels: dict[str, list[str | None]] = {}
    for target in args.targets:
        if not options.is_session(target):
            name, machine = meant(target, args)
            options.check_names(machine)
            kernels[target] = [launch.kernel for launch in load_launch_file(options.launch_path(name)).launches]
    first = next(iter(kernels), "")
    for target, names in kernels.items():
        if names != kernels[first] and all((*names, *kernels[first])):      # a launch file may omit the name
            raise InputError(f"{first} and {target} cannot be compared: their kernels differ")


def report(timelines: list[Timeline], targets: list[str], *, as_json: bool) -> str:
    """Return the comparison of two runs, or the table for more, as text or as one JSON object."""
    from rfview.sessions.compare import Comparison, report, report_text
    from rfview.sessions.compare.comparison import check_same_program

    for timeline in timelines[1:]:
        check_same_program(timelines[0], timeline)
    if len(timelines) > 2:
        data = report.multiples_data(timelines, targets, POINTS)
        return json.dumps(data) if as_json else report_text.multiples_text(data)
    with progress.bar() as show:
        comparison = Comparison(timelines[0], timelines[1], show)
        data = report.compare_data(comparison, (targets[0], targets[1]), POINTS)
    return json.dumps(data) if as_json else report_text.compare_text(data, timelines[0].info)


def fair_settings(args: argparse.Namespace) -> dict[str, Any]:
    """Return the settings shared by all new runs, as in the table of designs (B0.9), and report them."""
    designs = [target.rpartition("@")[2].partition(":")[0] if "@" in target else defaults.DESIGN
               for target in args.targets if not options.is_session(target)]
    if not designs:
        return {}
    shared, notes = fair.shared_settings([design or defaults.DESIGN for design in designs], args.preset,
                                         options.settings_of(args.settings))
    options.warn(notes)
    return shared


def open_run(target: str, args: argparse.Namespace, stack: ExitStack, shared: Mapping[str, Any]) -> Timeline:
    """Open a session file, or record KERNEL@DESIGN[:SCHEDULER] into a temporary one."""
    from rfview.sessions.timeline.opening import open_recording

    if options.is_session(target):
        path = Path(target)
    else:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="rfview-compare-"))
        path = record_now(target, args, Path(folder) / "run.rfs", shared)
    timeline = open_recording(path)
    stack.callback(timeline.close)
    options.warn(timeline.warnings)
    return timeline


def kernel_of(target: str) -> str:
    """Return the kernel named by KERNEL[@DESIGN[:SCHEDULER]]."""
    return target.rpartition("@")[0] or target


def meant(target: str, args: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    """Return the kernel, or the launch file of a user's own, and the machine meant by KERNEL[@DESIGN[:SCHEDULER]]."""
    kernel = kernel_of(target)
    design, colon, scheduler = target[len(kernel) + 1 :].partition(":")
    if colon and not scheduler:
        raise InputError(f"{target}: expected KERNEL@DESIGN:SCHEDULER, for example gemm@stt:lrr")
    machine = {"design": design or defaults.DESIGN, "scheduler": scheduler or defaults.SCHEDULER, "preset": args.preset}
    return args.launch_files.get(kernel, kernel), machine


def record_now(target: str, args: argparse.Namespace, path: Path, shared: Mapping[str, Any]) -> Path:
    """Run and record a kernel with the design that the target names; raises InputError if it cannot be run."""
    name, given = meant(target, args)
    spec = options.load_target(name)
    from rfview.engine.config import load_preset
    from rfview.engine.plugin import build
    from rfview.engine.simulator import Simulator
    from rfview.sessions.file.writer import record

    chain = set(build(given["design"], {}, "").chain)
    sections = load_preset(given["preset"]).sections | chain
    given_settings = options.given_settings(args)
    settings = {**shared, **{key: value for key, value in given_settings.items() if key.split(".")[0] in sections}}
    with progress.bar() as show:
        simulator = Simulator(spec, settings=settings, max_cycles=args.max_cycles, progress=show, **given)
        record(simulator, path, progress=lambda cycle: show(None, f"running {target}: cycle {cycle:,}"),
               compiling=show)
    return path
