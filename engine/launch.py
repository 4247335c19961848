"""Load launch files: the TOML that brings a kernel, its launches, buffers and expected results.

Nothing here knows PTX or the machine: the module's path is handed on as it is, and parameters are packed against
declarations that the caller parsed. Whatever is missing, unknown, mistyped or out of range ends in one `LaunchError`.
"""

from __future__ import annotations

import difflib
import math
import re
import struct
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from engine.errors import InputError
from engine.pointers import Pointer, load_pointers, write_pointers
from engine.repeats import written_out
from engine.textures import Texture, load_texture

# C's and PTX's names of types, for those who write them here; NumPy has no bfloat16
NAMES_OF_DTYPES = {
    "float32": ("float", "f32", "fp32", "single"), "float64": ("double", "f64", "fp64"), "float16": ("half", "f16", "fp16"),
    "int8": ("char", "signed char", "i8", "s8"), "uint8": ("uchar", "unsigned char", "u8", "byte", "bool"),
    "int16": ("short", "i16", "s16"), "uint16": ("ushort", "unsigned short", "u16", "bf16", "bfloat16"),
    "int32": ("int", "i32", "s32"), "uint32": ("uint", "unsigned", "unsigned int", "u32"),
    "int64": ("long", "long long", "i64", "s64"), "uint64": ("ulong", "unsigned long", "u64", "size_t"),
}  # fmt: skip
METRICS = ("rmse", "psnr", "exact", "max_rel")
DTYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64")
MAX_THREADS_PER_CTA = 1024  # CUDA C++ Programming Guide, compute capability 2.0 and later
MAX_BLOCK = (1024, 1024, 64)  # the same table, x y z
MAX_GRID = (2**31 - 1, 65535, 65535)  # the same table, x y z
MAX_SHARED_BYTES = 227 * 1024  # the most of any GPU; the machine checks its own, smaller limit
MAX_REGISTERS = 63  # R0..R62, the Fermi limit that the register allocator keeps
MAX_PARAM_BYTES = 4096  # PTX manual, kernel function parameters
MAX_BUFFER_BYTES = 2**31  # assumed: more than any simulated kernel reads, less than a typing slip asks for
FILL_KEYS = ("zeros", "value", "arange", "random")
# A name becomes NAME.npy under --save-buffers, so it must not be a path.
NAME_PATTERN = re.compile(r"[A-Za-z0-9_$%][A-Za-z0-9_$%.-]*\Z")


class LaunchError(InputError, ValueError):
    """Say which launch file and which key is wrong, and what was expected there."""


@dataclass(frozen=True)
class Arg:
    """One kernel argument.

    kind: 'value' | 'buffer' | 'symbol' | 'texture' | 'null' | 'bytes'.
    value: int, float, bool or bytes (None for addresses).
    name: of the buffer, symbol or texture, else ''. offset: bytes added to its address. pointers: addresses among bytes.
    """

    kind: str
    value: int | float | bool | bytes | None = None
    name: str = ""
    offset: int = 0
    pointers: tuple[Pointer, ...] = ()


@dataclass(frozen=True)
class Launch:
    """One kernel launch; kernel is None where the module has a single entry. grid and block are (x, y, z)."""

    kernel: str | None
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    args: tuple[Arg, ...]

    @property
    def num_ctas(self) -> int:
        """Return the CTAs of the grid."""
        return math.prod(self.grid)

    @property
    def num_threads_per_cta(self) -> int:
        """Return the threads of one CTA, 1..1024."""
        return math.prod(self.block)


@dataclass(frozen=True, eq=False)
class Buffer:
    """Initial content of one buffer or module symbol: a C-contiguous array in native byte order, and addresses within."""

    name: str
    array: np.ndarray = field(repr=False)
    pointers: tuple[Pointer, ...] = ()


@dataclass(frozen=True, eq=False)
class Expect:
    """What a buffer or symbol must hold after the last launch, within |got - want| <= atol + rtol * |want|."""

    name: str
    array: np.ndarray = field(repr=False)
    rtol: float
    atol: float
    reason: str = ""


@dataclass(frozen=True, eq=False)
class LaunchSpec:
    """A whole launch file. buffers and symbols keep file order and share one namespace."""

    path: Path
    name: str
    module_path: Path
    launches: tuple[Launch, ...]
    buffers: dict[str, Buffer]
    symbols: dict[str, Buffer]
    expect: dict[str, Expect]
    order_dependent: bool
    metric: str
    description: str
    registers_per_thread: int | None
    textures: dict[str, Texture] = field(default_factory=dict)


@dataclass(frozen=True)
class Mismatch:
    """One expected array that the run did not produce; index, expected and got are of the first wrong element."""

    name: str
    count: int
    total: int
    index: tuple[int, ...]
    expected: int | float
    got: int | float
    max_abs_error: float
    max_rel_error: float

    def __str__(self) -> str:
        where = f"{self.name}[{', '.join(map(str, self.index))}]"
        return (f"{self.count} of {self.total} elements of {self.name} differ, first {where}: expected "
                f"{self.expected!r}, got {self.got!r}; largest error {self.max_abs_error:.3g} absolute, "
                f"{self.max_rel_error:.3g} relative")


class ParamDecl(Protocol):
    """One .param of a kernel as the PTX front end declares it: type such as 'u64', 'f32', 'b8'; sizes in bytes."""

    @property
    def name(self) -> str: ...

    @property
    def type(self) -> str: ...

    @property
    def size(self) -> int: ...

    @property
    def align(self) -> int: ...

    @property
    def offset(self) -> int: ...


class _Table:
    """A TOML table that knows where it stands, so that every error can name file and key."""

    def __init__(self, file: str, key: str, value: Any):
        self.file, self.key = file, key
        if not isinstance(value, dict):
            self.fail("", f"expected a table, got {_shown(value)}")
        self.values: dict[str, Any] = value

    def fail(self, key: str, problem: str) -> None:
        """Raise the LaunchError for `key` of this table ('' for the table itself)."""
        full = ".".join(part for part in (self.key, key) if part)
        raise LaunchError(f"{self.file}: {full}: {problem}" if full else f"{self.file}: {problem}")

    def allow(self, *keys: str) -> None:
        """Refuse keys that are not in `keys`, suggesting the nearest one."""
        for key in self.values:
            if key not in keys:
                self.fail(key, f"unknown key{_did_you_mean(key, keys)}; expected one of {', '.join(keys)}")

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def take(self, key: str, kinds: tuple[type, ...], expected: str, default: Any = ...) -> Any:
        """Return the value of `key` if it has one of the types `kinds`; bool counts as bool only, never as int."""
        if key not in self.values:
            if default is ...:
                self.fail(key, f"missing; expected {expected}")
            return default
        value = self.values[key]
        if type(value) not in kinds:
            self.fail(key, f"expected {expected}, got {_shown(value)}")
        return value

    def inner(self, key: str, value: Any) -> _Table:
        """Return a table that stands under `key`."""
        return _Table(self.file, f"{self.key}.{key}", value)

    def name_in(self, kind: str, known: Mapping[str, Any]) -> str:
        """Return the value of the key `kind`, which must be among the [`kind`s.NAME] tables."""
        name: str = self.text(kind)
        if name not in known:
            self.fail(kind, f"expected the name of a [{kind}s.NAME] table ({', '.join(known) or 'there is none'}), "
                            f"got {name!r}{_did_you_mean(name, known)}")
        return name

    def integer(self, key: str, low: int, high: int, default: Any = ...) -> Any:
        """Return an integer in low..high."""
        expected = f"an integer in {low}..{high}"
        value = self.take(key, (int,), expected, default)
        if value is not default and not low <= value <= high:
            self.fail(key, f"expected {expected}, got {value}")
        return value

    def number(self, key: str, default: Any = ..., expected: str = "a finite number") -> float:
        """Return an integer or float as a finite float."""
        value = self.take(key, (int, float), expected, default)
        try:
            converted = float(value)
        except OverflowError:
            converted = math.inf
        if not math.isfinite(converted):
            self.fail(key, f"expected {expected}, got {_shown(value)}")
        return converted

    def text(self, key: str, default: Any = ...) -> Any:
        """Return a string that is not empty."""
        value = self.take(key, (str,), "a string", default)
        if value is not default and not value:
            self.fail(key, "expected a string that is not empty")
        return value

    def tables(self, key: str) -> dict[str, _Table]:
        """Return the sub-tables under `key` by name, none where `key` is left out."""
        outer = _Table(self.file, key, self.take(key, (dict,), f"tables [{key}.NAME]", {}))
        for name in outer.values:
            if not NAME_PATTERN.match(name):
                outer.fail(name, "expected a name of letters, digits, _ $ % . - that does not begin with . or -")
        return {name: _Table(self.file, f"{key}.{name}", value) for name, value in outer.values.items()}


def load_launch_file(path: str | Path) -> LaunchSpec:
    """Read a launch file and every array it names.

    Relative paths inside it are relative to it. `module` defaults to the launch file's own name with .ptx.
    Raises LaunchError, naming file, key and expectation, for everything wrong with the file or the files it names.
    """
    path = Path(path)
    top = _Table(str(path), "", _read_toml(path))
    top.allow("module", "launch", "buffers", "symbols", "expect", "order_dependent", "metric", "description",
              "registers_per_thread", "textures")
    folder = path.parent
    module_path = folder / top.text("module", f"{path.stem}.ptx")
    if not module_path.is_file():
        top.fail("module", f"expected a PTX file, but there is no file {module_path}")
    buffers, symbols = _load_memory(top, "buffers", folder), _load_memory(top, "symbols", folder)
    for name in symbols:
        if name in buffers:
            top.fail(f"symbols.{name}", "expected another name: a buffer has this one too")
    textures = _load_textures(top, buffers, symbols)
    named: dict[str, Mapping[str, Any]] = {"buffer": buffers, "symbol": symbols, "texture": textures}
    buffers, symbols = (_with_pointers(top, part, named) for part in ("buffers", "symbols"))
    metric = top.text("metric", "rmse")
    if metric not in METRICS:
        top.fail("metric", f"expected one of {', '.join(METRICS)}, got {metric!r}{_did_you_mean(metric, METRICS)}")
    expect = {name: _load_expect(name, table, folder, {**buffers, **symbols})
              for name, table in top.tables("expect").items()}
    return LaunchSpec(
        path=path, name=path.stem, module_path=module_path, launches=_load_launches(top, buffers, symbols, textures),
        buffers=buffers, symbols=symbols, expect=expect, metric=metric,
        order_dependent=top.take("order_dependent", (bool,), "true or false", False),
        description=top.take("description", (str,), "a string", ""),
        registers_per_thread=top.integer("registers_per_thread", 1, MAX_REGISTERS, None), textures=textures,
    )


def launch_of_text(text: str, name: str, buffers: Mapping[str, np.ndarray],
                   symbols: Mapping[str, np.ndarray]) -> LaunchSpec:
    """Return the launch file whose text a recording kept, with the arrays it began with; it expects no results.

    Raises LaunchError for text that is no launch file, or where a buffer that it names is not given.
    """
    file = f"{name}.toml"
    try:
        top = _Table(file, "", tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise LaunchError(f"{file}: expected TOML: {error}") from None
    given = ({key: Buffer(key, np.ascontiguousarray(array)) for key, array in arrays.items() if key in top.tables(part)}
             for part, arrays in (("buffers", buffers), ("symbols", symbols)))
    own, own_symbols = given
    textures = _load_textures(top, own, own_symbols)
    named: dict[str, Mapping[str, Any]] = {"buffer": own, "symbol": own_symbols, "texture": textures}
    return LaunchSpec(
        path=Path(file), name=name, module_path=Path(top.text("module", f"{name}.ptx")),
        launches=_load_launches(top, own, own_symbols, textures),
        buffers=_with_pointers(top, "buffers", named), symbols=_with_pointers(top, "symbols", named), expect={},
        metric=top.text("metric", "rmse"),
        order_dependent=top.take("order_dependent", (bool,), "true or false", False), description="",
        registers_per_thread=top.integer("registers_per_thread", 1, MAX_REGISTERS, None), textures=textures,
    )


def _read_toml(path: Path) -> dict[str, Any]:
    """Return the parsed TOML of `path`; every way that can fail is a LaunchError."""
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8"))
    except FileNotFoundError:
        raise LaunchError(f"{path}: no such launch file") from None
    except OSError as error:
        raise LaunchError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise LaunchError(f"{path}: expected TOML in UTF-8: {error.reason} at byte {error.start}") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise LaunchError(f"{path}: expected TOML: {error or 'nested too deeply'}") from None
    except ValueError as error:  # a NUL in the path, an integer of thousands of digits
        raise LaunchError(f"{path}: cannot be read: {error}") from None


def _load_textures(top: _Table, buffers: Mapping[str, Buffer], symbols: Mapping[str, Buffer]) -> dict[str, Texture]:
    """Return the [textures.NAME] tables by name."""
    found = {}
    for name, table in top.tables("textures").items():
        if name in buffers or name in symbols:
            table.fail("", "expected another name: a buffer or symbol has this one too")
        found[name] = load_texture(name, table, buffers)
    return found


def _load_memory(top: _Table, part: str, folder: Path) -> dict[str, Buffer]:
    """Return the [buffers.NAME] or [symbols.NAME] tables by name, without what they point to."""
    return {name: Buffer(name, _load_array(table, folder, ("pointers",))) for name, table in top.tables(part).items()}


def _with_pointers(top: _Table, part: str, named: Mapping[str, Mapping[str, Any]]) -> dict[str, Buffer]:
    """Return buffers or symbols with the addresses in them, which may be of any other."""
    given: Mapping[str, Buffer] = named[part.removesuffix("s")]
    tables = top.tables(part)
    return {name: Buffer(name, held.array, load_pointers(tables[name], held.array.nbytes, named))
            for name, held in given.items()}


def _load_launches(top: _Table, buffers: Mapping[str, Buffer], symbols: Mapping[str, Buffer],
                   textures: Mapping[str, Texture]) -> tuple[Launch, ...]:
    """Return the [[launch]] tables in order."""
    items = top.take("launch", (list,), "one or more [[launch]] tables")
    if not items:
        top.fail("launch", "expected one or more [[launch]] tables, got none")
    launches = []
    for table in (each for number, item in enumerate(items, 1)
                  for each in written_out(_Table(top.file, f"launch[{number}]", item))):
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


def _extent(table: _Table, key: str, limits: tuple[int, int, int]) -> tuple[int, int, int]:
    """Return a grid or block as (x, y, z), missing dimensions 1."""
    expected = "a list of 1 to 3 integers, each at least 1"
    value = table.take(key, (list,), expected)
    if not 1 <= len(value) <= 3 or any(type(size) is not int for size in value):
        table.fail(key, f"expected {expected}, got {_shown(value)}")
    for size, limit, axis in zip(value, limits, "xyz"):
        if not 1 <= size <= limit:
            table.fail(key, f"expected {axis} in 1..{limit}, got {size}")
    x, y, z = value + [1] * (3 - len(value))
    return x, y, z


def _arg_table(launch: _Table, place: int, arg: Any) -> _Table:
    """Return the table of one argument; a bare value is told how it is written."""
    if not isinstance(arg, dict):
        kind, shown = ("buffer", f'"{arg}"') if isinstance(arg, str) else ("value", _shown(arg))
        launch.fail(f"args[{place}]", f"expected a table such as {{{kind} = {shown}}}, got {_shown(arg)}")
    return _Table(launch.file, f"{launch.key}.args[{place}]", arg)


def _load_arg(table: _Table, named: Mapping[str, Mapping[str, Any]]) -> Arg:
    """Return one argument; exactly one of value, buffer, symbol, texture, null and bytes says what it is."""
    kinds = ("value", "buffer", "symbol", "texture", "null", "bytes")
    if "step" in table:
        table.fail("step", "expected only in a launch with repeat")
    table.allow(*kinds, "offset", "pointers")
    given = [kind for kind in kinds if kind in table]
    if len(given) != 1:
        table.fail("", f"expected exactly one of {', '.join(kinds)}, got {' and '.join(given) or 'none'}")
    kind = given[0]
    if "offset" in table and kind not in ("buffer", "symbol"):
        table.fail("offset", "expected only beside buffer or symbol")
    if "pointers" in table and kind != "bytes":
        table.fail("pointers", "expected only beside bytes")
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
            table.fail(kind, f"expected hexadecimal digits, two per byte, got {_shown(text)}")
        return Arg(kind, raw, pointers=load_pointers(table, len(raw), named))
    name, known = table.name_in(kind, named[kind]), named[kind]
    if kind == "texture":
        return Arg(kind, name=name)
    return Arg(kind, name=name, offset=table.integer("offset", 0, known[name].array.nbytes, 0))


def _load_expect(name: str, table: _Table, folder: Path, memory: Mapping[str, Buffer]) -> Expect:
    """Return one expectation; the array must match its buffer or symbol in type and number of elements."""
    if name not in memory:
        table.fail("", f"expected the name of a buffer or symbol ({', '.join(memory) or 'there is none'})"
                       f"{_did_you_mean(name, memory)}")
    array = _load_array(table, folder, extra=("rtol", "atol", "reason"))
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


def _load_array(table: _Table, folder: Path, extra: tuple[str, ...] = ()) -> np.ndarray:
    """Return the array that a table describes: a .npy file, or shape, dtype and one way to fill it."""
    table.allow("file", "shape", "dtype", *FILL_KEYS, *extra)
    described = [key for key in ("shape", "dtype", *FILL_KEYS) if key in table]
    if "file" in table:
        if described:
            table.fail(described[0], "expected either file, or shape, dtype and a fill, not both")
        return _load_npy(table, folder / table.text("file"))
    if not described:
        table.fail("", "expected file, or shape, dtype and one of zeros, value, arange, random")
    shape = _load_shape(table)
    dtype = np.dtype(_known_dtype(table, table.text("dtype")))
    if math.prod(shape) * dtype.itemsize > MAX_BUFFER_BYTES:
        table.fail("shape", f"expected at most {MAX_BUFFER_BYTES} bytes, got {shape} of {dtype}")
    fills = [key for key in FILL_KEYS if key in table]
    if len(fills) != 1:
        table.fail("", f"expected exactly one of {', '.join(FILL_KEYS)}, got {' and '.join(fills) or 'none'}")
    return _fill(table, fills[0], shape, dtype)


def _load_shape(table: _Table) -> tuple[int, ...]:
    """Return the shape, every size at least 1."""
    expected = "a list of integers, each at least 1"
    shape = table.take("shape", (list,), expected)
    if not shape or len(shape) > 32 or any(type(size) is not int or size < 1 for size in shape):
        table.fail("shape", f"expected {expected}, got {_shown(shape)}")
    return tuple(shape)


def _known_dtype(table: _Table, name: str) -> str:
    """Return `name` if a PTX kernel has such a type."""
    if name not in DTYPES:
        meant = [f" (did you mean {dtype!r}?)" for dtype, names in NAMES_OF_DTYPES.items() if name.lower() in names]
        hint = meant[0] if meant else _did_you_mean(name, DTYPES)
        table.fail("dtype", f"expected one of {', '.join(DTYPES)}, got {name!r}{hint}")
    return name


def _load_npy(table: _Table, file: Path) -> np.ndarray:
    """Return the array of a .npy file, C-contiguous and in native byte order; pickles are refused."""
    try:
        with file.open("rb") as stream:
            array = np.lib.format.read_array(stream, allow_pickle=False)
    except FileNotFoundError:
        table.fail("file", f"expected a .npy file, but there is no file {file}")
    except OSError as error:
        table.fail("file", f"{file} cannot be read: {error.strerror or error}")
    except (ValueError, EOFError, MemoryError) as error:
        table.fail("file", f"expected a .npy file, but {file} is none: {error}")
    array, native = np.ascontiguousarray(array), array.dtype.newbyteorder("=")
    if native.kind == "c":  # real and imaginary parts side by side, as float2 and double2 are
        array = array.astype(native).reshape(*array.shape, 1).view(f"f{native.itemsize // 2}")
        native = array.dtype
    elif native.kind == "b":
        array, native = array.view(np.uint8), np.dtype(np.uint8)
    if native.name not in DTYPES:
        advice = "; np.save(FILE, array.view(np.uint8)) saves structs as bytes" if native.names else ""
        table.fail("file", f"expected elements of {', '.join(DTYPES)}, but {file} holds {array.dtype}{advice}")
    if array.size == 0:
        table.fail("file", f"expected at least one element, but {file} holds none")
    return np.ascontiguousarray(array, dtype=native)


def _fill(table: _Table, fill: str, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return a new array filled by zeros, value, arange or random."""
    if fill in ("zeros", "arange"):
        if table.take(fill, (bool,), "true") is not True:
            table.fail(fill, "expected true, got false")
        if fill == "zeros":
            return np.zeros(shape, dtype)
        count = math.prod(shape)
        if dtype.kind != "f" and count - 1 > np.iinfo(dtype).max:
            table.fail(fill, f"expected at most {int(np.iinfo(dtype).max) + 1} elements of {dtype}, got {count}")
        return np.arange(count).astype(dtype).reshape(shape)
    if fill == "value":
        value = table.take(fill, (int, float), f"a number of type {dtype}")
        if dtype.kind != "f":
            _check_integer(table, fill, value, dtype, 0)
        elif isinstance(value, int) or math.isfinite(value):  # inf and nan are meant as they stand
            _check_float(table, fill, table.number(fill), dtype)
        return np.full(shape, value, dtype)
    random = _Table(table.file, f"{table.key}.random", table.take(fill, (dict,), "{seed = N, low = A, high = B}"))
    return _random(random, shape, dtype)


def _random(table: _Table, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return seeded values in low <= x < high from RandomState, whose stream never changes between NumPy versions."""
    table.allow("seed", "low", "high")
    seed = table.integer("seed", 0, 2**32 - 1)
    state = np.random.RandomState(seed)
    if dtype.kind == "f":
        low, high = table.number("low", 0.0), table.number("high", 1.0)
        for key, end in (("low", low), ("high", high)):
            _check_float(table, key, end, dtype)
        if not (low < high and math.isfinite(high - low)):
            table.fail("high", f"expected more than low = {low}, got {high}")
        return state.uniform(low, high, size=shape).astype(dtype)
    low, high = (table.take(key, (int,), "an integer") for key in ("low", "high"))
    _check_integer(table, "low", low, dtype, 0)
    _check_integer(table, "high", high, dtype, 1)
    if low >= high:
        table.fail("high", f"expected more than low = {low} (high itself is never drawn), got {high}")
    wide = np.uint64 if high - 1 > np.iinfo(np.int64).max else np.int64
    return state.randint(low, high, size=shape, dtype=wide).astype(dtype)


def _check_integer(table: _Table, key: str, value: Any, dtype: np.dtype, above: int) -> None:
    """Refuse what is no integer of `dtype`; `above` = 1 where the value is an exclusive upper end."""
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max) + above
    if type(value) is not int or not low <= value <= high:
        table.fail(key, f"expected an integer in {low}..{high} for {dtype}, got {value}")


def _check_float(table: _Table, key: str, value: float, dtype: np.dtype) -> None:
    """Refuse a finite number that `dtype` would round to infinity."""
    with np.errstate(over="ignore"):
        if np.isinf(np.array(value).astype(dtype)):
            table.fail(key, f"expected a number in the range of {dtype}, got {value}")


def pack_params(launch: Launch, param_decls: Sequence[ParamDecl], buffer_address: Mapping[str, int],
                where: str, address_bytes: int = 8) -> bytes:
    """Return the kernel's parameter block: every argument converted to its parameter's type, at its offset.

    buffer_address: address of each buffer and symbol by name. where: how errors begin, such as "gemm.toml: launch 1".
    address_bytes: 4 where the module has 32-bit addresses: then a parameter may hold an address's low word.
    Raises LaunchError when an argument does not fit its parameter, or there are too many or too few.
    """
    if len(launch.args) != len(param_decls):
        listed = ", ".join(f"{_short_name(decl)}: {_type_of(decl)}" for decl in param_decls) or "none"
        raise LaunchError(f"{where}: args: expected {len(param_decls)} arguments ({listed}), got {len(launch.args)}")
    size = max((decl.offset + decl.size for decl in param_decls), default=0)
    if size > MAX_PARAM_BYTES:
        raise LaunchError(f"{where}: args: expected at most {MAX_PARAM_BYTES} bytes of parameters, got {size}")
    block = bytearray(size)
    for place, (arg, decl) in enumerate(zip(launch.args, param_decls)):
        begin = f"{where}: args[{place}] ({_short_name(decl)}: {_type_of(decl)})"
        block[decl.offset:decl.offset + decl.size] = _pack_one(arg, decl, buffer_address, begin, address_bytes)
    return bytes(block)


def _short_name(decl: ParamDecl) -> str:
    """Return 'param_2' where the compiler put the kernel's mangled name before it."""
    return re.sub(r".*_(param_\d+)\Z", r"\1", decl.name)


def _type_of(decl: ParamDecl) -> str:
    """Return 'u64', or 'b8[24]' for an aggregate."""
    width = int(decl.type[1:]) // 8
    return decl.type if decl.size == width else f"{decl.type}[{decl.size // width}]"


def _pack_one(arg: Arg, decl: ParamDecl, buffer_address: Mapping[str, int], begin: str, address_bytes: int) -> bytes:
    """Return the little-endian bytes of one argument, `decl.size` of them."""
    if arg.kind == "bytes":
        assert isinstance(arg.value, bytes)
        if len(arg.value) != decl.size:
            raise LaunchError(f"{begin}: expected {decl.size} bytes, got {len(arg.value)}")
        raw = bytearray(arg.value)
        write_pointers(raw, arg.pointers, buffer_address, address_bytes, begin)
        return bytes(raw)
    kind, width = decl.type[0], int(decl.type[1:]) // 8
    if arg.kind in ("buffer", "symbol", "texture", "null"):
        if decl.size not in (8, address_bytes) or kind == "f":
            raise LaunchError(f"{begin}: expected {_wanted(decl)}, got the 64-bit address of "
                              f"{arg.name or 'null'}")
        address = 0 if arg.kind == "null" else buffer_address[arg.name] + arg.offset
        return struct.pack("<Q", address)[:decl.size]
    if decl.size != width:
        raise LaunchError(f"{begin}: expected {_wanted(decl)}, got the value {arg.value!r}")
    if kind == "f" or (kind == "b" and isinstance(arg.value, float)):
        return _pack_float(arg.value, decl, begin)
    if isinstance(arg.value, float):
        raise LaunchError(f"{begin}: expected an integer, got the float {arg.value}")
    bits, number = 8 * width, int(arg.value)  # type: ignore[arg-type]
    # nvcc declares C's `int` and `signed char` as .u32 and .u8, and .b says nothing: either reading may be meant.
    low = -(1 << (bits - 1))
    high = (1 << (bits - 1)) - 1 if kind == "s" else (1 << bits) - 1
    if not low <= number <= high:
        raise LaunchError(f"{begin}: expected an integer in {low}..{high}, got {number}")
    return (number & ((1 << bits) - 1)).to_bytes(width, "little")


def _pack_float(value: Any, decl: ParamDecl, begin: str) -> bytes:
    """Return a number rounded to the nearest float of decl.size bytes."""
    codes = {2: "<f2", 4: "<f4", 8: "<f8"}
    if isinstance(value, bool) or decl.size not in codes:
        raise LaunchError(f"{begin}: expected {_wanted(decl)}, got {value}")
    with np.errstate(over="ignore"):
        try:
            packed = np.array(float(value)).astype(codes[decl.size])
        except OverflowError:
            packed = np.array(math.inf)
    if np.isinf(packed) and not (isinstance(value, float) and math.isinf(value)):
        raise LaunchError(f"{begin}: expected a number in the range of {decl.type}, got {value}")
    return packed.tobytes()


def _wanted(decl: ParamDecl) -> str:
    """Say which argument fits a parameter."""
    if decl.size != int(decl.type[1:]) // 8:
        return f"{{bytes = ...}} of {decl.size} bytes"
    return "a number" if decl.type[0] == "f" else "an integer"


def verify(spec: LaunchSpec, final_arrays: Mapping[str, np.ndarray]) -> list[Mismatch]:
    """Compare the memory after the last launch with every expectation; an empty list says that all hold.

    final_arrays: buffers and symbols by name, with the bytes of the expected arrays in any shape. NaN equals NaN,
    0.0 equals -0.0, an infinity equals itself. Raises LaunchError where an expected array is missing or misshapen.
    """
    found = []
    for name, expect in spec.expect.items():
        if name not in final_arrays:
            raise LaunchError(f"{spec.path}: expect.{name}: the run returned no such buffer or symbol")
        got = np.ascontiguousarray(final_arrays[name])
        if got.nbytes != expect.array.nbytes:
            raise LaunchError(f"{spec.path}: expect.{name}: expected {expect.array.nbytes} bytes, the run returned "
                              f"{got.nbytes}")
        got = got.reshape(-1).view(expect.array.dtype).reshape(expect.array.shape)
        mismatch = _compare(expect, got)
        if mismatch is not None:
            found.append(mismatch)
    return found


def _compare(expect: Expect, got: np.ndarray) -> Mismatch | None:
    """Return the mismatch of one array, or None."""
    want = expect.array
    same = want == got
    if want.dtype.kind == "f":
        same |= np.isnan(want) & np.isnan(got)
    if same.all():
        return None
    absolute, relative = _errors(want, got)
    scale = np.abs(want.astype(np.float64))
    with np.errstate(invalid="ignore"):
        # An infinite error is never within a tolerance, not even of an infinite expected value.
        same |= np.isfinite(absolute) & (absolute <= expect.atol + expect.rtol * scale)
    wrong = ~same
    if not wrong.any():
        return None
    index = tuple(int(i) for i in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
    return Mismatch(expect.name, int(wrong.sum()), wrong.size, index, want[index].item(), got[index].item(),
                    float(np.max(absolute[wrong])), float(np.max(relative[wrong])))


def _errors(want: np.ndarray, got: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return absolute and relative errors as float64; inf where only one side is NaN or infinite."""
    if want.dtype.kind in "iu":
        # uint64 and int64 do not fit float64: the difference is exact in the unsigned type, wrapping on purpose.
        unsigned = np.dtype(f"u{want.dtype.itemsize}")
        low, high = np.minimum(want, got), np.maximum(want, got)
        absolute = (high.view(unsigned) - low.view(unsigned)).astype(np.float64)
    else:
        with np.errstate(invalid="ignore", over="ignore"):
            absolute = np.abs(got.astype(np.float64) - want.astype(np.float64))
        equal = (want == got) | (np.isnan(want) & np.isnan(got))
        absolute = np.where(equal, 0.0, np.where(np.isnan(absolute), np.inf, absolute))
    scale = np.abs(want.astype(np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(absolute == 0, 0.0, np.where(np.isfinite(scale), absolute / scale, np.inf))
    return absolute, relative


def quality(metric: str, exact: np.ndarray, approx: np.ndarray) -> dict[str, Any]:
    """Measure an approximate output against the exact run's.

    Returns {"metric", "value", "rmse", "max_rel", "psnr", "exact"}; value repeats the one that `metric` names.
    rmse: root of the mean squared error over the root of the mean square of `exact` (0.01 = 1 %). max_rel: largest
    relative error, over elements of `exact` that are not 0. psnr: dB over the range of `exact`, inf when equal.
    exact: whether both are equal (NaN equals NaN). Errors count as inf where only one side is finite.
    Raises ValueError for an unknown metric or unequal shapes.
    """
    if metric not in METRICS:
        raise ValueError(f"metric: expected one of {', '.join(METRICS)}, got {metric!r}")
    exact, approx = np.asarray(exact), np.asarray(approx)
    if exact.shape != approx.shape or exact.dtype != approx.dtype:
        raise ValueError(f"expected {exact.dtype}{exact.shape}, got {approx.dtype}{approx.shape}")
    absolute, relative = _errors(exact, approx)
    values = exact.astype(np.float64)
    finite = values[np.isfinite(values)]
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        error = float(np.sqrt(np.mean(absolute**2)))
        power = float(np.sqrt(np.mean(finite**2))) if finite.size else 0.0
        span = float(np.ptp(finite)) if finite.size else 0.0
        peak = span or (float(np.max(np.abs(finite))) if finite.size else 0.0)
    nonzero = values != 0
    measured: dict[str, Any] = {
        "rmse": 0.0 if error == 0 else (error / power if power else math.inf),
        "max_rel": float(np.max(relative[nonzero])) if nonzero.any() else 0.0,
        "psnr": math.inf if error == 0 else (20 * math.log10(peak / error) if peak and error < math.inf else -math.inf),
        "exact": bool((absolute == 0).all()),
    }
    return {"metric": metric, "value": measured[metric], **measured}


def _did_you_mean(word: str, known: Sequence[str] | Mapping[str, Any]) -> str:
    """Return ' (did you mean X?)' where a known word is near, else ''."""
    near = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _shown(value: Any) -> str:
    """Return a value short enough for one line of an error."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
