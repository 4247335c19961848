"""The source of each window and its parts: a paper's section, or the words "our assumption".

This file contains only sources: the painters in render/ describe the panels, engine/stalls.py the states, presets and
designs their numbers; rfview/glossary/terms.py combines them.
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
