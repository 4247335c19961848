"""Whether a design file follows the hook interface: checked when it is read, so that mistakes are reported early.

`check(module)` examines every hook and marked helper of a design without compiling or running it: the hook's name and
arguments, and every field that it reads or writes of the state record `sm`, of the design's own state `rf` and parameters
`spec`, also through local names (`entry = sm.warp[warp]`) and nested records. spelling.py checks other names,
shapes.py and facts.py the contents of DESIGN. Each mistake is one sentence with the design, the hook, what is wrong, and
the line: "design stt, hook write_back: no field 'wirtes' in its state; did you mean 'writes'?". For mistakes that this
cannot detect, trial.py compiles hook by hook, and compiler_errors.py turns the compiler's errors into such sentences.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from rfview.engine import hooks, program, state
from rfview.engine.plugin import facts, shapes, spelling
from rfview.engine.errors import InputError
from rfview.engine.files import read_text

WHERE = {"rf": "its state", "spec": "its parameters", "sm": "the machine's state"}
ALWAYS = ("first_row", "first_event")


def check(module: ModuleType) -> None:
    """Raise InputError with every mistake in a design module, a line each, if there are any."""
    slips = problems(module)
    if slips:
        raise InputError("\n".join(slips))


def problems(module: ModuleType) -> list[str]:
    """Return a sentence for every mistake in a design module."""
    design = module.DESIGN
    path = Path(str(module.__file__))
    slips = [f"design {design.name}: {text}" for text in shapes.slips(design)]
    if slips:
        return slips
    slips = [f"design {design.name}: {text}" for text in _dtype_slips(design)]
    if slips:
        return slips
    try:
        slips = [f"design {design.name}: {text}" for text in facts.slips(design)]
    except (TypeError, ValueError, AttributeError) as error:
        return [f"design {design.name}: a part of its Design has the wrong type ({error})"]
    if not hasattr(module, "energy"):
        slips += [f"design {design.name}: {text}" for text in facts.counted_twice(design)]
    roots = _roots(module)
    body = ast.parse(read_text(path)).body
    for function in body:
        if not isinstance(function, ast.FunctionDef):
            continue
        is_hook = function.name in HOOKS
        arguments = [argument.arg for argument in function.args.args]
        if not is_hook and not ({"sm", "rf", "spec"} & set(arguments)):
            continue
        kind = "hook" if is_hook else "helper"
        where = f"design {design.name}, {kind} {function.name}"
        if is_hook and arguments != HOOKS[function.name]:
            slips.append(f"{where}: takes ({', '.join(arguments)}), expected ({', '.join(HOOKS[function.name])}) "
                         f"({path.name}, line {function.lineno})")
        if is_hook and not _always_returns(function.body):
            slips.append(f"{where}: a path ends without a return; every path returns an int "
                         f"({path.name}, line {function.lineno})")
        slips += [f"{where}: {text} ({path.name}, line {line})" for line, text in _Fields(roots, arguments).run(function)]
    slips += [f"design {design.name}, {kind} {name}: {text} ({path.name}, line {line})"
              for kind, name, line, text in spelling.slips(module, body, HOOKS)]
    return slips


def _hook_arguments() -> dict[str, list[str]]:
    """Return every hook's arguments, from the defaults in engine/hooks.py."""
    source = Path(str(inspect.getsourcefile(hooks))).read_text(encoding="utf-8")
    return {
        function.name: [argument.arg for argument in function.args.args]
        for function in ast.parse(source).body
        if isinstance(function, ast.FunctionDef)
        and any(isinstance(mark, ast.Name) and mark.id == "hook" for mark in function.decorator_list)
    }


HOOKS = _hook_arguments()


def _roots(module: ModuleType) -> dict[str, Any]:
    """Return the record types of the arguments of every hook. A nested main file's own fields are not checked."""
    design = module.DESIGN
    own = list(design.state) or [("unused", "u4")]
    values = [(name, "i4") for name in ALWAYS]
    values += [(parameter.name, parameter.dtype) for parameter in design.parameters if parameter.dtype]
    open_fields = ["mrf"] if design.takes_main else []
    rows = np.dtype([("u", "u4", (32,)), ("f", "f4", (32,)), ("i", "i4", (32,))])
    return {
        "sm": (state.SM, []), "rf": (np.dtype(own), open_fields), "spec": (np.dtype(values), open_fields),
        "inst": (program.INST, []), "insts": (program.INST, []), "rows": (rows, []),
    }


def _dtype_slips(design: Any) -> list[str]:
    """Return what is wrong with the state's layout and with names, which must not be attributes of NumPy's records."""
    names = [(entry[0], "state") for entry in design.state] + [(entry.name, "parameter") for entry in design.parameters]
    taken = [f"its {kind} {name!r} has the name of a method of NumPy's records; give it another" for name, kind in names
             if hasattr(np.record, str(name))]
    if taken:
        return taken
    try:
        own = np.dtype(list(design.state) or [("unused", "u4")], align=True)
    except (TypeError, ValueError) as error:
        return [f"its state is not a list of fields ({error})"]
    return [f"its state takes {own.itemsize} bytes, which is not a multiple of 4; fill it up with "
            f'("pad", "u1", ({-own.itemsize % 4},))'] if own.itemsize % 4 else []


def _always_returns(body: list[ast.stmt]) -> bool:
    """Return whether every path through a block ends in a return with a value, or an error."""
    for statement in body:
        if isinstance(statement, ast.Return):
            return statement.value is not None
        if isinstance(statement, ast.Raise):
            return True
        if isinstance(statement, ast.If) and statement.orelse:
            if _always_returns(statement.body) and _always_returns(statement.orelse):
                return True
    return False


class _Fields:
    """Follows records through one function and notes every field that does not exist."""

    def __init__(self, roots: Mapping[str, Any], arguments: Iterable[str]) -> None:
        self.known = {name: roots[name] for name in arguments if name in roots}
        self.whose = {name: WHERE.get(name, name) for name in self.known}
        self.slips: list[tuple[int, str]] = []

    def run(self, function: ast.FunctionDef) -> list[tuple[int, str]]:
        """Return (line, sentence) for every mistake."""
        unsure = self._rebound(function)
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                name = node.targets[0].id
                if name not in unsure and name not in self.known:
                    dtype = self._type(node.value, quiet=True)
                    if dtype is not None and dtype[0].names:
                        self.known[name] = dtype
                        self.whose[name] = f"{name} = {ast.unparse(node.value)}"
        for node in ast.walk(function):
            if isinstance(node, ast.Attribute):
                self._type(node)
        return sorted(set(self.slips))

    @staticmethod
    def _rebound(function: ast.FunctionDef) -> set[str]:
        """Return local names that are assigned more than one expression: their types are not tracked."""
        values: dict[str, set[str]] = {}
        for node in ast.walk(function):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    for name in ast.walk(target):
                        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                            values.setdefault(name.id, set()).add(ast.dump(node.value))
            elif isinstance(node, ast.For):
                for name in ast.walk(node.target):
                    if isinstance(name, ast.Name):
                        values.setdefault(name.id, set()).update(("loop", name.id))
        return {name for name, types in values.items() if len(types) > 1}

    def _type(self, node: ast.AST, *, quiet: bool = False) -> Any:
        """Return (dtype, open fields) of an expression that is a record or array of records, None if unknown."""
        if isinstance(node, ast.Name):
            return self.known.get(node.id)
        if isinstance(node, ast.Subscript):
            return self._type(node.value, quiet=quiet)
        if not isinstance(node, ast.Attribute):
            return None
        outer = self._type(node.value, quiet=True)
        if outer is None:
            return None
        dtype, open_fields = outer
        if dtype.names is None or node.attr in open_fields:
            return None
        if node.attr not in dtype.names:
            if not quiet:
                self.slips.append((node.lineno, self._sentence(node, dtype)))
            return None
        field = dtype.fields[node.attr][0]
        return (field.subdtype[0] if field.subdtype else field), []

    def _sentence(self, node: ast.Attribute, dtype: np.dtype) -> str:
        """Return which field is missing, where, and what was probably meant."""
        base = ast.unparse(node.value)
        where = self.whose.get(base, base)
        return f"no field {node.attr!r} in {where}{facts.hint(node.attr, dtype.names or ())}"
