"""The sentence that refuses an instruction: where it is, what such instructions are for, and what runs all the same."""

from __future__ import annotations

from collections.abc import Mapping

from rfview.engine.sass.listing import Instruction

_OPCODES = {
    "tensor cores": "HMMA IMMA DMMA QMMA HGMMA IGMMA QGMMA MOVM",
    "asynchronous copies": "FENCE UBLKCP UTMALDG UTMASTG",
    "textures and surfaces": "TEX TLD TLD4 TXD TXQ SULD SUST SURED SUATOM FSWZADD",
}
_PURPOSES = {opcode: purpose for purpose, opcodes in _OPCODES.items() for opcode in opcodes.split()}


def sentence(instruction: Instruction, problem: str, path: str, files: Mapping[int, str]) -> str:
    """Return it. problem: what is not executed of the opcode, "" = all. files: the sources' paths by number."""
    opcode = instruction.opcode.partition(".")[0]
    said = f"{where(instruction, path, files)}: {instruction.text}: {opcode} {problem}".rstrip() + " is not executed"
    purpose = _PURPOSES.get(opcode)
    return f"{said} ({purpose}); Fermi's core executes PTX with them (--preset fermi, no --isa)" if purpose else said


def where(instruction: Instruction, path: str, files: Mapping[int, str]) -> str:
    """Return the line of a listing, or of PTX and its source: what ptxas made of it is in no file."""
    if not path.endswith(".ptx"):
        return f"{path}:{instruction.line}"
    line = f":{instruction.ptx}" if instruction.ptx else ""
    place = instruction.place
    return f"{path}{line}" + (f" ({files[place.file]}:{place.line})" if place and place.file in files else "")
