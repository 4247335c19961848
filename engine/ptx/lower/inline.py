"""Calls: device functions are inlined unless they are recursive; printf and assert become machine instructions."""

from __future__ import annotations

from collections.abc import Callable

from rfview.engine import isa
from rfview.engine.program import UNIT_LDST, WAIT_SHORT
from rfview.engine.ptx.lower.access import Access
from rfview.engine.ptx.lower.binding import as_param, bind, fits, pairs
from rfview.engine.ptx.forms.operands import kind_of
from rfview.engine.ptx.lower.context import CallsAgain, Frame, Lowering, describe
from rfview.engine.ptx.lower.device_library import function_at
from rfview.engine.ptx.lower.indirect import lower_indirect_call
from rfview.engine.ptx.lower.memory import store_piece
from rfview.engine.ptx.lower.names import CallParam, Names, Register, register_bits
from rfview.engine.ptx.lower.recursion import call_recursive, group_of
from rfview.engine.ptx.lower.stack import give_back, saved, uses_stack
from rfview.engine.ptx.lower.operand_kinds import wrong
from rfview.engine.ptx.parse.syntax import Function, Group, Instruction, Name, Operand, Scope
from rfview.engine.ptx.virtual import VirtualInst

MAX_ITEMS = 500_000  # assumed: far beyond any kernel, yet stops exponential inlining early


def lower_call(low: Lowering, statement: Instruction, lower_body: Callable[[Lowering, Scope], None]) -> None:
    """Lower a call; `lower_body(low, scope)` lowers the statements of the called function."""
    if statement.opcode not in ("call", "call.uni"):
        raise low.fail(f"unsupported instruction '{statement.opcode}'; nearest supported form: 'call.uni'")
    returns, name, arguments = call_parts(low, statement)
    pointer = low.names.find(name)
    function = low.module.functions.get(name)
    if function is None and not isinstance(pointer, Register):
        raise low.fail(f"call of unknown function '{name}'")
    if function is not None and function.is_entry:
        raise low.fail(f"'{name}' is a kernel, which cannot be called; declare a .func")
    after = -1
    if statement.guard:
        after = low.new_label()
        low.branch(after, low.predicate(Name(statement.guard))[0], not statement.guard_negate)
    if isinstance(pointer, Register):
        lower_indirect_call(low, statement, pointer, returns, arguments,
                            lambda chosen: call_function(low, chosen, returns, arguments, lower_body))
    elif name == "vprintf":
        system_call(low, statement, isa.OP_PRINTF, arguments, returns)
    elif name in ("__assertfail", "__assert_fail"):
        system_call(low, statement, isa.OP_ASSERTFAIL, arguments, returns)
    elif name == "free":
        pass  # freed memory is not reused
    elif (library := function_at(low.module, name, statement.line)) is not None:
        call_function(low, library, returns, arguments, lower_body)
    elif function is None or function.body is None:
        raise low.fail(f"'{name}' has no body in this module" + missing(name))
    else:
        call_function(low, function, returns, arguments, lower_body)
    if after >= 0:
        low.items.append(after)


def missing(name: str) -> str:
    """Say what to do about a call of a function without a body, for an error message."""
    if "cuda" in name.lower():
        return ": kernels cannot launch kernels (dynamic parallelism) or call CUDA's runtime; launch them from the host"
    return "; supported system calls: vprintf, __assertfail, malloc, free. Compile all device code into one file"


def call_parts(low: Lowering, statement: Instruction) -> tuple[list[Operand], str, list[Operand]]:
    """Split `call (r), f, (a, b), proto;` into results, name and arguments."""
    operands = list(statement.operands)
    returns: list[Operand] = []
    if operands and isinstance(operands[0], Group):
        returns, operands = operands[0].items, operands[1:]
    if not operands or not isinstance(operands[0], Name):
        raise low.fail("expected a function name in the call")
    arguments = operands[1].items if len(operands) > 1 and isinstance(operands[1], Group) else []
    return returns, operands[0].text, arguments


def call_function(low: Lowering, function: Function, returns: list[Operand], arguments: list[Operand],
                  lower_body: Callable[[Lowering, Scope], None]) -> None:
    """Lower a call of a function of the module: inlined, or with a stack if the function is recursive."""
    if len(low.items) > MAX_ITEMS:
        raise low.fail(f"the calls of this kernel expand to more than {MAX_ITEMS:,} instructions")
    if len(arguments) != len(function.params) or len(returns) != len(function.returns):
        raise low.fail(f"'{function.name}' takes {len(function.params)} arguments and returns {len(function.returns)} "
                       f"results, found {len(arguments)} and {len(returns)}")
    for formal, actual in zip(function.params + function.returns, arguments + returns, strict=True):
        if not fits(low, formal, actual):
            raise low.fail(f"{describe(actual)} does not fit '{formal.name}' of '{function.name}', which has "
                           f"{formal.size} bytes")
    group = group_of(low, function)
    if group:
        call_recursive(low, function, group, returns, arguments, lower_body)
    else:
        inline(low, function, returns, arguments, lower_body)


def inline(low: Lowering, function: Function, returns: list[Operand], arguments: list[Operand],
           lower_body: Callable[[Lowering, Scope], None]) -> None:
    """Lower the body of `function` in place, its parameters bound to the arguments."""
    if any(frame.function is function for frame in low.frames):
        raise CallsAgain(function.name)
    own = Names(low.variables, None, f"{function.name}:")
    for formal, actual in pairs(low, function.params, arguments, own):
        own.table[formal.name] = bind(low, formal, actual, own)
    results = []
    for formal, actual in pairs(low, function.returns, returns, own):
        meaning = low.resolve(actual) if isinstance(actual, Name) else None
        if isinstance(meaning, CallParam) and not formal.is_register:
            own.table[formal.name] = meaning
        else:
            register = own.new_register(formal.name, register_bits(formal.type))
            own.table[formal.name] = register if formal.is_register else as_param(formal, register)
            results.append((low.register(actual, "a register or .param variable for the result"), register))
    caller, line, join = low.names, low.line, low.new_label()
    stack = saved(low) if uses_stack(function.body) else None
    low.names = own
    low.frames.append(Frame(function, join))
    assert function.body is not None
    lower_body(low, function.body)
    low.frames.pop()
    low.names, low.line = caller, line
    low.items.append(join)
    if stack is not None:
        give_back(low, stack)
    for target, source in results:
        low.emit(low.move(low.rows(target), low.rows(source)))


def system_call(low: Lowering, statement: Instruction, op: int, arguments: list[Operand], returns: list[Operand]) -> None:
    """Lower vprintf(format, arguments) and __assertfail(message, file, line, function, size)."""
    inst = VirtualInst(op, statement.opcode, statement.line)
    inst.unit, inst.wait_class, inst.is_removable = UNIT_LDST, WAIT_SHORT, False
    inst.mnemonic = "call.vprintf" if op == isa.OP_PRINTF else "call.__assertfail"
    wanted = ("b64", "b64") if op == isa.OP_PRINTF else ("b64", "b64", "b32")
    inst.types = wanted
    if len(arguments) < len(wanted):
        raise low.fail(f"this call needs {len(wanted)} arguments, found {len(arguments)}")
    for k, kind in enumerate(wanted):
        argument(low, inst, 2 * k, arguments[k], kind)
    if returns:
        store_result(low, statement, inst, returns[0])
    else:
        low.emit(inst)


def argument(low: Lowering, inst: VirtualInst, slot: int, operand: object, kind: str) -> None:
    """Put a call argument into a slot: an operand, or the first piece of a .param variable."""
    meaning = low.resolve(operand) if isinstance(operand, Name) else None
    if not isinstance(meaning, CallParam):
        low.fill(inst, slot, operand, kind)
        return
    piece = meaning.pieces.get((0, 8 if kind == "b64" else 4))
    if piece is None:
        raise low.fail(f"argument '{meaning.name}' was not stored as a .{kind}")
    inst.set_row(slot, 2 * piece)
    if kind == "b64":
        inst.set_row(slot + 1, 2 * piece + 1)


def store_result(low: Lowering, statement: Instruction, inst: VirtualInst, result: object) -> None:
    """Give a system call a 32-bit result register, emit it, and pass the result on."""
    register = low.temp(32)
    inst.dst = low.rows(register)
    low.emit(inst)
    meaning = low.resolve(result) if isinstance(result, Name) else None
    if isinstance(meaning, CallParam):
        name = f"{meaning.name}.result"
        low.names.table[name] = register
        store_piece(low, Instruction(statement.line, "mov.b32", []), meaning, 0, Access(0, "b32", 1, False), Name(name))
    else:
        if problem := wrong(low, kind_of("=b32_"), result):
            raise low.fail(f"'{statement.opcode}' {problem}")
        low.emit(low.move(low.destination(result, 32), low.rows(register)))
