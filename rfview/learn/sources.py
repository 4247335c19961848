"""The source of each warp state, window and its parts: a paper's section, or the words "our assumption".

This file contains only sources: engine/stalls.py describes the states, the painters in render/ the panels, presets and
designs their numbers; rfview/learn/terms.py combines them.
HRF = Li et al. DAC'15, RFC = Gebhart et al. ISCA'11, HC-RF = hybrid-cell register file, eDRAM = Jeong et al. IEEE
Design & Test 2016, racetrack = Liang & Wang JCST 2016, GTX480 = GPGPU-Sim's configuration of that card.
"""

from __future__ import annotations

from typing import NamedTuple


class View(NamedTuple):
    """How a window is explained. painter: the module of rfview/render whose render() documents how to read it.

    columns: (a part of it, its explanation, its source).
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

# windows with a painter of their own; panels are explained in their own files
VIEWS: dict[str, View] = {
    "heat": View("heat", "our assumption: values in order of the log of writes; a column shows its last cycle", (
        ("wrote", "who wrote last in a column, by letter; a capital: several writes; ✕: bits lost",
         "the log of writes"),
        ("lanes", "how many of the 32 lanes, or of the visible elements, were written in the column",
         "the log of writes"),
        ("scale", "the 99th percentile of the magnitudes read so far; it only grows", "our assumption"),
    )),
    "image": View("image", "eDRAM, methodology: outputs compared with error-free ones; our assumption: the scales", (
        ("error", "|here − right| on a log scale over the errors present, the worst of each cell", "our assumption"),
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
