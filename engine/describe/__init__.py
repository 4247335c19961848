"""The constants of a run (info.RunInfo), collected from a simulator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rfview.engine import __version__, config, plugin as designs, events, isa
from rfview.engine.compile import cache
from rfview.engine.hazards.effects import PREDICATE, guard_of, places_of, reads_of, writes_of
from rfview.engine.info import Instruction, Launch, RunInfo, Text, Variable
from rfview.engine.launch.sources import source_texts
from rfview.engine.machine.cores.subcore.state import CLASSES, UNIT_NONE
from rfview.engine.machine.stages.convergence import STATE_ROWS, UNIFORM
from rfview.engine.machine_code import is_machine_code
from rfview.engine.plugin import origin
from rfview.engine.program import NO_REG, SPACES, UNITS
from rfview.engine.ptx.parse.locations import locations

if TYPE_CHECKING:
    import numpy as np

    from rfview.engine.launch import placement
    from rfview.engine.simulator import Simulator


def describe(simulator: Simulator) -> RunInfo:
    """Collect the constants of a run."""
    placement = simulator.placement
    launches = placement.launches
    design = simulator.design
    return RunInfo(
        kernel=launches[0].kernel.name,
        kernels=[kernel.name for kernel, _ in placement.kernels],
        name=simulator.spec.name,
        num_launches=len(launches),
        launches=[
            Launch(kernel=placed.kernel.name, grid=list(placed.launch.grid), block=list(placed.launch.block),
                   registers=placed.registers, entry_pc=placed.entry_pc, resident_ctas=placed.resident_ctas,
                   shared_bytes=placed.shared_bytes)
            for placed in launches
        ],
        design="+".join(simulator.built.chain),
        design_title=design.title,
        design_source=design.source,
        design_spec=origin.spec_of(simulator.built.chain, simulator.built.values, simulator.config.core == "subcore"),
        scheduler=simulator.scheduler,
        preset=simulator.config.preset,
        parameters={**simulator.config.values(), **simulator.built.values},
        compile_notes=[f"{kernel.name}: {note}" for kernel, _ in placement.kernels for note in kernel.notes],
        setting_notes=[*simulator.config.notes(), *simulator.built.notes],
        spilled_words=max(kernel.spilled_words for kernel, _ in placement.kernels),
        register_limit=None if simulator.config.core == "subcore" else simulator.config.compilation().limit,
        seed=simulator.seed,
        engine_version=__version__,
        source_hash=cache.source_hash(cache.engine_files(compiled=False)),
        num_warps=int(simulator.config["sm.num_warps"]),
        num_banks=int(simulator.config["sm.num_banks"]),
        num_schedulers=int(simulator.config["sm.num_schedulers"]),
        clock_mhz=int(simulator.config["sm.clock_mhz"]),
        registers_per_thread=max(placed.registers for placed in launches),
        main_rows=simulator.main_rows,
        recorded_rows=int(simulator.sm.config.num_recorded_rows),
        uniform_rows=_uniform_rows(simulator),
        arena_words=len(placement.arena),
        shared_words=placement.shared_words,
        global_word=placement.global_word,
        local_word=placement.local_word,
        param_word=placement.param_word,
        stalls=list(simulator.built.stalls),
        events=[name for name, _ in events.EVENTS],
        design_events=[name for name, _ in simulator.built.events],
        activities=[event for name in simulator.built.chain if (event := designs.design(name).event)],
        panels=[dict(panel) for panel in simulator.built.panels],
        energy_pj=dict(design.energy_pj or {}),
        technology=dict(design.technology or {}),
        program=_program(simulator),
        ptx=[Text(path=_module_name(simulator), text=simulator.module.text)],
        sources=_sources(simulator) if simulator.sources is None else simulator.sources,
        virtual={kernel.name: list(kernel.virtual) for kernel, _ in placement.kernels},
        buffers=[_variable(variable) for variable in placement.variables if variable.kind == "buffer"],
        symbols=[_variable(variable) for variable in placement.variables if variable.kind == "symbol"],
        launch_toml=simulator.spec.text,
    )


def _uniform_rows(simulator: Simulator) -> tuple[int, int] | None:
    """Return the row of the first warp's uniform registers and the rows from warp to warp; None for PTX."""
    if not is_machine_code(simulator.insts):
        return None
    warps = int(simulator.config["sm.num_warps"])
    return int(simulator.sm.config.num_recorded_rows) - warps * STATE_ROWS + UNIFORM, STATE_ROWS


def _module_name(simulator: Simulator) -> str:
    """Return the name of the program's text: of machine code made of PTX, that of its listing."""
    path, architecture = simulator.spec.module_path, simulator.placement.kernels[0][0].architecture
    return path.with_suffix(f".sm_{architecture}.sass").name if architecture and path.suffix == ".ptx" else path.name


def _sources(simulator: Simulator) -> list[Text]:
    """Return the texts of the source files named by the PTX, as far as they are found."""
    spec = simulator.spec
    return source_texts(locations(simulator.module.text), (spec.module_path.parent, spec.path.parent))


def _program(simulator: Simulator) -> list[Instruction]:
    """Describe every instruction by its global pc."""
    listing: list[Instruction] = []
    placed = simulator.insts        # as changed by the machine: units and classes depend on it
    is_code = is_machine_code(placed)
    classes = CLASSES if is_code else config.LATENCY_CLASSES
    for kernel, base in simulator.placement.kernels:
        for offset, (inst, text) in enumerate(zip(kernel.insts, kernel.texts, strict=True)):
            listing.append(Instruction(
                pc=base + offset, kernel=kernel.name, line=int(inst["line"]), text=text,
                mnemonic=text.split()[1 if text.startswith("@") else 0].split(".")[0].rstrip(";"),
                op=isa.REVERSE[int(inst["op"])], unit=UNITS[int(placed["unit"][base + offset])],
                space=SPACES[int(inst["space"])],
                latency_class=classes[int(placed["latency_class"][base + offset])], wait_class=int(inst["wait_class"]),
                **(_machine_registers(inst, _has_reuse(simulator, base + offset)) if is_code else {
                    "dst": [int(reg) for reg in inst["dst"] if reg != NO_REG], "src": [int(reg) for reg in inst["src"]]}),
            ))
    return listing


def _has_reuse(simulator: Simulator, pc: int) -> bool:
    """Return whether operands of an instruction of machine code may come from the reuse cache: those of fixed latency."""
    if simulator.built.core != designs.variants.SUBCORE:     # a run by values has no core's record
        return False
    core = simulator.spec_record.core
    return bool(core.reuse_cache) and int(core.unit[int(simulator.insts["latency_class"][pc])]) == UNIT_NONE


def _machine_registers(inst: np.void, has_reuse: bool) -> dict[str, Any]:
    """Return the registers and the control code of an instruction of machine code."""
    written = [int(reg) for reg in inst["dst"][: int(inst["num_dst"])] if reg != NO_REG]
    src = [int(reg) if int(inst["src_mask"]) >> slot & 1 else NO_REG for slot, reg in enumerate(inst["src"])]
    uniform = [int(number) for slot, number in enumerate(inst["imm"]) if int(inst["uniform_mask"]) >> slot & 1]
    own, of_warp = ([], written) if inst["dst_uniform"] else (written, [])
    written, read = writes_of(inst), [register for register, _ in reads_of(inst, guard_of(inst))]
    return {"dst": own, "src": src, "uniform_dst": of_warp, "uniform_src": uniform, "control": int(inst["control"]),
            "predicate_dst": [register - PREDICATE for register in written if register >= PREDICATE],
            "predicate_src": [register - PREDICATE for register in dict.fromkeys(read) if register >= PREDICATE],
            "places": places_of(inst) if has_reuse else []}


def _variable(variable: placement.Variable) -> Variable:
    """Describe a buffer or symbol."""
    return Variable(name=variable.name, address=variable.address, word=variable.word, bytes=variable.size,
                    dtype=variable.dtype.str, shape=list(variable.shape))
