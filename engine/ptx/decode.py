"""Decodes a kernel from syntax tree to INST arrays: lower, clean up, optionally schedule, allocate registers, emit."""

from __future__ import annotations

from dataclasses import dataclass

from rfview.engine.compilation import Compilation
from rfview.engine.program import Kernel
from rfview.engine.ptx.allocate.colouring import Colouring, colour_predicates, spread
from rfview.engine.ptx.emit.instructions import drop_identity_moves, emit
from rfview.engine.ptx.optimise.addresses import narrow_addresses
from rfview.engine.ptx.optimise.cleanup import clean_up
from rfview.engine.ptx.optimise.schedule import schedule
from rfview.engine.ptx.allocate.interference import interference
from rfview.engine.ptx.allocate.numbering import numbered_for_banks
from rfview.engine.ptx.lower.layout import kernel_params
from rfview.engine.ptx.lower.kernel import define_all, lower_kernel
from rfview.engine.ptx.allocate.predicates import fit_predicates
from rfview.engine.ptx.lower.frames import FRAME_ALIGN
from rfview.engine.ptx.paused import collector_paused
from rfview.engine.ptx.parse.source import Source
from rfview.engine.wording import plural
from rfview.engine.ptx.allocate.spill import TooFewRegisters, allocate_data
from rfview.engine.ptx.parse.syntax import Function, SyntaxModule
from rfview.engine.ptx.virtual import VirtualInst, VirtualProgram, align_up

NUM_PREDICATES = 32
# shares of the registers that the scheduler may fill, tried in turn until the schedule adds no spills
_PRESSURES = (1.0, 0.85, 0.7, 0.5)
STACK_BYTES = 8192  # assumed: per thread; cudaLimitStackSize defaults to 1024 and recursive kernels raise it


@dataclass
class Allocated:
    """A program whose variables have registers."""

    program: VirtualProgram
    data: Colouring
    predicates: Colouring


@dataclass
class Decoded:
    """A kernel and the program it was emitted from, whose instructions are in the same order as the kernel's.

    before: the instructions of each block before moves of a register to itself were dropped.
    """

    kernel: Kernel
    program: VirtualProgram
    before: list[list[VirtualInst]]


@collector_paused()
def decode(source: Source, module: SyntaxModule, entry: Function, how: Compilation) -> Decoded:
    """Decode one entry point, and keep the program it was made from. Raises PtxError for anything malformed or unknown."""
    program, shared_bytes = lower_kernel(source, module, entry)
    if how.optimize:
        clean_up(program)
        define_all(program, entry.line)     # clean-up may drop a variable's last definition as dead
    note = narrow_addresses(program) if how.addresses_32 else ""
    if how.addresses_32 and how.optimize:
        clean_up(program)
        define_all(program, entry.line)
    try:
        allocated = allocate_scheduled(program, how) if how.schedule else allocate(program, how)
    except TooFewRegisters as problem:
        raise source.error(entry.line, f"kernel '{entry.name}' {problem}") from None
    program, data, predicates = allocated.program, allocated.data, allocated.predicates
    stack_bytes = place_stack(program)
    if predicates.count > NUM_PREDICATES:
        raise source.error(entry.line, f"kernel '{entry.name}' needs {predicates.count} predicate registers at once, "
                                       f"but the machine has {NUM_PREDICATES}")
    before = [list(block.insts) for block in program.blocks]
    if how.optimize:
        drop_identity_moves(program, data.registers)
    emitted = emit(program, data.registers, predicates.registers)
    kernel = Kernel(
        name=entry.name, insts=emitted.insts, texts=emitted.texts, params=kernel_params(source, entry),
        registers=max(data.count, 1), predicates=predicates.count, shared_bytes=shared_bytes,
        local_bytes=align_up(program.local_bytes, 4), relocs=emitted.relocs, virtual=emitted.virtual,
        max_threads=entry.max_threads, required_threads=entry.required, spilled_words=program.spilled_words,
        stack_bytes=stack_bytes,
        notes=tuple(filter(None, (note, _spill_note(program.spilled_words, data.count, how.limit)))),
    )
    return Decoded(kernel, program, before)


def _spill_note(words: int, registers: int, limit: int) -> str:
    """Return a sentence if values are in local memory for lack of registers, which changes what a run measures."""
    return (f"{plural(words, 'word')} spilled to local memory; {plural(registers, 'register')} per thread, "
            f"the limit is {limit}") if words else ""


def allocate(program: VirtualProgram, how: Compilation) -> Allocated:
    """Allocate registers, spilling if there are too few. Raises TooFewRegisters."""
    graph = fit_predicates(program, interference(program), NUM_PREDICATES)
    graph, data = allocate_data(program, graph, how.limit)
    if how.registers:
        data = spread(graph, data, program.variables.words, how.limit)
    if how.banks:
        data = numbered_for_banks(program, data, how.banks)
    return Allocated(program, data, colour_predicates(graph, program.variables.words))


def allocate_scheduled(program: VirtualProgram, how: Compilation) -> Allocated:
    """Schedule the instructions without causing more spills than the order of the text does, and allocate."""
    best = allocate(program.copy(), how)
    for share in _PRESSURES:
        trial = program.copy()
        schedule(trial, how.latencies, int(how.limit * share))
        try:
            allocated = allocate(trial, how)
        except TooFewRegisters:
            continue
        if allocated.program.spilled_words <= best.program.spilled_words and allocated.predicates.count <= NUM_PREDICATES:
            return allocated
    return best


def place_stack(program: VirtualProgram) -> int:
    """Place the stack after arrays and spills, so that an overflow runs off the end of local memory; return its bytes."""
    if not program.stack_starts:
        return 0
    base = align_up(program.local_bytes, FRAME_ALIGN)
    for inst in program.stack_starts:
        inst.set_imm(0, base)
    program.local_bytes = base + STACK_BYTES
    return STACK_BYTES
