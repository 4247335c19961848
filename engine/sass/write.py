"""Writes a listing as text: the format of `.sass` files, which engine/sass/read.py reads."""

from __future__ import annotations

import json
from collections.abc import Iterator

from rfview.engine.sass.listing import (CODE, HEADER, INSTRUCTION_BYTES, Bank, Control, Function, Instruction, Listing,
                                        Place, Variable)

LINE_BYTES = 32         # of hexadecimal data


def text_of(listing: Listing) -> str:
    """Return the text of a listing."""
    return "\n".join(_lines(listing)) + "\n"


def _lines(listing: Listing) -> Iterator[str]:
    yield HEADER
    yield f".target sm_{listing.sm}"
    yield ".address_size 64"
    if listing.made_by:
        yield f".made_by {json.dumps(listing.made_by)}"
    if listing.made_of:
        yield f".made_of {listing.made_of}"
    for number, path in sorted(listing.files.items()):
        yield f".file {number} {json.dumps(path)}"
    for variable in listing.variables:
        yield from _variable(variable)
    for bank in listing.banks:
        yield from _bank(bank)
    for function in listing.functions:
        yield ""
        yield from _function(function)


def _variable(variable: Variable) -> Iterator[str]:
    where = f" {variable.offset:#x}" if variable.space == "const" else ""
    yield f".{variable.space} {variable.size} {variable.align} {variable.name}{where}"
    yield from _data(variable.data, variable.relocs)


def _bank(bank: Bank) -> Iterator[str]:
    yield f".bank {bank.number} {len(bank.data)}"
    yield from _data(bank.data.rstrip(b"\0"), bank.relocs)


def _data(data: bytes, relocs: CODE) -> Iterator[str]:
    for at in range(0, len(data), LINE_BYTES):
        part = data[at : at + LINE_BYTES]
        if any(part) or at + LINE_BYTES >= len(data):
            yield f".bytes {at:#x} {part.hex()}"
    for offset, symbol, addend in relocs:
        yield f".address {offset:#x} {symbol} {addend:#x}"


def _function(function: Function) -> Iterator[str]:
    yield f".{'entry' if function.is_entry else 'func'} {function.name}"
    for name in ("registers", "shared", "local", "barriers", "max_threads"):
        if value := getattr(function, name):
            yield f".{name} {value}"
    if any(function.required_threads):
        yield ".required_threads {} {} {}".format(*function.required_threads)
    if function.params:
        yield f".params {function.param_base:#x}"
    for param in function.params:
        yield f".param {param.offset:#x} {param.size} {param.type} {param.name}"
    for bank in function.banks:
        yield from _bank(bank)
    labels: dict[int, list[str]] = {}
    for name, offset in function.labels:
        labels.setdefault(offset, []).append(name)
    place, ptx = None, 0
    for index, instruction in enumerate(function.code):
        for name in labels.get(index * INSTRUCTION_BYTES, ()):
            yield f".label {name}"
        if instruction.place != place:
            place = instruction.place
            yield f".loc {place_text(place)}"
        yield instruction_text(index, instruction) + (f" // {instruction.ptx}" if instruction.ptx != ptx else "")
        ptx = instruction.ptx


def place_text(place: Place | None) -> str:
    """Return a place, `file line column`, and behind a < each place where its function was inlined; "0 0 0" for none."""
    parts = []
    while place is not None:
        parts.append(f"{place.file} {place.line} {place.column}")
        place = place.caller
    return " < ".join(parts) or "0 0 0"


def instruction_text(index: int, instruction: Instruction) -> str:
    """Return an instruction's offset, control code and text."""
    words = ", ".join(instruction.operands)
    parts = (f"{index * INSTRUCTION_BYTES:04x}", control_text(instruction.control), instruction.guard, instruction.opcode,
             words)
    return " ".join(part for part in parts if part)


def control_text(control: Control) -> str:
    """Return a control code in the notation of maxas and CuAssembler: B (waits for), R, W (sets), Y (may switch), S (stall).

    The bits of the reuse cache follow if there are any, U5 for operands 0 and 2.
    """
    waits = "".join(str(k) if control.wait >> k & 1 else "-" for k in range(6))
    read, write = ("-" if counter == 7 else str(counter) for counter in (control.read, control.write))
    reuse = f":U{control.reuse:x}" if control.reuse else ""
    return f"B{waits}:R{read}:W{write}:{'Y' if control.may_switch else '-'}:S{control.stall:02d}{reuse}"
