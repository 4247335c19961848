"""Computes what small multiples show of several runs from their timelines, in the worker's thread."""

from __future__ import annotations

from collections import Counter

import numpy as np

from rfview import crash
from rfview.engine.errors import InputError
from rfview.engine.progress import Progress
from rfview.engine.stalls import NO_STALL, NOT_WAITING
from rfview.render.lens import run_name
from rfview.render.multiples import Band, MultiplesPicture
from rfview.render.pair import CYCLE, INSTRUCTION, RunFacts
from rfview.sessions.compare import IssueLog, has_ended, machines, report
from rfview.sessions.compare.values import same_buffers
from rfview.sessions.energy import node_of
from rfview.sessions.expressions.ptx_names import kernel_name
from rfview.sessions.machine import Machine
from rfview.sessions.session import Session
from rfview.sessions.timeline.base import Timeline
from rfview.sessions.why import why

STRETCHES = 60             # of a band's issue rate
AT_EASE = (*NO_STALL, "suspended")


class MultiplesSource:
    """Several runs, all at the same number of issued instructions or the same cycle."""

    def __init__(self, timelines: list[Timeline], targets: list[str],
                 progress: Progress | None = None):
        self.timelines, self.targets = timelines, targets
        self.logs = [IssueLog(timeline) for timeline in timelines]
        for log in self.logs:
            log.progress = (lambda cycle: progress(None, f"reading: cycle {cycle:,}")) if progress else None
        self.common = min(log.total for log in self.logs)
        if not self.common:
            raise InputError("these runs have no instruction in common: one of them issued none")
        self.count = max(1, self.common // 2)
        self.cycle = 0
        self.lock = INSTRUCTION
        self.selected = 0
        different = machines.brief(machines.differences([timeline.info for timeline in timelines]))
        self.message, self.kind = "; ".join(filter(None, [different, self._memory()])), "info"
        self._fixed = [self._band(log) for log in self.logs]

    def _memory(self) -> str:
        """Say whether all runs that have ended leave the same memory as the first; "" if that is not known."""
        first, *others = self.timelines
        ended = [(index, other) for index, other in enumerate(others, 1) if has_ended(other)]
        if not has_ended(first) or not ended:
            return ""
        wrong = [report.LETTERS[index % 26] for index, other in ended
                 if not same_buffers(first, other, first.last, other.last)]
        return f"memory of {', '.join(wrong)} differs from A's ✕" if wrong else "memory equal ✓"

    def _band(self, log: IssueLog) -> tuple[tuple[float, ...], tuple[int, ...], float, float | None, bool]:
        """Return issue rate and main wait per stretch of equally many instructions; IPC, energy (µJ, assumed or not)."""
        timeline = log.timeline
        data = report.run_data(timeline, "", "")
        quiet = [code for code, name in timeline.info.stall_names.items() if name in NOT_WAITING]
        counts = [max(1, self.common * part // STRETCHES) for part in range(1, STRETCHES + 1)]
        edges = [timeline.first, *(log.cycle_of(count) + 1 for count in counts)]
        totals = np.array([timeline.stall_totals(min(timeline.last, edge)) for edge in edges])
        spent = np.diff(totals, axis=0)
        rate = tuple(float(part[0] / max(1, end - begin)) for part, begin, end in zip(spent, edges, edges[1:], strict=False))
        spent[:, quiet] = 0
        main = tuple(int(part.argmax()) if part.any() else -1 for part in spent)
        energy = None if data["energy_pj"] is None else data["energy_pj"] / 1e6
        return rate, main, data["ipc"], energy, bool(data["energy_assumed"])

    def say(self, text: str, kind: str = "info") -> None:
        """Set the message row."""
        self.message, self.kind = text, kind

    def step(self, by: int) -> None:
        """Go forward or back by instructions or cycles, as the lock says."""
        self.message = ""
        if self.lock == CYCLE:
            self.cycle = max(0, min(max(timeline.last for timeline in self.timelines), self.cycle + by))
            self.count = max(1, min(self.common, self.logs[0].before(min(self.timelines[0].last, self.cycle))))
        else:
            self.go_count(self.count + by)

    def go_count(self, count: int) -> None:
        """Go to where each run has issued `count` instructions."""
        self.count = max(1, min(self.common, count))
        self.cycle = self.logs[0].cycle_of(self.count) + 1

    def toggle_lock(self) -> None:
        """Switch between the locks by instruction and by cycle, at the first run's position."""
        self.lock = CYCLE if self.lock == INSTRUCTION else INSTRUCTION
        self.go_count(self.count)
        self.message = "all runs at the same cycle" if self.lock == CYCLE else "all runs at the same instruction"

    def select(self, by: int) -> None:
        """Select the band `by` rows further down."""
        self.selected = max(0, min(len(self.timelines) - 1, self.selected + by))

    def picture(self) -> MultiplesPicture:
        """Return what the screen shows now."""
        bands = []
        base = self.timelines[0].last
        for index, (timeline, log, fixed) in enumerate(zip(self.timelines, self.logs, self._fixed, strict=True)):
            cycle = self.cycle if self.lock == CYCLE else log.cycle_of(self.count) + 1
            cycle = max(timeline.first, min(timeline.last, cycle))
            run = RunFacts(report.LETTERS[index % 26], run_name(timeline.info), self.targets[index], timeline.info,
                           timeline.last, cycle, None, log.before(cycle),
                           tuple(timeline.states(cycle, cycle + 1)[0].tolist()))
            machine = Machine.of(timeline.at(cycle))
            known = base and has_ended(timeline) and has_ended(self.timelines[0])
            bands.append(Band(run, *fixed, timeline.last / base if known else None, has_ended(timeline),
                              node_of(timeline.info), self._reason(timeline, machine), machine))
        kernel = kernel_name(str(self.timelines[0].info.kernel))
        return MultiplesPicture(tuple(bands), self.common, self.count, self.lock, self.selected, kernel, self.message,
                                self.kind)

    def _reason(self, timeline: Timeline, machine: Machine) -> str:
        """Return the longest-waiting warp of the most common stall, the register file's first, and what it waits for."""
        waits = {entry.code: entry.family for entry in timeline.info.stalls if entry.name not in AT_EASE}
        counts = Counter(code for code in machine.state if code in waits)
        if not counts:
            return "no warp waits"
        code = max(counts, key=lambda one: (waits[one] == "register_file", counts[one]))
        held = [warp for warp, state in enumerate(machine.state) if state == code]
        try:
            chain = why(Session(timeline), min(held, key=lambda one: machine.since[one]), machine.cycle)
        except Exception as error:      # a design explains its own refusals, and a user's design may have defects
            return crash.text_of(error)
        return f"w{chain.warp}: {chain.resource.name if chain.resource is not None else chain.links[-1].sentence}"
