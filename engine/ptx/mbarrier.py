"""Lowering of mbarrier: a barrier object is two words of shared memory, the arrivals so far and those that a phase takes.

The phase is the quotient of both, so that the last arrival of a phase completes it by itself, in the one atomic addition
that every arrival is; a token is the object as it was before. Copies that count bytes are refused, since cp.async copies
at once here and needs no count.
"""

from __future__ import annotations

from engine.ptx.context import Lowering
from engine.ptx.steps import Steps
from engine.ptx.syntax import Address, Instruction, Name, Operand, Vector

_COUNTED = ("expect_tx", "complete_tx", "arrive_drop")
# operation: number of results and of operands behind the address
_FORMS = {"init": (0, (1,)), "inval": (0, (0,)), "arrive": (1, (0, 1)), "test_wait": (1, (1,)), "try_wait": (1, (1, 2))}


def lower_mbarrier(low: Lowering, statement: Instruction) -> None:
    """Lower mbarrier.{init,inval,arrive,test_wait,try_wait,pending_count}; arrive_drop and byte counts are refused."""
    parts = statement.opcode.split(".")[1:]
    if any(part in _COUNTED for part in parts):
        raise low.fail(f"'{statement.opcode}': barriers that count bytes or lose threads are not supported")
    steps = Steps(low, statement)
    operands = statement.operands
    if parts[0] == "pending_count" and len(operands) == 2:
        return pending_count(steps, operands[0], operands[1])
    place = next((item for item in operands if isinstance(item, Address)), None)
    if place is None or parts[0] not in _FORMS:
        raise low.fail(f"unsupported instruction '{statement.opcode}'; nearest supported form: "
                       "'mbarrier.arrive.shared.b64 state, [address]'")  # fmt: skip
    space = ".shared" if any(part.startswith("shared") for part in parts) else ""
    before, after = operands[:operands.index(place)], operands[operands.index(place) + 1 :]
    results, values = _FORMS[parts[0]]
    if len(before) != results or len(after) not in values:
        raise low.fail(f"'{statement.opcode}' has {len(operands)} operands, which is not its number")
    if parts[0] == "init":
        words = [steps.value("mov.u32", 0), steps.value("mov.u32", after[0])]
        steps.emit(f"st{space}.v2.u32", place, Vector([*words]))
    elif parts[0] == "arrive":
        arrive(steps, space, before[0], place, after[0] if after else None)
    elif parts[0] != "inval":
        wait(steps, space, before[0], place, after[0], "parity" in parts)


def lower_copies_arrive(low: Lowering, statement: Instruction) -> None:
    """Lower cp.async.mbarrier.arrive: all copies are done, and only .noinc's arrival was counted beforehand."""
    if "noinc" in statement.opcode.split(".") and len(statement.operands) == 1:
        space = ".shared" if ".shared" in statement.opcode else ""
        Steps(low, statement).emit(f"red{space}.add.u32", statement.operands[0], 1)


def arrive(steps: Steps, space: str, token: Operand, place: Address, count: Operand | None) -> None:
    """Count `count` arrivals (1 if None); the token is the object as it was before."""
    old = steps.value(f"atom{space}.add.u32", place, 1 if count is None else count)
    if isinstance(token, Name) and token.text != "_":
        expected = steps.value(f"ld.relaxed.cta{space}.u32", Address(place.base, place.offset + 4))
        steps.emit("mov.b64", token, Vector([old, expected]))


def wait(steps: Steps, space: str, done: Operand, place: Address, token: Operand, is_parity: bool) -> None:
    """Say whether the token's phase, or the last phase of that parity, is complete: whether a later one runs."""
    arrived, expected = steps.new(), steps.new()
    steps.emit(f"ld.relaxed.cta{space}.v2.u32", Vector([arrived, expected]), place)
    phase = steps.value("div.u32", arrived, expected)
    if is_parity:
        phase = steps.value("and.b32", phase, 1)
        other = steps.value("and.b32", token, 1)
    else:
        then, still = steps.new(), steps.new()
        steps.emit("mov.b64", Vector([then, still]), token)
        other = steps.value("div.u32", then, still)
    steps.emit("setp.ne.u32", done, phase, other)


def pending_count(steps: Steps, result: Operand, token: Operand) -> None:
    """Give the arrivals that the token's phase still lacked."""
    then, expected = steps.new(), steps.new()
    steps.emit("mov.b64", Vector([then, expected]), token)
    arrived = steps.value("rem.u32", then, expected)
    steps.emit("sub.u32", result, expected, arrived)
