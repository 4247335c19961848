"""The findings of a checked run, as data and as sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from rfview.engine.check import layout
from rfview.engine.check.code import HAZARD, hazards_in
from rfview.engine.ptx.parse.locations import Locations, locations
from rfview.engine.program import SPACE_LOCAL, SPACE_SHARED
from rfview.engine.wording import plural

if TYPE_CHECKING:
    from rfview.engine.check.machine import Checking
    from rfview.engine.hazards.watch import Sighting
    from rfview.engine.machine.faults import Report

FAULT = layout.INACTIVE_LANE + 1
OF_CODE = "hazards and faults alone"        # what is found in machine code
FIELDS = layout.FINDING.names or ()
# name and meaning, by kind; the last is a fault of the kernel, which the machine reports
KINDS: dict[int, tuple[str, str]] = {
    layout.UNWRITTEN_REGISTER: ("unwritten-register", "reads a register that nothing wrote"),
    layout.UNWRITTEN_SHARED: ("unwritten-shared", "reads shared memory that nothing wrote"),
    layout.UNWRITTEN_LOCAL: ("unwritten-local", "reads local memory that nothing wrote"),
    layout.UNWRITTEN_GLOBAL: ("unwritten-global", "reads global memory that nothing wrote"),
    layout.RACE_SHARED: ("race-shared", "races in shared memory"),
    layout.RACE_GLOBAL: ("race-global", "races in global memory"),
    layout.BARRIER_EXITED: ("barrier-exited", "is a barrier that threads never reach: they have ended"),
    layout.BARRIER_PART: ("barrier-part", "is a barrier that only some lanes of the warp reach together"),
    layout.MASK_WITHOUT_LANE: ("mask-without-lane", "is executed by a lane that its member mask leaves out"),
    layout.MASKS_DIFFER: ("masks-differ", "is executed by lanes that name different members"),
    layout.INACTIVE_LANE: ("inactive-lane", "reads the value of a lane that takes no part"),
    FAULT: ("fault", ""),
    HAZARD: ("hazard", "comes before what it depends on: its control codes do not cover that"),
}
NAMES = {name: kind for kind, (name, _) in KINDS.items()}
RACES = {layout.WRITE_WRITE: "writes what {} wrote", layout.READ_AFTER_WRITE: "reads what {} wrote",
         layout.WRITE_AFTER_READ: "writes what {} read"}
WITH_OTHER = frozenset({layout.RACE_SHARED, layout.RACE_GLOBAL, layout.BARRIER_EXITED})


@dataclass(frozen=True)
class Finding:
    """A defect: its kind's name, where it first happened, and how often.

    pc, line, text: the instruction, its line in the PTX and its text. launch, cta, warp (slot of the SM), warp_in_cta,
    lane, cycle: where and when it happened first; of a run by values only, warp and cycle are -1, and instruction is the
    number of the instruction in its warp, from 1 on. address: in its space (global: as in the kernel; shared, local:
    offset), otherwise -1. place: the address by name, as out[12]. source: the line of CUDA C or Python, as scan.cu:9, if
    the PTX names it. other_*: of the other thread, or of the exit before a barrier; -1 if there is none. count: how many
    lanes, times or bytes were found with this pair of instructions. frames: (path:line, function) of what was inlined into
    what, innermost first, of the instruction and then of the other one; the kernel itself has the function "".
    Of a hazard, cta to cycle are -1: some path leads to it; place: the register; dependence: RAW, WAR, WAW or reuse; cover:
    what falls short, stall count, counter or reuse bit; short: cycles, 0 where a counter decides. unit: what lines are of.
    """

    kind: str
    sentence: str
    kernel: str
    pc: int
    line: int
    text: str
    launch: int
    cta: int
    warp: int
    warp_in_cta: int
    lane: int
    cycle: int
    count: int
    address: int = -1
    place: str = ""
    other_pc: int = -1
    other_line: int = -1
    other_text: str = ""
    other_cta: int = -1
    other_warp_in_cta: int = -1
    other_lane: int = -1
    other_cycle: int = -1
    instruction: int = -1
    other_instruction: int = -1
    source: str = ""
    other_source: str = ""
    frames: tuple[tuple[str, str], ...] = ()
    dependence: str = ""
    cover: str = ""
    short: int = 0
    unit: str = "PTX line"

    def as_text(self) -> str:
        """Return two or three lines of text."""
        if self.dependence:
            return self._hazard_text()
        times = f", {self.count:,} times" if self.count > 1 else ""
        what = f"{_line(self.line, self.source, self.unit)}: {self.text}"
        if self.cycle >= 0:
            where = f"cycle {self.cycle:,}  w{self.warp} (CTA {self.cta}, warp {self.warp_in_cta}) lane {self.lane}"
        else:
            where = f"CTA {self.cta}, warp {self.warp_in_cta} lane {self.lane}, its instruction {self.instruction:,}"
        lines = [f"{self.kind}: {self.sentence}{times}", f"  {where}  {what}"]
        if self.other_pc >= 0:
            where = f"CTA {self.other_cta}, warp {self.other_warp_in_cta} lane {self.other_lane}"
            where = (f"cycle {self.other_cycle:,}  {where}" if self.cycle >= 0 else
                     f"{where}, its instruction {self.other_instruction:,}")
            lines.append(f"  {where}  {_line(self.other_line, self.other_source, self.unit)}: {self.other_text}")
        return "\n".join(lines)

    def _hazard_text(self) -> str:
        """Return a hazard as text, with where it gave a wrong value, if it did."""
        lines = [f"{self.kind}: {self.sentence} ({', '.join(filter(None, (self.dependence, self.cover)))})"]
        if self.cycle >= 0:
            times = f", {plural(self.count, 'time')} in all" if self.count > 1 else ""
            where = f"w{self.warp} (CTA {self.cta}, warp {self.warp_in_cta}) lane {self.lane}"
            lines.append(f"  cycle {self.cycle:,}  {where}{times}")
        lines.append(f"  {_line(self.line, self.source, self.unit)}: {self.text}")
        lines.append(f"  {_line(self.other_line, self.other_source, self.unit)}: {self.other_text}")
        return "\n".join(lines)

    def words(self) -> list[str]:
        """Return the options of `rfview debug` that go to it, none if it is of no run."""
        if self.cta < 0:
            return []
        if self.cycle >= 0:
            return ["--goto", str(self.cycle)]
        launch = f" launch {self.launch}" if self.launch else ""
        return ["-c", f"run-to instruction {self.instruction} cta {self.cta} warp {self.warp_in_cta}{launch}"]


@dataclass(frozen=True)
class Findings:
    """All findings of a run in chronological order.

    cycles, instructions: how far it ran, cycles -1 by values only; more: some were dropped; fault: the kernel's.
    paths: instructions of machine code whose paths were all followed.
    """

    found: tuple[Finding, ...]
    cycles: int
    more: bool
    fault: str | None
    instructions: int = 0
    paths: int = 0

    @property
    def length(self) -> str:
        """Return how far the run went, as text."""
        ran = plural(self.cycles, "cycle") if self.cycles >= 0 else plural(self.instructions, "warp instruction")
        return f"{ran}, and on all paths of {plural(self.paths, 'machine instruction')} ({OF_CODE})" if self.paths else ran

    def as_dict(self) -> dict[str, Any]:
        """Return the findings as JSON data."""
        findings = [asdict(one) for one in self.found]
        return {"findings": findings, "cycles": self.cycles, "instructions": self.instructions, "more": self.more,
                "fault": self.fault, "paths": self.paths}

    @staticmethod
    def of_dict(data: Mapping[str, Any]) -> Findings:
        """Return the findings from the result of `as_dict`."""
        names = {field.name for field in fields(Finding)}
        findings = [Finding(**{key: value for key, value in one.items() if key in names}) for one in data["findings"]]
        findings = [replace(one, frames=tuple((place, function) for place, function in one.frames)) for one in findings]
        return Findings(tuple(findings), data["cycles"], data["more"], data["fault"], data["instructions"],
                        data["paths"])


def findings_of(simulator: Checking) -> Findings:
    """Return the findings of a checked simulator so far."""
    has_cycles = simulator.counts_cycles
    findings = _hazards(simulator) if simulator.is_code else _undefined(simulator)
    findings += [_reported(simulator, one) for one in simulator.reports]
    fault = None if simulator.fault is None else str(simulator.fault)
    if fault is not None:
        findings.append(_fault(simulator, fault))
    if findings:
        known = locations(simulator.module.text)        # of a listing, too
        findings = [replace(_located(one, known), unit=simulator.info.line_unit) for one in findings]
    if has_cycles:
        findings.sort(key=lambda one: (one.cycle, one.pc, one.kind))
    cycles = simulator.cycle if has_cycles else -1
    more = not simulator.is_code and bool(simulator.data[0].is_full)
    return Findings(tuple(findings), cycles, more, fault, simulator.instructions,
                    len(simulator.insts) if simulator.is_code else 0)


def _hazards(simulator: Checking) -> list[Finding]:
    """Return the hazards of the kernels of machine code: some path leads to each, at no moment."""
    found, program = [], simulator.info.program
    for kernel, base in simulator.placement.kernels:
        for one in hazards_in(kernel):
            own, other = program[base + one.pc], program[base + one.producer]
            found.append(Finding(
                "hazard", one.sentence(kernel), own.kernel, base + one.pc, int(own.line), own.text, launch=0, cta=-1,
                warp=-1, warp_in_cta=-1, lane=-1, cycle=-1, count=1, other_pc=base + one.producer,
                other_line=int(other.line), other_text=other.text, place=one.register, dependence=one.kind,
                cover=one.cover, short=one.short))
    seen = list(simulator.watch.seen.values()) if simulator.watch is not None else []
    known = {(one.pc, one.place) for one in found}
    return [_with_sighting(one, [sight for sight in seen if (sight.pc, sight.register) == (one.pc, one.place)])
            for one in found] + [_unforeseen(simulator, one) for one in seen if one.lane >= 0 and (
                one.pc, one.register) not in known]


def _unforeseen(simulator: Checking, seen: Sighting) -> Finding:
    """Return a wrong value in this run whose dependence the control codes cover: the machine's delays are the reason."""
    program = simulator.info.program
    own, other = program[seen.pc], program[seen.producer] if seen.producer >= 0 else None
    does, has = ("overwrites", "has read it") if seen.kind == "WAR" else ("reads", "has written it")
    writer = f"{other.text} {has}" if other else "the reuse cache has its last value"
    return Finding(
        "hazard", f"{does} {seen.register} before {writer}, although its control codes cover the dependence: this design or "
                  f"setting delays results or reads more than the compiler knows: it was 0x{seen.read:x} instead of "
                  f"0x{seen.right:x}", own.kernel, seen.pc, int(own.line), own.text, launch=0, cta=seen.cta, warp=seen.warp,
        warp_in_cta=seen.warp_in_cta, lane=seen.lane, cycle=seen.cycle, count=seen.count, other_pc=seen.producer,
        other_line=int(other.line) if other else -1, other_text=other.text if other else "",
        place=seen.register, dependence=seen.kind)


def _with_sighting(finding: Finding, seen: list[Sighting]) -> Finding:
    """Return a hazard with the moment at which it gave a wrong value, if it did in this run."""
    wrong = [one for one in seen if one.lane >= 0 and one.producer in (-1, finding.other_pc)]
    if not wrong:
        return finding
    first = min(wrong, key=lambda one: one.cycle)
    sentence = f"{finding.sentence}: it was 0x{first.read:x} instead of 0x{first.right:x}"
    return replace(finding, sentence=sentence, cta=first.cta, warp=first.warp, warp_in_cta=first.warp_in_cta,
                   lane=first.lane, cycle=first.cycle, count=sum(one.count for one in wrong))


def _undefined(simulator: Checking) -> list[Finding]:
    """Return what the checked stage has found, in chronological order."""
    check = simulator.data[0]
    entries = check.finding[check.finding["kind"] != 0]
    entries = entries[np.lexsort((entries["pc"], entries["clock"]))]
    return [_finding(simulator, SimpleNamespace(**dict(zip(FIELDS, entry.tolist(), strict=True)))) for entry in entries]


def _moment(simulator: Checking, moment: int, prefix: str = "") -> dict[str, Any]:
    """Return a moment as fields of a finding."""
    return ({f"{prefix}cycle": moment} if simulator.counts_cycles else
            {f"{prefix}cycle": -1, f"{prefix}instruction": moment})


def _line(line: int, source: str, unit: str) -> str:
    """Return an instruction's line as text."""
    return f"{source}, {unit} {line}" if source else f"{unit.removeprefix('PTX ')} {line}"


def _located(finding: Finding, known: Locations) -> Finding:
    """Return a finding completed with its source lines."""
    source, other = (known.own_line(line) if line >= 0 else "" for line in (finding.line, finding.other_line))
    frames = tuple((f"{known.files[place.file].path}:{place.line}", known.function(place))
                   for line in (finding.line, finding.other_line) if line >= 0 for place in known.at(line))
    return replace(finding, source=source, other_source=other, frames=frames)


def _fault(simulator: Checking, fault: str) -> Finding:
    """Return the fault that ended a run as a finding."""
    sm, cause = simulator.sm, simulator.fault
    warp, pc, lane = (max(0, place) for place in (cause.warp, cause.pc, cause.lane)) if cause is not None else (0, 0, 0)
    entry = sm.warp[warp]
    cta = int(sm.cta[int(entry.cta)].id) if int(entry.cta) < len(sm.cta) else 0
    listing = simulator.info.program[pc]
    moment = max(0, simulator.cycle - 1) if simulator.counts_cycles else int(entry.num_issued)
    return Finding("fault", fault, listing.kernel, pc, int(listing.line), listing.text, int(sm.launch.index), cta,
                   _slot(simulator, warp), int(entry.warp_in_cta), lane, count=1, **_moment(simulator, moment))


def _reported(simulator: Checking, one: Report) -> Finding:
    """Return a bad access that was dropped as a finding."""
    listing = simulator.info.program[one.pc]
    return Finding("fault", one.text, listing.kernel, one.pc, int(listing.line), listing.text, one.launch, one.cta,
                   _slot(simulator, one.warp), one.warp_in_cta, one.lane, count=one.count, **_moment(simulator, one.cycle))


def _finding(simulator: Checking, entry: SimpleNamespace) -> Finding:
    """Return an entry of the table as a finding."""
    kind, pc, launch = entry.kind, entry.pc, entry.launch - 1
    cta, warp_in_cta = _warp(simulator, entry.warp, launch)
    listing = simulator.info.program[pc]
    address, place = _place(simulator, listing.kernel, kind, entry.address, entry.space, launch)
    more: dict[str, Any] = {}
    if kind in WITH_OTHER:
        other = simulator.info.program[entry.other_pc]
        other_cta, other_warp = _warp(simulator, entry.other_warp, launch)
        more = {"other_pc": entry.other_pc, "other_line": other.line, "other_text": other.text,
                "other_cta": other_cta, "other_warp_in_cta": other_warp, "other_lane": entry.other_lane,
                **_moment(simulator, entry.other_moment, "other_")}
    return Finding(
        KINDS[kind][0], _sentence(kind, entry, place, (cta, warp_in_cta), more), listing.kernel, pc,
        int(listing.line), listing.text, launch, cta, _slot(simulator, entry.slot), warp_in_cta, entry.lane,
        count=entry.count, address=address, place=place, **_moment(simulator, entry.moment), **more,
    )


def _slot(simulator: Checking, slot: int) -> int:
    """Return a finding's warp slot, -1 by values only: the machine may have the warp in another one."""
    return slot if simulator.counts_cycles else -1


def _warp(simulator: Checking, name: int, launch: int) -> tuple[int, int]:
    """Return the CTA, and the number in it, of a warp given by its number in the session."""
    size = simulator.placement.launches[launch].warps_per_cta
    return divmod((name - 1) % int(simulator.data[0].grid_warps), size)


def _place(simulator: Checking, kernel: str, kind: int, offset: int, space: int,
           launch: int) -> tuple[int, str]:
    """Return the address as in the kernel, and its place by name."""
    if kind == layout.UNWRITTEN_REGISTER:
        return -1, simulator.followed[kernel].names[offset]
    if not layout.UNWRITTEN_SHARED <= kind <= layout.RACE_GLOBAL:
        return -1, ""
    if space == SPACE_SHARED:
        size = -(-simulator.placement.launches[launch].shared_bytes // 4) * 4
        return offset % size, f"shared+0x{offset % size:x}"
    if space == SPACE_LOCAL:
        words = -(-simulator.placement.launches[launch].kernel.local_bytes // 4)
        word = (offset // 4 - simulator.placement.local_word) // 32 % max(1, words)
        return word * 4 + offset % 4, f"local+0x{word * 4 + offset % 4:x}"
    for variable in simulator.placement.variables:
        within = offset - variable.word * 4
        if 0 <= within < variable.size:
            index, rest = divmod(within, variable.dtype.itemsize)
            return variable.address + within, f"{variable.name}[{index}]" + (f"+{rest}" if rest else "")
    return -1, ""


def _sentence(kind: int, entry: SimpleNamespace, place: str, mine: tuple[int, int], more: Mapping[str, Any]) -> str:
    """Return a sentence about what was found."""
    if kind in (layout.RACE_SHARED, layout.RACE_GLOBAL):
        cta, warp = more["other_cta"], more["other_warp_in_cta"]
        who = (f"lane {more['other_lane']} of the same warp" if (cta, warp) == mine else
               f"warp {warp} of the CTA" if cta == mine[0] else f"CTA {cta}")
        return f"{RACES[entry.extra].format(who)} at {place}, and nothing orders the two"
    if kind <= layout.UNWRITTEN_GLOBAL:
        return f"reads {place}, which nothing wrote"
    if kind == layout.INACTIVE_LANE:
        return f"reads the value of lane {entry.extra}, which takes no part"
    if kind == layout.MASK_WITHOUT_LANE:
        return f"is executed by lane {entry.lane}, which its member mask 0x{entry.extra:08x} leaves out"
    if kind == layout.MASKS_DIFFER:
        return f"lane {entry.extra} names other members than lane {entry.lane}"
    if kind == layout.BARRIER_PART:
        return f"is reached by lanes 0x{entry.extra:08x} of the warp alone; aligned barriers need all of it"
    return "opens without threads of the CTA that have ended before"
