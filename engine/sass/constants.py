"""The constant image of a launch: what each architecture keeps where in constant bank 0, and the other banks behind it.

Layouts of bank 0: observed in ptxas's code for sm_75 to sm_120. The image is the launch's parameter space: c[0x3][0x10]
is the word at byte 0x10 behind the beginning of bank 3 there.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rfview.engine.errors import SassError
from rfview.engine.program import GRID_WORKSPACE, Kernel

if TYPE_CHECKING:
    from rfview.engine.launch.spec import Launch

ALIGN = 256
# of generic addresses (values/lane_by_lane.py); the last one is that of the image
SHARED_WINDOW, LOCAL_WINDOW, PARAM_WINDOW = 0x0100_0000_0000, 0x0200_0000_0000, 0x0300_0000_0000
USER_BANK = 3           # with the module's __constant__ variables


@dataclass(frozen=True)
class Layout:
    """Offsets in bank 0. block, grid: three words. shared: of the 64-bit window, None if a special register has it.

    dynamic: the bytes of dynamic shared memory. workspace: the address of the grid-wide barrier, upper word first.
    num_sms: %nsmid. Generic addresses: constants: of the bank with __constant__ variables; bank: of bank 0, or, where it is
    None, first_param: of the first parameter.

    static_shared: where a kernel's shared memory begins: since sm_90, the first 1,024 bytes are the system's.
    """

    block: int
    grid: int
    stack: int
    local: int
    shared: int | None
    params: int
    dynamic: int = 0x2C
    workspace: int = 0x8C
    num_sms: int = 0x10C
    constants: int = 0x50
    bank: int | None = 0x40
    first_param: int = 0
    static_shared: int = 0


LAYOUTS = {
    75: Layout(block=0x0, grid=0xC, stack=0x28, local=0x20, shared=0x18, params=0x160),
    90: Layout(block=0x0, grid=0xC, stack=0x28, local=0x20, shared=None, params=0x210, workspace=0x44, constants=0xD0,
               bank=None, first_param=0x198, static_shared=0x400),
    100: Layout(block=0x360, grid=0x370, stack=0x37C, local=0x2F8, shared=None, params=0x380, dynamic=0x2AC, workspace=0x254,
                num_sms=0x2D0, constants=0x120, bank=None, first_param=0x348, static_shared=0x400),
}


def layout_of(sm: int, path: str) -> Layout:
    """Return the layout of an architecture; raises SassError for one whose constants are not known."""
    first = max((known for known in LAYOUTS if known <= sm), default=0)
    if not first or sm >= 130:
        raise SassError(f"{path}: machine code for sm_{sm}: expected sm_75 to sm_121")
    return LAYOUTS[first]


def places_of(banks: Iterable[tuple[int, int]], params_end: int) -> tuple[dict[int, int], int]:
    """Return where each bank begins in the image, and the image's size. banks: (number, bytes). params_end: of bank 0."""
    places, at = {0: 0}, -(-max(params_end, 0x400) // ALIGN) * ALIGN
    for number, size in sorted(banks):
        places[number] = at
        at += -(-size // ALIGN) * ALIGN
    return places, at


def image_bytes(kernel: Kernel) -> int:
    """Return the size of a kernel's constant image."""
    params_end = max([kernel.param_base, *(kernel.param_base + param.offset + param.size for param in kernel.params)])
    banks: dict[int, int] = {}
    for bank in kernel.constants:
        banks[bank.bank] = max(banks.get(bank.bank, 0), len(bank.data))
    return places_of(banks.items(), params_end)[1]


def image_of(kernel: Kernel, launch: Launch, params: bytes, addresses: Mapping[str, int],
             contents: Callable[[str, int], bytes]) -> bytes:
    """Return the constant image of a launch.

    params: the kernel's parameter block. addresses: of symbols and functions. contents(name, bytes): what a variable holds.
    """
    layout = layout_of(kernel.architecture, kernel.name)
    image = bytearray(image_bytes(kernel))
    struct.pack_into("<III", image, layout.block, *launch.block)
    struct.pack_into("<III", image, layout.grid, *launch.grid)
    struct.pack_into("<I", image, layout.stack, kernel.local_bytes)
    struct.pack_into("<Q", image, layout.local, LOCAL_WINDOW)
    if layout.shared is not None:
        struct.pack_into("<Q", image, layout.shared, SHARED_WINDOW)
    struct.pack_into("<I", image, layout.dynamic, launch.shared_bytes)
    struct.pack_into("<I", image, layout.num_sms, 1)
    if kernel.workspace:
        address = addresses[GRID_WORKSPACE]
        struct.pack_into("<II", image, kernel.workspace, address >> 32, address & 0xFFFFFFFF)
    if layout.bank is not None:
        struct.pack_into("<Q", image, layout.bank, PARAM_WINDOW)
    else:
        struct.pack_into("<Q", image, layout.first_param, PARAM_WINDOW + kernel.param_base)
    image[kernel.param_base : kernel.param_base + len(params)] = params
    for bank in kernel.constants:
        image[bank.offset : bank.offset + len(bank.data)] = bank.data
        if bank.bank == USER_BANK:
            struct.pack_into("<Q", image, layout.constants, PARAM_WINDOW + bank.offset)
        for offset, symbol, addend in bank.relocs:
            if symbol in addresses and offset + 8 <= len(bank.data):
                struct.pack_into("<Q", image, bank.offset + offset, (addresses[symbol] + addend) & (1 << 64) - 1)
        for name, offset, size in bank.variables:
            held = contents(name, size)
            image[bank.offset + offset : bank.offset + offset + len(held)] = held
    return bytes(image)
