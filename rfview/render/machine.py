"""A machine state as painters read it: one snapshot's fields as plain Python values."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from rfview.engine.plugin import places
from rfview.engine.snapshot import Snapshot
from rfview.sessions.energy import counts_of
from rfview.sessions.why import producers
from rfview.sessions.why.moment import plain_record


class Machine:
    """One snapshot as plain Python values, read from the arrays at most once each."""

    def __init__(self, snapshot: Snapshot):
        self.snapshot = snapshot
        self.sm = plain_record(snapshot.sm)
        self.info = snapshot.info
        self.cycle = int(snapshot.cycle)
        settings = self.sm["config"]
        self.config: dict[str, Any] = dict(zip(settings.dtype.names, settings.tolist(), strict=True))
        self.num_warps = int(self.info.get("num_warps") or self.config["num_warps"])
        self.num_banks = int(self.info.get("num_banks") or self.config["num_banks"])
        self.num_schedulers = int(self.info.get("num_schedulers") or self.config["num_schedulers"] or 1)

    def _warp(self, name: str) -> list[Any]:
        return self.sm["warp"][name][: self.num_warps].tolist()

    @cached_property
    def state(self) -> list[int]:
        """Stall code of each warp slot: what it did in the previous cycle."""
        return self._warp("state")

    @cached_property
    def since(self) -> list[int]:
        """First cycle of each warp's current run of one state."""
        return self._warp("state_since_cycle")

    @cached_property
    def pc(self) -> list[int]:
        """Next instruction of each warp."""
        return self._warp("pc")

    @cached_property
    def last_pc(self) -> list[int]:
        """Last issued instruction of each warp."""
        return self._warp("last_pc")

    @cached_property
    def mask(self) -> list[int]:
        """Active lanes of each warp's running split."""
        return self._warp("mask")

    @cached_property
    def blocker(self) -> list[int]:
        """What blocks each warp: a register, unit, barrier id ... depending on `blocker_kind`."""
        return self._warp("blocker")

    @cached_property
    def blocker_kind(self) -> list[int]:
        """BLOCK_* of each warp."""
        return self._warp("blocker_kind")

    @cached_property
    def reg_base(self) -> list[int]:
        """Physical slot of register 0 of each warp."""
        return self._warp("reg_base")

    @cached_property
    def cta(self) -> list[int]:
        """CTA slot of each warp, NONE8 when empty."""
        return self._warp("cta")

    @cached_property
    def losers(self) -> list[int]:
        """Bit per stall code: what else would have blocked each warp."""
        return self._warp("losers")

    @cached_property
    def writers(self) -> dict[tuple[int, int], int]:
        """The in-flight entry that will write each (warp, register)."""
        return producers.writers(self.inflight, self.info.get("program", ()))

    def awaited(self, warp: int) -> int | None:
        """Return the in-flight entry that has yet to write or read the register or predicate a warp waits for, or None."""
        return producers.awaited(self.sm, self.info.get("program", ()), warp, self.writers)

    @cached_property
    def sb_write(self) -> list[int]:
        """Registers with a pending write, a bit each, per warp."""
        return self._warp("sb_write")

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
    def bank(self) -> list[dict[str, int]]:
        """One dict per bank in use."""
        banks = self.sm["bank"][: self.num_banks]
        return [dict(zip(banks.dtype.names, row, strict=True)) for row in banks.tolist()]

    @cached_property
    def pipe(self) -> list[dict[str, int]]:
        """One dict per pipe."""
        pipes = self.sm["pipe"]
        return [dict(zip(pipes.dtype.names, row, strict=True)) for row in pipes.tolist()]

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
    def registers(self) -> int:
        """Registers per thread of the running launch."""
        return int(self.sm["launch"]["registers"])

    def instruction(self, pc: int) -> dict[str, Any] | None:
        """Return the program's entry at a pc, None outside the program."""
        program = self.info.get("program", ())
        return program[pc] if 0 <= pc < len(program) else None

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
    def resident_warps(self) -> list[int]:
        """Warp slots that hold a warp, ascending."""
        return [warp for warp in range(self.num_warps) if (self.resident >> warp) & 1]
