"""128-bit atomics: two 64-bit halves under one lock per module.

The machine's atomics handle up to 64 bits. A thread that does not get the lock retries; the holder releases it before the
other lanes of its warp begin the next attempt. A 128-bit store that other threads may see takes the lock too, or it could
fall between the two halves of a compare and swap; loads read both halves at once.
"""

from __future__ import annotations

from rfview.engine.ptx.lower.control import lower_fence
from rfview.engine.ptx.lower.memory import elements, lower_store
from rfview.engine.ptx.lower.steps import Steps
from rfview.engine.ptx.parse.syntax import Address, Instruction, Name, Operand, SyntaxModule, Variable, Vector

LOCK = "%lock128"
_ORDERED = {"relaxed", "acquire", "release", "acq_rel", "volatile", "mmio"}
_SPACES = ("global", "shared", "shared::cta", "shared::cluster")


def is_locked(opcode: str) -> bool:
    """Return whether an opcode is lowered here."""
    parts = opcode.split(".")
    return parts[-1] == "b128" and (parts[0] == "atom" or parts[0] == "st" and not _ORDERED.isdisjoint(parts))


def declare_lock(module: SyntaxModule, text: str) -> None:
    """Add the lock to a module whose text has 128-bit operations."""
    if ".b128" in text:
        module.variables[LOCK] = Variable(1, "global", "b32", LOCK, 1, 4)


def lower_locked(steps: Steps, operands: list[Operand]) -> None:
    """Lower atom{.order}{.scope}{.space}.{exch,cas}.b128 d, [a], b(, c), or a store [a], b; operands: in parts."""
    low, whole = steps.low, steps.whole
    parts = whole.opcode.split(".")
    verb = next(part for part in parts if part in ("exch", "cas", "st"))
    if verb == "st":
        operands = [Vector([steps.new(64), steps.new(64)]), *operands]
    place, values = operands[1], [elements(each) for each in operands[:1] + operands[2:]]
    assert isinstance(place, Address)
    after = low.new_label()
    if whole.guard:
        low.branch(after, low.predicate(Name(whole.guard))[0], not whole.guard_negate)
    free = Steps(low, Instruction(whole.line, whole.opcode, whole.operands))
    space = next((f".{part}" for part in parts if part in _SPACES), "")
    old = _locked_round(free, verb, space, place, values[1:])
    for half, value in zip(values[0], old, strict=True):
        free.emit("mov.b64", half, value)  # type: ignore[arg-type]
    low.items.append(after)


def _locked_round(steps: Steps, verb: str, space: str, place: Address, values: list[list[Operand]]) -> list[Name]:
    """Retry until the lock has been held once; return the two halves that were at `place` before."""
    low = steps.low
    again, end = low.new_label(), low.new_label()
    old, lock = [steps.new(64), steps.new(64)], steps.value("mov.u64", Name(LOCK), bits=64)
    low.items.append(again)
    is_held = steps.value("setp.ne.b32", steps.value("atom.global.cas.b32", Address(lock, 0), 0, 1), 0, bits=1)
    low.branch(end, low.predicate(is_held)[0])
    fence = Instruction(steps.whole.line, "fence.acq_rel.gpu", [])
    lower_fence(low, fence)
    steps.emit(f"ld.relaxed.gpu{space}.v2.b64", Vector([*old]), place)
    store = Instruction(steps.whole.line, f"st.relaxed.gpu{space}.v2.b64", [place, Vector([*values[-1]])])
    if verb == "cas":
        differ = [steps.value("setp.ne.b64", half, wanted, bits=1)  # type: ignore[arg-type]
                  for half, wanted in zip(old, values[0], strict=True)]
        store.guard, store.guard_negate = steps.value("or.pred", *differ, bits=1).text, True
    lower_store(low, store)
    lower_fence(low, fence)
    steps.emit("st.release.gpu.global.b32", Address(lock, 0), 0)
    low.items.append(end)
    low.branch(again, low.predicate(is_held)[0])
    return old
