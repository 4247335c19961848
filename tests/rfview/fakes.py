"""A fake machine and its timeline, so that screens can be tested without engine, compiler or recording."""

from __future__ import annotations

import random
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from rfview.engine import plugin, stalls
from rfview.engine import state as layout
from rfview.engine.chunk import Writes
from rfview.engine.info import DesignSpec, Instruction, Launch, RunInfo, Text
from rfview.engine.machine.cores.subcore.stalls import STALLS as SUBCORE_STALLS
from rfview.engine.program import SPACES
from rfview.engine.snapshot import Snapshot
from rfview.sessions.layout import Layout
from rfview.sessions.session import Session
from rfview.sessions.timeline.base import Timeline

NUM_WARPS = 48
NUM_BANKS = 16
REGISTERS = 20
CYCLES = 400
BEGIN = 10            # cycle of the first CTA
PROGRAM = [
    ("ld.global.f32", "R12, [R8+0]", [12], [8]), ("ld.global.f32", "R16, [R9+0]", [16], [9]),
    ("add.s32", "R8, R8, R2", [8], [8, 2]), ("ld.shared.f32", "R15, [R10+4]", [15], [10]),
    ("fma.rn.f32", "R13, R12, R5, R9", [13], [12, 5, 9]), ("fma.rn.f32", "R14, R12, R6, R11", [14], [12, 6, 11]),
    ("fma.rn.f32", "R15, R16, R5, R13", [15], [16, 5, 13]), ("mul.f32", "R17, R16, R6", [17], [16, 6]),
    ("fma.rn.f32", "R18, R17, R5, R14", [18], [17, 5, 14]), ("setp.lt.s32", "P0, R2, R3", [], [2, 3]),
    ("shl.b32", "R19, R2, 4", [19], [2]), ("bar.sync", "0", [], []), ("rcp.approx.f32", "R11, R7", [11], [7]),
    ("st.global.f32", "[R9+0], R11", [], [9, 11]), ("@P0 bra", "0", [], []), ("exit", "", [], []),
]
MIX = [(stalls.LONG_SCOREBOARD, .30, 70), (stalls.SHORT_SCOREBOARD, .06, 12), (stalls.WAIT, .2, 5),
       (stalls.BANK_CONFLICT, .07, 2), (stalls.PIPE_THROTTLE, .04, 2), (stalls.COLLECTOR_FULL, .03, 2),
       (stalls.BARRIER, .04, 25), (stalls.NO_INSTRUCTION, .04, 2)]


def make_info(design: str = "sram") -> RunInfo:
    """Return the constants of the fake run, as Simulator.info describes them."""
    program = []
    for pc, (mnemonic, operands, dst, src) in enumerate(PROGRAM):
        unit = "LDST" if mnemonic[:2] in ("ld", "st") else "SFU" if mnemonic.startswith("rcp") else "SP" if dst else "CTRL"
        space = next((part for part in mnemonic.split(".") if part in SPACES), "")
        wait = 2 if space == "global" else 1 if space == "shared" or unit == "SFU" else 0
        rows = [row for register in src for row in (register, 255)]
        program.append(Instruction(
            pc=pc, kernel="gemm_tile", line=112 + pc, text=f"{mnemonic} {operands}".strip(), mnemonic=mnemonic.split(".")[0],
            op="", unit=unit, space=space, latency_class="", wait_class=wait,
            dst=dst, src=(rows + [255] * 6)[:6]))
    lines = [f"// line {n}" for n in range(1, 112)] + [f"\t{m} {o};" for m, o, _, _ in PROGRAM]
    return RunInfo(
        kernel="gemm_tile", kernels=["gemm_tile"], name="gemm", num_launches=1, design=design, scheduler="gto",
        launches=[Launch(kernel="gemm_tile", grid=[2, 5, 1], block=[32, 8, 1], registers=REGISTERS, entry_pc=0,
                         resident_ctas=6, shared_bytes=0)],
        preset="fermi", parameters={"sm.num_warps": NUM_WARPS}, seed=1, engine_version="fake",
        num_warps=NUM_WARPS, num_banks=NUM_BANKS, num_schedulers=2, clock_mhz=700,
        registers_per_thread=REGISTERS, main_rows=1024, recorded_rows=1024, arena_words=64, shared_words=16, global_word=16,
        local_word=64, param_word=64, design_title="banked SRAM", design_source="", events=[], design_events=[],
        stalls=[stall for stall in plugin.stalls().values() if stall not in SUBCORE_STALLS], activities=[], energy_pj={}, technology={},
        compile_notes=[], setting_notes=[], spilled_words=0, register_limit=63,
        panels=[], program=program, ptx=[Text(path="gemm.ptx", text="\n".join(lines))], sources=[],
        virtual={"gemm_tile": [("%f12", 0, 8, 12, 1), ("%r2", 0, 14, 2, 1), ("%f13", 4, 6, 13, 1)]},
        design_spec=DesignSpec(chain=["sram"], values={}, locates=False), buffers=[], symbols=[],
        source_hash="0", launch_toml="")


@lru_cache(maxsize=2)
def history(seed: int = 7, cycles: int = CYCLES) -> tuple[np.ndarray, np.ndarray]:
    """Return (states, pcs), each (cycles, warps): every warp's state and pc in every cycle."""
    rng = random.Random(seed)
    states = np.full((cycles, NUM_WARPS), stalls.NO_CTA, np.uint8)
    pcs = np.zeros((cycles, NUM_WARPS), np.uint32)
    wait = [(stalls.NO_INSTRUCTION, 2 + warp // 8) for warp in range(NUM_WARPS)]
    pc = [warp % 15 for warp in range(NUM_WARPS)]
    greedy = [0, 1]
    for cycle in range(BEGIN, cycles):
        for scheduler in (0, 1):
            mine = range(scheduler, NUM_WARPS, 2)
            ready = [warp for warp in mine if wait[warp][1] <= 0]
            chosen = greedy[scheduler] if greedy[scheduler] in ready else (ready[0] if ready else -1)
            for warp in mine:
                code = stalls.ISSUED if warp == chosen else stalls.NOT_SELECTED if warp in ready else wait[warp][0]
                states[cycle, warp] = code
                wait[warp] = (wait[warp][0], wait[warp][1] - 1)
            if chosen >= 0:
                greedy[scheduler] = chosen
                pc[chosen] = (pc[chosen] + 1) % 15
                draw = rng.random()
                for code, share, most in MIX:
                    draw -= share
                    if draw < 0:
                        wait[chosen] = (code, rng.randint(1, most))
                        break
        pcs[cycle] = pc
    states[cycles - 60 :, 46:] = stalls.FINISHED
    return states, pcs


class FakeTimeline(Timeline):
    """A timeline over the fake history, closed, or growing with live=True."""

    def __init__(self, design: str = "sram", live: bool = False, cycles: int = CYCLES, seed: int = 7,
                 info: RunInfo | None = None):
        rf_dtype = np.dtype([("writes", "i8"), ("heat", "u1", (4, 8)), ("level", "u2", (6,))])
        super().__init__(info or make_info(design), Layout(layout.recorded_dtype(), rf_dtype))
        self.history, self.pcs = history(seed, cycles)
        self.last = 0 if live else cycles - 1
        self.closed = not live
        self.extended = 0
        self._kept: dict[int, Snapshot] = {}

    def chunk_starts(self) -> list[int]:
        return list(range(0, max(1, self.last), 100))

    def decoded(self, number: int) -> Any:
        raise NotImplementedError("made up cycle by cycle, in no chunks")

    def part(self, number: int, words: np.ndarray | None) -> Any:
        """Return a chunk's log of results, in which there are none."""
        first, nothing = self.chunk_starts()[number], np.empty(0, np.uint32)
        writes = Writes(np.zeros(100, np.uint32), nothing, nothing, nothing, nothing, nothing)
        return SimpleNamespace(first=first, last=first + 100, writes=writes)

    def around(self, cycle: int) -> list[Any]:
        return []       # only the state at the cursor is known

    def totals(self, number: int) -> np.ndarray:
        starts = [*self.chunk_starts(), self.last]
        return self.stall_totals(starts[number])

    def stall_totals(self, cycle: int) -> np.ndarray:
        return np.bincount(self.history[1 : cycle + 1].ravel(), minlength=stalls.MAX_CODES).astype(np.int64)

    def printed(self, upto: int) -> list[tuple[int, str]]:
        return []

    def extend(self, cycles: int) -> int:
        before = self.last
        self.last = min(len(self.history) - 1, self.last + max(1, cycles))
        self.closed = self.last == len(self.history) - 1
        self.extended += 1
        return self.last - before

    def column(self, path: str, start: int, stop: int) -> np.ndarray:
        if path == "sm.warp[*].state":
            wide = np.full((stop - start, layout.MAX_WARPS), stalls.NO_CTA, np.uint8)
            wide[:, :NUM_WARPS] = self.history[start:stop]
            return wide
        field = self.layout.field(path)
        out = []
        for cycle in range(start, stop):
            snap = self.at(cycle)
            data = np.frombuffer(snap.sm.tobytes() + snap.rf.tobytes(), np.uint8)
            width = field.dtype.itemsize
            out.append(np.array([data[o : o + width].view(field.dtype)[0] for o in field.offsets]).reshape(field.shape))
        return np.array(out, field.dtype)

    def row_column(self, row: int, start: int, stop: int) -> np.ndarray:
        return np.array([self.at(cycle).rows[row] for cycle in range(start, stop)])

    def memory_column(self, word: int, start: int, stop: int) -> np.ndarray:
        return np.array([self.at(cycle).memory[word] for cycle in range(start, stop)])

    def at(self, cycle: int) -> Snapshot:
        self.require(cycle)
        if cycle not in self._kept:
            if len(self._kept) > 500:
                self._kept.clear()
            self._kept[cycle] = make_snapshot(self.info, self.layout, self.history, self.pcs, cycle)
        return self._kept[cycle]


def make_snapshot(info: dict[str, Any], shape: Layout, history: np.ndarray, pcs: np.ndarray, cycle: int) -> Snapshot:
    """Return the machine at one cycle, with tables that agree with the states."""
    sm, rf = np.zeros(1, shape.sm_dtype)[0], np.zeros(1, shape.rf_dtype)[0]
    states = history[cycle].tolist()
    sm["cycle"] = cycle
    for code in states:
        sm["state_count"][code] += 1
    sm["stall_total"][:] = np.bincount(history[1 : cycle + 1].ravel(), minlength=stalls.MAX_CODES)
    config = sm["config"]
    for name, value in {"num_warps": NUM_WARPS, "num_banks": NUM_BANKS, "num_schedulers": 2, "num_collectors": 16,
                        "num_sp": 2, "rows_per_bank": 64, "mshrs": 32, "bank_ports": 1, "l1_enabled": 1, "l1_hit_cycles": 35,
                        "l2_hit_cycles": 120, "dram_cycles": 100, "queue_entries": (16, 8, 16)}.items():
        config[name] = value
    sm["launch"]["registers"] = REGISTERS
    sm["launch"]["grid"], sm["launch"]["block"], sm["launch"]["running"] = (2, 5, 1), (32, 8, 1), 1
    sm["barrier"]["arrived"], sm["barrier"]["expected"] = 96, 256
    sm["warp"]["cta"] = layout.NONE8
    sm["warp"]["barrier"] = layout.NONE8
    sm["collector"]["inflight"] = layout.NONE8
    sm["bank"]["owner_warp"] = layout.NONE8
    sm["ldst_head"] = layout.NONE8
    for warp, code in enumerate(states):
        _fill_warp(sm, history, pcs, cycle, warp, code)
    _fill_units(sm, cycle, states)
    rows = np.arange(1024 * 32, dtype=np.uint32).reshape(1024, 32) // np.uint32(32)
    rows[:, 5] += np.uint32(cycle)
    rows[12] = np.linspace(0, 1, 32, dtype=np.float32).view(np.uint32)
    rf["heat"] = (np.arange(32).reshape(4, 8) + cycle) % 9
    rf["level"] = [1, 2, 3, 4, 5, cycle % 7]
    return Snapshot(cycle, sm, rf, rows, np.zeros(64, np.uint32), info)


def _fill_warp(sm: Any, history: np.ndarray, pcs: np.ndarray, cycle: int, warp: int, code: int) -> None:
    record = sm["warp"][warp]
    record["state"], record["reg_base"] = code, warp * REGISTERS
    since = cycle
    while since > 1 and history[since - 1, warp] == code:
        since -= 1
    record["state_since_cycle"] = since - 1 if cycle else 0
    if code == stalls.NO_CTA:
        return
    sm["resident"] |= np.uint64(1 << warp)
    pc = int(pcs[cycle, warp])
    record["pc"], record["last_pc"], record["mask"] = pc, (pc - 1) % 15, 0xFFFFFFFF
    record["cta"], record["warp_in_cta"] = warp // 8, warp % 8
    record["num_issued"] = int((history[: cycle + 1, warp] == 0).sum())
    sources = {stalls.LONG_SCOREBOARD: (layout.MEMORY, 0, 12), stalls.SHORT_SCOREBOARD: (layout.MEMORY, 3, 15),
               stalls.WAIT: (layout.EXECUTE, 4, 13), stalls.BANK_CONFLICT: (layout.COLLECT, 8, 18)}
    if code in sources:
        stage, producer_pc, reg = sources[code]
        record["blocker_kind"], record["blocker"] = layout.BLOCK_REGISTER, reg
        record["sb_write"] = 1 << reg
        entry = sm["inflight"][warp]
        entry["stage"], entry["pc"], entry["warp"], entry["issue_cycle"] = stage, producer_pc, warp, max(0, since - 3)
        entry["since_cycle"], entry["missed"], entry["bank"] = since, 1, (warp * 5) % NUM_BANKS
        entry["done_cycle"] = cycle + (3 if stage == layout.EXECUTE else 40 if code == stalls.LONG_SCOREBOARD else 12)
        entry["collector"] = layout.NONE8
        entry["mask"] = entry["active"] = 0xFFFFFFFF
        if code == stalls.LONG_SCOREBOARD:
            slot = int((sm["mshr"]["until_cycle"] > cycle).sum())
            if slot < 32:
                line = sm["mshr"][slot]
                line["line"], line["since_cycle"], line["until_cycle"] = 4096 + warp, since, cycle + 40
                line["owner_warp"], line["owner_reg"] = warp, reg
    elif code == stalls.PIPE_THROTTLE:
        record["blocker_kind"], record["blocker"] = layout.BLOCK_UNIT, 1
    elif code == stalls.COLLECTOR_FULL:
        record["blocker_kind"] = layout.BLOCK_COLLECTOR
    elif code == stalls.BARRIER:
        record["blocker_kind"], record["blocker"], record["barrier"] = layout.BLOCK_BARRIER, 0, 0


def _fill_units(sm: Any, cycle: int, states: list[int]) -> None:
    """Enter the warps that issued or lost a bank into collectors, banks and pipes."""
    busy = [w for w, code in enumerate(states) if code in (0, stalls.BANK_CONFLICT)][:12]
    for unit, warp in enumerate(busy):
        entry = sm["inflight"][warp if states[warp] else 128 + warp]
        entry["stage"], entry["warp"], entry["collector"] = layout.COLLECT, warp, unit
        entry["pc"] = 8 if states[warp] else 4 + warp % 5
        entry["unread"], entry["refused"] = (0b010101, 0b000001) if states[warp] else (0b000100, 0)
        entry["issue_cycle"] = max(0, cycle - 1)
        sm["collector"][unit]["valid"], sm["collector"][unit]["inflight"] = 1, warp if states[warp] else 128 + warp
        bank = (warp * 5 + cycle) % NUM_BANKS
        sm["bank"][bank]["activity"] = layout.BANK_READ if warp % 3 else layout.BANK_WRITE
        sm["bank"][bank]["owner_warp"], sm["bank"][bank]["owner_reg"] = warp, 12
        sm["bank"][bank]["queue"] = unit % 3
    for pipe in range(4):
        issued = [w for w, code in enumerate(states) if code == 0]
        if pipe < len(issued):
            record = sm["pipe"][pipe]
            record["until_cycle"] = cycle + 1
            record["inflight"] = 200 + 4 * pipe
            for entry in sm["inflight"][200 + 4 * pipe :][: 1 + pipe]:
                entry["stage"], entry["warp"], entry["pipe"] = layout.EXECUTE, issued[pipe], pipe
                entry["since_cycle"] = cycle - 1


def make_session(**options: Any) -> Session:
    """Return a Session over the fake timeline."""
    return Session(FakeTimeline(**options))
