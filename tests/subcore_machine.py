"""Programs of subcore_programs.py on the engine's sub-core: one CTA, warps placed on the sub-cores that a golden asks for.

Warp w runs on sub-core w % 4. So that a golden's warps can share a sub-core, each program is placed in the warp of that sub-core whose
number keeps their order; the other warps exit at once, and warp w enters its program by a jump through its index.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rfview.engine import isa
from rfview.engine.launch import Arg, Buffer, Launch, LaunchSpec
from rfview.engine.machine_code import MACHINE_INST
from rfview.engine.program import (MEM_LOAD, MEM_STORE, NO_PRED, NO_REG, SPACE_GLOBAL, SPACE_SHARED, UNIT_CTRL, UNIT_LDST, UNIT_SP,
                                   WAIT_LONG, WAIT_SHORT, Kernel, Module)
from rfview.engine.simulator import Simulator
from tests.subcore_programs import Line

OPCODES = {"FFMA": isa.OP_FFMA, "FADD": isa.OP_FADD, "FMUL": isa.OP_FMUL, "IADD3": isa.OP_ADD3, "IMAD": isa.OP_MAD_LO32,
           "MOV": isa.OP_MOV32, "HADD2": isa.OP_HALF, "MUFU": isa.OP_SFU, "NOP": isa.OP_NOP, "DEPBAR": isa.OP_NOP,
           "CLK": isa.OP_NOP, "CS2R": isa.OP_SREG, "BMOV": isa.OP_BMOV, "BSSY": isa.OP_BSSY, "LDG": isa.OP_LD,
           "LDS": isa.OP_LD, "STG": isa.OP_ST, "STS": isa.OP_ST}
DATA_ADDRESS = 0x7000_0000_0000
PERFECT = {"core.fetch_stages": 0, "memory.l1_enabled": 2, "kernel.on_fault": "report"}     # addresses may be anything


def control_code(line: Line) -> int:
    """Return the 21 bits of an instruction's control code."""
    write, read = (7 if counter is None else counter for counter in (line.write, line.read))
    wait = sum(1 << counter for counter in line.wait)
    reuse = sum(1 << operand for operand in line.reuse)
    return line.stall | (0 if line.yields else 1) << 4 | write << 5 | read << 8 | wait << 11 | reuse << 17


def encoded(line: Line) -> np.ndarray:
    """Return a line as an instruction of machine code."""
    inst = np.zeros((), MACHINE_INST)
    inst["op"], inst["control"] = OPCODES[line.op], control_code(line)
    inst["src"], inst["dst"], inst["pdst"], inst["psrc"] = NO_REG, NO_REG, NO_PRED, NO_PRED
    inst["guard"], inst["unit"] = NO_PRED, UNIT_CTRL if OPCODES[line.op] in (isa.OP_NOP, isa.OP_BSSY) else UNIT_SP
    is_access = line.op in ("LDG", "LDS", "STG", "STS")
    places = (0, 2, 4)
    for place, reg in zip(places, line.src, strict=False):
        inst["src"][place] = reg
        inst["src_mask"] |= 1 << place
    if line.dst is not None:
        count = line.width // 4 if is_access else 1
        inst["dst"][:count], inst["num_dst"] = range(line.dst, line.dst + count), count
    if line.op == "CS2R":
        inst["aux"] = isa.SREG_CLOCK
    if line.op == "BMOV":
        inst["aux"] = isa.BMOV_CLEAR        # of B0
    if line.op == "MUFU":
        inst["aux"], inst["wait_class"] = isa.SFU_RCP, WAIT_SHORT
    if line.limit is not None:
        inst["aux"] = line.limit[0] + 1 | line.limit[1] << 8 | sum(1 << counter for counter in line.limit[2:]) << 16
    if is_access:
        shared, is_load = line.op in ("LDS", "STS"), line.op in ("LDG", "LDS")
        inst["unit"], inst["memory_kind"] = UNIT_LDST, MEM_LOAD if is_load else MEM_STORE
        inst["space"], inst["wait_class"] = (SPACE_SHARED, WAIT_SHORT) if shared else (SPACE_GLOBAL, WAIT_LONG)
        inst["width"], inst["count"], inst["reg_bits"] = 4, line.width // 4, 32
        inst["imm"][1], inst["imm_mask"] = 0 if shared else DATA_ADDRESS >> 32, 2
    return inst


def end(op: int, **fields: Any) -> np.ndarray:
    """Return a control instruction."""
    inst = encoded(Line("NOP"))
    inst["op"] = op
    for name, value in fields.items():
        inst[name] = value
    return inst


def placed(programs: Sequence[Sequence[Line]], subcores: Sequence[int]) -> list[int]:
    """Return the warp slot of each program: ascending on each sub-core."""
    slots: list[int] = []
    for number in range(len(programs)):
        subcore = subcores[number] if subcores else 0
        slots.append(subcore + 4 * sum(slot % 4 == subcore for slot in slots))
    return slots


class SubcoreMachine:
    """A Simulator of golden programs, run to the end, one cycle at a time. values: what registers begin as; the others are 0.

    issues: of each program, the cycles of its issues, the first one of all being in cycle 1.
    """

    def __init__(self, programs: Sequence[Sequence[Line]], subcores: Sequence[int] = (), settings: Mapping[str, Any] | None = None,
                 values: Mapping[int, float] | None = None, preset: str = "ampere", design: str = "sram") -> None:
        self.slots = placed(programs, subcores)
        insts: list[np.ndarray] = []
        texts: list[str] = []
        starts = []
        for program in programs:
            starts.append(len(insts))
            insts += [encoded(line) for line in program] + [end(isa.OP_EXIT)]
            texts += [line.op for line in program] + ["EXIT"]
        self.starts = starts
        warps = max(self.slots) + 1
        kernel = Kernel("test", np.array(insts, MACHINE_INST), tuple(texts), (), 64, 8, 1024, 0, ())
        module = Module("test.sass", ".address_size 64\n", {"test": kernel})
        launch = Launch("test", (1, 1, 1), (32 * warps, 1, 1), 0, tuple[Arg, ...]())
        spec = LaunchSpec(Path("test.toml"), "test", Path("test.sass"), (launch,),
                          {"data": Buffer("data", np.zeros(1024, np.uint32))}, {}, {}, False, "exact", "", None)
        self.simulator = Simulator(spec, module=module, design=design, preset=preset,
                                   settings={**PERFECT, **(settings or {})})
        self.lengths = [len(program) for program in programs]
        self.issues: list[list[int]] = [[] for _ in programs]
        self.hits: list[tuple[int, int]] = []       # program, operands found in the reuse cache, one bit each
        self.writes: list[tuple[int, int]] = []     # cycle, bank
        self._run(warps, values or {})

    def _run(self, warps: int, values: Mapping[int, float]) -> None:
        """Start the warps at their programs, and run."""
        simulator = self.simulator
        sm = simulator.sm
        simulator.step(1)
        registers = int(sm.launch.registers)
        for warp in range(warps):
            if warp in self.slots:
                sm.warp[warp].pc = self.starts[self.slots.index(warp)]
            else:
                sm.warp[warp].pc = self.starts[0] + self.lengths[0]
        for reg, value in values.items():
            simulator.rows.f[[slot * registers + reg for slot in self.slots]] = value
        while not simulator.finished and simulator.cycle < 3000:
            before = [int(sm.warp[slot].num_issued) for slot in self.slots]
            simulator.step(1)
            self._note()
            for number, slot in enumerate(self.slots):
                if int(sm.warp[slot].num_issued) > before[number]:
                    self.issues[number].append(simulator.cycle - 1)
                if len(self.issues[number]) == self.lengths[number]:     # its EXIT would take another warp's turn
                    over = sum(map(len, self.issues)) >= sum(self.lengths)
                    simulator.rf.core.warp[slot].until_cycle = 0 if over else 1 << 30
        first = min(cycles[0] for cycles in self.issues)
        self.writes = [(cycle - first + 1, bank) for cycle, bank in self.writes]
        self.issues = [[cycle - first + 1 for cycle in cycles[: self.lengths[number]]]
                       for number, cycles in enumerate(self.issues)]

    def _note(self) -> None:
        """Note the reuse cache's hits and the writes of the cycle that has run."""
        for number, sub in enumerate(self.simulator.rf.core.sub):
            if int(sub.allocated):
                flight = self.simulator.sm.inflight[int(sub.allocated) - 1]
                if int(flight.warp) in self.slots:
                    self.hits.append((self.slots.index(int(flight.warp)), int(sub.hits)))
            for parity in range(2):
                bank = 2 * number + parity
                if int(self.simulator.sm.bank[bank].written):
                    self.writes.append((self.simulator.cycle - 1, bank))

    def register(self, program: int, reg: int) -> np.ndarray:
        """Return a register of a program's warp at the end, (32,) f4."""
        base = self.slots[program] * int(self.simulator.sm.launch.registers)
        return np.asarray(self.simulator.rows.f[base + reg])
