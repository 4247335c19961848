"""The result of a comparison as plain data: totals, the first divergence and its cause, the lag."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rfview.engine.errors import InputError
from rfview.sessions.compare import machines
from rfview.sessions.compare.comparison import Comparison, Divergence, Split
from rfview.sessions.compare.issues import Issue, IssueLog
from rfview.sessions.compare.values import ValueDifference
from rfview.sessions.energy import assumed_of, counts_of, energy_at, node_of
from rfview.sessions.file.run_info import End
from rfview.sessions.session import Session
from rfview.sessions.timeline.base import Timeline
from rfview.sessions.why import why

if TYPE_CHECKING:
    from rfview.engine.info import RunInfo

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def instruction_text(info: RunInfo, pc: int) -> str:
    """Return an instruction with its place in the source."""
    entry = info.program[pc]
    path = info.ptx[0].path
    return f"{' '.join(entry.text.split())}  {path}:{entry.line}"


def stall_counts(timeline: Timeline) -> dict[str, int]:
    """Return the warp-cycles of a timeline by state."""
    totals = timeline.stall_totals(timeline.last)
    return {name: int(totals[code]) for code, name in timeline.info.stall_names.items() if totals[code]}


def run_data(timeline: Timeline, target: str, letter: str) -> dict[str, Any]:
    """Return one run's totals."""
    info = timeline.info
    stalls = stall_counts(timeline)
    issued = stalls.pop("issued", 0)
    end = timeline.end or End()
    snapshot = timeline.at(timeline.last)
    try:
        energy = (energy_at(snapshot) or {}).get("total")
    except InputError:
        energy = None       # its design is not installed here; everything else is in the recording
    return {
        "run": letter, "target": target, "kernel": info.kernel, "design": info.design,
        "scheduler": info.scheduler, "preset": info.preset, "cycles": timeline.last, "first_cycle": timeline.first,
        "finished": timeline.closed and timeline.fault is None if end.finished is None else end.finished,
        "fault": timeline.fault,
        "instructions": issued, "ipc": issued / timeline.last if timeline.last else 0.0,
        "warp_cycles": issued + sum(stalls.values()), "stalls": stalls, "energy_pj": energy,
        "node_nm": node_of(info), "energy_assumed": list(assumed_of(info)),
        "verified": end.verified,
        "counts": counts_of(info, snapshot.sm["events"].tolist(), snapshot.sm["access_wait"].tolist()),
    }


def parameter_differences(a: RunInfo, b: RunInfo) -> dict[str, list[Any]]:
    """Return name -> [A's value, B's value] of the parameters that differ; None if a run has no such parameter."""
    ours, theirs = a.parameters, b.parameters
    return {name: [ours.get(name), theirs.get(name)] for name in sorted({*ours, *theirs})
            if ours.get(name) != theirs.get(name)}


def cause(timeline: Timeline, divergence: Divergence) -> dict[str, Any]:
    """Return why the late run's warp did not issue in the cycle of the divergence: its state, and the chain of `why`.

    resource: at which the chain ends, None if no warp waits for one. relief: settings that would remove its delay.
    """
    if divergence.state is None or divergence.slot is None:
        return {"state": None, "text": "its CTA has not been dispatched yet", "chain": [], "resource": None, "relief": {}}
    chain = why(Session(timeline), divergence.slot, divergence.cycle + 1)
    links = [f"{'← ' if number else ''}{link.sentence}" for number, link in enumerate(chain.links)]
    resource = chain.resource
    return {"state": chain.state, "text": chain.state, "slot": divergence.slot, "chain": links,
            "resource": resource.name if resource is not None else None,
            "relief": dict(resource.relief) if resource is not None else {}}


def issue_data(issue: Issue | None) -> dict[str, int] | None:
    """Return an issue as data."""
    return None if issue is None else issue._asdict()


def divergence_data(comparison: Comparison, divergence: Divergence | None) -> dict[str, Any] | None:
    """Return the first divergence with its cause as data; None if there is none."""
    if divergence is None:
        return None
    late = comparison.b if divergence.late == "B" else comparison.a
    pc = (divergence.a or divergence.b).pc if divergence.a or divergence.b else 0  # type: ignore[union-attr]
    return {
        "cycle": divergence.cycle, "launch": divergence.name.launch, "warp": divergence.name.warp, "n": divergence.n,
        "pc": pc, "instruction": instruction_text(late.info, pc), "a": issue_data(divergence.a),
        "b": issue_data(divergence.b), "late": divergence.late, "cause": cause(late, divergence),
    }


def split_data(split: Split | None) -> dict[str, Any] | None:
    """Return the first difference of paths as data."""
    return None if split is None else {"launch": split.name.launch, "warp": split.name.warp, "n": split.n,
                                       "a": issue_data(split.a), "b": issue_data(split.b)}


def value_data(difference: ValueDifference | None) -> dict[str, Any] | None:
    """Return the first difference of values as data."""
    return None if difference is None else dict(vars(difference))


def compare_data(comparison: Comparison, targets: tuple[str, str] = ("A", "B"), points: int = 10) -> dict[str, Any]:
    """Return everything that `rfview compare A.rfs B.rfs --json` prints."""
    a, b = comparison.a, comparison.b
    return {
        "runs": [run_data(a, targets[0], "A"), run_data(b, targets[1], "B")],
        "machines_differ_in": machines.differences([a.info, b.info]),
        "parameters": parameter_differences(a.info, b.info),
        "memory_equal": comparison.memory_equal(),
        "first_divergence": divergence_data(comparison, comparison.first_divergence()),
        "first_path_difference": split_data(comparison.first_path_difference()),
        "first_value_difference": value_data(comparison.first_value_difference()),
        "common_instructions": comparison.common,
        "lead": [{"instructions": lead.count, "cycle_a": lead.cycle_a, "cycle_b": lead.cycle_b, "lag": lead.lag}
                 for lead in comparison.lead(points)],
        "notes": comparison.notes,
    }


def multiples_data(timelines: list[Timeline], targets: list[str], points: int = 10) -> dict[str, Any]:
    """Return the totals of several runs of one program, and the cycles at which each had issued equal shares of it."""
    logs = [IssueLog(timeline) for timeline in timelines]
    common = min(log.total for log in logs)
    counts = sorted({-(-common * part // points) for part in range(1, points + 1)} - {0})
    return {
        "runs": [run_data(timeline, target, LETTERS[index % 26]) for index, (timeline, target)
                 in enumerate(zip(timelines, targets, strict=True))],
        "machines_differ_in": machines.differences([timeline.info for timeline in timelines]),
        "common_instructions": common,
        "lead": [{"instructions": count, "cycles": [log.cycle_of(count) for log in logs]} for count in counts],
    }
