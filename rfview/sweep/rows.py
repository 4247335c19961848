"""Run a job of a sweep in a worker, and turn its outcome into a row of the dataset."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from rfview.engine.batch import Done, Job, keys, run_job, simulator_of
from rfview.engine.errors import InputError
from rfview.engine.plugin import nodes
from rfview.engine.plugin.assumed import assumed_entries
from rfview import __version__
from rfview.sessions.reports.held import costs_of
from rfview.sessions.session import Session
from rfview.sessions.summary.floors import all_floors
from rfview.sessions.timeline.live import LiveTimeline
from rfview.sweep.columns import BY_NAME
from rfview.sweep.plan import Planned

Row = dict[str, Any]
SAME_NAME = ("registers_per_thread", "launches", "cycles", "warp_instructions", "thread_instructions", "ipc", "warp_cycles",
             "issued", "war_stalls", "verified", "stalls", "counts", "spilled_words")
MESSAGE = 2000      # characters kept of a message
OK, WRONG, MISBEHAVED, FAILED = "ok", "wrong", "misbehaved", "failed"


def do(planned: Planned) -> dict[str, Any] | None:
    """Run a job and return the run's part of its row, None if this process reads other files than were planned.

    Raises InputError if it cannot run.
    """
    if not _as_planned(planned):
        keys.forget()       # a file may change during the life of a cluster's worker
        if not _as_planned(planned):
            return None
    result = run_job(planned.job)
    wrong = "; ".join(mismatch["text"] for mismatch in result["mismatches"])
    energy, shape = result["energy_pj"], result["shape"]
    ends = [result["cycles"], *result["nudged"]]
    return {
        "nudges": len(result["nudged"]), "cycles_lowest": min(ends) if result["nudged"] else None,
        "cycles_highest": max(ends) if result["nudged"] else None,
        **{name: result[name] for name in SAME_NAME}, **_limits(result),
        **(_causes(planned.job) if planned.causes and not result["misbehaved"] else {}),
        "energy_pj": energy["total"],
        **{f"energy_{part}_pj": energy[part] for part in ("dynamic", "leakage", "refresh")},
        "node_nm": nodes.node_nm(shape["chain"], shape["values"], result["preset"]),
        "energy_assumed": ", ".join(assumed_entries(shape["chain"], shape["machine"].get("sm.core", "collector"))),
        "outcome": MISBEHAVED if result["misbehaved"] else WRONG if result["verified"] is False else OK,
        "message": (result["misbehaved"] or wrong)[:MESSAGE],
    }


def _limits(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return what limits a run, from counts alone: its highest floor, and what its accesses of memory send."""
    counts, shape, machine = result["counts"], result["shape"], result["shape"]["machine"]
    config = {name.partition(".")[2]: value for name, value in machine.items() if isinstance(value, int)}
    config["bytes_per_cycle_x256"] = round(float(machine["memory.bytes_per_cycle"]) * 256)
    top = all_floors(tuple(shape["chain"]), counts, {**machine, **shape["values"]}, config, result["cycles"])[0]
    accesses = counts.get("global_loads", 0) + counts.get("global_stores", 0)
    shared = counts.get("shared_accesses", 0)
    return {"limit": top.unit, "limit_cycles": top.cycles,
            "lines_per_access": counts.get("transactions", 0) / accesses if accesses else None,
            "passes_per_access": counts.get("shared_passes", 0) / shared if shared else None}


def _causes(job: Job) -> dict[str, Any]:
    """Return the line that held up most of the lost warp-cycles, and its share, from a second run of a job."""
    session = Session(LiveTimeline(simulator_of(job)))      # a journal of the run: it is not needed without the causes
    timeline = session.timeline
    timeline.run_to_end(None, "sweep")
    costs, resident = costs_of(session, timeline.first, timeline.last)
    place, cost = max(costs, key=lambda pair: pair[1].causes)
    return {"causes_line": place, "causes_share": cost.causes / max(1, resident)}


def _as_planned(planned: Planned) -> bool:
    """Return whether the files that a job reads are, as seen by this process, those it was planned with."""
    try:
        return keys.stamp_of(planned.job) == planned.stamp
    except InputError:
        return False


def row_of(done: Done) -> Row:
    """Return the row of an outcome. Raises InputError if the worker's files or engine differ from ours."""
    planned: Planned = done.item
    if not done.error and done.result is None:
        raise InputError(f"{planned.job.path}: this file, its module or arrays, the design {planned.design}, or rfview "
                         "itself has changed since the sweep began, or differs on the worker's machine; start it again")
    result: Mapping[str, Any] = done.result or {"outcome": FAILED, "message": _sentence(done)}
    row = dict.fromkeys(BY_NAME) | dict(result)
    row |= {"key": planned.key, "kernel": planned.job.kernel, "launch": planned.job.path, "design": planned.design,
            "scheduler": planned.job.scheduler, "preset": planned.job.preset, "max_cycles": planned.job.max_cycles,
            "level": None if planned.level is None else {name: text_of(value) for name, value in planned.level},
            "settings": {name: text_of(value) for name, value in planned.given}, "seconds": done.seconds,
            "engine": keys.engine_hash(), "version": __version__, "finished": datetime.now(UTC)}
    return row


def _sentence(done: Done) -> str:
    """Return why a job has no result; for a defect of rfview the error's line and its place."""
    if done.is_input:
        return done.error[:MESSAGE]
    return f"internal error: {' | '.join(done.error.strip().splitlines()[-3:])}"[:MESSAGE]


def text_of(value: Any) -> str:
    """Return a parameter's value as stored in the dataset: as it is written in the sweep file."""
    return str(value).lower() if isinstance(value, bool) else str(value)
