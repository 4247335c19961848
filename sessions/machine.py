"""The machine at one cycle, as `why` and painters read it: warps, banks, pipes and the instructions in flight."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rfview.engine import state as layout
from rfview.engine.info import UNIFORM_ROWS
from rfview.engine.plugin import places
from rfview.engine.program import NO_REG
from rfview.sessions import producers
from rfview.sessions.energy import counts_of

if TYPE_CHECKING:
    from rfview.engine.info import Instruction, RunInfo
    from rfview.engine.snapshot import Snapshot
    from rfview.sessions.why.past import Past


def plain_record(record: Any) -> Any:
    """Return a plain record, whose fields are read 20 times as fast as those of a record array."""
    return np.asarray(record).view(np.dtype((np.void, record.dtype)))[()]


def _warps(field: str, what: str) -> cached_property[list[int]]:
    """Return a property: a field of the warp slots' records, a list with one number per slot."""
    column = cached_property(lambda machine: machine.sm["warp"][field][: machine.num_warps].tolist())
    column.__doc__ = what
    return column


class Machine:
    """The machine at the start of one cycle; `state` is what each warp did in the cycle before, `ran`.

    sm, rf: the recorded state and the design's, as plain NumPy records; each field is read from them at most once. info:
    the run's constants.
    """

    def __init__(self, cycle: int, sm: Any, rf: Any, info: RunInfo, snapshot: Snapshot | None = None):
        self.cycle, self.sm, self.rf, self.info = cycle, sm, rf, info
        self.ran = cycle - 1
        self.num_warps, self.num_banks, self.num_schedulers = info.num_warps, info.num_banks, info.num_schedulers
        self._snapshot = snapshot

    @classmethod
    def of(cls, snapshot: Snapshot) -> Machine:
        """Return the machine in a snapshot."""
        return cls(int(snapshot.cycle), plain_record(snapshot.sm), plain_record(snapshot.rf), snapshot.info, snapshot)

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot with registers and memory; only of a machine made from one."""
        assert self._snapshot is not None
        return self._snapshot

    state = _warps("state", "Stall code of each warp slot: what it did in the previous cycle.")
    since = _warps("state_since_cycle", "First cycle of each warp's current run of one state.")
    pc = _warps("pc", "Next instruction of each warp.")
    last_pc = _warps("last_pc", "Last issued instruction of each warp.")
    mask = _warps("mask", "Active lanes of each warp's running split.")
    blocker = _warps("blocker", "What blocks each warp: a register, unit, barrier id ... depending on `blocker_kind`.")
    blocker_kind = _warps("blocker_kind", "BLOCK_* of each warp.")
    reg_base = _warps("reg_base", "Physical slot of register 0 of each warp.")
    cta = _warps("cta", "CTA slot of each warp, NONE8 when empty.")
    losers = _warps("losers", "Bit per stall code: what else would have blocked each warp.")
    sb_write = _warps("sb_write", "Registers with a pending write, a bit each, per warp.")

    @cached_property
    def config(self) -> dict[str, Any]:
        """The machine's counts in effect, by name."""
        record = self.sm["config"]
        return dict(zip(record.dtype.names, record.tolist(), strict=True))

    @cached_property
    def counts(self) -> dict[str, int]:
        """The event counts so far, by the event's name."""
        return counts_of(self.info, self.sm["events"].tolist(), self.sm["access_wait"].tolist())

    @cached_property
    def count(self) -> list[int]:
        """Warp slots per state in the last cycle."""
        return self.sm["state_count"].tolist()

    @cached_property
    def inflight(self) -> np.ndarray:
        """The in-flight table."""
        return self.sm["inflight"]

    @cached_property
    def banks(self) -> list[dict[str, int]]:
        """One dict per bank in use."""
        return self._dicts(self.sm["bank"][: self.num_banks])

    @cached_property
    def pipes(self) -> list[dict[str, int]]:
        """One dict per pipe."""
        return self._dicts(self.sm["pipe"])

    @staticmethod
    def _dicts(records: np.ndarray) -> list[dict[str, int]]:
        return [dict(zip(records.dtype.names or (), row, strict=True)) for row in records.tolist()]

    @cached_property
    def collectors(self) -> list[int | None]:
        """The in-flight entry of each collector unit, None when free."""
        units = self.sm["collector"][: self.config["num_collectors"]]
        pairs = zip(units["valid"].tolist(), units["inflight"].tolist(), strict=True)
        return [entry if valid else None for valid, entry in pairs]

    @cached_property
    def resident(self) -> int:
        """Warp slots that hold a warp, a bit each."""
        return int(self.sm["resident"])

    @cached_property
    def resident_warps(self) -> list[int]:
        """Warp slots that hold a warp, ascending."""
        return [warp for warp in range(self.num_warps) if (self.resident >> warp) & 1]

    @cached_property
    def registers(self) -> int:
        """Registers per thread of the running launch."""
        return self.launch("registers")

    def place(self, warp: int, reg: int) -> tuple[int, int]:
        """Return (bank, row) of a warp's register in the main register file."""
        return int(places.banks(self.snapshot, warp, reg)), (self.reg_base[warp] + reg) // self.num_banks

    @cached_property
    def warp_places(self) -> tuple[np.ndarray, np.ndarray]:
        """(resident warps, registers) i8 bank and row of every allocated register, in the order of `resident_warps`."""
        warps = np.array(self.resident_warps, np.int64)[:, None]
        regs = np.arange(self.registers)
        slots = np.array(self.reg_base, np.int64)[warps] + regs
        return places.banks(self.snapshot, warps, regs), slots // self.num_banks

    @cached_property
    def names(self) -> dict[int, str]:
        """Name of each stall code, foreign ones included."""
        return self.info.stall_names

    def owner(self, bank: int) -> str:
        """Return the access that a bank serves, as "w2 R5"; "" for none."""
        warp, reg = self.bank(bank, "owner_warp"), self.bank(bank, "owner_reg")
        if warp >= self.num_warps:
            return ""
        return f"w{warp} R{reg}" if reg != NO_REG else f"w{warp}"

    def name(self, code: int) -> str:
        """Return the name of a stall code."""
        return self.names.get(code, f"state {code}")

    def state_name(self, warp: int) -> str:
        """Return the name of what a warp did in the cycle that ran."""
        return self.name(self.state[warp])

    def warp(self, warp: int, field: str) -> int:
        """Return a field of a warp's record."""
        return int(self.sm["warp"][warp][field])

    def flight(self, entry: int) -> Flight:
        """Return an in-flight instruction."""
        return Flight(self, entry)

    def bank(self, bank: int, field: str) -> int:
        """Return a field of a bank's record."""
        return int(self.sm["bank"][bank][field])

    def pipe(self, pipe: int, field: str) -> int:
        """Return a field of a pipe's record."""
        return int(self.sm["pipe"][pipe][field])

    @cached_property
    def writers(self) -> dict[tuple[int, int], int]:
        """The in-flight entry that will write each (warp, register)."""
        return producers.writers(self.inflight, self.info.program)

    def writer(self, warp: int, reg: int) -> Flight | None:
        """Return the instruction that will write a register of a warp; None if none is in flight."""
        entry = self.writers.get((warp, reg))
        return None if entry is None else self.flight(entry)

    def awaited(self, warp: int) -> Flight | None:
        """Return the instruction that holds the register or predicate that a warp waits for; None if there is none."""
        if self.info.is_machine_code:
            entry = producers.counted(self.sm, self.sub_core_warp(warp), self.info.program, warp)
        else:
            entry = producers.awaited(self.sm, self.info.program, warp, self.writers)
        return None if entry is None else self.flight(entry)

    def scheduler_of(self, warp: int) -> int:
        """Return the scheduler of a warp."""
        return warp % self.num_schedulers

    def instruction(self, pc: int) -> Instruction | None:
        """Return the program's entry at a pc, None outside the program."""
        return self.info.instruction(pc)

    def text(self, pc: int) -> str:
        """Return an instruction's text and source line."""
        entry = self.instruction(pc)
        return f"{entry.text}, {entry.where}" if entry else ""

    def mnemonic(self, pc: int) -> str:
        """Return the operation at a pc with its state space: "ld.global", "fma"."""
        entry = self.instruction(pc)
        if entry is None:
            return "?"
        words = entry.text.split()
        parts = (words[1] if len(words) > 1 and words[0].startswith("@") else words[0]).rstrip(";").split(".")
        spaces = [part for part in parts[1:] if part in ("global", "shared", "local", "const", "param")]
        return ".".join([parts[0], *spaces[:1]])

    def in_flight(self, warp: int | None = None) -> list[Flight]:
        """Return the instructions in flight, of one warp or of all, oldest first."""
        table = self.inflight
        held = table["stage"] != layout.FREE
        if warp is not None:
            held = held & (table["warp"] == warp)
        return sorted((self.flight(int(entry)) for entry in held.nonzero()[0]), key=lambda flight: flight.seq)

    @cached_property
    def collecting(self) -> list[Flight]:
        """The instructions in operand collectors, oldest first."""
        return sorted((self.flight(entry) for entry in self.collectors if entry is not None), key=lambda flight: flight.seq)

    def uniform(self, warp: int) -> np.ndarray:
        """Return a warp's uniform registers, (256,) u4; (0,) unless the run is one of machine code."""
        first, step = self.info.uniform_rows or (0, 0)
        rows = self.snapshot.rows[first + warp * step :]
        return rows[: UNIFORM_ROWS if self.info.uniform_rows else 0].reshape(-1)

    def control(self, pc: int) -> int:
        """Return the control code of an instruction of machine code, 0 outside the program."""
        entry = self.instruction(pc)
        return entry.control or 0 if entry else 0

    def sub_core(self, warp: int) -> Any:
        """Return the record of a warp's sub-core."""
        return self.rf["core"]["sub"][self.scheduler_of(warp)]

    def sub_core_warp(self, warp: int) -> Any:
        """Return what a sub-core remembers of a warp: its counters."""
        return self.rf["core"]["warp"][warp]

    def pending(self, warp: int) -> list[int]:
        """Return a warp's registers with a pending write; a sub-core has no scoreboard, but instructions in flight."""
        if self.info.is_machine_code:
            return sorted({reg for flight in self.in_flight(warp) for reg in flight.results})
        return [reg for reg in range(self.registers) if self.sb_write[warp] >> reg & 1]

    def in_sub_core(self, warp: int) -> list[Flight]:
        """Return the instructions in flight in a warp's sub-core, oldest first."""
        return [flight for flight in self.in_flight() if self.scheduler_of(flight.warp) == self.scheduler_of(warp)]

    def launch(self, field: str) -> int:
        """Return a field of the running launch."""
        return int(self.sm["launch"][field])


class Flight:
    """One instruction in flight, at one cycle."""

    def __init__(self, machine: Machine, entry: int):
        self.machine, self.entry = machine, entry
        self._row = machine.inflight[entry]

    def __getattr__(self, name: str) -> int:
        """Return a field of the in-flight record."""
        return int(self._row[name])

    @property
    def name(self) -> str:
        """Return its operation."""
        return self.machine.mnemonic(self.pc)

    @property
    def text(self) -> str:
        """Return its text and line."""
        return self.machine.text(self.pc)

    @property
    def latency_class(self) -> str:
        """Return the name of its latency and initiation parameters, "int_mad"; "" outside the program."""
        entry = self.machine.instruction(self.pc)
        return entry.latency_class if entry else ""

    @property
    def end_is_known(self) -> bool:
        """Say whether `done_cycle` is its end; until that is known, it is not after the issue."""
        return self.issue_cycle < self.done_cycle

    @property
    def is_late(self) -> bool:
        """Say whether it has read all its operands, and waits in its collector for one that is still on its way."""
        return self.stage == layout.COLLECT and bool(self.code) and not self.unread

    @property
    def registers(self) -> list[int]:
        """Return the source registers that were refused in the cycle that ran or, if all are read, are late.

        If none were, return those still unread.
        """
        slots = self.refused if self.is_late else self.refused & self.unread or self.unread
        return producers.operands(self.machine.info.program, self.pc, slots)

    @property
    def results(self) -> list[int]:
        """Return the destination registers that are not written yet."""
        entry = self.machine.instruction(self.pc)
        return [int(reg) for row, reg in enumerate(entry.dst) if (self.unwritten >> row) & 1] if entry else []

    @property
    def result(self) -> int:
        """Return the first of `results`; -1 if there is none."""
        return next(iter(self.results), -1)

    def before(self, past: Past, cycle: int) -> Flight | None:
        """Return the same instruction at an earlier cycle; None if it was not in flight or the cycle is out of reach."""
        machine = past.at(cycle)
        if machine is None:
            return None
        other = machine.flight(self.entry)
        return other if other.seq == self.seq and other.stage != layout.FREE and other.warp == self.warp else None
