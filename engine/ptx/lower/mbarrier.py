"""Lowering of mbarrier: a barrier object is two words of shared memory, the arrivals so far and those that a phase takes.

The phase is the quotient of the two, so an arrival is a single atomic addition, and the last one of a phase completes it;
a token is the object's previous value. A thread that drops out subtracts its arrivals in all phases so far instead, so
that the phase and the arrivals it still lacks from the other threads are unchanged.

If a kernel's barriers count bytes too, the object is a single number instead: 20 bits for the arrivals that a phase takes,
25 for the arrivals so far, and 19 for bytes. Expected bytes are subtracted from it and copied bytes added, so that the
quotient does not reach the next phase before both the last arrival and the last byte; tokens are rounded to whole
arrivals. The arrivals start at two phases' worth, since bytes may be expected before the first arrival.
"""

from __future__ import annotations

from rfview.engine.ptx.lower.context import Lowering, is_discarded
from rfview.engine.ptx.lower.steps import Steps
from rfview.engine.ptx.parse.syntax import Address, Instruction, Name, Number, Operand, Scope, Vector

_BYTE_BITS = 19  # enough for twice the bytes of a CTA's shared memory
_ARRIVAL_BITS = 25


def mentions_bytes(scope: Scope) -> bool:
    """Return whether a function body uses barriers that count bytes."""
    return any(mentions_bytes(item) if isinstance(item, Scope) else
               isinstance(item, Instruction) and ("expect_tx" in item.opcode or "complete_tx" in item.opcode)
               for item in scope.items)


def lower_mbarrier(low: Lowering, statement: Instruction) -> None:
    """Lower mbarrier.{init,inval,arrive,arrive_drop,expect_tx,complete_tx,test_wait,try_wait,pending_count}."""
    _, kind, *parts = statement.opcode.split(".")
    steps, operands = Steps(low, statement), statement.operands
    if kind == "pending_count":
        return pending_count(steps, *operands)
    at = next(index for index, item in enumerate(operands) if isinstance(item, Address))
    result, place, after = operands[0] if at else Name("_"), operands[at], operands[at + 1 :]
    assert isinstance(place, Address)
    space = ".shared" if any(part.startswith("shared") for part in parts) else ""
    if kind == "init":
        initialise(steps, space, place, after[0])
    elif kind in ("arrive", "arrive_drop"):
        given = after[0] if after else None
        count, size = (None, given) if "expect_tx" in parts else (given, None)
        (arrive if kind == "arrive" else drop)(steps, space, result, place, count, size)
    elif kind in ("expect_tx", "complete_tx"):
        count_bytes(steps, space, place, after[0], kind == "expect_tx")
    elif kind != "inval":
        wait(steps, space, result, place, after[0], "parity" in parts)


def lower_copies_arrive(low: Lowering, statement: Instruction) -> None:
    """Lower cp.async.mbarrier.arrive: all copies are done; only .noinc adds an arrival, which init has counted."""
    if "noinc" in statement.opcode.split("."):
        space = ".shared" if ".shared" in statement.opcode else ""
        place = statement.operands[0]
        if low.counts_bytes:
            Steps(low, statement).emit(f"red{space}.add.u64", place, 1 << _BYTE_BITS)
        else:
            Steps(low, statement).emit(f"red{space}.add.u32", place, 1)


def initialise(steps: Steps, space: str, place: Address, count: Operand) -> None:
    """Store the object of a barrier whose phases take `count` arrivals."""
    if not steps.low.counts_bytes:
        words = [steps.value("mov.u32", 0), steps.value("mov.u32", count)]
        return steps.emit(f"st{space}.v2.u32", place, Vector([*words]))
    wide = steps.value("cvt.u64.u32", steps.value("mov.u32", count), bits=64)
    parts = [steps.value("shl.b64", wide, by, bits=64) for by in (_BYTE_BITS + _ARRIVAL_BITS, _BYTE_BITS + 1)]
    steps.emit(f"st{space}.u64", place, steps.value("or.b64", *parts, bits=64))


def count_bytes(steps: Steps, space: str, place: Operand, size: Operand, is_expected: bool) -> None:
    """Subtract expected bytes from a barrier's number, or add copied ones."""
    wide = steps.value("cvt.u64.u32", steps.value("mov.u32", size), bits=64)
    steps.emit(f"red{space}.add.u64", place, steps.value("neg.s64", wide, bits=64) if is_expected else wide)


def arrive(steps: Steps, space: str, token: Operand, place: Address, count: Operand | None,
           expected_bytes: Operand | None) -> None:
    """Add `count` arrivals (1 if None); the token is the object's previous value."""
    is_kept = not is_discarded(token)
    if steps.low.counts_bytes:
        wide = steps.value("cvt.u64.u32", steps.value("mov.u32", 1 if count is None else count), bits=64)
        change = steps.value("shl.b64", wide, _BYTE_BITS, bits=64)
        if expected_bytes is not None:
            size = steps.value("cvt.u64.u32", steps.value("mov.u32", expected_bytes), bits=64)
            change = steps.value("sub.u64", change, size, bits=64)
        before = steps.value(f"atom{space}.add.u64", place, change, bits=64)
        if is_kept:
            steps.emit("add.u64", token, before, 1 << _BYTE_BITS - 1)
        return
    old = steps.value(f"atom{space}.add.u32", place, 1 if count is None else count)
    if is_kept:
        expected = steps.value(f"ld.relaxed.cta{space}.u32", Address(place.base, place.offset + 4))
        steps.emit("mov.b64", token, Vector([old, expected]))


def drop(steps: Steps, space: str, token: Operand, place: Address, count: Operand | None,
         expected_bytes: Operand | None) -> None:
    """Drop `count` threads (1 if None) from a barrier, in this and all later phases; the token is its previous value.

    The phase cannot end between reading and changing the object, since it still lacks these threads.
    """
    lost = steps.value("mov.u32", 1 if count is None else count)
    counts_bytes = steps.low.counts_bytes
    held = steps.value(f"ld.relaxed.cta{space}.b64", place, bits=64)
    if counts_bytes:
        held = steps.value("add.u64", held, 1 << _BYTE_BITS - 1, bits=64)
    arrived = steps.value("mul.lo.u32", steps.value("div.u32", *counts(steps, held)), lost)
    change = steps.new(bits=64)
    steps.emit("mov.b64", change, Vector([arrived, lost]))
    if counts_bytes:
        parts = [steps.value("cvt.u64.u32", word, bits=64) for word in (arrived, lost)]
        shifted = [steps.value("shl.b64", part, by, bits=64)
                   for part, by in zip(parts, (_BYTE_BITS, _BYTE_BITS + _ARRIVAL_BITS), strict=True)]
        change = steps.value("add.u64", *shifted, bits=64)
        if expected_bytes is not None:
            size = steps.value("cvt.u64.u32", steps.value("mov.u32", expected_bytes), bits=64)
            change = steps.value("add.u64", change, size, bits=64)
    before = steps.value(f"atom{space}.add.u64", place, steps.value("neg.s64", change, bits=64), bits=64)
    if not is_discarded(token):
        steps.emit("add.u64", token, before, 1 << _BYTE_BITS - 1 if counts_bytes else 0)


def counts(steps: Steps, held: Operand) -> tuple[Name, Name]:
    """Extract the arrivals so far and those that a phase takes from an object or token of 64 bits."""
    first, second = steps.new(), steps.new()
    if not steps.low.counts_bytes:
        steps.emit("mov.b64", Vector([first, second]), held)
        return first, second
    so_far = steps.value("bfe.u64", held, Number("int", _BYTE_BITS), Number("int", _ARRIVAL_BITS), bits=64)
    wanted = steps.value("shr.u64", held, _BYTE_BITS + _ARRIVAL_BITS, bits=64)
    for word, wide in ((first, so_far), (second, wanted)):
        steps.emit("mov.b64", Vector([word, Name("_")]), wide)
    return first, second


def wait(steps: Steps, space: str, done: Operand, place: Address, token: Operand, is_parity: bool) -> None:
    """Test whether the token's phase, or the last phase of that parity, is complete: whether a later one is running."""
    if steps.low.counts_bytes:
        arrived, expected = counts(steps, steps.value(f"ld.relaxed.cta{space}.b64", place, bits=64))
    else:
        arrived, expected = steps.new(), steps.new()
        steps.emit(f"ld.relaxed.cta{space}.v2.u32", Vector([arrived, expected]), place)
    phase = steps.value("div.u32", arrived, expected)
    if is_parity:
        phase = steps.value("and.b32", phase, 1)
        other = steps.value("and.b32", token, 1)
    else:
        then, still = counts(steps, token)
        other = steps.value("div.u32", then, still)
    steps.emit("setp.ne.u32", done, phase, other)


def pending_count(steps: Steps, result: Operand, token: Operand) -> None:
    """Compute the arrivals that the token's phase still lacked."""
    then, expected = counts(steps, token)
    arrived = steps.value("rem.u32", then, expected)
    steps.emit("sub.u32", result, expected, arrived)
