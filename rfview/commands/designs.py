"""`rfview designs`: list the register-file designs or a design's parameters; create and check your own design file."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from textwrap import wrap
from typing import Any

from rfview.engine import IMPORT_ROOT
from rfview.engine.errors import InputError
from rfview.engine.plugin import on_subcore
from rfview.commands import options, progress
from rfview.listing import columns

PATIENCE_S = 900        # a check compiles a machine and runs it twelve times
MOST_TRIED = 100_000    # cycles of a run in which the functions for views and reports are tried
INSIDE = "RFVIEW_CHECKING"      # set in the process that runs the check


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("name", nargs="?", metavar="NAME|FILE.py",
                        help="a design, or a design file, for its parameters (default: list all)")
    parser.add_argument("--new", metavar="FILE.py", help="write a working design file to start from (`rfview help design`)")
    parser.add_argument("--check", action="store_true",
                        help="run three bundled kernels under every scheduler and compare with sram, bit for bit")
    parser.add_argument("--seconds", type=options.positive, default=PATIENCE_S, metavar="S",
                        help=f"give up on a check after this long (default {PATIENCE_S})")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def run(args: argparse.Namespace) -> int:
    """Print the list of designs or the parameters of one, write a design file, or check a design."""
    from rfview.engine import plugin as designs

    if args.new:
        name = designs.files.write_new(args.new)
        print(f"{args.new}: the design {name}; change it, then: rfview designs {args.new} --check\n"
              f"and: rfview debug vectoradd --design {shlex.quote(_as_path(args.new))}")
        return 0
    if args.check:
        return check_apart(args.name or "", args.seconds)
    if args.name is None:
        rows = [facts_of(designs.design(name)) for name in designs.names()]
        print(json.dumps(rows) if args.json else list_text(rows))
    else:
        facts = facts_of(designs.design(designs.parse_variant(args.name)[0]))
        called = args.name.partition("[")[0].strip()
        called = _as_path(called) if designs.files.is_file(called) else called
        print(json.dumps(facts) if args.json else design_text(facts, called))
    return 0


def _as_path(text: str) -> str:
    """Return a path in a form that cannot be mistaken for a name."""
    return text if os.sep in text else f".{os.sep}{text}"


def check_apart(variant: str, seconds: int) -> int:
    """Check a design in a separate process, which is stopped after `seconds`; return its exit code."""
    if not variant:
        raise InputError("designs --check: name a design or a design file, as in: rfview designs ./my_rf.py --check")
    if os.environ.get(INSIDE):
        return check(variant)
    words = [sys.executable, "-m", "rfview", "designs", variant, "--check"]
    before = os.environ.get("PYTHONPATH")
    path = os.pathsep.join(filter(None, (IMPORT_ROOT, before)))
    try:
        environment = {**os.environ, INSIDE: "1", "PYTHONPATH": path}
        return subprocess.run(words, env=environment, timeout=seconds, check=False).returncode
    except subprocess.TimeoutExpired:
        raise InputError(f"designs --check: {variant} did not end within {seconds} s; if none of its loops is endless, "
                         "--seconds S waits longer") from None


def check(variant: str) -> int:
    """Run the check's kernels on a design, then print what views and reports cannot show; return 1 if something failed."""
    from rfview.engine import plugin as designs
    from rfview.engine.plugin import check_design
    from rfview.render import lens

    wrong = 0
    with progress.bar() as bar:
        for run in check_design.check(variant, progress=bar):
            bar.close()
            ratio = f"{run.cycles / run.sram_cycles:5.2f} of sram's"
            print(f"{run.kernel:<12} {run.scheduler:<16} {run.cycles:>9,} cycles  {ratio}  {run.verdict}", flush=True)
            wrong += run.verdict != check_design.FINE
    problem = lens.problem_of(designs.parse_variant(variant)[0])
    slips = [*([problem] if problem else []), *track_slips(variant), *host_slips(variant)]
    for mistake in slips:
        print(mistake)
    return 1 if wrong or slips else 0


def track_slips(variant: str) -> list[str]:
    """Return what is wrong with the expressions that TIMELINE is to show of a design; elsewhere they are left out."""
    from rfview.engine import plugin as designs
    from rfview.sessions import open_session

    slips = []
    for name, expression, _ in designs.design(designs.parse_variant(variant)[0]).tracks:
        try:
            open_session("vectoradd", design=variant).expression(expression).check_single()
        except InputError as error:
            slips.append(f"track {name!r}: {error}")
    return slips


def host_slips(variant: str) -> list[str]:
    """Return what is wrong with the functions that only reports and views call, each once.

    These are area_mm2, node_nm, energy, floors, lifts, render and why, tried halfway through two runs, and at the first
    stall of every reason of the register file in them.
    """
    from rfview.engine.plugin import plain_trial
    from rfview.sessions import open_session

    slips: dict[str, None] = {}
    for kernel, scheduler, _ in plain_trial.RUNS:
        session = open_session(kernel, design=variant, scheduler=scheduler, max_cycles=MOST_TRIED)
        session.goto("end")
        totals = session.snapshot().sm["stall_total"]
        session.goto("50%")
        slips |= dict.fromkeys(_slips_here(session))
        for stall in session.info.stalls:
            if stall.family == "register_file" and totals[stall.code]:
                session.goto(session.timeline.first)
                session.next_event(stall.name)
                slips |= dict.fromkeys(_slips_here(session))
    return list(slips)


def _slips_here(session: Any) -> Iterator[str]:
    """Yield what goes wrong in the functions that reports and views call at a session's cycle."""
    from rfview.engine.papers import places
    from rfview.engine.plugin import nodes
    from rfview.render import lens
    from rfview.sessions.machine import Machine
    from rfview.render.scene import Scene
    from rfview.sessions import energy
    from rfview.sessions.summary import lifts, summarise
    from rfview.sessions.why import why

    spec, shown = session.info.design_spec, session.snapshot()
    facts = spec.chain, spec.values, session.info.preset
    scene = Scene(now=Machine.of(shown), info=session.info)
    painter = lens.painter_of(spec.chain[0]) or lens.render
    calls: list[Callable[[], object]] = [
        lambda: places.area_mm2(*facts), lambda: nodes.node_nm(*facts), lambda: _require_positive(energy.energy_at(shown)),
        lambda: lifts.check(summarise.facts_of(session)),
        lambda: painter(scene, lens.WIDE, 18), lambda: painter(scene, 24, 4)]
    for call in calls:
        try:
            call()
        except InputError as error:
            yield str(error)
    yield from filter(None, (why(session, warp).error for warp in range(session.info.num_warps)))


def _require_positive(energy: Mapping[str, float] | None) -> None:
    """Raise InputError if a part of an energy is negative: more was saved than used."""
    if negative := [name for name, pj in (energy or {}).items() if pj < 0]:
        raise InputError(f"energy: {' and '.join(negative)} negative; a saving lowers a part by at most what it is")


def facts_of(design: Any) -> dict[str, Any]:
    """Return the facts about a design as plain data."""
    return {
        "name": design.name, "title": design.title, "source": design.source,
        "on_subcore": on_subcore.meaning(design.name),
        "paper_scheduler": design.paper_scheduler, "paper_preset": design.paper_preset,
        "parameters": [
            {"name": p.name, "default": p.default, "unit": p.unit, "meaning": p.meaning, "source": p.source,
             "choices": list(p.choices), "low": p.low, "high": p.high}
            for p in design.parameters
        ],
    }


def list_text(rows: list[dict[str, Any]]) -> str:
    """Return name, title and source of each design."""
    lines = columns([(row["name"], f"{row['title']}  ({row['source']})") for row in rows])
    return f"{lines}\n\n`rfview designs {rows[-1]['name']}` lists its parameters"


def _values(parameter: dict[str, Any]) -> str:
    """Return a parameter's default and permitted values: "3 (1 to 12)", "on (off | on)"."""
    default, low, high = parameter["default"], parameter["low"], parameter["high"]
    if parameter["choices"]:
        return f"{default} ({' | '.join(parameter['choices'])})"
    if high is not None:
        return f"{default} ({low} to {high})"
    return f"{default} ({low} or more)" if low else str(default)


def design_text(facts: dict[str, Any], called: str) -> str:
    """Return a design's parameters as a table, and how to set one. called: the name or path given for it."""
    lines = [f"{facts['name']}: {facts['title']}", f"  {facts['source']}", ""]
    if facts["on_subcore"]:
        lines += [*wrap(f"on the sub-core (machine code): {facts['on_subcore']}. {on_subcore.NOTE}", 118,
                        initial_indent="  ", subsequent_indent="  "), ""]
    rows = [("parameter", "default", "unit", "meaning", "source")]
    rows += [(p["name"], _values(p), p["unit"], p["meaning"], p["source"])
             for p in facts["parameters"]]
    if len(rows) == 1:
        return "\n".join([*lines, "  no parameters of its own"])
    lines.append(columns([(*row[:3], f"{row[3]}  ({row[4]})") for row in rows], indent="  "))
    first = facts["parameters"][0]
    lines += ["", f"  set one with --design '{called}[{first['name']}={first['default']}]' or "
                  f"--set {facts['name']}.{first['name']}={first['default']}"]
    return "\n".join(lines)
