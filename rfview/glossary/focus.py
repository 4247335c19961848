"""What `K` explains: figures of the focused panel, how to read it, and what its selected item means."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import TYPE_CHECKING

from rfview.engine.program import UNIT_CTRL, UNIT_LDST, UNITS
from rfview.engine.sass.listing import Control
from rfview.glossary.terms import (
    LEAST,
    WIDTH,
    Term,
    is_sample,
    numbers,
    of_recorded_design,
    panels,
    paragraphs,
    sentences_of,
    states,
    without_sample,
)
from rfview.render.lens import lens_design, painter_of
from rfview.render.machine_code import NUM_COUNTERS
from rfview.render.operation import place_of, with_lines
from rfview.render.panels import FIRST, PANELS
from rfview.sessions.why.subcore_flights import width_of

if TYPE_CHECKING:
    from rfview.engine.info import Instruction
    from rfview.render.panel import Painter
    from rfview.render.scene import Scene

# the numbers of an access: of a state space on the chip, of all others
ON_CHIP = {"shared": ("memory.shared_cycles",), "const": ("memory.const_cycles",), "param": ("memory.param_cycles",)}
OFF_CHIP = ("memory.l1_hit_cycles", "memory.l2_hit_cycles", "memory.dram_cycles", "memory.fixed_memory_cycles")


def of_state(scene: Scene) -> Iterator[Term]:
    """Yield the focused warp's state."""
    if scene.now is not None:
        name = scene.look(scene.now.state[scene.warp]).name
        yield from (term for term in states(scene.info) if term.name == name)


def of_states(scene: Scene) -> Iterator[Term]:
    """Yield all states, those that STALLS lists first."""
    seen = {scene.look(code).name for code in scene.common}
    yield from sorted(states(scene.info), key=lambda term: term.name not in seen)


def of_register_file(scene: Scene) -> Iterator[Term]:
    """Yield the terms of the run's design, and of the one under it."""
    for name in scene.info.design_spec.chain:
        yield from of_recorded_design(name, scene.info)


def at_focus(scene: Scene, width: int = WIDTH) -> list[str]:
    """Return figures of what has the focus on a screen, then explanations with sources: panel, columns, state, design."""
    info = scene.info
    panel = PANELS.get(scene.panel, PANELS[FIRST])
    terms = list(BESIDE[panel.terms](scene)) if panel.terms else []
    about = [term for term in panels(info) if term.name == panel.name or term.name.startswith(f"{panel.name}: ")]
    if scene.now is not None:       # the panel itself is visible: no sample needed
        about[0] = without_sample(about[0])
    if (painter := _own_painter(scene)) is not None:    # this design's own view replaces the general one
        own_way = Term(panel.name, "panel", sentences_of(painter), about[0].source)
        about[0] = own_way if scene.now is None else without_sample(own_way)
    terms = [*terms, *about] if panel.terms_first else [*about, *terms]
    lines: list[str] = []
    figures = panel.facts(scene) if scene.now is not None else []
    for what, figure in figures:
        first = max(len(label) for label, _ in figures) + 2
        lines += wrap(figure, max(LEAST, width), initial_indent=f"{what:<{first}}", subsequent_indent=" " * first)
    lines += [""] * bool(lines)
    for term in terms:
        lines += [*term.lines(width), ""]
    return lines[:-1]


def _own_painter(scene: Scene) -> Painter | None:
    """Return the painter of the run's design if it draws the panel in focus."""
    panel = PANELS.get(scene.panel, PANELS[FIRST])
    is_its = panel.terms == "design" and not scene.info.is_machine_code     # there the lens is a sub-core
    return painter_of(lens_design(scene.info)) if is_its else None


def how_to_read(scene: Scene) -> list[str]:
    """Return how to read the panel in focus, in paragraphs, without its sample."""
    panel = PANELS.get(scene.panel, PANELS[FIRST])
    special = panel.of_machine_code if scene.info.is_machine_code else None
    text = sentences_of(_own_painter(scene) or (special.paint if special is not None else panel.paint))
    return [part for part in paragraphs(text) if not is_sample(part)]


def of_instruction(scene: Scene) -> Iterator[Term]:
    """Yield the focused warp's next instruction, and the numbers of the machine that decide how long it takes."""
    entry = scene.now.instruction(scene.now.pc[scene.warp]) if scene.now is not None else None
    if entry is None:
        return
    if scene.info.is_machine_code:
        yield from _of_machine_instruction(scene, entry)
        return
    own: tuple[str, ...] = ()
    if entry.unit == UNITS[UNIT_LDST]:
        own = ON_CHIP.get(entry.space, OFF_CHIP)
    elif entry.unit != UNITS[UNIT_CTRL]:
        own = (f"latency.{entry.latency_class}", f"initiation.{entry.latency_class}")
    text = with_lines(entry.text, scene.info.program)
    yield Term(text, f"instruction, {place_of(scene.info.program, entry.pc)}", f"executed by the {entry.unit} unit",
               "PTX instruction set; executed literally, each operation rounded by itself")
    yield from (term for term in numbers(scene.info) if term.name in own)


def _of_machine_instruction(scene: Scene, entry: Instruction) -> Iterator[Term]:
    """Yield a machine instruction, and the numbers of its class."""
    kind, control = entry.latency_class, Control.of_bits(entry.control or 0)
    covers = "dependence counters cover it" if min(control.write, control.read) < NUM_COUNTERS else "stall counts cover it"
    yield Term(entry.text, f"instruction, {place_of(scene.info.program, entry.pc)}", f"class {kind}; {covers}",
               "machine code as ptxas compiled it; executed as what ptxas's code needs it to be; classes: RULES.md B11.8")
    size = width_of(entry.text)
    own = (f"result.{kind}", f"interval.{kind}", f"access_read.{kind}_{size}", f"access_use.{kind}_{size}")
    yield from (term for term in numbers(scene.info) if term.name in own)


# Panel.terms -> what `K` explains besides the panel
BESIDE = {"state": of_state, "states": of_states, "instruction": of_instruction, "design": of_register_file}
