"""The names used by a design's hooks: they must exist, be marked @device if its own, and be called with the right arguments.

Part of conformance.py: `slips` examines a design's source without compiling or running it.
"""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any

from rfview.engine.plugin import facts

Slip = tuple[str, str, int, str]        # "hook" or "helper", the function, its line, what is wrong
HOOK_BEGIN = ["sm", "rf", "spec"]
# former names of hooks and helpers
RENAMED = {"on_dispatch": "on_warp_start", "wake": "reconsider"}


def slips(module: ModuleType, body: Sequence[ast.stmt], hooks: Mapping[str, list[str]]) -> Iterator[Slip]:
    """Yield the mistakes in a design's compiled functions. body: its parsed source. hooks: the arguments of every hook."""
    functions = {entry.name: entry for entry in body if isinstance(entry, ast.FunctionDef)}
    marked = [name for name, entry in functions.items() if name in hooks or any(map(_is_device, entry.decorator_list))]
    for name in marked:
        kind = "hook" if name in hooks else "helper"
        for line, text in _uses(module, functions[name], functions, marked, hooks):
            yield kind, name, line, text
    called = {node.func.id for node in ast.walk(ast.Module(list(body), [])) if isinstance(node, ast.Call)
              and isinstance(node.func, ast.Name)}
    for name, entry in functions.items():
        arguments = [argument.arg for argument in entry.args.args]
        if name not in marked and name not in called and arguments[:3] == HOOK_BEGIN:
            yield "function", name, entry.lineno, f"is not a hook{_hint(name, hooks)}; a helper is marked @device"


def _is_device(mark: ast.expr) -> bool:
    name = mark.id if isinstance(mark, ast.Name) else mark.attr if isinstance(mark, ast.Attribute) else ""
    return name in ("device", "inlined")


def _uses(module: ModuleType, function: ast.FunctionDef, functions: Mapping[str, ast.FunctionDef], marked: list[str],
          hooks: Mapping[str, list[str]]) -> Iterator[tuple[int, str]]:
    """Yield (line, sentence) for every name that is missing, not marked, or called with the wrong number of arguments."""
    own = {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}
    own |= {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    known = vars(module)
    seen = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            target = _value(node.func, known, own)
            if isinstance(node.func, ast.Name) and node.func.id in functions and node.func.id not in marked:
                yield node.lineno, (f"calls {node.func.id}, which is not marked @device "
                                    "(from rfview.engine.compile.device import device)")
            elif isinstance(node.func, ast.Name) and node.func.id in functions and node.func.id in hooks:
                yield node.lineno, (f"calls {node.func.id}, a hook: write hooks.{node.func.id}(sm, rf, spec, ...) "
                                    "(from rfview.engine import hooks)")
            elif getattr(target, "__module__", "") == "rfview.engine.hooks" and _calls_itself(node, function):
                yield node.lineno, f"calls itself; `rfview help {function.name}` shows what a plain banked file does"
            elif (text := _wrong_call(node, target, hooks)) and function.name != target.__name__:
                yield node.lineno, text
        elif isinstance(node, ast.Attribute) and isinstance(holder := _value(node.value, known, own), ModuleType):
            if not hasattr(holder, node.attr):
                yield node.lineno, f"{holder.__name__} has no {node.attr!r}{_hint(node.attr, dir(holder))}"
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in seen:
            if node.id not in own and node.id not in known and not hasattr(builtins, node.id):
                seen.add(node.id)
                hint = f"; a hook is called as hooks.{node.id}" if node.id in hooks else _hint(node.id, {*known, *own})
                yield node.lineno, f"no name {node.id!r}{hint}"


def _calls_itself(node: ast.Call, function: ast.FunctionDef) -> bool:
    """Return whether a call hooks.NAME(sm, rf, spec, ..) in hook NAME calls the same design rather than its main file."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    return name == function.name and len(node.args) > 2 and isinstance(node.args[2], ast.Name)


def _value(node: ast.expr, known: Mapping[str, Any], own: set[str]) -> Any:
    """Return the value of a name in the module, or of an attribute of a module in it; None if that is not obvious."""
    if isinstance(node, ast.Name):
        return None if node.id in own else known.get(node.id)
    if isinstance(node, ast.Attribute) and isinstance(holder := _value(node.value, known, own), ModuleType):
        return getattr(holder, node.attr, None)
    return None


def _wrong_call(node: ast.Call, target: Any, hooks: Mapping[str, list[str]]) -> str:
    """Return what is wrong with the number of arguments of a call, "" if it is right or unknown."""
    if not isinstance(target, FunctionType) or node.keywords or any(isinstance(given, ast.Starred) for given in node.args):
        return ""
    expected = hooks.get(target.__name__) if target.__module__ == "rfview.engine.hooks" else None
    if expected is None:
        kinds = inspect.signature(target).parameters.values()
        if any(kind.kind != inspect.Parameter.POSITIONAL_OR_KEYWORD or kind.default is not kind.empty for kind in kinds):
            return ""
        expected = [kind.name for kind in kinds]
    if len(node.args) == len(expected):
        return ""
    return f"{ast.unparse(node.func)} takes ({', '.join(expected)}), but {len(node.args)} are given"


def _hint(name: str, there: Iterable[str]) -> str:
    if (new := RENAMED.get(name, "")) in there:
        return f"; it is now called {new!r}"
    return facts.hint(name, there)
