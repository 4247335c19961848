"""Recursive functions: one body for all depths, a stack in the thread's local memory, returns by call number.

At a kernel's call of such a function, its body and those of the functions mutually recursive with it (its group) are
lowered once, right after the call. A call within the group saves the live variables in the caller's stack frame, advances
the stack pointer, and jumps; a return compares the call's number and jumps back. GPUs return to an address instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rfview.engine import isa
from rfview.engine.program import MEM_LOAD, SPACE_LOCAL, WAIT_FIXED
from rfview.engine.ptx import forms
from rfview.engine.ptx.lower.context import Call, CallsAgain, Frame, Lowering
from rfview.engine.ptx.lower.memory import access_of, overlapping
from rfview.engine.ptx.lower.names import Body, CallParam, Names, Register, register_bits
from rfview.engine.ptx.lower.access import Access, memory_inst
from rfview.engine.ptx.lower.binding import bind
from rfview.engine.ptx.lower.frames import marker, stack_move, stack_start
from rfview.engine.ptx.lower.functions import calls_indirectly, statements_of, taken_functions
from rfview.engine.ptx.parse.syntax import Address, Function, Name, Number, Operand, Scope, SyntaxModule, Variable
from rfview.engine.ptx.virtual import VirtualInst


def group_of(low: Lowering, function: Function) -> frozenset[str]:
    """Return the functions mutually recursive with this one, itself included; empty if it is not recursive.

    Calls through pointers count if lowering has found one that may re-enter a function being inlined.
    """
    for by_pointer in (True, False) if low.by_pointer else (False,):
        callees = reached(low, function.name, by_pointer)
        group = frozenset(name for name in callees if function.name in reached(low, name, by_pointer))
        if group and (not by_pointer or group & low.by_pointer):
            return group
    return frozenset()


def reached(low: Lowering, name: str, by_pointer: bool) -> frozenset[str]:
    """Return the functions that one can call, directly or transitively."""
    key = name, by_pointer
    if key not in low.reached:
        callees: set[str] = set()
        work = [name]
        while work:
            body = low.module.functions[work.pop()].body
            more = set() if body is None else set(calls_of(body, low.module))
            if body is not None and by_pointer and calls_indirectly(body):
                more |= {function.name for function in taken_functions(low.module)}
            work += more - callees
            callees |= more
        low.reached[key] = frozenset(callees)
    return low.reached[key]


def calls_of(scope: Scope, module: SyntaxModule) -> Iterator[str]:
    """Yield the functions that a body calls by name."""
    for statement in statements_of(scope):
        if statement.opcode.startswith("call"):
            yield from (part.text for part in statement.operands
                        if isinstance(part, Name) and part.text in module.functions)


def call_recursive(low: Lowering, function: Function, group: frozenset[str], returns: list[Operand],
                   arguments: list[Operand], lower_body: Callable[[Lowering, Scope], None]) -> None:
    """Lower a call of a function in a group; the outermost call also lowers the bodies."""
    is_outermost = group not in low.groups
    caller = next((frame.body for frame in reversed(low.frames) if frame.body is not None), None)
    if not is_outermost and caller is not None and caller.function.name not in group:
        raise CallsAgain(function.name)  # called through a pointer from within another group: the two are one group
    bodies = low.groups.setdefault(group, {})
    if function.name not in bodies:
        bodies[function.name] = new_body(low, function)
    callee = bodies[function.name]
    end = low.new_label()
    emit_call(low, caller, callee, returns, arguments, not is_outermost)
    if not is_outermost:
        return
    low.branch(end)
    lowered: set[str] = set()
    while waiting := [body for name, body in bodies.items() if name not in lowered]:
        for body in waiting:
            lowered.add(body.function.name)
            lower_one(low, body, lower_body)
    for body in bodies.values():
        low.items.append(body.exit)
        for target, source in body.results.items():
            low.emit(copied(low, target, source))
        lower_returns(low, body)
    low.items.append(end)
    del low.groups[group]


def new_body(low: Lowering, function: Function) -> Body:
    """Make a function's body, with variables for its parameters and results."""
    names = Names(low.variables, None, f"{function.name}:")
    body = Body(function, low.new_label(), low.new_label(), names, names.new_register("%return", 32))
    for formal in function.params + function.returns:
        if formal.is_register:
            names.table[formal.name] = names.new_register(formal.name, register_bits(formal.type))
            continue
        pieces = {key: names.new_register(f"{formal.name}+{key[0]}", max(8 * key[1], 32)).var
                  for key in sorted(pieces_of(low, function, formal))}
        names.table[formal.name] = CallParam(formal.name, formal.size, pieces)
    for formal in function.returns:
        for var in variables_of(names.table[formal.name]):
            body.results[low.variables.new(f"{low.variables.names[var]}.result", low.variables.bits[var])] = var
    return body


def pieces_of(low: Lowering, function: Function, formal: Variable) -> set[tuple[int, int]]:
    """Return (offset, bytes) of every access that a function makes to a parameter or result.

    Raises if the parameter's address is taken: each recursion depth would need its own copy in memory.
    """
    pieces: set[tuple[int, int]] = set()
    assert function.body is not None
    line = low.line
    for statement in statements_of(function.body):
        low.line = statement.line
        for operand in statement.operands:
            if isinstance(operand, Name) and operand.text == formal.name and not statement.opcode.startswith("call"):
                raise low.fail(f"the recursive function '{function.name}' takes the address of its parameter "
                               f"'{formal.name}'; pass a pointer to a copy")
            if isinstance(operand, Address) and operand.base is not None and operand.base.text == formal.name:
                access = access_of(statement)
                if access.type:     # all others are refused when they are lowered
                    pieces |= {(operand.offset + k * access.width, access.width) for k in range(access.count)}
    low.line = line
    return pieces


def variables_of(held: object) -> list[int]:
    """Return the variables of a parameter or result, in the order of its pieces."""
    if isinstance(held, CallParam):
        return [held.pieces[key] for key in sorted(held.pieces)]
    assert isinstance(held, Register)
    return [held.var]


def emit_call(low: Lowering, caller: Body | None, callee: Body, returns: list[Operand], arguments: list[Operand],
              keeps: bool) -> None:
    """Emit the arguments, the jump to a body, and what follows its return."""
    values: list[tuple[int, int]] = []
    for formal, actual in zip(callee.function.params, arguments, strict=True):
        values += argument_values(low, callee, formal, actual)
    label = low.new_label()
    mark, back = marker(low), marker(low)
    before = stack_move(low, "add") if caller is not None else stack_start(low)
    low.emit(mark)
    for target, source in values:
        low.emit(copied(low, target, source))
    low.emit(before)
    number = low.move(low.rows(callee.number), [])
    number.set_imm(0, len(callee.calls))
    low.emit(number)
    callee.calls.append(label)
    low.branch(callee.entry)
    low.items.append(label)
    low.emit(back)
    low.calls.append(Call(mark, before, back, callee, caller, keeps))
    results = iter(callee.results)
    for formal, actual in zip(callee.function.returns, returns, strict=True):
        take_result(low, callee, formal, actual, results)


def take_result(low: Lowering, callee: Body, formal: Variable, actual: object, results: Iterator[int]) -> None:
    """Copy a result to where the caller wants it."""
    held = callee.names.table[formal.name]
    target = low.resolve(actual) if isinstance(actual, Name) else None
    if isinstance(held, CallParam) and isinstance(target, CallParam):
        for key in sorted(held.pieces):
            source = next(results)
            if key not in target.pieces:  # the other functions that a pointer may call write the same piece
                target.pieces[key] = low.temp(low.variables.bits[source]).var
            low.emit(copied(low, target.pieces[key], source))
    elif isinstance(held, Register) and isinstance(target, Register) and held.bits == target.bits:
        low.emit(copied(low, target.var, next(results)))
    else:
        raise low.fail(f"'{callee.function.name}' and this call of it declare different results")


def argument_values(low: Lowering, callee: Body, formal: Variable, actual: object) -> list[tuple[int, int]]:
    """Copy an argument into new variables; return (callee's variable, copy) for each of its pieces."""
    held, given = callee.names.table[formal.name], bind(low, formal, actual, low.names.child())
    if isinstance(held, Register):
        assert isinstance(given, Register)
        return [(held.var, given.var)]
    assert isinstance(held, CallParam) and isinstance(given, CallParam)
    in_registers = not overlapping(given) and all(key in given.pieces for key in held.pieces)
    place = None if in_registers else low.in_local_memory(given)
    values = []
    for (offset, width), var in held.pieces.items():
        copy = low.temp(low.variables.bits[var]).var
        if place is None:
            low.emit(copied(low, copy, given.pieces[offset, width]))
        else:
            access = Access(SPACE_LOCAL, f"b{8 * width}", 1, False)
            inst = memory_inst(low, isa.OP_LD, access, f"ld.local.{access.type}", MEM_LOAD)
            low.fill_address(inst, 0, place, offset, True)
            inst.reg_bits, inst.dst = low.variables.bits[var], low.rows(Register(copy, low.variables.bits[var]))
            low.emit(inst)
        values.append((var, copy))
    return values


def lower_one(low: Lowering, body: Body, lower_body: Callable[[Lowering, Scope], None]) -> None:
    """Lower a body; falling off its end returns from the function."""
    outer, line = low.names, low.line
    low.items.append(body.entry)
    low.names = body.names
    low.frames.append(Frame(body.function, body.exit, body))
    assert body.function.body is not None
    lower_body(low, body.function.body)
    low.branch(body.exit)
    low.frames.pop()
    low.names, low.line = outer, line


def lower_returns(low: Lowering, body: Body) -> None:
    """Emit the jumps back to the call whose number was passed to the body."""
    for number, label in enumerate(body.calls[:-1]):
        info = forms.lookup("setp", ("eq", "u32"))
        inst = VirtualInst(info.op, "setp.eq.u32", low.line)
        inst.aux, inst.wait_class, inst.latency_class = info.aux, info.wait_class, info.latency_class
        inst.types = info.src_types
        inst.set_row(0, 2 * body.number.var)
        low.fill(inst, 2, Number("int", number), "u32")
        inst.pdst = [low.temp(1).var]
        low.emit(inst)
        low.branch(label, inst.pdst[0])
    low.branch(body.calls[-1])


def copied(low: Lowering, target: int, source: int) -> VirtualInst:
    """Make a move from one variable to another of the same width."""
    if not low.variables.words[target]:
        inst = VirtualInst(isa.OP_PRED, "mov.pred", low.line)
        inst.aux, inst.wait_class, inst.psrc, inst.psrc_negate, inst.pdst = (
            isa.PRED_MOV, WAIT_FIXED, [source], [False], [target])
        return inst
    words = range(low.variables.words[target])
    return low.move([2 * target + word for word in words], [2 * source + word for word in words])
