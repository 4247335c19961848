"""Hand-written programs with physical registers, for tests that specify what must happen in which cycle.

    program = Assembly().mov(1, 5).add(2, 1, 1).exit()
    machine = Machine(program, warps=1, design="hrf")
    machine.run()
    machine.states(warp=0)            # the state of warp 0 in every cycle, as short names
    machine.register(0, 2)            # (32,) u4
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from rfview.engine.machine.cores import choice as cores
from rfview.engine import plugin as designs, hooks, isa
from rfview.engine.events import FIRST_DESIGN_EVENT
from rfview.engine.launch import Arg, Buffer, Launch, LaunchSpec
from rfview.engine.program import (INST, LAT_FP_ADD, LAT_FP_MAD, LAT_INT_ADD, LAT_SFU, NO_PC, NO_PRED, NO_REG,
                                   SPACE_CONST, SPACE_GLOBAL, SPACE_PARAM, SPACE_SHARED, UNIT_CTRL, UNIT_LDST, UNIT_SFU,
                                   UNIT_SP, WAIT_FIXED, WAIT_LONG, WAIT_SHORT, Kernel, Module, Param,
                                   fill_derived, source_masks)
from rfview.engine.simulator import Simulator
from rfview.engine.stalls import ISSUED

DATA_ADDRESS = 0x7000_0000_0000


class Assembly:
    """A list of decoded instructions; every method appends one and returns self.

    An operand is a register number; immediates are given by keyword (`imm`). `guard` is a predicate number.
    """

    def __init__(self) -> None:
        self.insts: list[np.ndarray] = []
        self.texts: list[str] = []

    def emit(
        self, op: int, text: str, *, dst: tuple[int, ...] = (), src: Mapping[int, int] | None = None,
        imm: Mapping[int, int] | None = None, unit: int = UNIT_SP, latency: int = LAT_INT_ADD, wait: int = WAIT_FIXED,
        guard: int | None = None, negate: bool = False, pdst: tuple[int, ...] = (), psrc: tuple[int, ...] = (),
        **fields: Any,
    ) -> Assembly:
        """Append an instruction; src and imm map row slots to registers and values."""
        inst = np.zeros((), INST)
        inst["op"], inst["unit"], inst["latency_class"], inst["wait_class"] = op, unit, latency, wait
        inst["src"][:], inst["dst"][:] = NO_REG, NO_REG
        inst["psrc"][:], inst["pdst"][:] = NO_PRED, NO_PRED
        inst["guard"] = NO_PRED if guard is None else guard
        inst["guard_negate"] = negate
        inst["reconv"] = NO_PC
        inst["line"] = len(self.insts) + 1
        need = 0
        for slot, reg in (src or {}).items():
            inst["src"][slot] = reg
            need |= 1 << reg
        inst["src_mask"], inst["repeats"] = source_masks(inst["src"].tolist())
        for slot, value in (imm or {}).items():
            inst["imm"][slot] = value & 0xFFFFFFFF
            inst["imm_mask"] |= 1 << slot
        for row, reg in enumerate(dst):
            inst["dst"][row] = reg
            inst["dst_regs"] |= 1 << reg
        inst["num_dst"] = len(dst)
        inst["need_regs"] = need | int(inst["dst_regs"])
        preds = 0 if guard is None else 1 << guard
        for index, pred in enumerate(psrc):
            inst["psrc"][index] = pred
            preds |= 1 << pred
        for index, pred in enumerate(pdst):
            inst["pdst"][index] = pred
            inst["dst_preds"] |= 1 << pred
        inst["need_preds"] = preds | int(inst["dst_preds"])
        for name, value in fields.items():
            inst[name] = value
        self.insts.append(inst)
        self.texts.append(text)
        return self

    def mov(self, d: int, imm: int, **more: Any) -> Assembly:
        """Move an immediate."""
        return self.emit(isa.OP_MOV32, f"mov.u32 R{d}, {imm}", dst=(d,), imm={0: imm}, **more)

    def copy(self, d: int, a: int, **more: Any) -> Assembly:
        """Move a register."""
        return self.emit(isa.OP_MOV32, f"mov.u32 R{d}, R{a}", dst=(d,), src={0: a}, **more)

    def add(self, d: int, a: int, b: int | None = None, imm: int | None = None, **more: Any) -> Assembly:
        """Add two registers, or a register and an immediate."""
        src = {0: a} if b is None else {0: a, 2: b}
        values = {2: imm} if imm is not None else None
        other = f"R{b}" if b is not None else str(imm)
        return self.emit(isa.OP_ADD32, f"add.u32 R{d}, R{a}, {other}", dst=(d,), src=src, imm=values, **more)

    def fadd(self, d: int, a: int, b: int, **more: Any) -> Assembly:
        """Add two f32 registers."""
        return self.emit(isa.OP_FADD, f"add.f32 R{d}, R{a}, R{b}", dst=(d,), src={0: a, 2: b}, latency=LAT_FP_ADD,
                         is_float=1, **more)

    def fma(self, d: int, a: int, b: int, c: int, **more: Any) -> Assembly:
        """Append a fused multiply-add of f32 registers."""
        return self.emit(isa.OP_FFMA, f"fma.rn.f32 R{d}, R{a}, R{b}, R{c}", dst=(d,), src={0: a, 2: b, 4: c},
                         latency=LAT_FP_MAD, is_float=1, **more)

    def sfu(self, d: int, a: int, **more: Any) -> Assembly:
        """Compute a reciprocal in the special function unit."""
        return self.emit(isa.OP_SFU, f"rcp.approx.f32 R{d}, R{a}", dst=(d,), src={0: a}, unit=UNIT_SFU, latency=LAT_SFU,
                         wait=WAIT_SHORT, aux=isa.SFU_RCP, is_float=1, **more)

    def sreg(self, d: int, which: int, **more: Any) -> Assembly:
        """Read a special register."""
        return self.emit(isa.OP_SREG, f"mov.u32 R{d}, %{isa.SREG_NAMES[which]}", dst=(d,), aux=which, **more)

    def setp_lt(self, p: int, a: int, imm: int, **more: Any) -> Assembly:
        """Compare unsigned: sets predicate p = register a < imm."""
        return self.emit(isa.OP_SETP_U32, f"setp.lt.u32 P{p}, R{a}, {imm}", pdst=(p,), src={0: a}, imm={2: imm},
                         aux=isa.CMP_LT, **more)

    def ld(self, d: int, a: int | None = None, offset: int = 0, shared: bool = False, **more: Any) -> Assembly:
        """Load a word; from global memory without register a: from data + offset, the same word for all lanes."""
        return self._memory(isa.OP_LD, (d,), {}, a, offset, shared, 1, **more)

    def st(self, value: int, a: int | None = None, offset: int = 0, shared: bool = False, **more: Any) -> Assembly:
        """Store a register."""
        return self._memory(isa.OP_ST, (), {2: value}, a, offset, shared, 2, **more)

    def const(self, d: int, offset: int = 0, a: int | None = None) -> Assembly:
        """Load a word of the data as a constant."""
        self.ld(d, a, offset)
        self.insts[-1]["space"], self.insts[-1]["wait_class"] = SPACE_CONST, WAIT_SHORT
        self.texts[-1] = self.texts[-1].replace("global", "const")
        return self

    def param(self, d: int, offset: int) -> Assembly:
        """Load a word of the parameters at a fixed offset."""
        return self.emit(isa.OP_LDPARAM, f"ld.param.u32 R{d}, [p+{offset}]", dst=(d,), offset=offset, wait=WAIT_SHORT,
                         space=SPACE_PARAM, width=4, count=1, reg_bits=32)

    def _memory(self, op: int, dst: tuple[int, ...], data: Mapping[int, int], a: int | None, offset: int, shared: bool,
                kind: int, **more: Any) -> Assembly:
        """Append a load or store of 32-bit words. With register a the address is a + data (global) or a (shared)."""
        base = 0 if shared else DATA_ADDRESS
        src, imm = dict(data), {}
        if a is None:
            imm = {0: base & 0xFFFFFFFF, 1: base >> 32}
        else:
            src[0] = a
            imm = {1: base >> 32}
        name = ("ld" if kind == 1 else "st") + (".shared" if shared else ".global")
        what = f"R{dst[0]}" if dst else f"R{data[2]}"
        return self.emit(op, f"{name}.u32 {what}, [{'data' if a is None else f'R{a}'}+{offset}]", dst=dst, src=src, imm=imm,
                         unit=UNIT_LDST, wait=WAIT_SHORT if shared else WAIT_LONG, offset=offset, width=4, count=1,
                         reg_bits=32, space=SPACE_SHARED if shared else SPACE_GLOBAL, memory_kind=kind, **more)

    def bar(self, count: int = 0, number: int = 0) -> Assembly:
        """Wait at a CTA barrier."""
        return self.emit(isa.OP_BAR, f"bar.sync {number}", unit=UNIT_CTRL, imm={0: number, 2: count}, aux=isa.BAR_SYNC)

    def bra(self, target: int, guard: int | None = None, reconv: int = NO_PC, negate: bool = False) -> Assembly:
        """Branch to instruction number `target`."""
        return self.emit(isa.OP_BRA, f"bra {target}", unit=UNIT_CTRL, target=target, reconv=reconv, guard=guard,
                         negate=negate)

    def exit(self, guard: int | None = None) -> Assembly:
        """End the active lanes."""
        return self.emit(isa.OP_EXIT, "exit", unit=UNIT_CTRL, guard=guard)

    def kernel(self, registers: int, shared_bytes: int) -> Kernel:
        """Return the program as a kernel with one parameterless entry."""
        params: tuple[Param, ...] = ()
        insts = np.array(self.insts, INST)
        fill_derived(insts)
        return Kernel("test", insts, tuple(self.texts), params, registers, 8, shared_bytes, 0, ())


class Machine:
    """A simulator of a hand-written program, run one cycle at a time; every snapshot is kept.

    warps: per CTA. data: initial u4 words of the one buffer, at DATA_ADDRESS. All other arguments as in Simulator.
    """

    def __init__(
        self, program: Assembly, *, warps: int = 1, ctas: int = 1, registers: int = 20, data: Any = None,
        shared_bytes: int = 1024, threads: int | None = None, design: str = "sram", **more: Any,
    ) -> None:
        kernel = program.kernel(registers, shared_bytes)
        module = Module("test.ptx", "", {"test": kernel})
        launch = Launch("test", (ctas, 1, 1), (threads or 32 * warps, 1, 1), 0, tuple[Arg, ...]())
        words = np.zeros(1024, np.uint32) if data is None else np.asarray(data, np.uint32)
        spec = LaunchSpec(
            Path("test.toml"), "test", Path("test.ptx"), (launch,), {"data": Buffer("data", words)}, {}, {}, False, "exact",
            "", None,
        )
        self.simulator = Simulator(spec, module=module, design=design, **more)
        self.snapshots = [self.simulator.snapshot()]

    def step(self) -> Any:
        """Run one cycle and return the snapshot after it."""
        self.simulator.step(1)
        self.snapshots.append(self.simulator.snapshot())
        return self.snapshots[-1]

    def run(self, limit: int = 3000) -> Machine:
        """Run to the end."""
        while not self.simulator.finished:
            assert self.simulator.cycle < limit, "the program did not end"
            self.step()
        return self

    def states(self, warp: int = 0) -> list[str]:
        """Return a warp's state names in cycles 0, 1, ..."""
        names = {int(stall.code): str(stall.name) for stall in self.simulator.info.stalls}
        return [names[int(snapshot.sm.warp[warp].state)] for snapshot in self.snapshots[1:]]

    def runs(self, warp: int = 0) -> list[tuple[str, int]]:
        """Return the states of a warp as runs of (name, cycles)."""
        found: list[tuple[str, int]] = []
        for name in self.states(warp):
            if found and found[-1][0] == name:
                found[-1] = (name, found[-1][1] + 1)
            else:
                found.append((name, 1))
        return found

    def issues(self, warp: int = 0) -> list[tuple[int, str]]:
        """Return (cycle, instruction text) of every issue of a warp."""
        program = self.simulator.info.program
        return [
            (cycle, program[int(snapshot.sm.warp[warp].last_pc)].text)
            for cycle, snapshot in enumerate(self.snapshots[1:])
            if int(snapshot.sm.warp[warp].state) == ISSUED
        ]

    def column(self, read: Any) -> Iterator[Any]:
        """Return read(snapshot) after every cycle; item c is the state after cycle c."""
        return (read(snapshot) for snapshot in self.snapshots[1:])

    def register(self, warp: int, reg: int, at: int = -1) -> np.ndarray:
        """Return a register's newest value after cycle `at`, or in the last cycle in which the warp was resident."""
        if at >= 0:
            return self.snapshots[at + 1].register(warp, reg)
        last = next(shot for shot in reversed(self.snapshots) if int(shot.sm.resident) >> warp & 1)
        return last.register(warp, reg)

    def count(self, name: str) -> int:
        """Return an event count at the end."""
        return self.simulator.counts().get(name, 0)


def counted(machine: Machine, name: str) -> list[int]:
    """Return the cycles in which an event of the machine or the design was counted, one entry per count."""
    own, design = machine.simulator.info.events, machine.simulator.info.design_events
    number = own.index(name) if name in own else FIRST_DESIGN_EVENT + design.index(name)
    counts = [int(snapshot.sm["events"][number]) for snapshot in machine.snapshots]
    return [cycle for cycle in range(len(counts) - 1) for _ in range(counts[cycle + 1] - counts[cycle])]


def issue_cycle(machine: Machine, text: str, warp: int = 0, nth: int = 0) -> int:
    """Return the cycle in which a warp issues the nth instruction that begins with `text`."""
    return [cycle for cycle, issued in machine.issues(warp) if issued.startswith(text)][nth]


def spaces(program: Assembly, number: int) -> Assembly:
    """Append instructions that take one cycle and use no register."""
    for _ in range(number):
        program.bra(len(program.insts) + 1)
    return program


def check_skipping(run: Callable[[], Machine]) -> None:
    """Check that a run without skipped idle cycles has the same states; for plain Python, without JIT."""
    skipping = run()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cores, "idle_cycles", lambda *args: 0)
        stepping = run()
    assert len(skipping.snapshots) == len(stepping.snapshots)
    for one, other in zip(skipping.snapshots, stepping.snapshots, strict=True):
        assert one.same_as(other), one.cycle


@contextmanager
def added(name: str, design: ModuleType) -> Iterator[None]:
    """Register a design; afterwards, remove it and any others added in the meantime."""
    designs.add(name, design)
    yield
    designs.forget()
    for built_in in designs.BUILT_IN:
        hooks.register(built_in, designs.module(built_in))
