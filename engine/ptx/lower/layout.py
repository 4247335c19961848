"""Memory layout of declared variables: kernel parameters, shared memory, module symbols and their initial bytes."""

from __future__ import annotations

import re

from rfview.engine.errors import PtxError
from rfview.engine.program import GRID_WORKSPACE, GRID_WORKSPACE_BYTES, MAX_PARAM_BYTES, Param, Symbol
from rfview.engine.ptx.lower.device_library import wants_grid
from rfview.engine.ptx.lower.functions import calls_indirectly, function_address, named, taken_functions
from rfview.engine.ptx.lower.immediates import immediate_bits
from rfview.engine.ptx.lower.names import Place, declared_variables
from rfview.engine.ptx.parse.source import Source
from rfview.engine.ptx.parse.syntax import (TYPE_BYTES, Address, AddressByte, Function, Group, Instruction, Name, Number,
                                            Scope, SyntaxModule, Variable, Vector)
from rfview.engine.ptx.virtual import align_up

OPAQUE = ("texref", "samplerref", "surfref")  # described in the launch file, under textures
DYNAMIC_ALIGN = 16
RESERVED_SHARED_BYTES = 1024  # PTX manual, %reserved_smem_offset_cap of sm_90 and later


def kernel_params(source: Source, function: Function) -> tuple[Param, ...]:
    """Lay the parameters out at natural alignment."""
    offset, params = 0, []
    for variable in function.params:
        if variable.is_array and variable.size == 0:
            raise source.error(variable.line, f"kernel parameter '{variable.name}' has no size")
        if not re.fullmatch(r"[bsuf](8|16|32|64|128)", variable.type):
            raise source.error(variable.line, f"kernel parameter '{variable.name}' cannot be of type .{variable.type}")
        offset = align_up(offset, variable.alignment)
        params.append(Param(variable.name, variable.type, variable.size, variable.alignment, offset))
        offset += variable.size
    if offset > MAX_PARAM_BYTES:
        raise source.error(function.line, f"parameters take {offset} bytes, at most {MAX_PARAM_BYTES} are allowed")
    return tuple(params)


def reachable(module: SyntaxModule, entry: Function) -> tuple[list[Function], set[str]]:
    """Return the functions that `entry` can reach, itself first, and every name that they mention."""
    functions, names, work = [], set(), [entry]
    while work:
        function = work.pop(0)
        if function in functions or function.body is None:
            continue
        functions.append(function)
        mentioned: set[str] = set()
        _collect(function.body, mentioned)
        names |= mentioned
        work += [called for name, called in module.functions.items() if name in mentioned]
        work += taken_functions(module) if calls_indirectly(function.body) else []
    return functions, names


def _collect(scope: Scope, names: set[str]) -> None:
    for item in scope.items:
        if isinstance(item, Instruction):
            for operand in item.operands:
                _collect_operand(operand, names)
        elif isinstance(item, Scope):
            _collect(item, names)


def _collect_operand(operand: object, names: set[str]) -> None:
    if isinstance(operand, Name):
        names.add(operand.text)
    elif isinstance(operand, Address):
        if operand.base is not None:
            names.add(operand.base.text)
    elif isinstance(operand, Vector | Group):
        for item in operand.items:
            _collect_operand(item, names)


def reserved_shared(base: int) -> dict[str, Place]:
    """Return the %reserved_smem_offset registers' values: an area where cooperative groups keep their barriers."""
    offsets = {"begin": base, "0": base, "1": base + RESERVED_SHARED_BYTES // 2, "end": base + RESERVED_SHARED_BYTES,
               "cap": RESERVED_SHARED_BYTES}
    return {f"%reserved_smem_offset_{name}": Place("shared", offset) for name, offset in offsets.items()}


def shared_layout(module: SyntaxModule, functions: list[Function], names: set[str],
                  ) -> tuple[dict[int, Place], dict[str, Place], int]:
    """Place the shared variables in use: static ones in order of declaration, then all extern ones at one base.

    Between them is the reserved area, in kernels that use it. Returns (places by id of the Variable, places in the
    reserved area by name, static bytes rounded up to the base of dynamic shared memory).
    """
    used = [v for v in module.variables.values() if v.space == "shared" and v.name in names]
    for function in functions:
        if function.body is not None:
            used += [v for v in declared_variables(function.body) if v.space == "shared" and v.name in names]
    places: dict[int, Place] = {}
    offset = 0
    dynamic = [v for v in used if v.is_extern or v.size == 0]
    for variable in used:
        if variable not in dynamic:
            offset = align_up(offset, variable.alignment)
            places[id(variable)] = Place("shared", offset)
            offset += variable.size
    reserved: dict[str, Place] = {}
    if any(name.startswith("%reserved_smem_offset_") for name in names):
        offset = align_up(offset, DYNAMIC_ALIGN)
        reserved = reserved_shared(offset)
        offset += RESERVED_SHARED_BYTES
    base = align_up(offset, max([DYNAMIC_ALIGN] + [v.alignment for v in dynamic]))
    for variable in dynamic:
        places[id(variable)] = Place("shared", base)
    return places, reserved, base


def module_symbols(source: Source, module: SyntaxModule) -> dict[str, Symbol]:
    """Make the .global and .const variables with their initial bytes and relocations."""
    symbols: dict[str, Symbol] = {}
    for variable in module.variables.values():
        if variable.space in ("global", "const") and TYPE_BYTES[variable.type] and variable.type not in OPAQUE:
            if variable.is_extern and variable.size == 0:
                continue
            symbols[variable.name] = _symbol(source, module, variable)
    bodies = [function.body for function in module.functions.values() if function.body is not None]
    if wants_grid(module) or any("%envreg1" in names_in(body) for body in bodies):
        symbols[GRID_WORKSPACE] = Symbol(GRID_WORKSPACE, "global", GRID_WORKSPACE_BYTES, 16, bytes(GRID_WORKSPACE_BYTES), (),
                                       "b32")
    return symbols


def names_in(scope: Scope) -> set[str]:
    """Return every name that a body mentions."""
    names: set[str] = set()
    _collect(scope, names)
    return names


def _symbol(source: Source, module: SyntaxModule, variable: Variable) -> Symbol:
    size = TYPE_BYTES[variable.type]
    relocs: list[tuple[int, str, int]] = []
    values = variable.init or []
    data = bytearray(len(values) * size)
    if len(values) * size > max(variable.size, size * (variable.init is not None)):
        raise source.error(variable.line, f"'{variable.name}' has {len(values)} initial values, but room for only "
                                          f"{variable.size // size}")
    for place, value in enumerate(values):
        at = place * size
        if isinstance(value, Number):
            data[at : at + size] = _initial_bytes(source, variable, value, size)
            continue
        name = named(value)
        assert name is not None
        first = place - (value.byte if isinstance(value, AddressByte) else 0)
        whole = [AddressByte(name, byte) for byte in range(8)] if isinstance(value, AddressByte) else [name]
        _check_symbol(source, module, variable, name, size * len(whole))
        if first < 0 or values[first : first + len(whole)] != whole:
            raise source.error(variable.line, f"'{variable.name}' has a byte of the address of '{name.text}' without the "
                                              "others; expected all eight, the lowest first")
        if name.text in module.functions:
            end = first * size + len(whole) * size
            data[first * size : end] = function_address(module, name.text).to_bytes(len(whole) * size, "little")
        elif first == place:
            relocs.append((at, name.text, name.addend))
    return Symbol(variable.name, variable.space, max(variable.size, len(data)), variable.alignment, bytes(data),
                  tuple(relocs), variable.type)


def _check_symbol(source: Source, module: SyntaxModule, variable: Variable, value: Name, size: int) -> None:
    is_function = value.text in module.functions
    known = module.variables.get(value.text)
    if not is_function and (known is None or known.type in OPAQUE):
        raise source.error(variable.line, f"unknown symbol '{value.text}' in the initialiser of '{variable.name}'")
    if size != 8 and not (is_function and size == 4):
        raise source.error(variable.line, f"an address needs 8 bytes, but '{variable.name}' has {size} for it")


def _initial_bytes(source: Source, variable: Variable, value: Number, size: int) -> bytes:
    kind = variable.type if variable.type[0] == "f" and variable.type != "f16" else f"b{8 * size}"
    try:
        return immediate_bits(value, kind).to_bytes(size, "little")
    except (OverflowError, KeyError):
        problem: PtxError = source.error(variable.line, f"initial value out of range for .{variable.type}")
        raise problem from None
