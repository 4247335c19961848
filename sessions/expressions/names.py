"""Names of the condition language: the machine's parts, and where their values come from."""

from __future__ import annotations

import ast
import re
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from rfview.engine import plugin as designs
from rfview.engine.chunk import LANES
from rfview.engine.errors import InputError
from rfview.engine.info import UNIFORM_ROWS
from rfview.engine.wording import suggest
from rfview.sessions.expressions import operations
from rfview.sessions.file.bounds import Bounds, Known
from rfview.sessions.expressions.mistakes import ExpressionError
from rfview.sessions.expressions.nodes import Node, Uses, apply, cycle_number, fixed
from rfview.sessions.expressions.ptx_names import register_of
from rfview.sessions.codec.logs import ALL
from rfview.sessions.timeline.base import Timeline
from rfview.sessions.timeline.register_log import RegisterLog

REGISTER = re.compile(r"R(\d+)\Z")       # a lower-case letter would be mistaken for the PTX's %r8
PREDICATE = re.compile(r"(U?)P(\d+)\Z")
UNIFORM = re.compile(r"UR(\d+)\Z")
FIRST_UNIFORM = 8       # the number of UP0 among a warp's predicates
# a field of each unit, for messages
EXAMPLES = {"w": "w0.pc", "b": "b0.queue", "c": "c0.valid", "s": "s0.last_warp", "p": "p0.inflight"}
SHORT = re.compile(r"([wbcsp])(\d*)\Z")
UNITS = {"w": "warp", "b": "bank", "c": "collector", "s": "scheduler", "p": "pipe"}
COUNTS = {"warp": "num_warps", "bank": "num_banks", "collector": "num_collectors", "scheduler": "num_schedulers"}
FUNCTIONS = ("abs", "all", "any", "changed", "count", "f32", "f64", "max", "min", "popcount", "s32", "sum", "u64")


class Names(ABC):
    """Turns names with fields and indices into nodes, for one timeline; notes in `uses` what they read."""

    def __init__(self, text: str, timeline: Timeline):
        self.text = text
        self.timeline = timeline
        self.info = timeline.info
        self.uses = Uses()
        self.stalls = self.info.stall_codes
        self.places = {entry.name: entry for entry in self.info.variables}

    def fail(self, node: ast.AST, message: str) -> ExpressionError:
        """Return the error for a part of the expression."""
        at = getattr(node, "col_offset", 0) + 1
        return ExpressionError(self.text, at, message)

    @abstractmethod
    def compile(self, node: ast.expr) -> Node:
        """Compile any expression, for an index or an address."""

    def _fields(self, record: str = "") -> tuple[str, ...]:
        """Return the names of the fields of a record of the machine's state; "": of the state itself."""
        state = self.timeline.layout.sm_dtype
        return (state[record].base if record else state).names or ()

    def _name(self, node: ast.Name) -> Node:
        return self._chain(node)

    def _attribute(self, node: ast.Attribute) -> Node:
        return self._chain(node)

    def _subscript(self, node: ast.Subscript) -> Node:
        return self._chain(node)

    def _chain(self, node: ast.expr) -> Node:
        """Compile NAME, then any number of .NAME and [INDEX]."""
        steps: list[tuple[ast.expr, str | int | ast.expr]] = []
        part = node
        while not isinstance(part, ast.Name):
            if isinstance(part, ast.Attribute):
                steps.append((part, part.attr))
                part = part.value
            elif isinstance(part, ast.Subscript):
                steps.append((part, part.slice))
                part = part.value
            else:
                raise self.fail(part, "only named state has fields and indices")
        steps.reverse()
        if part.id == "mem":
            return self._memory(node, steps)
        resolved: list[tuple[ast.expr, str | int]] = [
            (where, step if isinstance(step, str) else self._unit_index(step)) for where, step in steps  # type: ignore[arg-type]
        ]
        return self._resolve(part, part.id, resolved)

    def _unit_index(self, node: ast.expr) -> int:
        """Return the index of a field or unit; rf.FIELD[b] is refused even if a buffer is named b."""
        if isinstance(node, ast.Name) and node.id in UNITS:
            raise self.fail(node, "an index must be a constant whole number; sum, max, any .. take a field's values")
        return self._index(node)

    def _index(self, node: ast.expr) -> int:
        """Return a constant integer."""
        part = self.compile(node)
        if not part.constant or part.kind != "i":
            raise self.fail(node, "an index must be a constant whole number")
        return int(part.run(0, 1))

    def _resolve(self, node: ast.Name, name: str, steps: list[tuple[ast.expr, str | int]]) -> Node:
        """Compile a name with its fields and indices, which are constants."""
        if not steps:
            return self._bare(node, name)
        is_field = name in self._fields()
        if name in self.places and not is_field and len(steps) == 1 and isinstance(steps[0][1], int):
            return self._word_of(steps[0][0], name, steps[0][1])
        short = SHORT.match(name)
        if short is not None:
            unit = UNITS[short[1]]
            return self._unit(node, unit, int(short[2]) if short[2] else None, steps)
        if name in ("warp", *COUNTS, "pipe") and isinstance(steps[0][1], int):
            return self._unit(node, name, int(steps[0][1]), steps[1:])
        if name in ("stall", "total", "event", "events") and len(steps) == 1 and isinstance(steps[0][1], str):
            return self._counter(steps[0][0], name, str(steps[0][1]))
        if name in ("sm", "rf"):
            return self._field(node, name, steps)
        if is_field:
            return self._field(node, f"sm.{name}", steps)
        if name in self.places:
            raise self.fail(node, f"{name} is a buffer or symbol: {name}[5] is its word 5, of 32 bits, {name} its address")
        raise self._unknown(node, name)

    def _bare(self, node: ast.Name, name: str) -> Node:
        """Compile a name on its own."""
        if name == "cycle":
            self.uses.timed = True
            return cycle_number(self.timeline)
        if name == "launch":
            return self._field(node, "sm.launch.index", [])
        if name in self.stalls:
            return fixed(np.int64(self.stalls[name]), "i")
        if name in self.places:
            self.uses.places.append(name)
            return fixed(np.int64(self.places[name].address), "i")
        if name in self._fields():
            return self._field(node, f"sm.{name}", [])
        if (code := self._code(name)) is not None:
            return fixed(np.int64(code), "i")
        raise self._unknown(node, name)

    def _code(self, name: str) -> int | None:
        """Return the code of a state. One that only other bundled designs have gets a code that no warp has in this run."""
        if name not in self.stalls and (other := designs.stalls().get(name)) and other.code not in self.stalls.values():
            return other.code
        return self.stalls.get(name)

    def _unknown(self, node: ast.AST, name: str) -> ExpressionError:
        if REGISTER.match(name) or PREDICATE.match(name) or UNIFORM.match(name):
            return self.fail(node, f"unknown name {name!r}; a register belongs to a warp: w0.{name}")
        if short := SHORT.match(name):
            return self.fail(node, f"{name} is a {UNITS[short[1]]}; name a field of it, as in {EXAMPLES[short[1]]}")
        roots = ["mem", "rf", "sm", "stall", "total", "event", "warp", *UNITS]
        if name in roots:
            return self.fail(node, f"{name} stands for many values; name one of them, as `rfview help expressions` shows")
        known = ["cycle", "launch", *roots, *self.stalls, *self.places, *self._fields(), *FUNCTIONS]
        hint = suggest(name, known) or "; `rfview help expressions` lists the names, such as w3.pc and stall.barrier"
        return self.fail(node, f"unknown name {name!r}{hint}")

    def _unit(self, node: ast.expr, unit: str, number: int | None, steps: list[tuple[ast.expr, str | int]]) -> Node:
        """Compile a field of one warp, bank, ... or, if number is None, of all of them."""
        count = self._count_of(unit)
        if number is not None and not 0 <= number < count:
            raise self.fail(node, f"there is no {unit} {number}; the machine has {unit}s 0..{count - 1}")
        if not steps or not isinstance(steps[0][1], str):
            raise self.fail(node, f"name a field of {unit}: {', '.join(self._fields(unit))}")
        where, name = steps[0][0], str(steps[0][1])
        over = f"{unit}s"
        if unit == "warp":
            special = self._warp_special(where, number, name, steps[1:])
            if special is not None:
                return special
            if name not in self._fields("warp"):
                if name in self._fields("warp_cold"):
                    unit = "warp_cold"
                elif place := register_of(self.info, name):
                    raise self.fail(where, f"%{name} is in {place}: name that register")
                elif re.fullmatch(r"[rp]\d+", name):
                    raise self.fail(where, f"unknown name {name!r}; did you mean {name.upper()}?")
        self._known_field(where, unit, number, name)
        index = "*" if number is None else str(number)
        return self._field(where, f"sm.{unit}[{index}]", steps, count if number is None else 0, over)

    def _known_field(self, where: ast.expr, unit: str, number: int | None, name: str) -> None:
        """Raise for a field that a warp, bank, ... does not have."""
        records = ("warp", "warp_cold") if unit.startswith("warp") else (unit,)
        fields = [field for record in records for field in self._fields(record)]
        if name not in fields:
            whose = f"a {unit}" if number is None else f"{unit} {number}"
            hint = suggest(name, fields) or "; `rfview help expressions` lists its fields"
            raise self.fail(where, f"{whose} has no field {name!r}{hint}")

    def _count_of(self, unit: str) -> int:
        """Return the number of units of a kind in the machine."""
        maximum = int(self.timeline.layout.sm_dtype[unit].shape[0])
        key = COUNTS.get(unit)
        if key is None:
            return maximum
        count = getattr(self.info, key, None) or self.info.number(f"sm.{key}", maximum)
        return min(count, maximum)

    def _warp_special(
        self, where: ast.expr, number: int | None, name: str, steps: list[tuple[ast.expr, str | int]]
    ) -> Node | None:
        """Compile w.line, wN.R12, wN.P2 and, of machine code, wN.UR4 and wN.UP0; None for ordinary fields."""
        if name == "line":
            pc = self._unit(where, "warp", number, [(where, "pc")])
            program = self.info.program
            table = np.zeros(max((entry.pc for entry in program), default=0) + 2, np.int64)
            for entry in program:
                table[entry.pc] = entry.line
            return apply(operations.lookup(table), pc, "i")
        register, predicate, uniform = (kind.match(name) for kind in (REGISTER, PREDICATE, UNIFORM))
        if register is None and predicate is None and uniform is None:
            return None
        if number is None:
            raise self.fail(where, f"name one warp, for example w3.{name}")
        if uniform is not None:
            return self._uniform(where, number, int(uniform[1]), steps)
        if predicate is not None:
            index = int(predicate[2]) + (FIRST_UNIFORM if predicate[1] else 0)
            whole = self._field(where, f"sm.warp_cold[{number}].pred[{index}]", [])
            lane = self._lane(steps)
            return whole if lane is None else apply(operations.lane_bit(lane), whole, "i")
        assert register is not None
        count = self.info.registers_per_thread
        if int(register[1]) >= max(count, 1):
            raise self.fail(where, f"register R{register[1]} is not allocated: the kernel has R0..R{count - 1}")
        lane = self._lane(steps)
        lanes = ALL if lane is None else slice(lane, lane + 1)
        log = RegisterLog(self.timeline, number, int(register[1]))
        self.uses.registers += log.numbers

        def run(start: int, stop: int) -> np.ndarray:
            return log.column(start, stop, lanes).astype(np.int64)

        if lane is None:
            return Node(run, "i", 32, "lanes", register=(log, lanes))
        return Node(lambda start, stop: run(start, stop)[:, 0], "i", register=(log, lanes))

    def _uniform(self, where: ast.expr, warp: int, register: int, steps: list[tuple[ast.expr, str | int]]) -> Node:
        """Compile wN.UR4: one value for all lanes. It is in a row of the core, which no log of register writes covers."""
        if steps:
            raise self.fail(where, f"UR{register} has one value for all lanes; leave out the index")
        if self.info.uniform_rows is None:
            raise self.fail(where, f"UR{register}: this recording has no uniform registers; record the run again"
                            if self.info.is_machine_code else
                            f"UR{register}: only machine code has uniform registers, as with --preset ampere")
        if register >= len(LANES) * UNIFORM_ROWS:
            raise self.fail(where, f"there is no UR{register}; uniform registers are UR0..UR{len(LANES) * UNIFORM_ROWS - 1}")
        self.uses.timed = True
        first, step = self.info.uniform_rows
        row, lane = first + warp * step + register // len(LANES), register % len(LANES)

        def run(start: int, stop: int) -> np.ndarray:
            return self.timeline.row_column(row, start, stop, slice(lane, lane + 1))[:, 0].astype(np.int64)

        return Node(run, "i")

    def _lane(self, steps: list[tuple[ast.expr, str | int]]) -> int | None:
        """Return the lane named by an index, or None for all 32."""
        if not steps:
            return None
        where, lane = steps[0]
        if len(steps) > 1 or not isinstance(lane, int) or not 0 <= lane < 32:
            raise self.fail(where, "expected one lane 0..31, for example w3.R12[0]")
        return lane

    def _counter(self, where: ast.expr, name: str, what: str) -> Node:
        """Compile stall.X, total.X and event.X."""
        if name in ("stall", "total"):
            code = self._code(what)
            if code is None:
                raise self.fail(where, f"unknown stall {what!r}{suggest(what, self.stalls)}")
            stored = "state_count" if name == "stall" else "stall_total"
            return self._field(where, f"sm.{stored}[{code}]", [])
        events = {name: index for index, name in self.info.event_names.items()}
        if what not in events:
            raise self.fail(where, f"unknown event {what!r}{suggest(what, events)}")
        return self._field(where, f"sm.events[{events[what]}]", [])

    def _field(self, where: ast.AST, path: str, steps: list[tuple[ast.expr, str | int]], limit: int = 0,
               over: str = "elements") -> Node:
        """Compile a stored field. limit: number of elements of the first open dimension in use, 0 = all."""
        path += "".join(f".{step}" if isinstance(step, str) else f"[{step}]" for _, step in steps)
        timeline = self.timeline
        try:
            field = timeline.layout.field(path)
        except InputError as error:
            raise self.fail(where, str(error)) from None
        self.uses.words.append(field.words)
        self.uses.timed |= bool(field.derived)
        kind = "f" if field.dtype.kind == "f" else "i"
        if limit and len(field.shape) > 1:
            raise self.fail(where, f"{path} has several values per element; give an index")
        width = int(np.prod(field.shape)) if field.shape else 0
        width = min(width, limit) if limit else width

        def run(start: int, stop: int) -> np.ndarray:
            values = timeline.column(path, start, stop)
            if width:
                values = values.reshape(stop - start, -1)[:, :width]
            return values.astype(np.float64 if kind == "f" else np.int64)

        def bounds(low: int, high: int) -> Known:
            known = None if timeline.zone_maps is None else timeline.zone_maps.bounds(field, low, high)
            if known is None or not field.shape:
                return known
            parts = (None if part is None else part.reshape(high - low, -1)[:, :width]
                     for part in (known.low, known.high, known.values))
            return Bounds(*parts)  # type: ignore[arg-type]

        return Node(run, kind, width, over, bounds=bounds, given=lambda values: values[path],
                    fields={path: Node(run, kind, width, over, bounds=bounds)})

    def _memory(self, node: ast.expr, steps: list[tuple[ast.expr, Any]]) -> Node:
        """Compile mem[address]."""
        if len(steps) != 1 or not isinstance(steps[0][1], ast.expr):
            raise self.fail(node, "expected mem[ADDRESS]")
        index = steps[0][1]
        if isinstance(index, ast.Constant) and isinstance(index.value, int) and 1 << 63 <= index.value < 1 << 64:
            address = index.value       # addresses have no sign
        else:
            address = self._index(index)
        if address % 4:
            raise self.fail(node, f"address {address:#x} is not a multiple of 4")
        for entry in self.places.values():
            if entry.address <= address < entry.address + entry.bytes:
                return self._word(entry.word + (address - entry.address) // 4)
        known = ", ".join(f"{name} at {entry.address:#x}" for name, entry in self.places.items()) or "none"
        raise self.fail(node, f"no buffer holds address {address:#x}; buffers: {known}")

    def _word_of(self, where: ast.expr, name: str, index: int) -> Node:
        """Compile NAME[INDEX]: a word of a buffer or symbol, whatever its element type."""
        entry = self.places[name]
        if not 0 <= index < entry.bytes // 4:
            raise self.fail(where, f"{name} has {entry.bytes // 4} words of 32 bits, no word {index}")
        return self._word(entry.word + index)

    def _word(self, word: int) -> Node:
        """Return a word of memory, counted from the arena's start."""
        self.uses.memory.append(word)
        return Node(lambda start, stop: self.timeline.memory_column(word, start, stop).astype(np.int64), "i")
