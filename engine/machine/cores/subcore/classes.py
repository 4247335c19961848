"""Which class an instruction of machine code belongs to, by its base opcode: pipe or unit, latency and issue interval.

Which classes have a write or read barrier follows from their unit; that FP64 has one on GPUs that share its unit, too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from rfview.engine.machine.cores.subcore.state import CLASSES

NO_BARRIER = 7
_OPCODES = {
    "none": "NOP CLK CS2R CS2UR DEPBAR ERRBAR CCTL PMTRIG",
    "alu": "IADD3 IADD VIADD LOP3 LOP SHF SHL SHR MOV SEL ISETP FMNMX FMNMX3 PRMT LEA IMNMX VIMNMX VIMNMX3 VIADDMNMX IABS "
           "SGXT BMSK VABSDIFF VABSDIFF4 FSEL FSETP FSET PLOP3 PSETP P2R R2P VOTE I2FP F2FP I2IP BMOV",
    "fma": "FFMA FADD FMUL FADD2 FMUL2 FFMA2 FSWZADD",
    "imad": "IMAD IDP IMUL",
    "half": "HADD2 HFMA2 HMUL2 HSETP2 HSET2 HMNMX2",
    "double": "DADD DMUL DFMA DSETP DMNMX",
    "uniform": "VOTEU",         # and whatever begins with U
    "tensor": "HMMA IMMA BMMA",
    "tensor_double": "DMMA",
    "branch": "BRA BRX BRXU JMP JMX CALL RET EXIT BSSY BSYNC BREAK WARPSYNC ENDCOLLECTIVE BAR MEMBAR NANOSLEEP BPT YIELD "
              "KILL",
    "xu": "MUFU I2F F2I F2F FRND I2I F2IP FLO BREV POPC FCHK",
    "special": "S2R S2UR B2R R2UR REDUX MATCH QSPC",
    "constant": "LDC LDCU",
    "load_global": "LD LDG LDL TLD TEX TLD4 TXD TXQ SULD",
    "load_shared": "LDS LDSM",
    "store_global": "ST STG STL SUST",
    "store_shared": "STS STSM",
    "shuffle": "SHFL MOVM",
    "atomic_global": "ATOM ATOMG RED REDG HOST",     # HOST: calls of the host (sass/driver.py)
    "atomic_shared": "ATOMS ARRIVES SYNCS",
    "async_copy": "LDGSTS LDGDEPBAR",
}
SHAPE = re.compile(r"\.(16|8)8(\d+)\b")        # rows, 8 columns, depth
ELEMENT_BITS = {"TF32": 32, "S8": 8, "U8": 8, "S4": 4, "U4": 4, "POPC": 1}
FULL_PRODUCT = 16 * 8 * 16 * 16     # of HMMA.16816: rows * columns * depth * bits
OF_OPCODE = {opcode: CLASSES.index(name) for name, opcodes in _OPCODES.items() for opcode in opcodes.split()}


def base_opcode(text: str) -> str:
    """Return the opcode of an instruction's text without its guard and modifiers: "@!P0 IADD3.X R1, .." -> "IADD3"."""
    words = text.split()
    word = words[1] if words and words[0].startswith("@") and len(words) > 1 else words[0] if words else "NOP"
    return word.split(".")[0].rstrip(";,")


def class_of(text: str, control: int) -> int:
    """Return the class of an instruction: of unknown ones, those with a barrier are variable, others with U uniform."""
    opcode = base_opcode(text)
    if opcode == "IMAD" and (".WIDE" in text or ".HI" in text):     # with an addend of 64 bits
        return CLASSES.index("wide")
    if opcode in _OPCODES["tensor"].split():
        return CLASSES.index(tensor_class(text))
    has_counter = (control >> 5) & 7 != NO_BARRIER
    if opcode == "R2UR" and not has_counter:        # on sm_90
        return CLASSES.index("uniform")
    if opcode == "I2I" and not has_counter:
        return CLASSES.index("alu")
    if opcode in OF_OPCODE:
        return OF_OPCODE[opcode]
    if has_counter:
        return CLASSES.index("special")
    return CLASSES.index("uniform" if opcode.startswith("U") else "alu")


def tensor_class(text: str) -> str:
    """Return the class of an instruction for tensor cores, which is that of its size: whole, a half, or less."""
    shape = SHAPE.search(text)
    if shape is None:
        return "tensor"
    bits = next((size for name, size in ELEMENT_BITS.items() if f".{name}" in text), 16)
    size = int(shape[1]) * 8 * int(shape[2]) * bits
    return "tensor" if size >= FULL_PRODUCT else "tensor_half" if 2 * size >= FULL_PRODUCT else "tensor_small"


def classify(texts: Sequence[str], insts: np.ndarray) -> None:
    """Write the class of every instruction into `latency_class`. texts: as in Kernel, of all of insts: (n,) MACHINE_INST."""
    insts["latency_class"] = [class_of(text, int(control)) for text, control in zip(texts, insts["control"], strict=True)]
