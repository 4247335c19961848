"""Design files: `--design ./my_rf.py[key=value]`, and RFVIEW_DESIGNS for names that are always known."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import sys
import traceback
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from rfview.engine.plugin import host_functions as host, registry
from rfview.engine.plugin.description import Design, Parameter
from rfview.engine.errors import InputError
from rfview.engine.files import read_text, write

ENVIRONMENT = "RFVIEW_DESIGNS"
TEMPLATE = Path(__file__).parents[1] / "designs" / "template.py"
NAME = re.compile(r"[a-z][a-z0-9_]*")
TEXT = "__rfview_text__"    # in a design file's module: its text
MOST_SAID = 400     # characters


def is_file(name: str) -> bool:
    """Return whether a design's name is meant as the path of a file."""
    return name.endswith(".py")


def absolute(variant: str) -> str:
    """Return a variant with its file's path made absolute, so that it is valid in any folder."""
    name, bracket, rest = variant.partition("[")
    return f"{_one_path(name.strip())}{bracket}{rest}" if is_file(name.strip()) else variant


def _one_path(path: str | Path) -> Path:
    """Return the absolute path of a design file, without links in its folder's; a link's own name is kept for its .py."""
    path = Path(path)
    return Path(os.path.realpath(path.parent)) / path.name


def known() -> dict[str, Path]:
    """Return name -> file for the designs in RFVIEW_DESIGNS, named as in their DESIGN; raises InputError for duplicates."""
    paths = [Path(text) for text in os.environ.get(ENVIRONMENT, "").split(os.pathsep) if text]
    if not paths:
        return {}
    in_use = registry.added()
    by_name: dict[str, Path] = {}
    for path in paths:
        name = load(path).DESIGN.name
        if name in by_name and _one_path(by_name[name]) != _one_path(path):
            raise InputError(f"{ENVIRONMENT}: {by_name[name]} and {path} are both named {name!r}; rename one, in its "
                             "DESIGN, or give its path wherever it is used")
        by_name[name] = path
        if name in in_use:
            registry.use(name, in_use[name])         # a file given by its path has precedence
    return by_name


def load(path: str | Path) -> ModuleType:
    """Import a design file, once while it is unchanged; raises InputError, which says what is wrong with it."""
    path = _one_path(path)
    try:
        text = read_text(path).replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise InputError(
            f"design file {path}: cannot be read ({reason}); `rfview designs --new FILE.py` writes one"
        ) from None
    module = _load(path, text)
    registry.use(module.DESIGN.name, module)       # another file with the same design name may have been loaded since
    return module


def text_of(module: ModuleType) -> str:
    """Return the text that a design's module was made from, although its file may have changed since."""
    return str(module.__dict__[TEXT]) if TEXT in module.__dict__ else read_text(str(module.__file__))


def forget() -> None:
    """Forget all files that were read, as in a new process."""
    registry.forget()
    _load.cache_clear()


@lru_cache
def _load(path: Path, text: str) -> ModuleType:
    """Run the file and check what it defines."""
    if former := _former_import(text):
        raise InputError(f"design file {path}: {former}")
    # compiled code in the cache looks up its module by name: the name depends on the file only
    spec = importlib.util.spec_from_file_location(f"rfview_design_{path.stem}", path)
    assert spec is not None     # its name ends in .py
    module = importlib.util.module_from_spec(spec)
    module.__dict__[TEXT] = text
    sys.modules[module.__name__] = module
    try:
        exec(compile(text, str(path), "exec"), module.__dict__)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) or (isinstance(error, SystemExit) and type(error) is not SystemExit):
            raise       # Ctrl-C, or a signal that ends the program: not the file's
        raise InputError(f"design file {path}: {_where(error, path)}{_unknown_part(error)}") from None
    design = getattr(module, "DESIGN", None)
    if not isinstance(design, Design):
        raise InputError(f"design file {path}: defines no DESIGN = Design(...); `rfview help design` shows one")
    if not isinstance(design.name, str) or not NAME.fullmatch(design.name) or design.name in registry.BUILT_IN:
        is_taken = design.name in registry.BUILT_IN
        why = "is the name of a built-in design" if is_taken else "is not a name: a to z, 0 to 9 and _"
        raise InputError(f"design file {path}: DESIGN.name {design.name!r} {why}")
    registry.add(design.name, module)
    return module


def _former_import(text: str) -> str:
    """Report the first import of the engine as `engine`, its former name; "" if there is none.

    Another package called `engine` is not reported. A text that is not Python fails when it is run.
    """
    other, own = importlib.util.find_spec("engine"), TEMPLATE.resolve().parents[1]
    if other is not None and other.origin is not None and Path(other.origin).resolve().parent != own:
        return ""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, MemoryError, RecursionError):     # ValueError: null bytes, before Python 3.11.4
        return ""
    named = [(node.lineno, alias.name) for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    named += [(node.lineno, node.module or "") for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
    former = [(line, name) for line, name in sorted(named) if name.partition(".")[0] == "engine"]
    return f"line {former[0][0]}: {former[0][1]} is now called rfview.{former[0][1]}" if former else ""


def _where(error: BaseException, path: Path) -> str:
    """Return what went wrong while a file ran, and in which line."""
    if isinstance(error, SyntaxError):
        return f"line {error.lineno or '?'}: {error.msg}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    # from 3.13 on Python adds its own guess, which we omit if we list all names
    text = _said(error).partition(". Did you mean")[0] if _unknown_part(error) else _said(error)
    return f"line {lines[-1] if lines else '?'}: {type(error).__name__}: {text}"


def _said(error: BaseException) -> str:
    """Return an error's own message in one line of at most MOST_SAID characters."""
    try:
        text = " ".join(str(error).split())
    except Exception:       # a class of the file's, whose __str__ fails
        return "its message cannot be shown"
    return text if len(text) <= MOST_SAID else f"{text[:MOST_SAID]}..."


def _unknown_part(error: BaseException) -> str:
    """Return what Design or Parameter takes, if the error is an unknown argument; "" for other errors."""
    match = re.match(r"(Design|Parameter)\.__init__\(\) got an unexpected keyword argument '(\w+)'", _said(error))
    if not match:
        return ""
    if match[2] in host.FUNCTIONS:
        return f"; a function {match[2]}(..) in the file is found by its name"
    taken = [part.name for part in fields(Design if match[1] == "Design" else Parameter)]
    return f"; {match[1]} takes {', '.join(taken)}"


def write_new(path: str | Path) -> str:
    """Write a design file to start from, named after the file; return the design's name. Raises InputError."""
    path = Path(path)
    name = path.stem
    if not is_file(str(path)) or not NAME.fullmatch(name) or name in registry.BUILT_IN:
        raise InputError(f"--new {path}: expected a file like my_rf.py: letters a to z, digits and _, not a built-in design")
    text = TEMPLATE.read_text(encoding="utf-8")
    first, _, rest = text.partition("\n")
    text = f'"""`{name}`: slow bank writes behind a row latch, to be changed into a register file of your own.\n{rest}'
    text = text.replace('name="template"', f'name="{name}"').replace(" Not built in;", "")
    text = text.replace('"template.', f'"{name}.').replace("template__", f"{name}__")
    if path.exists():
        raise InputError(f"--new {path}: already exists; nothing was changed")
    write(path, text, replaces=False)
    return name
