"""`rfview compare A B ...`: recorded or new runs side by side, on the screen or as text."""

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
    from rfview.engine.progress import Progress
    from rfview.engine.simulator import Simulator
    from rfview.sessions.timeline.base import Timeline

POINTS = 10


def is_meant(targets: list[str]) -> bool:
    """Return whether the targets mean runs side by side rather than the table of designs."""
    return len(targets) > 1 or any(options.is_session(target) or "@" in target for target in targets)


def run(args: argparse.Namespace) -> int:
    """Open every target, recording those that are not recordings, and show or print the comparison."""
    from rfview import keymap
    from rfview.sessions.timeline.base import Timeline      # start-up: imports NumPy

    check(args)
    own_keys = keymap.load()
    if len(args.targets) < 2:
        raise InputError(f"{args.targets[0]}: name a second run to compare it with: another session file, or "
                         "KERNEL@DESIGN to run it now")
    with ExitStack() as stack:
        shared = fair_settings(args)

        def made(show: Progress) -> list[Timeline]:
            runs = [prepared(target, args, stack, shared, show) for target in args.targets]
            check_programs(args.targets, runs)
            return [one if isinstance(one, Timeline) else record_now(target, one, stack, show)
                    for target, one in zip(args.targets, runs, strict=True)]

        if screen.is_page() and not args.json:
            from rfview.screens import preparing

            timelines = preparing.prepared(made, f"COMPARE {' '.join(args.targets)}", ascii_only=streams.is_ascii())
        else:
            with progress.bar() as show:
                timelines = made(show)
        if screen.is_terminal() and not args.json:
            from rfview.screens.compare.app import run_compare

            return run_compare(timelines, list(args.targets), ascii_only=streams.is_ascii(), own_keys=own_keys)
        print(report(timelines, list(args.targets), as_json=args.json))
    return 0


def check(args: argparse.Namespace) -> None:
    """Raise InputError for unknown names, before anything is opened."""
    for target in args.targets:
        if not options.is_session(target):
            options.check_names(meant(target, args)[1])


def check_programs(targets: list[str], runs: list[Timeline | Simulator]) -> None:
    """Raise InputError if more than two runs, which are compared by instruction, have different programs."""
    from rfview.sessions.compare.comparison import program_difference

    for target, run in list(zip(targets, runs, strict=True))[1:] if len(runs) > 2 else ():
        if different := program_difference(runs[0].info, run.info):
            raise InputError(f"{targets[0]} and {target}: {different}; more than two runs are compared only if their "
                             "programs are the same, two programs by source line: name two of them")


def report(timelines: list[Timeline], targets: list[str], *, as_json: bool) -> str:
    """Return the comparison of two runs, or the table for more, as text or as one JSON object."""
    from rfview.sessions.compare import report, report_text
    from rfview.sessions.compare.runs import compared

    if len(timelines) > 2:
        data = report.multiples_data(timelines, targets, POINTS)
        return json.dumps(data) if as_json else report_text.multiples_text(data)
    with progress.bar() as show:
        text, data = compared(timelines[0], timelines[1], (targets[0], targets[1]), POINTS, show)
    return json.dumps(data) if as_json else text


def fair_settings(args: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Return by preset the settings that new runs on its core share, as in the table of designs (B0.9), and report them."""
    from rfview.engine.config import load_preset

    machines = [meant(target, args)[1] for target in args.targets if not options.is_session(target)]
    cores = {machine["preset"]: load_preset(machine["preset"]).core for machine in machines}
    shared: dict[str, dict[str, Any]] = {}
    notes: list[str] = []
    for preset, core in cores.items():
        designs = [machine["design"] for machine in machines if cores[machine["preset"]] == core]
        shared[preset], said = fair.shared_settings(designs, preset, options.settings_of(args.settings))
        notes += said
    options.warn(notes)
    return shared


def prepared(target: str, args: argparse.Namespace, stack: ExitStack, shared: Mapping[str, Mapping[str, Any]],
             show: Progress) -> Timeline | Simulator:
    """Open a session file, or set up KERNEL@DESIGN[:SCHEDULER] to be run; raises InputError if it cannot be."""
    from rfview.sessions.timeline.opening import open_recording

    if options.is_session(target):
        timeline = open_recording(Path(target))
        stack.callback(timeline.close)
        options.warn(timeline.warnings)
        return timeline
    name, given = meant(target, args)
    spec = options.load_target(name)
    from rfview.engine.config import load_preset
    from rfview.engine.plugin import build
    from rfview.engine.simulator import Simulator

    chain = set(build(given["design"], {}, "").chain)
    sections = load_preset(given["preset"]).sections | chain
    settings = {**shared[given["preset"]], **{key: value for key, value in options.given_settings(args).items()
                                              if key.split(".")[0] in sections}}
    return Simulator(spec, settings=settings, max_cycles=args.max_cycles, progress=show, **given)


def kernel_of(target: str) -> str:
    """Return the kernel named by KERNEL[@DESIGN[:SCHEDULER[:PRESET]]]."""
    return target.rpartition("@")[0] or target


def meant(target: str, args: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    """Return the kernel, or the launch file of a user's own, and the machine of KERNEL[@DESIGN[:SCHEDULER[:PRESET]]]."""
    kernel = kernel_of(target)
    design, colon, machine_words = target[len(kernel) + 1 :].partition(":")
    scheduler, _, preset = machine_words.partition(":")
    if colon and not scheduler and not preset:
        raise InputError(f"{target}: expected KERNEL@DESIGN:SCHEDULER, for example gemm@stt:lrr, or KERNEL@DESIGN::PRESET, "
                         "for example gemm@sram::ampere")
    machine = {"design": design or defaults.DESIGN, "scheduler": scheduler or defaults.SCHEDULER,
               "preset": preset or args.preset}
    return args.launch_files.get(kernel, kernel), machine


def record_now(target: str, simulator: Simulator, stack: ExitStack, show: Progress) -> Timeline:
    """Run a prepared simulator to its end into a temporary recording, and open that."""
    from rfview.sessions.file.writer import record
    from rfview.sessions.timeline.opening import open_recording

    path = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rfview-compare-"))) / "run.rfs"
    record(simulator, path, progress=lambda cycle: show(None, f"running {target}: cycle {cycle:,}"), compiling=show)
    timeline = open_recording(path)
    stack.callback(timeline.close)
    options.warn(timeline.warnings)
    return timeline
