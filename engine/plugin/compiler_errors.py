"""The compiler's errors about a design, as one sentence with the design, the hook and the line.

Complements conformance.py: for mistakes that its check of a file cannot detect, such as types that do not match.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from rfview.engine.plugin.conformance import HOOKS, problems
from rfview.engine.errors import InputError
from rfview.engine.files import read_text


FLOAT_HINT = "; a signed and an unsigned 64-bit number make a float: wrap one in np.int64(..) or np.uint64(..)"


def explain(error: BaseException, chain: Iterable[ModuleType], hook: str = "") -> InputError:
    """Turn a compiler's typing error into one that names design, hook and field, as far as they can be determined.

    chain: the modules of the designs in use, outermost first. hook: the one compiled, if known. Otherwise the compiler's
    own sentence remains.
    """
    modules = list(chain)
    for module in modules:
        slips = problems(module)
        if slips:
            return InputError("\n".join(slips))
    text = str(error)
    sentence = sentence_of(text)
    sentence += FLOAT_HINT if "float64" in sentence else ""
    for module in modules:
        path = Path(str(module.__file__))
        lines = [int(line) for how in (r'File "([^"\n]+)", line (\d+)', r" at ([^\n]+?) \((\d+)\)")
                 for file, line in re.findall(how, text) if file.endswith(path.name)]
        if lines:
            name = _function_at(path, lines[0])     # the innermost place is first
            where = f"{'hook' if name in HOOKS else 'helper'} {name}"
            return InputError(f"design {module.DESIGN.name}, {where}: {sentence} ({path.name}, line {lines[0]})")
    named = re.search(r"(?:KeyError: |[Ff]ield |[Aa]ttribute |^)'(\w+)'", text)
    for module in modules:
        if named and (place := _place_of(module, named[1])):
            return InputError(f"design {module.DESIGN.name}, hook {place}: no field {named[1]!r}")
    where = f", hook {hook}" if hook else ""
    return InputError(f"design {'+'.join(module.DESIGN.name for module in modules)}{where}: {sentence}")


NOISE = re.compile(r"Failed in nopython|During: |File \"|raised from|Rejected as|Overload |No match|Of which|With argument"
                   r"|There are \d+ candidate|<source elided>|No implementation of|No conversion|-{5,}|\^$|>>>"
                   r"|This is not usually|To see Python|For more information")


def sentence_of(text: str) -> str:
    """Return the line of a compiler's error that says what is wrong: the innermost, with record types abbreviated."""
    text = _without_records(text)
    if missing := [call for call in re.findall(r"found for signature:\s*>>> ([^\n]+)", text) if "a record" not in call]:
        return f"cannot do {missing[-1]}"
    lines = [line.strip(" -*") for line in text.splitlines()]
    errors = [line for line in lines if re.match(r"\w*(Error|NotImplemented\w*): ", line)]
    plain = [line for line in lines if line and not NOISE.search(line) and not line.startswith(("def ", "@"))]
    chosen = [line for line in errors if not NOISE.search(line)] or plain or [text.strip() or "cannot be compiled"]
    sentence = re.sub(r': %".*', "", chosen[0])       # generated code
    sentence = re.sub(r"^(Typing|NumbaType|NumbaValue|NumbaNotImplemented|Lowering|Unsupported\w*)Error: ", "", sentence)
    return sentence if len(sentence) <= 300 else sentence[:300] + " ..."


def _without_records(text: str) -> str:
    """Return a compiler's error with every record type, which takes thousands of characters, as "a record"."""
    parts = []
    while (begin := text.find("Record(")) >= 0:
        parts += [text[:begin], "a record"]
        depth, at = 1, begin + len("Record(")
        while depth and at < len(text):
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
        text = text[at:]
    return "".join([*parts, text])


def _place_of(module: ModuleType, field: str) -> str:
    """Return "function (file, line n)" for the first use of a field in a design's file, '' if there is none."""
    path = Path(str(module.__file__))
    for function in ast.parse(read_text(path)).body:
        for node in ast.walk(function) if isinstance(function, ast.FunctionDef) else ():
            if isinstance(node, ast.Attribute) and node.attr == field:
                return f"{function.name} ({path.name}, line {node.lineno})"  # type: ignore[attr-defined]
    return ""


def _function_at(path: Path, line: int) -> str:
    """Return the name of the top-level function that contains a line of a file."""
    for function in ast.parse(read_text(path)).body:
        if isinstance(function, ast.FunctionDef) and function.lineno <= line <= (function.end_lineno or line):
            return function.name
    return "?"
