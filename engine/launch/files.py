"""Reads a launch file: launches, arguments, memory, textures and expectations, all checked before anything runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rfview.engine import compilation
from rfview.engine.launch.arrays import load_array
from rfview.engine.launch.pointers import load_address, load_pointers
from rfview.engine.launch.repeats import written_out
from rfview.engine.launch.results import METRICS
from rfview.engine.launch.spec import Arg, Buffer, Expect, Launch, LaunchSpec
from rfview.engine.launch.table import LaunchError, Table, loads, read_toml, shown
from rfview.engine.launch.textures import load_texture
from rfview.engine.state import LINE_BYTES, MAX_L2_LINES
from rfview.engine.textures import Texture
from rfview.engine.wording import did_you_mean

MAX_THREADS_PER_CTA = 1024  # CUDA C++ Programming Guide, compute capability 2.0 and later
MAX_BLOCK = (1024, 1024, 64)  # the same table, x y z
MAX_GRID = (2**31 - 1, 65535, 65535)  # the same table, x y z
MAX_CTAS = 2**32 - 1  # the limit of the machine's counters; a legal grid may have more
MAX_SHARED_BYTES = 227 * 1024  # the most that any GPU has; the machine checks its own, smaller limit
MAX_REGISTERS = 63  # R0..R62, the Fermi limit that the register allocator observes


def load_launch_file(path: str | Path) -> LaunchSpec:
    """Read a launch file and every array it names.

    Paths inside are relative to the launch file. `module` defaults to the launch file's own name with .ptx. Raises
    LaunchError, naming file, key and what was expected, for any error in the file or in those that it names.
    """
    path = Path(path)
    values, text = read_toml(path, "launch file")
    top = Table(str(path), "", values)
    top.allow("module", "launch", "buffers", "symbols", "expect", "order_dependent", "metric", "description",
              "registers_per_thread", "textures", "compile", "template", "l2_lines")
    folder = path.parent
    module_path = folder / top.text("module", f"{path.stem}.ptx")
    try:
        is_there = module_path.is_file()
    except (OSError, ValueError):       # a name that is too long or has a null byte
        is_there = False
    if not is_there:
        top.fail("module", f"expected a PTX file, but {module_path} does not exist")
    buffers, symbols = _load_memory(top, "buffers", folder), _load_memory(top, "symbols", folder)
    for name in symbols:
        if name in buffers:
            top.fail(f"symbols.{name}", "expected another name: a buffer has this one too")
    return _spec_of(top, path, module_path, buffers, symbols, text, folder)


def launch_of_text(text: str, name: str, buffers: Mapping[str, np.ndarray],
                   symbols: Mapping[str, np.ndarray]) -> LaunchSpec:
    """Return the launch file whose text a recording contains, with its initial arrays and without expected results.

    Raises LaunchError for text that is not a launch file, or if a buffer that it names is not given.
    """
    file = f"{name}.toml"
    try:
        top = Table(file, "", loads(text))
    except (ValueError, RecursionError) as error:       # TOML errors, and a number of thousands of digits
        raise LaunchError(f"{file}: expected TOML: {error}") from None
    own, own_symbols = (
        {key: Buffer(key, np.ascontiguousarray(array)) for key, array in arrays.items() if key in top.tables(part)}
        for part, arrays in (("buffers", buffers), ("symbols", symbols)))
    return _spec_of(top, Path(file), Path(top.text("module", f"{name}.ptx")), own, own_symbols, text, None)


def _spec_of(top: Table, path: Path, module_path: Path, buffers: Mapping[str, Buffer], symbols: Mapping[str, Buffer],
             text: str, folder: Path | None) -> LaunchSpec:
    """Return a launch file as data.

    buffers, symbols: without the addresses in them. folder: of the arrays of expected results; None: it has none.
    """
    textures = _load_textures(top, buffers, symbols)
    named: dict[str, Mapping[str, Any]] = {"buffer": buffers, "symbol": symbols, "texture": textures}
    buffers, symbols = (_with_pointers(top, part, named) for part in ("buffers", "symbols"))
    metric = top.text("metric", "rmse")
    if metric not in METRICS:
        top.fail("metric", f"expected one of {', '.join(METRICS)}, got {metric!r}{did_you_mean(metric, METRICS)}")
    expect = {} if folder is None else {name: _load_expect(name, table, folder, {**buffers, **symbols})
                                        for name, table in top.tables("expect").items()}
    return LaunchSpec(
        path=path, name=path.stem, module_path=module_path, launches=_load_launches(top, buffers, symbols, textures),
        buffers=buffers, symbols=symbols, expect=expect, metric=metric,
        order_dependent=top.take("order_dependent", (bool,), "true or false", False),
        description=top.take("description", (str,), "a string", ""),
        registers_per_thread=top.integer("registers_per_thread", 1, MAX_REGISTERS, None), textures=textures,
        compile=_load_compile(top), is_template=top.take("template", (bool,), "true or false", False),
        l2_lines=_load_l2_lines(top), text=text,
    )


def _load_l2_lines(top: Table) -> tuple[int, ...]:
    """Return the numbers of the lines that lie in L2 at first."""
    expected = f"a list of at most {MAX_L2_LINES:,} numbers of lines, which are addresses divided by {LINE_BYTES}"
    lines = top.take("l2_lines", (list,), expected, [])
    if len(lines) > MAX_L2_LINES or any(type(line) is not int or not 0 <= line < 1 << 50 for line in lines):
        top.fail("l2_lines", f"expected {expected}")
    return tuple(lines)


def _load_compile(top: Table) -> dict[str, str]:
    """Return the settings of the [compile] table."""
    table = Table(top.file, "compile", top.take("compile", (dict,), "a table of compilation options", {}))
    return compilation.settings_of_table(table.values, table.fail)


def _load_textures(top: Table, buffers: Mapping[str, Buffer], symbols: Mapping[str, Buffer]) -> dict[str, Texture]:
    """Return the [textures.NAME] tables by name."""
    textures = {}
    for name, table in top.tables("textures").items():
        if name in buffers or name in symbols:
            table.fail("", "expected another name: a buffer or symbol has this one too")
        textures[name] = load_texture(name, table, buffers)
    return textures


def _load_memory(top: Table, part: str, folder: Path) -> dict[str, Buffer]:
    """Return the [buffers.NAME] or [symbols.NAME] tables by name, without the addresses in them."""
    return {name: Buffer(name, load_array(table, folder, ("pointers", "address")))
            for name, table in top.tables(part).items()}


def _with_pointers(top: Table, part: str, named: Mapping[str, Mapping[str, Any]]) -> dict[str, Buffer]:
    """Return buffers or symbols with the addresses in them, which may refer to any other."""
    given: Mapping[str, Buffer] = named[part.removesuffix("s")]
    tables = top.tables(part)
    return {name: Buffer(name, held.array, load_pointers(tables[name], held.array.nbytes, named),
                         "undefined" in tables[name], load_address(tables[name], "address"))
            for name, held in given.items()}


def _load_launches(top: Table, buffers: Mapping[str, Buffer], symbols: Mapping[str, Buffer],
                   textures: Mapping[str, Texture]) -> tuple[Launch, ...]:
    """Return the [[launch]] tables in order."""
    items = top.take("launch", (list,), "one or more [[launch]] tables")
    if not items:
        top.fail("launch", "expected one or more [[launch]] tables, got none")
    launches = []
    for table in (each for number, item in enumerate(items, 1)
                  for each in written_out(Table(top.file, f"launch[{number}]", item))):
        table.allow("kernel", "grid", "block", "shared_bytes", "args")
        block = _extent(table, "block", MAX_BLOCK)
        if math.prod(block) > MAX_THREADS_PER_CTA:
            table.fail("block", f"expected at most {MAX_THREADS_PER_CTA} threads, got "
                                f"{' x '.join(map(str, block))} = {math.prod(block)}")
        args = table.take("args", (list,), "a list of arguments such as {value = 1} or {buffer = \"A\"}", [])
        launches.append(Launch(
            kernel=table.text("kernel", None), grid=_extent(table, "grid", MAX_GRID), block=block,
            shared_bytes=table.integer("shared_bytes", 0, MAX_SHARED_BYTES, 0),
            args=tuple(_load_arg(_arg_table(table, place, arg),
                                 {"buffer": buffers, "symbol": symbols, "texture": textures})
                       for place, arg in enumerate(args)),
        ))
    return tuple(launches)


def _extent(table: Table, key: str, limits: tuple[int, int, int]) -> tuple[int, int, int]:
    """Return a grid or block as (x, y, z); missing dimensions are 1."""
    expected = "a list of 1 to 3 integers, each at least 1"
    value = table.take(key, (list,), expected)
    if not 1 <= len(value) <= 3 or any(type(size) is not int for size in value):
        table.fail(key, f"expected {expected}, got {shown(value)}")
    for size, limit, axis in zip(value, limits, "xyz"):
        if not 1 <= size <= limit:
            table.fail(key, f"expected {axis} in 1..{limit}, got {size}")
    x, y, z = value + [1] * (3 - len(value))
    if x * y * z > MAX_CTAS:
        table.fail(key, f"has {x * y * z:,} CTAs; at most {MAX_CTAS:,} can be run")
    return x, y, z


def _arg_table(launch: Table, place: int, arg: Any) -> Table:
    """Return the table of one argument; the error for a bare value says how to write it."""
    if not isinstance(arg, dict):
        kind, text = ("buffer", f'"{arg}"') if isinstance(arg, str) else ("value", shown(arg))
        launch.fail(f"args[{place}]", f"expected a table such as {{{kind} = {text}}}, got {shown(arg)}")
    return Table(launch.file, f"{launch.key}.args[{place}]", arg)


def _load_arg(table: Table, named: Mapping[str, Mapping[str, Any]]) -> Arg:
    """Return one argument, given by exactly one of value, buffer, symbol, texture, null and bytes."""
    kinds = ("value", "buffer", "symbol", "texture", "null", "bytes")
    if "step" in table:
        table.fail("step", "expected only in a launch with repeat")
    table.allow(*kinds, "offset", "pointers")
    given = [kind for kind in kinds if kind in table]
    if len(given) != 1:
        table.fail("", f"expected exactly one of {', '.join(kinds)}, got {' and '.join(given) or 'none'}")
    kind = given[0]
    if "offset" in table and kind not in ("buffer", "symbol"):
        table.fail("offset", "expected only together with buffer or symbol")
    if "pointers" in table and kind != "bytes":
        table.fail("pointers", "expected only together with bytes")
    if kind == "value":
        return Arg(kind, table.take(kind, (int, float, bool), "an integer, a float, true or false"))
    if kind == "null":
        if table.take(kind, (bool,), "true") is not True:
            table.fail(kind, "expected true, got false")
        return Arg(kind)
    if kind == "bytes":
        text = table.take(kind, (str,), "a string of hexadecimal digits")
        try:
            raw = bytes.fromhex(text)
        except ValueError:
            table.fail(kind, f"expected hexadecimal digits, two per byte, got {shown(text)}")
        return Arg(kind, raw, pointers=load_pointers(table, len(raw), named))
    name, known = table.name_in(kind, named[kind]), named[kind]
    if kind == "texture":
        return Arg(kind, name=name)
    return Arg(kind, name=name, offset=table.integer("offset", 0, known[name].array.nbytes, 0))


def _load_expect(name: str, table: Table, folder: Path, memory: Mapping[str, Buffer]) -> Expect:
    """Return one expectation; the array must match its buffer or symbol in type and number of elements."""
    if name not in memory:
        table.fail("", f"expected the name of a buffer or symbol ({', '.join(memory) or 'none is defined'})"
                       f"{did_you_mean(name, memory)}; a variable of the module needs [symbols.{name}] too")
    array = load_array(table, folder, extra=("rtol", "atol", "reason"))
    held = memory[name].array
    if array.dtype != held.dtype or array.size != held.size:
        table.fail("", f"expected {held.size} elements of {held.dtype} as in {name}, got {array.size} of {array.dtype}")
    is_float = array.dtype.kind == "f"
    tolerance = {"rtol": 1e-6 if is_float else 0.0, "atol": 0.0}
    for key, default in tolerance.items():
        tolerance[key] = table.number(key, default, "a finite number that is not negative")
        if tolerance[key] < 0:
            table.fail(key, f"expected a finite number that is not negative, got {tolerance[key]}")
    return Expect(name, array, tolerance["rtol"], tolerance["atol"], table.take("reason", (str,), "a string", ""))
