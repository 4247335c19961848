"""Places everything: kernels in one instruction array, buffers and symbols in one arena, CTAs on the SM.

Addresses: buffers in file order, then symbols and texture headers, each at a multiple of 512 from
0x7000_0000_0000 with at least 512 unmapped bytes between, or as given in the launch file; they are the same in every run,
design and machine. If kernels are compiled for 32-bit addresses (rfview.engine.compilation), the first address is 1 GB
higher, and all are within 2 GB.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from rfview.engine.config import Config
from rfview.engine.errors import InputError, RegisterShortage
from rfview.engine.launch import Launch, LaunchSpec
from rfview.engine.launch.kernel_names import kernel_of
from rfview.engine.launch.params import pack_params
from rfview.engine.launch.pointers import write_pointers
from rfview.engine.machine_code import CODE_BASE, is_machine_code
from rfview.engine.program import (ADDRESS_ROOM, GLOBAL_BASE, NO_PC, PARAM_BYTES, Kernel, Module,
                                   Symbol)
from rfview.engine.sass import constants
from rfview.engine.sass.listing import INSTRUCTION_BYTES
from rfview.engine.textures import HEADER_BYTES, header

GAP = 512


@dataclass(frozen=True)
class Variable:
    """A buffer, symbol or texture header in the arena: address, first arena word, length in bytes, NumPy type and shape."""

    name: str
    kind: str
    address: int
    word: int
    size: int
    dtype: np.dtype
    shape: tuple[int, ...]


@dataclass(frozen=True)
class PlacedLaunch:
    """One prepared launch: entry pc, occupancy and parameter bytes."""

    kernel: Kernel
    launch: Launch
    entry_pc: int
    registers: int
    warps_per_cta: int
    resident_ctas: int
    shared_bytes: int
    params: bytes


@dataclass(frozen=True)
class Placement:
    """The layout of a whole session; arena: (words,) u4 before cycle 0."""

    insts: np.ndarray
    kernels: tuple[tuple[Kernel, int], ...]
    launches: tuple[PlacedLaunch, ...]
    variables: tuple[Variable, ...]
    arena: np.ndarray
    shared_words: int
    param_word: int
    local_word: int
    local_words: int
    global_word: int


def place(spec: LaunchSpec, module: Module, config: Config, num_rows: int) -> Placement:
    """Lay out a launch file; num_rows: warp-registers of the register file. Raises InputError if something does not fit."""
    kernels: dict[str, tuple[Kernel, int]] = {}
    next_pc = 0
    chosen: list[tuple[Kernel, Launch]] = []
    for launch in spec.launches:
        kernel = kernel_of(spec, module, launch)
        if kernel.name not in kernels:
            kernels[kernel.name] = (kernel, next_pc)
            next_pc += len(kernel.insts)
        chosen.append((kernel, launch))
    is_short = config["kernel.addresses"] == "32"
    first = GLOBAL_BASE + ADDRESS_ROOM * is_short
    variables, used = _variables(spec, module, first)
    if is_short and used > 2 * ADDRESS_ROOM:
        raise InputError(f"{spec.path}: buffers and symbols take {used:,} bytes; kernels compiled for 32-bit "
                         f"addresses reach only {2 * ADDRESS_ROOM:,}; leave out --compile addresses=32")
    addresses = {variable.name: variable.address for variable in variables if variable.kind == "buffer"}
    symbols = {variable.name: variable.address for variable in variables if variable.kind != "buffer"}
    symbols |= function_addresses(kernels.values())
    width = 8 if re.search(r"^\s*\.address_size\s+64\b", module.text, re.MULTILINE) else 4
    launches = tuple(
        placed_launch(spec, kernel, launch, kernels[kernel.name][1], config, num_rows, {**symbols, **addresses}, width)
        for kernel, launch in chosen
    )
    shared_words = max(placed.resident_ctas * -(-placed.shared_bytes // 4) for placed in launches)
    shared_words = -(-max(shared_words, config["sm.shared_bytes"] // 4) // 32) * 32
    local_words = max(-(-placed.kernel.local_bytes // 4) for placed in launches)
    param_word = shared_words
    local_word = param_word + param_words(placed.kernel for placed in launches)
    global_word = local_word + int(config["sm.num_warps"]) * local_words * 32
    size, local = 4 * global_word + used, 4 * (global_word - local_word)
    if size > spec.max_bytes:
        raise InputError(f"{spec.path}: takes {size:,} bytes of memory, {local:,} of them local memory of the warps; "
                         f"at most {spec.max_bytes:,} are available{spec.more_bytes}")
    arena = np.zeros(global_word + used // 4, np.uint32)
    variables = tuple(replace(variable, word=global_word + variable.word) for variable in variables)
    _fill(arena, variables, spec, module, symbols)
    _point(arena, variables, spec, {**symbols, **addresses}, width)
    launches = tuple(with_constants(placed, variables, arena, symbols) for placed in launches)
    insts = linked(kernels.values(), symbols)
    return Placement(insts, tuple(kernels.values()), launches, variables, arena, shared_words, param_word, local_word,
                     local_words, global_word)


def param_words(kernels: Iterable[Kernel]) -> int:
    """Return the size, in words and whole lines, of the parameter space of a session that launches these kernels."""
    kernels = tuple(kernels)
    most = max((param.offset + param.size for kernel in kernels for param in kernel.params), default=0)
    most = max([most, *(constants.image_bytes(kernel) for kernel in kernels if kernel.architecture)])
    return max(PARAM_BYTES, -(-most // 128) * 128) // 4


def function_addresses(kernels: Iterable[tuple[Kernel, int]]) -> dict[str, int]:
    """Return the addresses of the functions of machine code, by name; kernels: with their first pcs."""
    addresses: dict[str, int] = {}
    for kernel, base in kernels:
        for name, pc in kernel.functions:
            addresses.setdefault(name, CODE_BASE + INSTRUCTION_BYTES * (base + pc))
    return addresses


def with_constants(placed: PlacedLaunch, variables: Iterable[Variable], arena: np.ndarray,
                   addresses: Mapping[str, int]) -> PlacedLaunch:
    """Return a launch of machine code with the constant image as its parameters; variables in it are as in the arena."""
    if not placed.kernel.architecture:
        return placed
    places = [(variable.address, variable.address + variable.size, variable.word) for variable in variables]

    def contents(name: str, size: int) -> bytes:
        address = addresses.get(name, 0)
        for first, end, word in places:
            if first <= address < end:
                at = 4 * word + address - first
                return arena.view(np.uint8)[at : at + min(size, end - address)].tobytes()
        return b""

    image = constants.image_of(placed.kernel, placed.launch, placed.params, addresses, contents)
    return replace(placed, params=image)


def _variables(spec: LaunchSpec, module: Module, first: int) -> tuple[tuple[Variable, ...], int]:
    """Give every buffer and symbol its address, from `first` on if none is given; return them and all their bytes.

    Their words are counted from the beginning of global memory.
    """
    variables: list[Variable] = []
    fixed = [(held.address, held.array.nbytes) for part in (spec.buffers, spec.symbols) for held in part.values()
             if held.address is not None]
    fixed += [(texture.handle, HEADER_BYTES) for texture in spec.textures.values() if texture.handle is not None]
    at = _after_given(spec, fixed, first)
    used = 0

    def lay(name: str, kind: str, given: int | None, size: int, dtype: np.dtype, shape: tuple[int, ...]) -> None:
        nonlocal at, used
        variables.append(Variable(name, kind, at if given is None else given, used // 4, size, dtype, shape))
        used = _after(used, size)
        at = _after(at, size) if given is None else at

    for name, buffer in spec.buffers.items():
        lay(name, "buffer", buffer.address, buffer.array.nbytes, buffer.array.dtype, buffer.array.shape)
    for name, symbol in module.symbols.items():
        given = spec.symbols.get(name)
        if given is not None and given.array.nbytes > symbol.size:
            raise InputError(f"{spec.path}: [symbols.{name}]: {given.array.nbytes} bytes, but the module declares "
                             f"{symbol.size}")
        dtype = given.array.dtype if given is not None else _symbol_dtype(symbol.type, symbol.size)
        shape = given.array.shape if given is not None else (symbol.size // dtype.itemsize,)
        lay(name, "symbol", given.address if given is not None else None, symbol.size, dtype, shape)
    for name in spec.symbols:
        if name not in module.symbols:
            raise InputError(f"{spec.path}: [symbols.{name}]: {module.path} declares {', '.join(module.symbols) or 'none'}")
    for name, texture in spec.textures.items():
        if name in module.symbols:
            raise InputError(f"{spec.path}: [textures.{name}]: the module's variable of this name is not a texture")
        lay(name, "texture", texture.handle, HEADER_BYTES, np.dtype("u4"), (HEADER_BYTES // 4,))
    variables.sort(key=lambda variable: variable.address)
    _check_apart(spec, variables)
    return tuple(variables), used


def _after_given(spec: LaunchSpec, fixed: list[tuple[int, int]], first: int) -> int:
    """Return the first address for variables without a given one, after all given ones."""
    if fixed and first != GLOBAL_BASE:
        raise InputError(f"{spec.path}: gives its buffers' addresses, so kernels cannot be compiled for 32-bit ones; "
                         "leave out --compile addresses=32")
    return max([first, *(_after(address, size) for address, size in fixed if address >= GLOBAL_BASE)])


def _check_apart(spec: LaunchSpec, variables: list[Variable]) -> None:
    """Raise InputError if two variables, sorted by address, overlap, which given addresses may cause."""
    for one, other in zip(variables, variables[1:]):
        if one.address + one.size > other.address:
            raise InputError(f"{spec.path}: {one.kind}s.{one.name}: its {one.size:,} bytes at 0x{one.address:x} overlap "
                             f"with {other.name} at 0x{other.address:x}")


def _symbol_dtype(ptx_type: str, size: int) -> np.dtype:
    """Return the NumPy type for showing and saving a symbol."""
    kind = {"f": "f", "s": "i"}.get(ptx_type[0], "u")
    width = int("".join(filter(str.isdigit, ptx_type)) or 8) // 8
    if width == 2 and kind == "f":
        return np.dtype("f2")
    return np.dtype(f"{kind}{width}") if size % width == 0 else np.dtype("u1")


def _after(at: int, size: int) -> int:
    """Return the next multiple of 512 that leaves at least 512 unmapped bytes."""
    return -(-(at + size + GAP) // GAP) * GAP


def initial_bytes(symbol: Symbol, addresses: Mapping[str, int]) -> np.ndarray:
    """Return (n,) u1: what a module's variable begins with before the first launch; all of its other bytes are 0.

    addresses: of all symbols by name.
    """
    raw = bytearray(symbol.init.ljust(max((offset + 8 for offset, _, _ in symbol.relocs), default=0), b"\0"))
    for offset, name, addend in symbol.relocs:
        address = addresses[name] + addend if name in addresses else 0      # functions are inlined and have no address
        raw[offset : offset + 8] = (address % (1 << 64)).to_bytes(8, "little")
    return np.frombuffer(bytes(raw), np.uint8)


def _fill(
    arena: np.ndarray, variables: tuple[Variable, ...], spec: LaunchSpec, module: Module, symbols: Mapping[str, int]
) -> None:
    """Copy initial values into the arena."""
    space = arena.view(np.uint8)
    for variable in variables:
        at = variable.word * 4
        if variable.kind == "buffer":
            data = np.ascontiguousarray(spec.buffers[variable.name].array).view(np.uint8).reshape(-1)
        elif variable.kind == "texture":
            texture = spec.textures[variable.name]
            texels = next(other for other in variables if other.kind == "buffer" and other.name == texture.buffer)
            data = header(texture, texels.address, texels.word).view(np.uint8)
        elif variable.name in spec.symbols:
            data = np.ascontiguousarray(spec.symbols[variable.name].array).view(np.uint8).reshape(-1)
        else:
            data = initial_bytes(module.symbols[variable.name], symbols)
        space[at : at + len(data)] = data


def _point(arena: np.ndarray, variables: tuple[Variable, ...], spec: LaunchSpec, addresses: Mapping[str, int],
           address_bytes: int) -> None:
    """Write the addresses that buffers and symbols contain."""
    for variable in variables:
        given = {"buffer": spec.buffers, "symbol": spec.symbols}.get(variable.kind, {}).get(variable.name)
        if given is not None:
            space = arena.view(np.uint8)[variable.word * 4 : variable.word * 4 + given.array.nbytes]
            where = f"{spec.path}: {variable.kind}s.{variable.name}"
            write_pointers(space, given.pointers, addresses, address_bytes, where)


def placed_launch(spec: LaunchSpec, kernel: Kernel, launch: Launch, entry_pc: int, config: Config, num_rows: int,
                  addresses: Mapping[str, int], address_bytes: int) -> PlacedLaunch:
    """Check a launch against the SM and compute how many CTAs are resident at once; raises InputError if none fits."""
    where = f"{spec.path}: kernel {kernel.name}"
    registers = max(int(config["kernel.registers"]) or (spec.registers_per_thread or 0), 0) or max(kernel.registers, 1)
    if registers < kernel.registers:
        raise InputError(f"{where}: {registers} registers per thread requested, but the code needs {kernel.registers}")
    threads = int(np.prod(launch.block))
    warps = -(-threads // 32)
    if kernel.max_threads and threads > kernel.max_threads:
        raise InputError(f"{where}: a block of {threads} threads, but the kernel allows only {kernel.max_threads}")
    shared = -(-(kernel.shared_bytes + launch.shared_bytes) // 4) * 4
    unit = int(config["sm.register_unit"])      # rule B0.22
    limits = {
        "warps": int(config["sm.num_warps"]) // warps,
        "threads": int(config["sm.max_threads"]) // threads,
        "CTA slots": int(config["sm.max_ctas"]),
        "registers": num_rows // (-(-registers // unit) * unit * warps),
        "shared memory": int(config["sm.shared_bytes"]) // shared if shared else 1 << 30,
    }
    resident = min(limits.values())
    if resident == 0:
        short = min(limits, key=lambda name: limits[name])
        most = num_rows // warps // unit * unit
        fewer = (f"compiled with -maxrregcount={most}, or with __launch_bounds__, it" if kernel.architecture else
                 f"--set kernel.max_registers={most}")
        remedies = {"registers": f"; {fewer} keeps the others in local memory",
                    "shared memory": f"; --set sm.shared_bytes={shared} provides it"}
        refused = RegisterShortage if short == "registers" else InputError
        raise refused(f"{where}: one CTA does not fit on the SM: not enough {short} ({threads} threads, {registers} "
                      f"registers per thread, {shared} bytes of shared memory){remedies.get(short, '')}")
    if launch.num_ctas > resident and kernel.meets_grid:
        short = min(limits, key=lambda name: limits[name])
        raise InputError(f"{where}: a barrier of the whole grid (cooperative launch) needs its {launch.num_ctas:,} CTAs on "
                         f"the SM at once, but only {resident} fit, limited by {short}; make the grid or the block smaller")
    params = pack_params(launch, kernel.params, addresses, where, address_bytes)
    return PlacedLaunch(kernel, launch, entry_pc, registers, warps, resident, shared, params)


def linked(kernels: Iterable[tuple[Kernel, int]], symbols: Mapping[str, int]) -> np.ndarray:
    """Concatenate the kernels' instructions, with targets and symbol addresses made absolute."""
    parts = []
    for kernel, base in kernels:
        insts = kernel.insts.copy()
        for reloc in kernel.relocs:
            if reloc.symbol not in symbols:
                raise InputError(f"kernel {kernel.name}: '{reloc.symbol}' is declared extern, but no module defines it; "
                                 f"if it is a texture, describe it in [textures.{reloc.symbol}] of the launch file")
            address = symbols[reloc.symbol] + reloc.addend
            insts[reloc.pc]["imm"][reloc.slot] = address & 0xFFFFFFFF
            if reloc.wide:
                insts[reloc.pc]["imm"][reloc.slot + 1] = address >> 32
        if is_machine_code(insts):
            insts["target"] += np.where(insts["target"] == NO_PC, 0, base).astype(np.uint32)
        else:
            insts["target"] += np.uint32(base)
            reconv = insts["reconv"]
            insts["reconv"] = np.where(reconv == NO_PC, reconv, reconv + np.uint32(base))
        parts.append(insts)
    return np.concatenate(parts).astype(parts[0].dtype)
