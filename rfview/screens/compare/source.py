"""Computes what the screen of two runs shows from their timelines, in a worker thread, never in the screen's."""

from __future__ import annotations

import shlex
from typing import Any

import numpy as np

from rfview import crash
from rfview.engine.errors import InputError
from rfview.engine.plugin.assumed import ASSUMED
from rfview.engine.progress import Progress
from rfview.engine.wording import ordinal
from rfview.render.lens import run_name
from rfview.render.operation import with_lines
from rfview.render.pair import CYCLE, INSTRUCTION, ComparePicture, Instruction, RunFacts, Strip
from rfview.render.text import round_up
from rfview.sessions.compare import Comparison, Issue, WarpName, has_ended, machines, report, report_text
from rfview.sessions.session import Session
from rfview.sessions.timeline.base import Timeline
from rfview.sessions.warps import check_warp
from rfview.sessions.why import why

CONTEXT = 8                # instructions shown before and after the cursor's
BEFORE = 12                # columns of the strip before the instruction at which both runs are aligned
ROOM = 0.62                # share of the strip in which the later run's issue must lie
POINTS = 110               # of the curve


class CompareSource:
    """Two runs, a cursor in each, and the focused warp. After any method that moves, `picture()` returns a new picture.

    columns: width of the strips. progress is called during long work and may raise to stop it.
    """

    def __init__(self, timelines: tuple[Timeline, Timeline], targets: tuple[str, str],
                 progress: Progress | None = None):
        self.comparison = Comparison(*timelines, progress)
        self.timelines, self.targets = timelines, targets
        self.columns = 110
        self.lock = INSTRUCTION
        self.page = 0
        self.message, self.kind = "", "info"
        self.cycles = [timeline.first for timeline in timelines]
        self.name, self.n = WarpName(0, 0), 1
        self._different = machines.brief(machines.differences([timeline.info for timeline in timelines]))
        self._prepare()
        self.go_first()
        self.message = "; ".join([self.message, *self.comparison.notes])

    def _prepare(self) -> None:
        """Compute what does not depend on the cursor."""
        comparison = self.comparison
        self._first = comparison.first_divergence()
        self._curve = tuple((lead.count, lead.lag) for lead in comparison.lead(POINTS))
        data = [report.run_data(timeline, target, letter)
                for timeline, target, letter in zip(self.timelines, self.targets, "AB", strict=True)]
        names = {name: None for run in data for name in run["stalls"]}
        issued = ("issued", data[0]["instructions"], data[1]["instructions"])
        self._totals = (issued, *((name, data[0]["stalls"].get(name, 0), data[1]["stalls"].get(name, 0)) for name in names))
        self._facts = tuple(facts_of(data))
        same = comparison.memory_equal()
        self._memory = {True: "memory equal ✓", False: "memory differs ✕", None: ""}[same]
        self._cut = tuple(letter for letter, timeline in zip("AB", self.timelines, strict=True) if not has_ended(timeline))
        logs = comparison.logs
        self._first_count = logs[0].before(self._first.cycle) if self._first is not None else None

    def swap(self) -> CompareSource:
        """Return the same comparison with A and B exchanged."""
        a, b = self.timelines
        other = CompareSource((b, a), (self.targets[1], self.targets[0]), self.comparison.progress)
        other.columns, other.page = self.columns, self.page
        other.set_instruction(self.name, self.n)
        other.lock = self.lock
        return other

    # moving

    def say(self, text: str, kind: str = "info") -> None:
        """Set the message row."""
        self.message, self.kind = text, kind

    def set_instruction(self, name: WarpName, n: int) -> bool:
        """Put both cursors right after a warp's n-th issue; return False, moving nothing, if neither run contains it."""
        pair = self.comparison.align(name, n)
        if pair == (None, None):
            return False
        self.name, self.n = name, n
        for side, issue in enumerate(pair):
            self.cycles[side] = issue.cycle + 1 if issue is not None else self.timelines[side].last
        return True

    def go_first(self) -> None:
        """Go to the first divergence."""
        divergence = self._first
        if divergence is None:
            text = "the runs do not diverge: every instruction issues in the same cycle in both"
            self.say("; ".join(filter(None, [self._different, text])), "good")
            self.set_instruction(self.name, 1)
            return
        self.set_instruction(divergence.name, divergence.n)
        text = f"first divergence, cycle {divergence.cycle:,}: {ordinal(divergence.n)} instruction of {self._warp_text()}"
        late = report.cause(self.timelines["AB".index(divergence.late)], divergence)
        ends = f"{divergence.late} {late['text']}: {late['resource']}" if late["resource"] else ""
        self.say("; ".join(filter(None, [self._different, text, ends])))      # the difference may have caused it

    def next_divergence(self, by: int) -> None:
        """Go to the focused warp's by-th next or (by < 0) previous instruction at which its lag changes."""
        self.say("")
        for _ in range(abs(by)):
            divergence = self.comparison.next_divergence(self.name, self.n, by > 0)
            if divergence is None:
                way = "after" if by > 0 else "before"
                self.say(f"the lag of {self._warp_text()} does not change {way} its {ordinal(self.n)} instruction")
                return
            self.set_instruction(self.name, divergence[0].n)

    def step(self, by: int) -> None:
        """Go forward or back by cycles or by instructions of the focused warp, as the lock says."""
        self.say("")
        if self.lock == CYCLE:
            cycle = max(self.cycles) + by
            self._put_cycle(max(0, cycle))
            return
        if self.set_instruction(self.name, max(1, self.n + by)):
            return
        last = max(filter(None, (self._last_issue(side) for side in (0, 1))), default=None, key=lambda issue: issue.n)
        if last is not None and last.n != self.n:
            self.set_instruction(self.name, last.n)
        self.say(f"the {ordinal(self.n)} instruction is the last of {self._warp_text()}")

    def _last_issue(self, side: int) -> Issue | None:
        """Return the focused warp's last issue in a run."""
        log, low, high = self.comparison.logs[side], 0, 1
        while log.find(self.name, high) is not None:
            low, high = high, high * 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if log.find(self.name, middle) is not None else (low, middle)
        return log.find(self.name, low) if low else None

    def _put_cycle(self, cycle: int) -> None:
        """Put both cursors at one cycle, as far as the runs reach."""
        for side, timeline in enumerate(self.timelines):
            self.cycles[side] = max(timeline.first, min(timeline.last, cycle))
        self._follow()

    def _follow(self) -> None:
        """Let the instruction follow the cursors: the last that the focused warp issued in A."""
        issued = self.comparison.logs[0].issued(self.name, self.cycles[0])
        if issued is None:
            last = self._last_issue(0)
            issued = last.n if last is not None else 1
        self.n = max(1, issued)

    def toggle_lock(self) -> None:
        """Switch between the locks by cycle and by instruction; the cursors meet at A's position."""
        if self.lock == INSTRUCTION:
            self.lock = CYCLE
            self._put_cycle(self.cycles[0])
            self.say("locked by cycle: both runs at the same cycle")
        else:
            self.lock = INSTRUCTION
            self.set_instruction(self.name, self.n)
            self.say("locked by instruction: both runs right after the same instruction of the warp")

    def warp(self, by: int) -> None:
        """Focus another warp of the grid, at the instruction that it issued last in A."""
        launch = self.timelines[0].info.launches[self.name.launch]
        warps = int(np.prod(launch.grid)) * launch.warps_per_cta
        self.choose_warp(WarpName(self.name.launch, max(0, min(warps - 1, self.name.warp + by))))

    def choose_slot(self, slot: int) -> None:
        """Focus the warp that is in a slot of A at its cursor."""
        try:
            check_warp(slot, int(self.timelines[0].info.num_warps), "A")
        except InputError as error:
            self.say(str(error), "error")
            return
        name = self.comparison.logs[0].name(slot, self.cycles[0])
        if name is None:
            self.say(f"w{slot} holds no warp in A at cycle {self.cycles[0]:,}", "error")
        else:
            self.choose_warp(name)

    def choose_warp(self, name: WarpName) -> None:
        """Focus a warp; the cursors stay where they are when locked by cycle."""
        self.name = name
        self._follow()
        if self.lock == INSTRUCTION:
            self.set_instruction(name, self.n)
        self.say("")

    def go_count(self, count: int) -> None:
        """Go to the count-th instruction of the whole machine; when locked by instruction, to A's instruction itself."""
        log = self.comparison.logs[0]
        count = max(1, min(self.comparison.common, count))
        cycle = log.cycle_of(count)
        self.say("")
        if self.lock == CYCLE:
            self._put_cycle(cycle + 1)
            return
        issues = log.between(cycle, cycle + 1)
        if len(issues.cycle):
            here = issues.row(min(len(issues.cycle) - 1, max(0, count - log.before(cycle) - 1)))
            self.set_instruction(here.name, here.n)

    def command(self, side: int) -> str:
        """Return the command line that opens one run at its cursor."""
        target = self.targets[side]
        return f"rfview replay {shlex.quote(target)} --goto {self.cycles[side]}" if target.endswith(".rfs") else ""

    # what the screen shows

    def _warp_text(self) -> str:
        slots = [issue.slot if issue is not None else None for issue in self.comparison.align(self.name, self.n)]
        return report_text.warp_text(self.name, self.timelines[0].info, slots[0], slots[1])

    def picture(self) -> ComparePicture:
        """Return what the screen shows now."""
        pair = self.comparison.align(self.name, self.n)
        instructions = self._instructions()
        late, cycle = self._lost_time(instructions)
        return ComparePicture(
            (self._run(0), self._run(1)), self.comparison.common, self.lock, self._warp_text(), self.n,
            instructions, self._curve, self._first_count, self._lag(), self._reasons(late, cycle), late,
            self._strip(pair, instructions), self._totals, self._facts, self._memory, self.message, self.kind,
            page=self.page, cut="".join(self._cut),
        )

    def _lag(self) -> int | None:
        """Return how many cycles later than A B issues as many instructions as A has issued so far; None if unknown."""
        count = self.comparison.logs[0].before(self.cycles[0])
        return self.comparison.lead_at(count).lag if 1 <= count <= self.comparison.common else None

    def _run(self, side: int) -> RunFacts:
        """Return one run at its cursor."""
        timeline, log, cycle = self.timelines[side], self.comparison.logs[side], self.cycles[side]
        return RunFacts(
            "AB"[side], run_name(timeline.info), self.targets[side], timeline.info, timeline.last, cycle,
            log.slot(self.name, cycle), log.before(cycle), tuple(timeline.states(cycle, cycle + 1)[0].tolist()),
        )

    def _instructions(self) -> tuple[Instruction, ...]:
        """Return the focused warp's instructions around the cursor, in both runs."""
        sides = [{issue.n: issue for issue in log.around(self.name, self.n, CONTEXT, CONTEXT)}
                 for log in self.comparison.logs]
        program = self.timelines[0].info.program
        instructions = []
        for n in sorted({*sides[0], *sides[1]}):
            a, b = sides[0].get(n), sides[1].get(n)
            entries = [program[issue.pc] for issue in (a, b) if issue is not None]
            texts = [with_lines(" ".join(entry.text.split()), program) for entry in entries]
            text = texts[0] if len({*texts}) == 1 else " | ".join(texts)
            instructions.append(Instruction(n, text, a.cycle if a else None, b.cycle if b else None))
        return tuple(instructions)

    def _lost_time(self, instructions: tuple[Instruction, ...]) -> tuple[int, int | None]:
        """Return the run that loses time at the cursor's instruction and the cycle in which it could have issued it.

        That is the cycle that would keep the lag of the previous instruction. None if neither run loses time.
        """
        place = {entry.n: entry for entry in instructions}
        here, before = place.get(self.n), place.get(self.n - 1)
        if here is None:
            return 1, None
        earlier = (before.lag or 0) if before is not None else 0
        if here.cycle_a is None or here.cycle_b is None:
            late = 0 if here.cycle_a is None else 1
            known = here.cycle_b if late == 0 else here.cycle_a
            expected = (known or 0) + (-earlier if late == 0 else earlier)
            return late, expected if expected < self.timelines[late].last else None
        lag = here.cycle_b - here.cycle_a
        if lag == earlier:
            return 1, None
        return (1, here.cycle_a + earlier) if lag > earlier else (0, here.cycle_b - earlier)

    def _reasons(self, late: int, cycle: int | None) -> tuple[tuple[int, str], ...]:
        """Return the chain of `why` in the run that loses time: (stall code or -1, sentence) per link."""
        timeline = self.timelines[late]
        if cycle is None or not timeline.first <= cycle < timeline.last:
            return ()
        slot = self.comparison.logs[late].slot(self.name, cycle + 1)
        if slot is None:
            return ((-1, "its CTA has not been dispatched yet"),)
        try:
            chain = why(Session(timeline), slot, cycle + 1)
        except Exception as error:      # a design explains its own refusals, and a user's design may have defects
            self.say(crash.text_of(error), "error")
            return ((-1, self.message),)
        if not chain.links:
            return ((-1, chain.state),)
        program = self.timelines[late].info.program
        return tuple((link.code, with_lines(link.sentence, program)) for link in chain.links)

    def _strip(self, pair: tuple[Issue | None, Issue | None], instructions: tuple[Instruction, ...]) -> Strip:
        """Return the focused warp's states in both runs around the cursor's instruction, aligned at the previous one."""
        before = next((entry for entry in instructions if entry.n == self.n - 1), None)
        aligned = (before.cycle_a, before.cycle_b) if before is not None else (None, None)
        starts, spans = [], []
        for side, issue in enumerate(pair):
            here = issue.cycle if issue is not None else self.cycles[side]
            begin = aligned[side]
            begin = here if begin is None else begin
            if before is None and None not in pair:       # the first instruction: align by cycle
                begin = min(issue.cycle for issue in pair if issue is not None)
            starts.append(begin)
            spans.append(max(0, here - begin))
        scale = round_up(max(spans) / (ROOM * self.columns - BEFORE))
        codes, firsts, places = [], [], []
        for side, issue in enumerate(pair):
            first = starts[side] - BEFORE * scale
            slot = issue.slot if issue is not None else self.comparison.logs[side].slot(self.name, self.cycles[side])
            codes.append(self._codes(side, slot, first, scale))
            firsts.append(max(0, first))
            at = None if issue is None else (issue.cycle - first) // scale
            places.append(at if at is not None and at < self.columns else None)
        return Strip(scale, (codes[0], codes[1]), (firsts[0], firsts[1]), (places[0], places[1]))

    def _codes(self, side: int, slot: int | None, first: int, scale: int) -> tuple[int, ...]:
        """Return the most common state of a slot in each of `columns` stretches of `scale` cycles; -1 outside the run."""
        timeline = self.timelines[side]
        out = np.full(self.columns * scale, -1, np.int64)
        low, high = max(first, timeline.first), min(first + len(out), timeline.last)
        if slot is not None and low < high:
            # the state at the next cycle says what the warp did in this one
            out[low - first : high - first] = timeline.column(f"sm.warp[{slot}].state", low + 1, high + 1)
        if scale == 1:
            return tuple(out.tolist())
        return tuple(_commonest(part) for part in out.reshape(self.columns, scale))


def _commonest(codes: np.ndarray) -> int:
    """Return the most common state of a stretch, -1 if it lies outside the run."""
    known = codes[codes >= 0]
    return int(np.bincount(known).argmax()) if len(known) else -1


def facts_of(data: list[dict[str, Any]]) -> list[tuple[str, str, str, str]]:
    """Return (label, A, B, ratio) per cost of the runs: cycles, IPC, accesses, energy."""

    def row(label: str, a: float, b: float, text: str) -> tuple[str, str, str, str]:
        return label, format(a, text), format(b, text), f"×{b / a:.2f}" if a else "–"

    a, b = data
    rows = [row("cycles", a["cycles"], b["cycles"], ","), row("IPC", a["ipc"], b["ipc"], ".3f")]
    for name, label in (("rf_reads", "RF reads"), ("rf_writes", "RF writes"),
                        ("dram_bytes", "DRAM bytes")):
        if name in a["counts"] and name in b["counts"]:
            rows.append(row(label, a["counts"][name], b["counts"][name], ","))
    if a["energy_pj"] is not None and b["energy_pj"] is not None:
        energy = row("RF energy µJ", a["energy_pj"] / 1e6, b["energy_pj"] / 1e6, ".4g")
        if a["energy_assumed"] or b["energy_assumed"]:      # no gain is claimed of it
            return [*rows, (*energy[:3], ASSUMED)]
        if report_text.are_of_other_nodes(data):
            texts = report_text.node_texts(data)
            return [*rows, (*energy[:3], "–"), ("technology", texts[0], texts[1], "–")]
        rows.append(energy)
        rows.append(row("RF energy × delay", 1.0, b["energy_pj"] * b["cycles"] / max(1e-9, a["energy_pj"] * a["cycles"]),
                        ".2f"))
    return rows
