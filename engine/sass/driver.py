"""Functions of the driver that machine code calls, as machine code of our own: vprintf, __assertfail, malloc, free.

A cubin names them in constant bank 4; their code comes with the driver. By CUDA's calling convention arguments are in R4
and up, aligned to their size, the result in R4, and the return address in R20 and R21 (observed in ptxas's code). HOST is no
instruction of NVIDIA's: it stops for the host, as the PTX of a call does on Fermi's core. malloc is what
ptx/lower/device_library.py says, but takes first and gives back what the heap does not have, since that needs no loop.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from rfview.engine.errors import SassError
from rfview.engine.program import HEAP, HEAP_BYTES, HEAP_USED, Symbol
from rfview.engine.sass.listing import HEADER, Bank, Function, Instruction, Listing
from rfview.engine.sass.read import read_listing

CALLS = ("LEPC", "CALL.ABS")     # of functions by address, and, without optimisation, by name
NAME = re.compile(r"[a-z_]\w+")
_FIXED = "B------:R-:W-:-:S15"      # long enough for every result
_RETURN = "B012---:R-:W-:-:S05 RET.ABS.NODEC R20, 0x0"
_CODE = {
    "vprintf": ["B------:R1:W0:-:S02 HOST.PRINTF R4, R4, R6"],
    "__assertfail": ["B------:R1:W0:-:S02 HOST.ASSERT RZ, R4, R6, R8"],
    "free": [],         # what is freed is not given out again
    "malloc": [
        f"{_FIXED} P2R R12, PR, RZ, 0x7f",
        f"{_FIXED} ISETP.GT.U32.AND P0, PT, R4, {HEAP_BYTES:#x}, PT",
        f"{_FIXED} ISETP.NE.U32.OR P0, PT, R5, RZ, P0",             # P0: more than the heap has
        f"{_FIXED} IADD3 R6, R4, 0xf, RZ",
        f"{_FIXED} LOP3.LUT R6, R6, 0xfffffff0, RZ, 0xc0, !PT",
        f"{_FIXED} SEL R6, R6, RZ, !P0",
        f"{_FIXED} MOV R7, RZ",
        f"{_FIXED} MOV R8, 32@lo({HEAP_USED})",
        f"{_FIXED} MOV R9, 32@hi({HEAP_USED})",
        "B------:R1:W0:-:S02 ATOMG.E.ADD.64.STRONG.GPU PT, R10, [R8.64], R6",
        "B01----:R-:W-:-:S15 IADD3 R4, P1, R10, R6, RZ",
        f"{_FIXED} IADD3.X R5, R11, RZ, RZ, P1, !PT",
        f"{_FIXED} ISETP.GT.U32.AND P1, PT, R4, {HEAP_BYTES:#x}, PT",
        f"{_FIXED} ISETP.NE.U32.OR P1, PT, R5, RZ, P1",             # P1: more than is left
        f"{_FIXED} ISETP.NE.U32.AND P2, PT, R6, RZ, P1",
        f"{_FIXED} @P2 IADD3 R6, RZ, -R6, RZ",
        f"{_FIXED} @P2 MOV R7, 0xffffffff",
        "B------:R2:W-:-:S02 @P2 RED.E.ADD.64.STRONG.GPU [R8.64], R6",
        f"B--2---{_FIXED[7:]} MOV R8, 32@lo({HEAP})",
        f"{_FIXED} MOV R9, 32@hi({HEAP})",
        f"{_FIXED} IADD3 R4, P2, R10, R8, RZ",
        f"{_FIXED} IADD3.X R5, R11, R9, RZ, P2, !PT",
        f"{_FIXED} SEL R4, R4, RZ, !P0",
        f"{_FIXED} SEL R5, R5, RZ, !P0",
        f"{_FIXED} SEL R4, R4, RZ, !P1",
        f"{_FIXED} SEL R5, R5, RZ, !P1",
        f"{_FIXED} R2P PR, R12, 0x7f",
    ],
}


@cache
def _functions(sm: int) -> dict[str, Function]:
    """Return all of them by name, for an architecture."""
    lines = [HEADER, f".target sm_{sm}"]
    for name, code in _CODE.items():
        lines += [f".func {name}", *(f"{16 * at:04x} {text}" for at, text in enumerate([*code, _RETURN]))]
    return {function.name: function for function in read_listing("\n".join(lines), "the driver's functions").functions}


def called(listing: Listing, functions: Iterable[Function], banks: Iterable[Bank], path: str) -> list[Function]:
    """Return the driver's functions that the code of `functions` may call. Raises SassError for one that is not known."""
    calls = [instruction for function in functions for instruction in function.code if instruction.opcode.startswith(CALLS)]
    names = _undefined(listing, calls, banks)
    if not calls or not names:
        return []
    own = _functions(listing.sm)
    if unknown := sorted(names - set(own)):
        raise SassError(f"{path}:{calls[0].line}: calls of {unknown[0]} are not executed: of the driver's functions, "
                        f"{', '.join(own)} are; Fermi's core executes PTX with others (--preset fermi, no --isa)")
    return [own[name] for name in sorted(names)]


def _undefined(listing: Listing, calls: Iterable[Instruction], banks: Iterable[Bank]) -> set[str]:
    """Return the names in calls and constant banks that the listing does not define."""
    names = {symbol for bank in banks for _, symbol, _ in bank.relocs}
    names |= {operand for call in calls for operand in call.operands if NAME.fullmatch(operand)}
    return names - {function.name for function in listing.functions} - {variable.name for variable in listing.variables}


def heap_of(listing: Listing) -> dict[str, Symbol]:
    """Return the variables of malloc, if a listing names it."""
    banks = [*listing.banks, *(bank for function in listing.functions for bank in function.banks)]
    calls = (call for function in listing.functions for call in function.code if call.opcode.startswith(CALLS))
    if "malloc" not in _undefined(listing, calls, banks):
        return {}
    return {name: Symbol(name, "global", size, 16, b"") for name, size in ((HEAP, HEAP_BYTES), (HEAP_USED, 8))}
