"""The functions of a module: their addresses, whose address is taken, and which bodies call through a pointer.

A function's address is 16 times its number in the module, counted from 1, so that null is not a function.
"""

from __future__ import annotations

from collections.abc import Iterator

from rfview.engine.ptx.parse.syntax import AddressByte, Function, Instruction, Name, Scope, SyntaxModule, Vector

CODE_ALIGN = 16


def function_address(module: SyntaxModule, name: str) -> int:
    """Return the address of a function."""
    return CODE_ALIGN * (1 + list(module.functions).index(name))


def named(value: object) -> Name | None:
    """Return the symbol whose address an initial value is, or is a byte of; None for a number."""
    return value.name if isinstance(value, AddressByte) else value if isinstance(value, Name) else None


def taken_functions(module: SyntaxModule) -> list[Function]:
    """List the functions whose address an initialiser or an instruction other than a call takes, in module order."""
    names: set[str] = set()
    for variable in module.variables.values():
        names |= {value.text for value in map(named, variable.init or ()) if value is not None}
    for function in module.functions.values():
        if function.body is not None:
            _mentioned(function.body, names)
    return [function for name, function in module.functions.items() if name in names and not function.is_entry]


def _mentioned(scope: Scope, names: set[str]) -> None:
    for item in scope.items:
        if isinstance(item, Scope):
            _mentioned(item, names)
        elif isinstance(item, Instruction) and not item.opcode.startswith("call"):
            for operand in item.operands:
                parts = operand.items if isinstance(operand, Vector) else [operand]
                names |= {part.text for part in parts if isinstance(part, Name)}


def calls_indirectly(scope: Scope) -> bool:
    """Return whether a body calls through a register."""
    for item in scope.items:
        if isinstance(item, Scope) and calls_indirectly(item):
            return True
        if isinstance(item, Instruction) and item.opcode.startswith("call"):
            if any(isinstance(operand, Name) and operand.text[0] == "%" for operand in item.operands):
                return True
    return False


def statements_of(scope: Scope) -> Iterator[Instruction]:
    """Yield the instructions of a body, including nested scopes, in order."""
    for item in scope.items:
        if isinstance(item, Scope):
            yield from statements_of(item)
        elif isinstance(item, Instruction):
            yield item
