"""Operators and functions of the condition language: a whitelisted syntax tree becomes nodes."""

from __future__ import annotations

import ast
import warnings

import numpy as np

from rfview.engine.errors import InputError
from rfview.engine.wording import suggest
from rfview.sessions.expressions import operations
from rfview.sessions.file.bounds import Known
from rfview.sessions.expressions.expression import Expression
from rfview.sessions.expressions.mistakes import unreadable
from rfview.sessions.expressions.names import FUNCTIONS, Names
from rfview.sessions.expressions.nodes import Node, apply, changed, fixed, is_plain, narrowed, reduced
from rfview.sessions.expressions.operations import (ARITHMETIC, BITWISE, COMPARE, CONVERT, JOIN, REDUCE, Operation,
                                                    align, numbers)
from rfview.sessions.timeline.base import Timeline

MAX_LENGTH = 2000
FILE = "<expression>"
# Python warns about `1or 2`, on the terminal on which the screen is drawn
warnings.filterwarnings("ignore", module=FILE)


def compile_expression(text: str, timeline: Timeline) -> Expression:
    """Compile an expression for a timeline; raises InputError with the position, the unknown name and similar ones."""
    if len(text) > MAX_LENGTH:
        raise InputError(f"expression of {len(text)} characters: at most {MAX_LENGTH} are allowed")
    try:
        tree = ast.parse(text.strip(), FILE, mode="eval").body
        compiler = Compiler(text.strip(), timeline)
        node = compiler.compile(tree)
    except SyntaxError as error:
        raise unreadable(text.strip(), error) from None
    except (RecursionError, MemoryError, ValueError) as error:
        raise InputError(f"expression `{text[:60]}`: cannot be read ({error or 'nested too deeply'})") from None
    return Expression(text, timeline, tree, node, compiler.uses)


def compile_part(whole: Expression, tree: ast.expr) -> Expression:
    """Compile a part of an expression's tree by itself."""
    compiler = Compiler(whole.text, whole.timeline)
    return Expression(whole.text, whole.timeline, tree, compiler.compile(tree), compiler.uses)


class Compiler(Names):
    """Turns a whitelisted syntax tree into nodes; every other construct is an InputError with its position."""

    def compile(self, node: ast.expr) -> Node:
        """Compile any expression."""
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            what = "a range of elements" if isinstance(node, ast.Slice) else type(node).__name__
            raise self.fail(node, f"{what} is not part of the expression language")
        return method(node)

    # operators

    def _constant(self, node: ast.Constant) -> Node:
        value = node.value
        if isinstance(value, bool):
            return fixed(np.bool_(value), "b")
        if isinstance(value, float):
            return fixed(np.float64(value), "f")
        if not isinstance(value, int):
            raise self.fail(node, f"{value!r} is not a number")
        if value >= 1 << 63:
            signed = "" if value >= 1 << 64 else " with a sign, as all numbers here have"
            raise self.fail(node, f"{value} does not fit into 64 bits{signed}")
        return fixed(np.int64(value), "i")

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
            return apply(operations.NOT, part, "b")
        if isinstance(node.op, ast.Invert):
            self._whole(node, part)
            return apply(operations.INVERT, part, "i")
        sign = operations.MINUS if isinstance(node.op, ast.USub) else operations.PLUS
        return apply(sign, part, "f" if part.kind == "f" else "i")

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
                    part = apply(operations.NOT, part, "b")
                right = left
            elif type(operator) in COMPARE:
                right = self.compile(comparator)
                part = self._combine(node, COMPARE[type(operator)], left, right, "b")
                if not (is_plain(left) and is_plain(right)):
                    part = narrowed(part)
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
            return reduced(REDUCE[name], part, kind)
        if name == "changed":
            # its value may differ in a chunk's first two cycles although nothing changes in that chunk
            self.uses.timed = True
            return changed(self.timeline, part)
        if name == "abs":
            return apply(operations.ABS, part, "f" if part.kind == "f" else "i")
        self._whole(node, part)
        kind, operation = CONVERT[name]
        return apply(operation, part, kind)

    def _pair(self, node: ast.AST, name: str, parts: list[Node]) -> Node:
        """Compile f64(lo, hi) and u64(lo, hi)."""
        if len(parts) != 2:
            raise self.fail(node, f"{name}() takes the low and the high word")
        for part in parts:
            self._whole(node, part)

        kind, operation = JOIN[name]
        return self._combine(node, operation, parts[0], parts[1], kind)
