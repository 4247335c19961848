"""A listing's text to a module: each kernel's code, with the functions that it may call behind it, lowered one to one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from rfview.engine.errors import SassError
from rfview.engine.program import (GRID_WORKSPACE, GRID_WORKSPACE_BYTES, NO_REG, ConstantBank, Kernel, Module, Param, Reloc,
                                   Symbol)
from rfview.engine.sass import driver
from rfview.engine.sass.constants import USER_BANK, layout_of, places_of
from rfview.engine.sass.draft import Draft, records_of
from rfview.engine.sass.form import Form, NotExecuted, assign
from rfview.engine.sass.listing import INSTRUCTION_BYTES, Bank, Function, Instruction, Listing
from rfview.engine.sass.read import read_listing
from rfview.engine.sass.refusal import sentence
from rfview.engine.sass.table import row_of

SHARED = frozenset("LDS STS ATOMS REDS LD ST ATOM RED LDGSTS SYNCS".split())
NAME = re.compile(r"[^\s`'()+,]+")
SOURCE = re.compile(r"[-~]?(U?R\d+)")
JUMPS = ("CALL", "JMP", "BRX")
STACK_POINTER = "R1"
LOCAL_ALIGN = 16
STACK_BYTES = 8192      # assumed: per thread, where ptxas does not know how many code needs


@lru_cache(maxsize=4)
def _kernels_of(text: str) -> dict[str, Kernel]:
    """Return the kernels of a text decoded so far, for all its modules."""
    return {}


class MachineKernels(Mapping[str, Kernel]):
    """The kernels of a listing by name, each lowered on first use, so that one bad kernel does not affect the others."""

    def __init__(self, listing: Listing, text: str, path: str) -> None:
        self._listing, self._path = listing, path
        self._entries = {function.name: function for function in listing.functions if function.is_entry}
        self._decoded = _kernels_of(text)

    def __getitem__(self, name: str) -> Kernel:
        if name not in self._decoded:
            self._decoded[name] = kernel_of(self._listing, self._entries[name], self._path)
        return self._decoded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def module_of_listing(text: str, path: str) -> Module:
    """Return the module of a listing's text; kernels are lowered when first looked up. Raises SassError."""
    listing = read_listing(text, path)
    layout_of(listing.sm, path)
    kernels: Any = MachineKernels(listing, text, path)
    symbols = {variable.name: Symbol(variable.name, variable.space, variable.size, variable.align, variable.data or b"",
                                     variable.relocs) for variable in listing.variables if variable.space == "global"}
    for bank in listing.banks:
        for variable in listing.variables:
            if variable.space == "const" and bank.number == USER_BANK:
                held = bank.data[variable.offset : variable.offset + variable.size]
                relocs = tuple((offset - variable.offset, symbol, addend) for offset, symbol, addend in bank.relocs
                               if 0 <= offset - variable.offset < variable.size)
                symbols[variable.name] = Symbol(variable.name, "const", variable.size, variable.align, held, relocs)
    symbols.update(driver.heap_of(listing))
    if any(workspace_of(function, listing.sm, path) for function in listing.functions):
        symbols[GRID_WORKSPACE] = Symbol(GRID_WORKSPACE, "global", GRID_WORKSPACE_BYTES, 16, bytes(GRID_WORKSPACE_BYTES))
    return Module(path=path, text=text, kernels=kernels, symbols=symbols)


def kernel_of(listing: Listing, entry: Function, path: str) -> Kernel:
    """Lower one kernel. Raises SassError that names the line of what is not executed."""
    functions = reached(listing, entry)
    banks = [*listing.banks, *(bank for function in functions for bank in function.banks)]
    functions += driver.called(listing, functions, banks, path)
    starts: dict[str, int] = {}
    labels: dict[str, int] = {}
    count = 0
    for function in functions:
        starts[function.name] = count
        labels.update({name: count + offset // INSTRUCTION_BYTES for name, offset in function.labels})
        count += len(function.code)
    layout = layout_of(listing.sm, path)
    params_end = max([entry.param_base, *(entry.param_base + param.offset + param.size for param in entry.params)])
    places, size = places_of(_sizes(banks).items(), params_end)
    drafts: list[Draft] = []
    for function in functions:
        code = _Code(function, starts[function.name], {**labels, **starts}, places, size, path, listing.files)
        drafts += [code.draft(len(drafts) + index, instruction) for index, instruction in enumerate(function.code)]
    instructions = [instruction for function in functions for instruction in function.code]
    insts = records_of(drafts)
    insts["line"] = [instruction.line for instruction in instructions]
    insts["control"] = [instruction.control.bits for instruction in instructions]
    local = max(function.local for function in functions) + (STACK_BYTES if needs_stack(functions) else 0)
    return Kernel(
        name=entry.name, insts=insts,
        texts=tuple(instruction.text for instruction in instructions),
        params=tuple(Param(param.name, param.type, param.size, min(param.size, 8), param.offset) for param in entry.params),
        registers=max(entry.registers, registers_of(insts)), predicates=7,
        shared_bytes=entry.shared + (layout.static_shared if uses_shared(functions) else 0),
        local_bytes=-(-local // LOCAL_ALIGN) * LOCAL_ALIGN, max_threads=entry.max_threads,
        relocs=tuple(Reloc(pc, slot, symbol, addend, False)
                     for pc, draft in enumerate(drafts) for slot, symbol, addend in draft.relocs),
        required_threads=entry.required_threads, architecture=listing.sm, param_base=entry.param_base or layout.params,
        constants=tuple(ConstantBank(bank.number, places[bank.number], bank.data, bank.relocs, variables_of(listing, bank))
                        for bank in banks),
        functions=tuple(starts.items()),
        workspace=max(workspace_of(function, listing.sm, path) for function in functions))


def workspace_of(function: Function, sm: int, path: str) -> int:
    """Return the place in constant bank 0 of the address of the grid-wide barrier, 0 if the code does not read it."""
    place = layout_of(sm, path).workspace
    ends = (f"[{place:#x}]", f"+{place:#x}]")
    reads = any(operand.startswith("c[0x0][") and operand.endswith(ends)
                for instruction in function.code for operand in instruction.operands)
    return place if reads else 0


def variables_of(listing: Listing, bank: Bank) -> tuple[tuple[str, int, int], ...]:
    """Return (name, offset, bytes) of the module's variables in a bank."""
    return tuple((variable.name, variable.offset, variable.size) for variable in listing.variables
                 if variable.space == "const" and bank.number == USER_BANK
                 and variable.offset + variable.size <= len(bank.data))


def reached(listing: Listing, entry: Function) -> list[Function]:
    """Return a kernel and the functions with code of their own that it may call, in the listing's order.

    It may call those that its code names, and, if it jumps through registers, those whose addresses are data. Others may
    read constants that only the kernels calling them have.
    """
    others = {function.name: function for function in listing.functions if not function.is_entry}
    relocs = (*(variable.relocs for variable in listing.variables),
              *(bank.relocs for bank in (*listing.banks, *entry.banks)))
    held = [symbol for some in relocs for _, symbol, _ in some]
    found, left = {entry.name}, [entry]
    while others and left:
        function = left.pop()
        names: set[str] = set()
        for instruction in function.code:
            names.update(word for operand in instruction.operands for word in NAME.findall(operand))
            if instruction.opcode.startswith(JUMPS) and any(word[:1] in "RU" for word in instruction.operands):
                names.update(held)
        for name in names & others.keys() - found:
            found.add(name)
            left.append(others[name])
    return [entry, *(function for name, function in others.items() if name in found)]


def needs_stack(functions: list[Function]) -> bool:
    """Return whether code calls functions, which may call others, or takes a computed number of bytes (alloca).

    ptxas's own subroutines, as for division, call none.
    """
    return any(instruction.opcode.startswith("CALL") and "__internal_" not in "".join(instruction.operands)
               or moves_stack(instruction) for function in functions for instruction in function.code)


def moves_stack(instruction: Instruction) -> bool:
    """Return whether the stack pointer is computed from another register."""
    registers = [found[1] for word in instruction.operands[1:] if (found := SOURCE.match(word))]
    return instruction.operands[:1] == (STACK_POINTER,) and any(register != STACK_POINTER for register in registers)


def uses_shared(functions: list[Function]) -> bool:
    """Return whether code may access shared memory: the system's part of it then counts."""
    return any(instruction.opcode.partition(".")[0] in SHARED for function in functions for instruction in function.code)


def _sizes(banks: list[Bank]) -> dict[int, int]:
    sizes: dict[int, int] = {}
    for bank in banks:
        sizes[bank.number] = max(sizes.get(bank.number, 0), len(bank.data))
    return sizes


def registers_of(insts: np.ndarray) -> int:
    """Return the number of registers up to the highest one that is used."""
    lanes = insts["dst"][insts["dst_uniform"] == 0]
    used = np.concatenate([insts["src"][insts["src"] != NO_REG], lanes[lanes != NO_REG], np.zeros(1, np.uint8)])
    return int(used.max()) + 1


class _Code:
    """Lowers the instructions of one function. names: of functions and subroutines. size: of the constant image."""

    def __init__(self, function: Function, first_pc: int, names: dict[str, int], places: dict[int, int], size: int,
                 path: str, files: dict[int, str]) -> None:
        self.function, self.first_pc, self.names, self.places, self.size, self.path, self.files = (
            function, first_pc, names, places, size, path, files)

    def target_of(self, text: str) -> int:
        """Return the pc of a branch target: an offset in the function's code, or a name."""
        if text in self.names:
            return self.names[text]
        try:
            offset = int(text, 16)
        except ValueError:
            raise NotExecuted(f"with target {text}") from None
        if offset % INSTRUCTION_BYTES or not 0 <= offset < len(self.function.code) * INSTRUCTION_BYTES:
            raise NotExecuted(f"with target {text}, outside of its function")
        return self.first_pc + offset // INSTRUCTION_BYTES

    def draft(self, pc: int, instruction: Instruction) -> Draft:
        """Return the lowered instruction; raises SassError."""
        draft = Draft(self.places, self.names)
        opcode, *modifiers = instruction.opcode.split(".")
        try:
            draft.guarded(instruction.guard)
            found = row_of(opcode)
            if found is None:
                raise NotExecuted("")
            row, known, is_uniform = found
            if odd := [modifier for modifier in modifiers if modifier not in known]:
                raise NotExecuted(f"with .{odd[0]}")
            base = opcode.removeprefix("U") if is_uniform else opcode
            form = Form(instruction.text, base, is_uniform, tuple(modifiers), pc, self.first_pc, self.target_of)
            assign(form, row.roles, instruction.operands)
            row.lower(form, draft)
            draft.note_places(form)
            self._check(draft)
        except NotExecuted as problem:
            raise SassError(sentence(instruction, str(problem), self.path, self.files)) from None
        return draft

    def _check(self, draft: Draft) -> None:
        """Raise NotExecuted for what would read outside of the constant image; what is executed is not checked again."""
        for slot in range(len(draft.imm)):
            if draft.const_mask >> slot & 1 and not (0 <= draft.imm[slot] <= self.size - 4 and draft.imm[slot] % 4 == 0):
                raise NotExecuted("with a constant outside of its bank")
