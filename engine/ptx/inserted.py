"""Instructions that lowering and allocation insert: built by name, and moves of predicates to and from data registers."""

from __future__ import annotations

from rfview.engine.ptx import forms
from rfview.engine.ptx.virtual import VirtualInst


def plain(base: str, parts: tuple[str, ...], line: int) -> VirtualInst:
    """Make an instruction of opcode `base` and these types, without operands."""
    info = forms.lookup(base, parts)
    inst = VirtualInst(info.op, ".".join((base, *parts)), line)
    inst.aux, inst.flags, inst.unit, inst.types = info.aux, info.flags, info.unit, info.src_types
    inst.wait_class, inst.latency_class = info.wait_class, info.latency_class
    return inst


def test_held(line: int, home: int, predicate: int) -> VirtualInst:
    """Make the comparison that restores a predicate from the data register that holds it."""
    inst = plain("setp", ("ne", "u32"), line)
    inst.set_row(0, 2 * home)
    inst.set_imm(2, 0)
    inst.pdst = [predicate]
    return inst


def hold_predicate(line: int, predicate: int, home: int) -> VirtualInst:
    """Make the selection of 1 or 0 that puts a predicate into a data register."""
    inst = plain("selp", ("b32",), line)
    inst.set_imm(0, 1)
    inst.set_imm(2, 0)
    inst.psrc, inst.psrc_negate, inst.dst = [predicate], [False], [2 * home]
    return inst
