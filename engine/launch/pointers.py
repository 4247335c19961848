"""Addresses in a launch file: given places, and the `pointers` inside arguments and buffers.

Kernels take structs with pointers by value and read arrays of pointers; addresses of buffers are known once all are placed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rfview.engine.errors import InputError
from rfview.engine.launch.table import Table

KINDS = ("buffer", "symbol", "texture")
ADDRESSES = (1 << 16, (1 << 47) - 1)  # the address range of x86-64 programs
WINDOWS = (0x0100_0000_0000, 0x0400_0000_0000)  # windows of shared, local and parameter memory (rfview.engine.values.access)
ADDRESS_ALIGN = 4  # memory consists of words; what a program has registered may begin at any of them


@dataclass(frozen=True)
class Pointer:
    """An address written over the bytes from `at` on: that of a buffer, symbol or texture, plus `offset` bytes."""

    at: int
    name: str
    offset: int = 0


def load_address(table: Table, key: str) -> int | None:
    """Return a given address; None if the file gives none; raises LaunchError for an impossible one."""
    if key not in table:
        return None
    address = table.integer(key, *ADDRESSES)
    if address % ADDRESS_ALIGN:
        table.fail(key, f"expected a multiple of {ADDRESS_ALIGN}, got 0x{address:x}")
    if WINDOWS[0] <= address < WINDOWS[1]:
        table.fail(key, f"expected an address outside shared and local memory, got 0x{address:x}")
    return address


def load_pointers(table: Table, size: int, named: Mapping[str, Mapping[str, Any]]) -> tuple[Pointer, ...]:
    """Read the `pointers` of a table that describes `size` bytes; raises LaunchError through it.

    named: the existing buffers, symbols and textures, by kind and name.
    """
    form = 'a list of tables such as {at = 8, buffer = "x"}'
    pointers = []
    for place, item in enumerate(table.take("pointers", (list,), form, [])):
        if not isinstance(item, dict):
            table.fail(f"pointers[{place}]", f"expected a table such as {{at = 8, buffer = \"x\"}}, got {item!r}")
        own = table.inner(f"pointers[{place}]", item)
        own.allow("at", *KINDS, "offset")
        given = [kind for kind in KINDS if kind in own]
        if len(given) != 1:
            own.fail("", f"expected exactly one of {', '.join(KINDS)}, got {' and '.join(given) or 'none'}")
        name = own.name_in(given[0], named[given[0]])
        high = 0 if given[0] == "texture" else named[given[0]][name].array.nbytes
        at = own.integer("at", 0, max(size - 4, 0))
        pointers.append(Pointer(at, name, own.integer("offset", 0, high, 0)))
    return tuple(pointers)


def write_pointers(space: Any, pointers: Iterable[Pointer], addresses: Mapping[str, int], address_bytes: int,
                   where: str) -> None:
    """Write addresses into `space`, mutable bytes; raises InputError, beginning with `where`, beyond its end.

    addresses: of buffers, symbols and textures by name. address_bytes: 4 if the module has 32-bit addresses.
    """
    for place, pointer in enumerate(pointers):
        raw = (addresses[pointer.name] + pointer.offset).to_bytes(8, "little")[:address_bytes]
        if pointer.at + len(raw) > len(space):
            raise InputError(f"{where}: pointers[{place}].at: an address of {len(raw)} bytes at {pointer.at} extends past "
                             f"the end, {len(space)}")
        space[pointer.at : pointer.at + len(raw)] = np.frombuffer(raw, np.uint8) if isinstance(space, np.ndarray) else raw
