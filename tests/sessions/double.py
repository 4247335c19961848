"""A simulator double: a small, fast and deterministic machine whose chunks and snapshots are consistent.

It changes the real record's fields the way the engine does (states, stamps, program counters, masks, cold blocks, rows,
memory words, skipped cycles), from a counter-based random stream that is part of its state, so that checkpoints replay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rfview.engine import stalls, state
from rfview.engine.chunk import ALL_REGISTERS, CLEARED, NO_ROW, RAW, REGISTERS_OF_WARP, Blocks, Chunk, Rows, Writes
from rfview.engine.errors import KernelFault
from rfview.engine.info import DesignSpec, Instruction, Launch, RunInfo, Text, Variable
from rfview.engine.snapshot import Snapshot

RF_DTYPE = np.dtype([("writes", "u4"), ("level", "i4", (4,)), ("entry", [("valid", "u1"), ("reg", "u1"), ("pad", "u2")],
                     (3,)), ("clock", "u8")])
NUM_WARPS, NUM_BANKS, NUM_ROWS, NUM_WORDS, REGISTERS = 8, 4, 40, 512, 4
BASE = 0x7000_0000_0000


def make_info() -> RunInfo:
    """Return the constants of the double's run."""
    program = [Instruction(pc=pc, kernel="k", line=10 + pc // 2, text=f"op{pc} R1, R2", mnemonic=f"op{pc}", op="iadd",
                           unit="SP", space="", latency_class="int_add", wait_class=0, dst=[1], src=[2, 255, 255])
               for pc in range(16)]
    return RunInfo(
        kernel="k", name="double", kernels=["k"], sources=[], source_hash="double", num_launches=1,
        launches=[Launch(kernel="k", registers=REGISTERS, grid=[1, 1, 1], block=[32, 7, 1], entry_pc=0, resident_ctas=1,
                         shared_bytes=0)],
        design="sram", design_title="", design_source="", design_spec=DesignSpec(chain=["sram"], values={}, locates=False),
        scheduler="gto", preset="fermi", parameters={"sm.num_warps": NUM_WARPS, "sm.num_collectors": 6}, seed=0,
        engine_version="double", num_warps=NUM_WARPS, num_banks=NUM_BANKS, num_schedulers=2, clock_mhz=700,
        registers_per_thread=REGISTERS, register_limit=63, spilled_words=0, compile_notes=[], setting_notes=[],
        main_rows=NUM_ROWS, recorded_rows=NUM_ROWS, arena_words=NUM_WORDS, shared_words=0, global_word=0, local_word=0,
        param_word=0, stalls=list(stalls.STALLS), events=["instructions", "rf_reads"],
        design_events=[], activities=[], panels=[], energy_pj={}, technology={}, virtual={}, program=program,
        ptx=[Text(path="k.ptx", text="// nothing")],
        buffers=[Variable(name="A", address=BASE, word=128, bytes=512, dtype="<u4", shape=[128]),
                 Variable(name="B", address=BASE + 1024, word=384, bytes=256, dtype="<u4", shape=[64])],
        symbols=[], launch_toml="")


class Double:
    """Stands in for rfview.engine.simulator.Simulator in recording, replay and live timelines."""

    def __init__(self, cycles: int = 3000, seed: int = 1, fault_at: int | None = None):
        self.cycles, self.seed, self.fault_at = cycles, seed, fault_at
        self.sm_dtype, self.rf_dtype = state.recorded_dtype(), RF_DTYPE
        self.info = make_info()
        self.fault: KernelFault | None = None
        self.printed: list[tuple[int, str]] = []
        self.cycle = 0
        self._sm = np.zeros(1, self.sm_dtype)
        self._rf = np.zeros(1, RF_DTYPE)
        self._rows = np.arange(NUM_ROWS * 32, dtype=np.uint32).reshape(NUM_ROWS, 32)
        self.initial_memory = np.arange(NUM_WORDS, dtype=np.uint32) * 3
        self._memory = self.initial_memory.copy()
        sm = self._sm[0]
        sm["resident"] = (1 << NUM_WARPS) - 2
        sm["launch"]["registers"] = REGISTERS
        sm["state_count"][stalls.NO_CTA] = NUM_WARPS
        for warp in range(64):
            sm["warp"][warp]["reg_base"] = warp * REGISTERS % (NUM_ROWS - REGISTERS)
            sm["warp"][warp]["cta"] = 0 if 0 < warp < NUM_WARPS else 255
            sm["warp"][warp]["state"] = stalls.NO_CTA

    @property
    def finished(self) -> bool:
        return self.cycle >= self.cycles

    def summary(self) -> dict[str, Any]:
        return {"cycles": self.cycle, "verified": True}

    def snapshot(self) -> Snapshot:
        sm, rf = copied(self._sm)[0], copied(self._rf)[0]
        return Snapshot(self.cycle, sm, rf, self._rows.copy(), self._memory.copy(), self.info)

    def _cycle(self, log: dict[str, list]) -> None:
        """Run one cycle; note the rows and words written in `log`."""
        rng = np.random.RandomState((self.seed * 1_000_003 + self.cycle) % (1 << 32))
        sm, rf = self._sm[0], self._rf[0]
        if self.cycle % 50 < 10:
            sm["stall_total"] += sm["state_count"]
            sm["cycle"] += 1
            self.cycle += 1
            return
        warps = sm["warp"]
        for warp in rng.randint(1, NUM_WARPS, 3):
            new = int(rng.choice([0, 0, 1, 4, 5, 10]))
            if new != warps[warp]["state"]:
                warps[warp]["state_since_cycle"] = self.cycle
            warps[warp]["state"] = new
            if new == 0:
                warps[warp]["pc"] = (warps[warp]["pc"] + 1) % 16
                warps[warp]["num_issued"] += 1
                warps[warp]["last_issue_cycle"] = self.cycle
        sm["state_count"][:] = np.bincount(warps["state"][:NUM_WARPS], minlength=40)
        sm["events"][0] += 1
        sm["bank"][rng.randint(NUM_BANKS)]["queue"] = rng.randint(4)
        if rng.rand() < 0.1:
            sm["warp_cold"][rng.randint(NUM_WARPS)]["pred"][2] = rng.randint(1 << 31)
        if rng.rand() < 0.02:
            slot = rng.randint(1, NUM_WARPS)
            sm["resident"] ^= np.uint64(1 << slot)
            log["write"].append((slot * REGISTERS_OF_WARP + ALL_REGISTERS, 0xFFFFFFFF, CLEARED, NO_ROW, None))
            if int(sm["resident"]) >> slot & 1:     # as if all its registers had been written at once
                base = int(warps[slot]["reg_base"])
                log["write"] += [(slot * REGISTERS_OF_WARP + reg, 0xFFFFFFFF, 1, NO_ROW, self._rows[base + reg].copy())
                                 for reg in range(REGISTERS)]
        if self.cycle in (279, 412):
            sm["launch"]["index"] ^= 1
        rf["writes"] += 7
        rf["level"][rng.randint(4)] -= rng.randint(9)
        rf["clock"] += 1 << 31
        if rng.rand() < 0.6:
            row = rng.randint(NUM_ROWS)
            kind = rng.randint(3)
            base = np.uint32(rng.randint(1 << 31))
            step = np.uint32([0, 0xFFFFFFFC, 1][kind])
            self._rows[row] = base + np.arange(32, dtype=np.uint32) * step if kind < 2 else rng.randint(0, 1 << 31, 32)
            log["row"].append((row, self._rows[row].copy()))
            log["write"] += [(warp * REGISTERS_OF_WARP + row - int(warps[warp]["reg_base"]), 0xFFFFFFFF, row % 16, len(log["row"]) - 1, None)
                             for warp in range(NUM_WARPS) if int(sm["resident"]) >> warp & 1
                             and 0 <= row - int(warps[warp]["reg_base"]) < REGISTERS]
        if rng.rand() < 0.3:
            word = 128 + rng.randint(128)
            self._memory[word] = rng.randint(1 << 31)
            log["mem"].append((word, self._memory[word]))
        if self.cycle % 700 == 99:
            self.printed.append((self.cycle, f"hello {self.cycle}"))
        sm["stall_total"] += sm["state_count"]
        sm["cycle"] += 1
        self.cycle += 1
        if self.fault_at is not None and self.cycle == self.fault_at:
            self.fault = KernelFault("out-of-bounds store in line 12")

    def step(self, n: int = 1) -> int:
        before = self.cycle
        for _ in range(n):
            if self.fault is not None:
                raise self.fault
            if self.finished:
                break
            self._cycle({"row": [], "mem": [], "write": []})
        return self.cycle - before

    def _words(self) -> np.ndarray:
        return np.frombuffer(self._sm.tobytes() + self._rf.tobytes(), np.uint32)

    def record_chunk(self, cycles: int = 1024, *, values: bool = True, memory: bool = True,
                     lend: bool = False, only: np.ndarray | None = None, logs: bool = True) -> Chunk:
        if self.fault is not None:
            raise self.fault
        first, printed = self.cycle, len(self.printed)
        old = self._words()
        key = (old.copy(), self._rows.copy(), self._memory.copy())
        log: dict[str, list] = {"row": [], "mem": [], "write": []}
        ends: list[list[int]] = [[], [], [], []]
        index, value = [], []
        hot = state.HOT_OFFSET // 4
        while self.cycle < first + cycles and not self.finished and self.fault is None:
            self._cycle(log)
            new = self._words()
            changed = np.flatnonzero(new[hot:] != old[hot:]) + hot
            changed = changed if only is None else changed[np.isin(changed, only)]
            log = log if logs else {"row": [], "mem": [], "write": []}
            index.append(changed)
            value.append(new[changed])
            old = new
            for end, count in zip(ends, (sum(map(len, index)), *(len(log[name]) for name in ("row", "mem", "write")))):
                end.append(count)
        join = lambda parts: np.concatenate(parts).astype(np.uint32) if parts else np.empty(0, np.uint32)
        row_end, mem_end, write_end = (np.array(end, np.uint32) for end in ends[1:])
        columns = [np.array([entry[at] for entry in log["write"]], np.uint32) for at in range(4)]
        words = [entry[4] for entry in log["write"] if entry[4] is not None]
        return Chunk(
            first, self.cycle - first, *key, Blocks.of_words(np.array(ends[0], np.uint32), join(index), join(value)),
            Rows(row_end, np.array([row for row, _ in log["row"]], np.uint32),
                 np.full(len(log["row"]), RAW, np.uint32), join([values for _, values in log["row"]])),
            mem_end, np.array([word for word, _ in log["mem"]], np.uint32),
            np.array([word for _, word in log["mem"]], np.uint32),
            Writes(write_end, *columns, join(words)), self.printed[printed:],
        )

    def checkpoint(self, *, lend: bool = False) -> Checkpoint:
        return Checkpoint(self.cycle, copied(self._sm), copied(self._rf), self._rows.copy(), self._memory.copy(),
                          len(self.printed))

    def restore(self, checkpoint: Checkpoint) -> None:
        self.cycle = checkpoint.cycle
        self._sm[:], self._rf[:] = checkpoint.sm, checkpoint.rf
        self._rows[:], self._memory[:] = checkpoint.rows, checkpoint.arena
        del self.printed[checkpoint.num_printed :]
        self.fault = None

    @property
    def sm(self) -> Any:
        return self._sm[0]


def copied(record: np.ndarray) -> np.ndarray:
    """Return a copy of a structured array, including the padding between its fields."""
    return record.view(np.uint8).copy().view(record.dtype)


@dataclass(frozen=True)
class Checkpoint:
    """A copy of the double, with the fields of rfview.engine.simulator.Checkpoint that it needs."""

    cycle: int
    sm: np.ndarray
    rf: np.ndarray
    rows: np.ndarray
    arena: np.ndarray
    num_printed: int

    @property
    def nbytes(self) -> int:
        return self.sm.nbytes + self.rf.nbytes + self.rows.nbytes + self.arena.nbytes


def snapshots(cycles: int, **options: Any) -> list[Snapshot]:
    """Return the double's snapshots at every cycle."""
    double = Double(cycles, **options)
    found = [double.snapshot()]
    while double.fault is None and double.step():
        found.append(double.snapshot())
    return found
