"""What the checker has to know about each instruction besides its record, from its opcode and PTX line."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from rfview.engine import isa
from rfview.engine.check.layout import BETWEEN_LANES, CTA_FENCE, RELEASE, SPILL, STRONG, WHOLE_WARP
from rfview.engine.program import SPACE_LOCAL, Kernel

# an access with one of these words is strong
STRONG_WORDS = frozenset({"volatile", "relaxed", "acquire", "release", "acq_rel", "sc", "mmio"})
BETWEEN = {isa.OP_SHFL: "shfl", isa.OP_VOTE: "vote", isa.OP_MATCH: "match", isa.OP_REDUX: "redux"}


def facts_of(kernel: Kernel, lines: list[str]) -> np.ndarray:
    """Return (n,) u4 bits as in engine/check/layout.py for each instruction; lines: of the module's text."""
    bits = np.zeros(len(kernel.insts), np.uint32)
    for pc, (inst, text) in enumerate(zip(kernel.insts, kernel.texts, strict=True)):
        number = int(inst["line"])
        bits[pc] = facts(inst, text, lines[number - 1] if 0 < number <= len(lines) else "")
    return bits


def facts(inst: Any, text: str, line: str) -> int:
    """Return the bits of one instruction; text: as decoded, line: its line of PTX."""
    opcode = re.sub(r"^@!?\w+\s+", "", text).split(" ")[0]
    words, op, bits = frozenset(opcode.split(".")), int(inst["op"]), 0
    of_mbarrier = "mbarrier" in line
    if op in (isa.OP_ATOM, isa.OP_RED) or words & STRONG_WORDS or of_mbarrier:
        bits |= STRONG
    if words & {"release", "acq_rel", "sc"} or of_mbarrier:
        bits |= RELEASE
    if op in (isa.OP_LD, isa.OP_ST) and opcode in ("ld.local.b32", "ld.local.b64", "st.local.b32", "st.local.b64"):
        bits |= SPILL * (re.search(r"\b(ld|st)\.(\w+\.)*local\b", line) is None)
    if int(inst["space"]) == SPACE_LOCAL and {"ld", "st"} & words and "param" in words:
        bits |= SPILL       # the passing of arguments is the compiler's own, too
    if op == isa.OP_BAR and (words & {"bar", "aligned"} or "barrier" not in words):
        bits |= WHOLE_WARP
    if op == isa.OP_MEMBAR:
        bits |= CTA_FENCE * bool(words & {"cta"})
    if op in BETWEEN and re.search(rf"\b{BETWEEN[op]}\b", line):
        bits |= BETWEEN_LANES
    return bits
