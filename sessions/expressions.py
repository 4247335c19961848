"""The safe condition language: named machine state, parsed with `ast` (whitelist, never eval), evaluated as columns.

    cycle  launch  launch.next_cta                     time, launch number, any field of the launch record
    warp[3].pc  w3.pc  w3.state == wb_drain  w3.line   fields of a warp; stall names are constants; PTX line of the pc
    w3.R12[5]  w3.R12  w3.P2  w3.P2[5]                 register of one lane / of 32 lanes; predicate mask / one lane
    f32(w3.R12[0])  s32(...)  f64(lo, hi)  u64(lo, hi) the same bits as float, signed, double, 64-bit
    bank[2].queue  collector[0].valid  pipe[0].inflight  scheduler[0].last_warp  sm.FIELD  rf.FIELD
    mem[0x700000000000]  mem[A + 16]                   the u32 at a generic address; buffer names are their addresses
    stall.long_scoreboard  total.long_scoreboard       warps in a state now; warp-cycles in it since the start
    event.NAME                                         event counts
    any(w.state == barrier)  all(..)  count(..)        over all warps w, banks b, collectors c, schedulers s, pipes p,
    min(..)  max(..)  sum(..)                          or over lanes: any(w3.R12 > 5)
    changed(x)                                         x differs from the cycle before
    and or not  < <= == != >= > in  + - * / // %  & | ^ ~ << >>  abs min max popcount

Whole numbers are 64-bit and wrap; x // 0 and x % 0 are 0; registers of empty warp slots are 0.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from engine.chunk import LANES
from engine.errors import InputError
from engine.events import FIRST_DESIGN_EVENT
from sessions import operations
from sessions.bounds import Bounds, Known, may_fail, may_hold, tried
from sessions.layout import Field, suggest
from sessions.names import register_of
from sessions.operations import ARITHMETIC, BITWISE, COMPARE, CONVERT, JOIN, REDUCE, Operation, align, numbers
from sessions.rowlog import ALL
from sessions.summaries import CHUNKS
from sessions.timeline import Timeline

MAX_LENGTH = 2000
REGISTER = re.compile(r"R(\d+)\Z")       # a small letter would be taken for the PTX's own %r8
PREDICATE = re.compile(r"P(\d+)\Z")
SHORT = re.compile(r"([wbcsp])(\d*)\Z")
UNITS = {"w": "warp", "b": "bank", "c": "collector", "s": "scheduler", "p": "pipe"}
COUNTS = {"warp": "num_warps", "bank": "num_banks", "collector": "num_collectors", "scheduler": "num_schedulers"}
FUNCTIONS = ("abs", "all", "any", "changed", "count", "f32", "f64", "max", "min", "popcount", "s32", "sum", "u64")
Run = Callable[[int, int], np.ndarray]
Estimate = Callable[[int, int], Known]
Values = Mapping[str, np.ndarray]
MOST_FIELDS = 3     # that are tried together, value by value


def _nothing(low: int, high: int) -> Known:
    """Return the bounds of what summaries do not tell."""
    return None


@dataclass(frozen=True)
class Node:
    """A compiled part of an expression.

    run(start, stop): values at cycles start..stop-1: () for constants, (n,) or, with `width`, (n, width).
    kind: 'i' whole numbers (i8), 'f' floats (f8), 'b' truth. over: what the width counts ('warps', 'lanes', ...).
    bounds(low, high): what it may be in chunks low..high-1, by the timeline's summaries alone (see bounds.py).
    given: works it out from values of `fields`, in their order, all of one cycle and one unit; None where that is not
    enough. fields: the stored fields that it reads, by path.
    """

    run: Run
    kind: str
    width: int = 0
    over: str = ""
    constant: bool = False
    bounds: Estimate = _nothing
    given: Callable[[Values], np.ndarray] | None = None
    fields: Mapping[str, Node] = field(default_factory=dict)


@dataclass
class Uses:
    """What an expression reads, for skipping chunks in which none of it changes.

    words: state words. registers: (first slot of a warp, register in it). memory: words of the arena. timed: it may
    change without them.
    """

    words: list[np.ndarray] = field(default_factory=list)
    registers: list[tuple[Field, int]] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    timed: bool = False


class Expression:
    """A compiled condition or value over one timeline."""

    def __init__(self, text: str, timeline: Timeline, node: Node, uses: Uses):
        self.text = text
        self.timeline = timeline
        self.width = node.width
        self._node = node
        self._uses = uses
        self._words = np.unique(np.concatenate(uses.words)) if uses.words else np.empty(0, np.int64)

    def column(self, start: int, stop: int) -> np.ndarray:
        """Return the values at cycles start..stop-1: (n,) or (n, width), of i8, f8 or bool."""
        with np.errstate(all="ignore"):
            values = self._node.run(start, stop)
        return np.broadcast_to(values, (stop - start, *([self.width] if self.width else [])))

    def check_single(self) -> None:
        """Raise InputError when there is a value per warp or lane instead of one."""
        if self.width:
            raise InputError(f"`{self.text}` has {self.width} values per cycle; use any(...), all(...) or an index")

    def truth(self, start: int, stop: int) -> np.ndarray:
        """Return (n,) bool: where the condition holds; raises InputError when it has a value per warp or lane."""
        self.check_single()
        return self.column(start, stop) != 0

    def changes(self, start: int, stop: int) -> np.ndarray:
        """Return (n,) bool: where the value differs from the cycle before; never at the first cycle."""
        return _changes(lambda low, high: self.column(low, high), self.timeline.first, start, stop)

    def may_hold(self, low: int, high: int) -> np.ndarray:
        """Return (high - low,) bool: in which of the chunks low..high-1 the condition may hold; no means certainly not.

        Like the two below, of all states from a chunk's first cycle to the one behind its last.
        """
        return may_hold(self._node.bounds(low, high), high - low)

    def may_change(self, low: int, high: int) -> np.ndarray:
        """Return (high - low,) bool: in which chunks the value may differ from one cycle to the next."""
        known = self._node.bounds(low, high)
        found = np.ones(high - low, bool) if known is None else np.broadcast_to(~known.is_fixed, high - low).copy()
        uses, summaries = self._uses, self.timeline.summaries
        if not uses.timed and summaries is not None and found.any():
            changing = summaries.words_change(self._words, low, high)
            changing |= summaries.memory_changes(uses.memory, low, high)
            for base, register in uses.registers:
                changing |= summaries.register_changes(base, register, low, high)
            found &= changing
        return found

    def may_turn(self, low: int, high: int) -> np.ndarray:
        """Return (high - low,) bool: in which chunks the condition may begin or cease to hold."""
        known = self._node.bounds(low, high)
        found = may_hold(known, high - low) & may_fail(known, high - low)
        return found & self.may_change(low, high) if found.any() else found


def compile_expression(text: str, timeline: Timeline) -> Expression:
    """Compile an expression for a timeline; raises InputError naming the position, the unknown name and close ones."""
    if len(text) > MAX_LENGTH:
        raise InputError(f"expression of {len(text)} characters: at most {MAX_LENGTH} are allowed")
    try:
        tree = ast.parse(text.strip(), mode="eval")
        compiler = _Compiler(text.strip(), timeline)
        node = compiler.compile(tree.body)
    except SyntaxError as error:
        raise InputError(f"expression `{text}`: position {error.offset or 1}: {error.msg}") from None
    except (RecursionError, MemoryError, ValueError) as error:
        raise InputError(f"expression `{text[:60]}`: cannot be read ({error or 'nested too deeply'})") from None
    return Expression(text, timeline, node, compiler.uses)


def _changes(run: Run, first: int, start: int, stop: int) -> np.ndarray:
    """Return where values differ from the cycle before; two NaNs count as equal."""
    before = max(first, start - 1)
    values = run(before, stop)
    differ = values[1:] != values[:-1]
    if values.dtype.kind == "f":
        differ &= ~(np.isnan(values[1:]) & np.isnan(values[:-1]))
    if differ.ndim > 1:
        differ = differ.any(axis=tuple(range(1, differ.ndim)))
    return differ if before < start else np.concatenate([np.zeros(min(1, stop - start), bool), differ])


class _Compiler:
    """Turns a whitelisted syntax tree into nodes; every other construct is an InputError with its position."""

    def __init__(self, text: str, timeline: Timeline):
        self.text = text
        self.timeline = timeline
        self.info = timeline.info
        self.uses = Uses()
        self.stalls = {entry["name"]: int(entry["code"]) for entry in self.info.get("stalls", [])}
        places = [*self.info.get("buffers", []), *self.info.get("symbols", [])]
        self.places = {entry["name"]: entry for entry in places if isinstance(entry, dict) and "address" in entry}

    def fail(self, node: ast.AST, message: str) -> InputError:
        """Return the error for a part of the expression."""
        at = getattr(node, "col_offset", 0) + 1
        return InputError(f"expression `{self.text}`: position {at}: {message}")

    def compile(self, node: ast.expr) -> Node:
        """Compile any expression."""
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise self.fail(node, f"{type(node).__name__} is not part of the expression language")
        return method(node)

    # operators

    def _constant(self, node: ast.Constant) -> Node:
        value = node.value
        if isinstance(value, bool):
            return _fixed(np.bool_(value), "b")
        if isinstance(value, float):
            return _fixed(np.float64(value), "f")
        if not isinstance(value, int):
            raise self.fail(node, f"{value!r} is not a number")
        if value >= 1 << 63:
            raise self.fail(node, f"{value} does not fit into 64 bits")
        return _fixed(np.int64(value), "i")

    def _boolop(self, node: ast.BoolOp) -> Node:
        parts = [self.compile(value) for value in node.values]
        join = operations.AND if isinstance(node.op, ast.And) else operations.OR
        result = parts[0]
        for part in parts[1:]:
            result = self._combine(node, join, result, part, "b")
        return result

    def _unaryop(self, node: ast.UnaryOp) -> Node:
        part = self.compile(node.operand)
        if isinstance(node.op, ast.Not):
            return _apply(operations.NOT, part, "b")
        if isinstance(node.op, ast.Invert):
            self._whole(node, part)
            return _apply(operations.INVERT, part, "i")
        sign = operations.MINUS if isinstance(node.op, ast.USub) else operations.PLUS
        return _apply(sign, part, "f" if part.kind == "f" else "i")

    def _binop(self, node: ast.BinOp) -> Node:
        a, b = self.compile(node.left), self.compile(node.right)
        if type(node.op) in BITWISE:
            self._whole(node, a)
            self._whole(node, b)
            logical = a.kind == b.kind == "b" and not isinstance(node.op, (ast.LShift, ast.RShift))
            return self._combine(node, BITWISE[type(node.op)], a, b, "b" if logical else "i")
        if type(node.op) not in ARITHMETIC:
            raise self.fail(node, f"operator {type(node.op).__name__} is not part of the expression language")
        kind = "f" if isinstance(node.op, ast.Div) or "f" in (a.kind, b.kind) else "i"
        return self._combine(node, ARITHMETIC[type(node.op)], a, b, kind)

    def _compare(self, node: ast.Compare) -> Node:
        left = self.compile(node.left)
        result: Node | None = None
        for operator, comparator in zip(node.ops, node.comparators):
            if isinstance(operator, (ast.In, ast.NotIn)):
                part = self._member(node, left, comparator)
                if isinstance(operator, ast.NotIn):
                    part = _apply(operations.NOT, part, "b")
                right = left
            elif type(operator) in COMPARE:
                right = self.compile(comparator)
                part = self._combine(node, COMPARE[type(operator)], left, right, "b")
                if not (_is_plain(left) and _is_plain(right)):
                    part = _tried(part)
            else:
                raise self.fail(node, f"{type(operator).__name__} is not part of the expression language")
            result = part if result is None else self._combine(node, operations.AND, result, part, "b")
            left = right
        assert result is not None
        return result

    def _member(self, node: ast.AST, left: Node, options: ast.expr) -> Node:
        if not isinstance(options, (ast.Tuple, ast.List, ast.Set)) or not options.elts:
            raise self.fail(options, "`in` needs a list, for example w3.state in (barrier, wait)")
        parts = [self._combine(node, operations.EQUAL, left, self.compile(option), "b") for option in options.elts]
        result = parts[0]
        for part in parts[1:]:
            result = self._combine(node, operations.OR, result, part, "b")
        return result

    def _combine(self, node: ast.AST, operation: Operation, a: Node, b: Node, kind: str) -> Node:
        """Apply a two-operand operation element by element."""
        if a.width and b.width and (a.width != b.width or a.over != b.over):
            raise self.fail(node, f"{a.width} {a.over} cannot be combined with {b.width} {b.over}")
        logical = operation in operations.LOGICAL or (kind == "b" and a.kind == b.kind == "b")

        def join(left: np.ndarray, right: np.ndarray) -> np.ndarray:
            left, right = align(left, right)
            return operation.run(left, right) if logical else operation.run(numbers(left), numbers(right))

        def run(start: int, stop: int) -> np.ndarray:
            return join(a.run(start, stop), b.run(start, stop))

        def bounds(low: int, high: int) -> Known:
            return operation.bounds(a.bounds(low, high), b.bounds(low, high))

        wide = a if a.width else b
        give, other = a.given, b.given
        given = None if give is None or other is None else lambda values: join(give(values), other(values))
        return Node(run, kind, wide.width, wide.over, a.constant and b.constant, bounds, given, {**a.fields, **b.fields})

    def _whole(self, node: ast.AST, part: Node) -> None:
        if part.kind == "f":
            raise self.fail(node, "bit operations need whole numbers")

    # functions

    def _call(self, node: ast.Call) -> Node:
        if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS:
            name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
            raise self.fail(node, f"no function {name!r}{suggest(name, FUNCTIONS)}; there are {', '.join(FUNCTIONS)}")
        name = node.func.id
        if node.keywords or not node.args or any(isinstance(arg, ast.Starred) for arg in node.args):
            raise self.fail(node, f"{name}() takes plain arguments")
        parts = [self.compile(arg) for arg in node.args]
        if name in ("min", "max") and len(parts) > 1:
            result = parts[0]
            for part in parts[1:]:
                kind = "f" if "f" in (result.kind, part.kind) else "i"
                result = self._combine(node, operations.LEAST if name == "min" else operations.MOST, result, part, kind)
            return result
        if name in ("f64", "u64"):
            return self._pair(node, name, parts)
        if len(parts) != 1:
            raise self.fail(node, f"{name}() takes one argument, not {len(parts)}")
        return self._single(node, name, parts[0])

    def _single(self, node: ast.AST, name: str, part: Node) -> Node:
        """Compile a function of one argument."""
        if name in ("any", "all", "count", "min", "max", "sum"):
            if not part.width:
                example = "any(w.state == barrier)"
                raise self.fail(node, f"{name}() needs values per warp, bank or lane, for example {example}")
            kind = "b" if name in ("any", "all") else "i" if name == "count" or part.kind != "f" else "f"
            return _reduce(REDUCE[name], part, kind)
        if name == "changed":
            # its value may differ in a chunk's first two cycles though nothing changes in that chunk
            self.uses.timed = True
            return _changed(self.timeline, part)
        if name == "abs":
            return _apply(operations.ABS, part, "f" if part.kind == "f" else "i")
        self._whole(node, part)
        kind, operation = CONVERT[name]
        return _apply(operation, part, kind)

    def _pair(self, node: ast.AST, name: str, parts: list[Node]) -> Node:
        """Compile f64(lo, hi) and u64(lo, hi)."""
        if len(parts) != 2:
            raise self.fail(node, f"{name}() takes the low and the high word")
        for part in parts:
            self._whole(node, part)

        kind, operation = JOIN[name]
        return self._combine(node, operation, parts[0], parts[1], kind)

    # names

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
            (where, step if isinstance(step, str) else self._index(step)) for where, step in steps  # type: ignore[arg-type]
        ]
        return self._resolve(part, part.id, resolved)

    def _index(self, node: ast.expr) -> int:
        """Return a constant whole number."""
        part = self.compile(node)
        if not part.constant or part.kind != "i":
            raise self.fail(node, "an index must be a constant whole number")
        return int(part.run(0, 1))

    def _resolve(self, node: ast.Name, name: str, steps: list[tuple[ast.expr, str | int]]) -> Node:
        """Compile a name with its fields and indices, indices being constants."""
        if not steps:
            return self._bare(node, name)
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
        if name in (self.timeline.layout.sm_dtype.names or ()):
            return self._field(node, f"sm.{name}", steps)
        raise self._unknown(node, name)

    def _bare(self, node: ast.Name, name: str) -> Node:
        """Compile a name that stands alone."""
        if name == "cycle":
            self.uses.timed = True
            return _cycle(self.timeline)
        if name == "launch":
            return self._field(node, "sm.launch.index", [])
        if name in self.stalls:
            return _fixed(np.int64(self.stalls[name]), "i")
        if name in self.places:
            return _fixed(np.int64(self.places[name]["address"]), "i")
        if name in (self.timeline.layout.sm_dtype.names or ()):
            return self._field(node, f"sm.{name}", [])
        raise self._unknown(node, name)

    def _unknown(self, node: ast.AST, name: str) -> InputError:
        known = ["cycle", "launch", "mem", "rf", "sm", "stall", "total", "event", "warp", *UNITS, *self.stalls,
                 *self.places, *(self.timeline.layout.sm_dtype.names or ()), *FUNCTIONS]  # fmt: skip
        return self.fail(node, f"unknown name {name!r}{suggest(name, known)}")

    def _unit(self, node: ast.expr, unit: str, number: int | None, steps: list[tuple[ast.expr, str | int]]) -> Node:
        """Compile a field of one warp, bank, ... or, with number None, of all of them."""
        count = self._count_of(unit)
        if number is not None and not 0 <= number < count:
            raise self.fail(node, f"there is no {unit} {number}, the machine has {unit} 0..{count - 1}")
        if not steps or not isinstance(steps[0][1], str):
            names = self.timeline.layout.sm_dtype[unit].base.names or ()
            raise self.fail(node, f"name a field of {unit}: {', '.join(names)}")
        where, name = steps[0][0], str(steps[0][1])
        if unit == "warp":
            special = self._warp_special(where, number, name, steps[1:])
            if special is not None:
                return special
            record = "warp"
            if name not in (self.timeline.layout.sm_dtype["warp"].base.names or ()):
                cold = self.timeline.layout.sm_dtype["warp_cold"].base.names or ()
                record = "warp_cold" if name in cold else "warp"
                if record == "warp" and (place := register_of(self.info, name)):
                    raise self.fail(where, f"%{name} is in {place}: name that register")
                if record == "warp" and re.fullmatch(r"[rp]\d+", name):
                    raise self.fail(where, f"unknown name {name!r}; did you mean {name.upper()}?")
            unit = record
        index = "*" if number is None else str(number)
        return self._field(where, f"sm.{unit}[{index}]", steps, count if number is None else 0,
                           f"{unit}s")  # fmt: skip

    def _count_of(self, unit: str) -> int:
        """Return how many of a unit the machine has."""
        maximum = int(self.timeline.layout.sm_dtype[unit].shape[0])
        key = COUNTS.get(unit)
        if key is None:
            return maximum
        count = self.info.get(key, self.info.get("parameters", {}).get(f"sm.{key}", maximum))
        return min(int(count), maximum)

    def _warp_special(
        self, where: ast.expr, number: int | None, name: str, steps: list[tuple[ast.expr, str | int]]
    ) -> Node | None:
        """Compile w.line, wN.R12 and wN.P2; None for ordinary fields."""
        if name == "line":
            pc = self._unit(where, "warp", number, [(where, "pc")])
            program = self.info.get("program", [])
            table = np.zeros(max((entry["pc"] for entry in program), default=0) + 2, np.int64)
            for entry in program:
                table[entry["pc"]] = entry["line"]
            return _apply(operations.lookup(table), pc, "i")
        register, predicate = REGISTER.match(name), PREDICATE.match(name)
        if register is None and predicate is None:
            return None
        if number is None:
            raise self.fail(where, f"name one warp, for example w3.{name}")
        if predicate is not None:
            whole = self._field(where, f"sm.warp_cold[{number}].pred[{int(predicate[1])}]", [])
            lane = self._lane(steps)
            return whole if lane is None else _apply(operations.lane_bit(lane), whole, "i")
        assert register is not None
        count = int(self.info.get("registers_per_thread", 64))
        if int(register[1]) >= max(count, 1):
            raise self.fail(where, f"register R{register[1]} is not allocated: the kernel has R0..R{count - 1}")
        lane = self._lane(steps)
        lanes = ALL if lane is None else slice(lane, lane + 1)
        run = _register(self.timeline, self.uses, number, int(register[1]), lanes)
        if lane is None:
            return Node(run, "i", 32, "lanes")
        return Node(lambda start, stop: run(start, stop)[:, 0], "i")

    def _lane(self, steps: list[tuple[ast.expr, str | int]]) -> int | None:
        """Return the lane that an index names, or None for all 32."""
        if not steps:
            return None
        where, lane = steps[0]
        if len(steps) > 1 or not isinstance(lane, int) or not 0 <= lane < 32:
            raise self.fail(where, "expected one lane 0..31, for example w3.R12[0]")
        return lane

    def _counter(self, where: ast.expr, name: str, what: str) -> Node:
        """Compile stall.X, total.X and event.X."""
        if name in ("stall", "total"):
            if what not in self.stalls:
                raise self.fail(where, f"unknown stall {what!r}{suggest(what, self.stalls)}")
            stored = "state_count" if name == "stall" else "stall_total"
            return self._field(where, f"sm.{stored}[{self.stalls[what]}]", [])
        events = {name: index for index, name in enumerate(self.info.get("events", []))}
        events |= {name: FIRST_DESIGN_EVENT + index for index, name in enumerate(self.info.get("design_events", []))}
        if what not in events:
            raise self.fail(where, f"unknown event {what!r}{suggest(what, events)}")
        return self._field(where, f"sm.events[{events[what]}]", [])

    def _field(self, where: ast.AST, path: str, steps: list[tuple[ast.expr, str | int]], limit: int = 0,
               over: str = "elements") -> Node:  # fmt: skip
        """Compile a stored field; limit: how many elements of the first open dimension are real, 0 = all."""
        path += "".join(f".{step}" if isinstance(step, str) else f"[{step}]" for _, step in steps)
        timeline = self.timeline
        try:
            found = timeline.layout.field(path)
        except InputError as error:
            raise self.fail(where, str(error)) from None
        self.uses.words.append(found.words)
        self.uses.timed |= bool(found.derived)
        kind = "f" if found.dtype.kind == "f" else "i"
        if limit and len(found.shape) > 1:
            raise self.fail(where, f"{path} has several values per element; give an index")
        width = int(np.prod(found.shape)) if found.shape else 0
        width = min(width, limit) if limit else width

        def run(start: int, stop: int) -> np.ndarray:
            values = timeline.column(path, start, stop)
            if width:
                values = values.reshape(stop - start, -1)[:, :width]
            return values.astype(np.float64 if kind == "f" else np.int64)

        def bounds(low: int, high: int) -> Known:
            known = None if timeline.summaries is None else timeline.summaries.bounds(found, low, high)
            if known is None or not found.shape:
                return known
            parts = (None if part is None else part.reshape(high - low, -1)[:, :width]
                     for part in (known.low, known.high, known.values))
            return Bounds(*parts)  # type: ignore[arg-type]

        return Node(run, kind, width, over, bounds=bounds, given=lambda values: values[path],
                    fields={path: Node(run, kind, width, over, bounds=bounds)})  # fmt: skip

    def _memory(self, node: ast.expr, steps: list[tuple[ast.expr, Any]]) -> Node:
        """Compile mem[address]."""
        if len(steps) != 1 or not isinstance(steps[0][1], ast.expr):
            raise self.fail(node, "expected mem[ADDRESS]")
        address = self._index(steps[0][1])
        if address % 4:
            raise self.fail(node, f"address {address:#x} is not a multiple of 4")
        for entry in self.places.values():
            if entry["address"] <= address < entry["address"] + entry["bytes"]:
                word = int(entry["word"]) + (address - int(entry["address"])) // 4
                self.uses.memory.append(word)
                return Node(partial(_memory_word, self.timeline, word), "i")
        known = ", ".join(f"{name} at {entry['address']:#x}" for name, entry in self.places.items()) or "none"
        raise self.fail(node, f"no buffer holds address {address:#x}; buffers: {known}")


def _fixed(value: Any, kind: str) -> Node:
    """Return a constant."""
    array = np.asarray(value)
    known = Bounds.constant(value) if np.isfinite(value) else None
    return Node(lambda start, stop: array, kind, constant=True, bounds=lambda low, high: known, given=lambda values: array)


def _cycle(timeline: Timeline) -> Node:
    """Return the number of the cycle itself."""

    def bounds(low: int, high: int) -> Known:
        ends = np.array([*timeline.chunk_starts()[low : high + 1], timeline.last][: high - low + 1], np.int64)
        return Bounds(ends[:-1], ends[1:])

    return Node(lambda start, stop: np.arange(start, stop, dtype=np.int64), "i", bounds=bounds)


def _apply(operation: Operation, part: Node, kind: str) -> Node:
    """Apply a one-operand operation element by element."""

    def run(start: int, stop: int) -> np.ndarray:
        return np.asarray(operation.run(part.run(start, stop)))

    give = part.given
    return Node(run, kind, part.width, part.over, part.constant, lambda low, high: operation.bounds(part.bounds(low, high)),
                None if give is None else lambda values: np.asarray(operation.run(give(values))), part.fields)  # fmt: skip


def _is_plain(part: Node) -> bool:
    """Say whether a part is a number or a field as it is stored: there is nothing to know beyond its bounds."""
    return part.constant or any(one.run is part.run for one in part.fields.values())


def _tried(part: Node) -> Node:
    """Return a comparison whose bounds are made narrower by trying the values that its few fields may have."""
    give, fields = part.given, part.fields
    if give is None or not 0 < len(fields) <= MOST_FIELDS:
        return part

    def bounds(low: int, high: int) -> Known:
        known = part.bounds(low, high)
        return tried(known, [one.bounds(low, high) for one in fields.values()], high - low,
                     lambda values: give(dict(zip(fields, values, strict=True))))  # fmt: skip

    return replace(part, bounds=bounds)


def _reduce(operation: Operation, part: Node, kind: str) -> Node:
    """Reduce the second axis."""

    def bounds(low: int, high: int) -> Known:
        known = part.bounds(low, high)
        if known is not None and known.low.ndim == 1:
            known = Bounds(*(np.broadcast_to(end[:, None], (len(end), part.width)) for end in (known.low, known.high)))
        return operation.bounds(known)

    return Node(lambda start, stop: operation.run(part.run(start, stop)), kind, bounds=bounds)


def _changed(timeline: Timeline, part: Node) -> Node:
    """Return where a value differs from the cycle before."""
    first, width = timeline.first, part.width

    def run(start: int, stop: int) -> np.ndarray:
        before = max(first, start - 1)
        shape = (stop - before, *([width] if width else []))
        values = np.broadcast_to(part.run(before, stop), shape)
        differ = np.zeros((stop - start, *shape[1:]), bool)
        differ[len(differ) - (stop - before - 1) :] = values[1:] != values[:-1]
        return differ

    def bounds(low: int, high: int) -> Known:
        # what changes in the last cycle of the chunk before shows in this one's first
        before = max(0, low - 1)
        known = part.bounds(before, high)
        if known is None:
            return None
        differ = np.broadcast_to(known.low != known.high, (high - before, *known.low.shape[1:])).astype(np.int64)
        shown = differ.copy()
        shown[1:] |= differ[:-1]
        shown = shown[low - before :]
        return Bounds(np.zeros_like(shown), shown)

    return Node(run, "b", part.width, part.over, bounds=bounds)


def _memory_word(timeline: Timeline, word: int, start: int, stop: int) -> np.ndarray:
    return timeline.memory_column(word, start, stop).astype(np.int64)


class Slot:
    """Where a warp's registers begin, and which warps are resident, as far as summaries know it for whole chunks."""

    def __init__(self, timeline: Timeline, base: Field, resident: Field):
        self.timeline, self.fields = timeline, (base, resident)
        self._known: tuple[int, list[Known]] = (-1, [])

    def of(self, number: int) -> tuple[int, int] | None:
        """Return (first row, resident warps) where they stay the same in chunk `number`, else None."""
        summaries = self.timeline.summaries
        if summaries is None:
            return None
        block, place = divmod(number, CHUNKS)
        asked, known = self._known
        if asked != block:
            high = min((block + 1) * CHUNKS, len(self.timeline.chunk_starts()))
            known = [summaries.bounds(field, block * CHUNKS, high) for field in self.fields]
            self._known = (block, known)
        if any(part is None or not part.is_fixed[place] for part in known):
            return None
        first, warps = (int(part.low[place]) for part in known if part is not None)
        return first, warps


def _register(timeline: Timeline, uses: Uses, warp: int, register: int, lanes: slice) -> Run:
    """Return the columns (n, lanes) i8 of a warp's register, wherever the design keeps it; 0 in an empty slot."""
    width = len(LANES[lanes])
    base = timeline.layout.field(f"sm.warp[{warp}].reg_base")
    resident = timeline.layout.field("sm.resident")
    uses.words += [base.words, resident.words]
    if not _in_main_file(timeline.info):
        uses.timed = True
        return lambda start, stop: _located(timeline, warp, register, start, stop)[:, lanes]

    uses.registers.append((base, register))

    slot = Slot(timeline, base, resident)

    def piece(start: int, stop: int, number: int) -> np.ndarray:
        known = slot.of(number)
        if known is not None:
            # the warp keeps its place in this chunk: its state need not be decoded
            if not known[1] >> warp & 1:
                return np.zeros((stop - start, width), np.int64)
            return timeline.row_column(known[0] + register, start, stop, lanes).astype(np.int64)
        bases = timeline.column(base.path, start, stop).astype(np.int64)
        there = (timeline.column(resident.path, start, stop) >> np.uint64(warp)) & np.uint64(1) != 0
        values = np.zeros((stop - start, width), np.int64)
        for row in np.unique(bases[there]):
            at = there & (bases == row)
            values[at] = timeline.row_column(int(row) + register, start, stop, lanes)[at]
        return values

    def run(start: int, stop: int) -> np.ndarray:
        pieces = [piece(low, high, number) for low, high, number in timeline.stretches(start, stop)]
        return np.concatenate(pieces) if pieces else np.empty((0, width), np.int64)

    return run


def _in_main_file(info: dict[str, Any]) -> bool:
    """Say whether the design keeps the newest value of every register in its row of the main register file."""
    from engine import designs

    return designs.in_main_rows(info.get("design_spec") or {"chain": [info.get("design", "sram")]})


def _located(timeline: Timeline, warp: int, register: int, start: int, stop: int) -> np.ndarray:
    """Return the register's columns by asking the design at every cycle."""
    values = np.zeros((stop - start, 32), np.int64)
    for cycle in range(start, stop):
        try:
            values[cycle - start] = timeline.at(cycle).register(warp, register)
        except IndexError:
            continue
    return values
