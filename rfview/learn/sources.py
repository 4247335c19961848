"""The source of each warp state, panel and column: a paper's section, or the words "our assumption".

This file contains only sources: engine/stalls.py describes the states, the painters in render/ the panels, presets and
designs their numbers; rfview/learn/terms.py combines them.
HRF = Li et al. DAC'15, RFC = Gebhart et al. ISCA'11, HC-RF = hybrid-cell register file, eDRAM = Jeong et al. IEEE
Design & Test 2016, racetrack = Liang & Wang JCST 2016, GTX480 = GPGPU-Sim's configuration of that card.
"""

from __future__ import annotations

from typing import NamedTuple


class Panel(NamedTuple):
    """How a panel is explained. painter: the module of rfview/render whose render() documents how to read it.

    columns: (a part of the panel, its explanation, its source).
    """

    painter: str
    source: str
    columns: tuple[tuple[str, str, str], ...] = ()


STATES: dict[str, str] = {
    "issued": "RFC section 2.1: single issue, in order; HC-RF Table III: two schedulers",
    "not_selected": "RFC section 3.2 and HRF section 4.3 on schedulers; the name is Nsight Compute's",
    "wait": "latencies: GTX480, RFC Table 4; our assumption: WAR and WAW are counted here too",
    "short_scoreboard": "RFC section 3.2: shared memory and ALUs are short latencies; our assumption: the split by unit",
    "long_scoreboard": "RFC section 3.2: global memory and textures are long-latency operations",
    "barrier": "our assumption: CUDA's bar.sync and membar; no paper models them",
    "no_instruction": "our assumption: two decoded instructions per warp; only preset gtx480 has an instruction cache",
    "suspended": "RFC section 3.2: pending warps wait outside the active set; HRF section 4.3",
    "pipe_throttle": "our assumption: initiation intervals and queues of GTX480",
    "collector_full": "HC-RF section IV on operand collectors; their number: GTX480",
    "bank_conflict": "RFC section 2.1 and HC-RF section IV-A: a bank serves one access per port and cycle",
    "stt_write": "HRF section 6.2: the pipeline stalls; HC-RF section V-C: the bank; HRF Table 1: 4 cycles",
    "wb_drain": "HRF section 4.3: a write buffer that is still draining stalls the pipeline",
    "wb_full": "racetrack section 5: two entries per bank; our assumption: 16 in single_buffer",
    "x_transfer": "HC-RF section IV-B: on-demand remapping; section III-B: 4 cycles",
    "refresh": "eDRAM, section on refresh strategies; our assumption: one bank cycle for both halves",
    "shift": "racetrack sections 2.2 and 2.3: the tape moves to the port before an access",
    "rfc_flush": "RFC section 3.3: dirty entries of a suspended warp go to the main register file",
    "finished": "our assumption: a state of its own, so that states add up to warps x cycles",
    "no_cta": "our assumption: a state of its own, so that states add up to warps x cycles",
}

# panel -> how it is explained
PANELS: dict[str, Panel] = {
    "status": Panel("status", "our assumption: IPC counts warp instructions over the last 1,024 cycles", (
        ("IPC", "warp instructions issued per cycle over the last 1,024 cycles", "our assumption: the window"),
        ("Σ", "warp slots that are in exactly one state in this cycle; ✓ when all are", "our assumption: the check"),
        ("badge", "LIVE: the machine's newest cycle; PAST: an earlier one; END: a recording's last", "our assumption"),
    )),
    "overview": Panel("overview", "our assumption: a letter names what blocks most, if that differs from the whole run", (
        ("bars", "issue rate of each interval of the run", "our assumption: height is relative to the run's best"),
        ("lost", "share of warp-cycles that the register file took, of warps that could be held up", "our assumption"),
        ("letters", "what held up most warps, if it differs from what did so in most of the run", "our assumption"),
    )),
    "warps": Panel("warps", "HRF Table 3: 48 warps; HC-RF Table III: two schedulers, by parity of the warp", (
        ("id", "the warp slot; even ones belong to scheduler 0, odd ones to scheduler 1", "HC-RF Table III"),
        ("state", "the glyph of what the warp did in the previous cycle", "`rfview help stalls` has each state's source"),
        ("operation", "the next instruction to issue, from the instruction buffer", "our assumption: 2 per warp"),
        ("waits for", "the register, unit, bank or buffer that blocks it", "our assumption: the first of several"),
        ("now", "history: one cell per cycle, the current one last", "our assumption: a run is its glyph, then a line"),
    )),
    "lens": Panel("lens", "the design's paper, named below", (
        ("rows", "banks or entries, by number; nothing moves", "the design's paper"),
        ("queue", "requests that wait for the bank after this cycle's arbitration", "HC-RF section IV"),
    )),
    "collectors": Panel("collectors", "HC-RF section IV: operand collectors; their number: GTX480", (
        ("unit", "an operand collector: it holds an instruction until its operands are read", "HC-RF section IV"),
        ("▮ ▯ x", "operand read; still to be read; refused by its bank in this cycle", "our assumption: the marks"),
        ("pipes", "SP, SFU and LDST with the cycles until they take the next instruction", "initiation: GTX480"),
    )),
    "why": Panel("why", "our assumption: one chain, the first reason in the order in which the machine checks them", (
        ("number", "the distance from the warp: 1 is what it waits for, 2 what that waits for", "our assumption"),
        ("ready again", "the cycle in which the last link ends, if it is already known", "our assumption"),
    )),
    "code": Panel("code", "PTX as compiled; registers by graph colouring, as many as in the papers' PTXPlus", (
        ("line", "the line in the PTX source", "PTX"),
        ("registers", "destination, then sources: physical registers R0..R62 of a thread", "our allocator"),
    )),
    "watches": Panel("watches", "our assumption: the window of IPC and STALLS; a register's type is how its words read", (
        ("before, now", "the value in the previous cycle and in this one, a register's in the type of its words",
         "our types"),
        ("plot", "the mean of each interval of the last 1,024 cycles, from the least to the greatest", "our assumption"),
    )),
    "stalls": Panel("stalls", "our assumption: one state per warp slot and cycle; names as in Nsight Compute", (
        ("now", "warps in that state in this cycle", "our assumption: one state per warp and cycle"),
        ("share", "warp-cycles in it, of all warp-cycles of the window", "our assumption: 1,024 cycles"),
    )),
    "registers": Panel("registers", "HC-RF section IV-A: warp w begins at slot w x n; 32 lanes of 32 bits are one row", (
        ("name", "the PTX name that lives in the physical register at this instruction", "our allocator"),
        ("lanes", "the value of each of the 32 threads; grey where the lane is not active", "HC-RF section IV-A"),
    )),
    "timeline": Panel("timeline", "our assumption: a column of several cycles shows its most frequent state", (
        ("row", "a warp; its states from left to right",
         "our assumption: a column of several cycles shows its most frequent state"),
        ("issued", "warps that issued, on the same axis", "at most one per scheduler and cycle: HC-RF Table III"),
    )),
    "heat": Panel("heat", "our assumption: values in order of the log of writes; a column shows its last cycle", (
        ("wrote", "who wrote last in a column, by letter; a capital: several writes; ✕: bits lost",
         "the log of writes"),
        ("lanes", "how many of the 32 lanes, or of the visible elements, were written in the column",
         "the log of writes"),
        ("scale", "the 99th percentile of the magnitudes read so far; it only grows", "our assumption"),
    )),
    "image": Panel("image", "eDRAM, methodology: outputs compared with error-free ones; our assumption: the scales", (
        ("error", "|here − right| on a log scale over the errors present, the worst of each cell", "our assumption"),
    )),
    "lines": Panel("lines", "PTX ISA, .loc and .file: the compiler's line for an instruction; shares as in Nsight Compute", (
        ("share", "of the warp-cycles of warps that could run, those spent before an instruction of the line",
         "our assumption"),
        ("warp-cycles", "the same relative to the most expensive line; colours: issues, then what held the warps up",
         "our assumption"),
        ("reads, writes", "warp registers that issued instructions name, before a design merges or caches any",
         "our assumption"),
        ("in FILE:LINE", "the function that the instruction was inlined from, if that is in another file or line",
         "PTX ISA: inlined_at"),
    )),
    "pipeline": Panel("pipeline", "our assumption: until it issues, an instruction is in the states of its warp", (
        ("row", "one execution of an instruction by the warp, numbered from 1", "our assumption"),
        ("F I C E M W", "fetch, issue, operand collection, execution, memory, write-back", "HC-RF section II"),
        ("▸ ◂", "the instruction whose result the chosen one reads; those that read its own",
         "our allocator's registers"),
    )),
}

SCHEDULERS: dict[str, tuple[str, str]] = {
    "lrr": ("loose round robin: the next ready warp after the last one that issued", "HC-RF section II"),
    "gto": ("greedy then oldest: the same warp until it stalls, then the oldest ready one (default)",
            "HC-RF section II"),
    "two_level": ("a small active set of warps, the rest wait for memory outside it", "RFC section 3.2"),
    "switch_on_stall": ("one warp runs until it needs a pending long-latency result, then the next ready one",
                        "HRF section 4.3"),
}

WORDS: dict[str, tuple[str, str]] = {
    "warp": ("32 threads that execute one instruction together; the unit that a scheduler chooses", "RFC section 2"),
    "lane": ("one of a warp's 32 threads: a column of every register", "RFC section 2.1"),
    "cta": ("a thread block: its warps share shared memory and barriers, and are released together", "RFC section 2"),
    "sm": ("streaming multiprocessor: the one GPU core that is modelled", "RFC section 2.1"),
    "bank": ("a part of the register file with its own port: one access per port and cycle", "HC-RF section IV-A"),
    "collector": ("an operand collector gathers an instruction's source registers over several cycles",
                  "HC-RF section IV"),
    "mrf": ("main register file: the one behind a register cache or write buffer", "RFC section 2.1"),
    "stt-ram": ("magnetic memory: hardly leaks, but a write takes 4 cycles", "HRF section 3.2, Table 1"),
    "ipc": ("warp instructions issued per cycle", "our assumption: per SM"),
    "keyframe": ("a complete state in a recording; the cycles between are stored as differences", "our file format"),
}
