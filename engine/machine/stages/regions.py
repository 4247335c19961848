"""The memory map used by accesses: global regions of the arena, and host-side reads of generic addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rfview.engine.values.access import LOCAL_WINDOW, REGION, SHARED_WINDOW, WINDOW_BYTES
from rfview.engine.textures import REGION_KIND_TEXTURE

if TYPE_CHECKING:
    from rfview.engine.launch.placement import Placement
    from rfview.engine.simulator import Simulator


def region_table(placement: Placement) -> np.ndarray:
    """Return the sorted table of mapped global address ranges, one record per buffer, symbol and texture header."""
    table = np.zeros(max(1, len(placement.variables)), REGION)
    for entry, variable in zip(table, placement.variables, strict=False):
        entry["base_address"] = variable.address
        entry["end_address"] = variable.address + variable.size
        entry["word_offset"] = variable.word
        entry["writable"] = variable.kind != "texture"
        entry["kind"] = REGION_KIND_TEXTURE if variable.kind == "texture" else 0
    return table.view(np.recarray)


def read_bytes(simulator: Simulator, address: int, size: int, warp: int, lane: int) -> bytes:
    """Read `size` bytes of generic memory as seen by one lane; b"" if nothing is mapped."""
    raw = simulator.arena.view(np.uint8)
    sm = simulator.sm
    if SHARED_WINDOW <= address < SHARED_WINDOW + WINDOW_BYTES:
        offset = address - int(SHARED_WINDOW)
        at = int(sm.warp[warp].cta) * -(-int(sm.launch.shared_bytes) // 4) * 4 + offset
        return raw[at : at + size].tobytes()
    if LOCAL_WINDOW <= address < LOCAL_WINDOW + WINDOW_BYTES:
        return b"".join(_local_byte(simulator, address - int(LOCAL_WINDOW) + k, warp, lane) for k in range(size))
    for variable in simulator.placement.variables:
        if variable.address <= address and address + size <= variable.address + variable.size:
            at = variable.word * 4 + address - variable.address
            return raw[at : at + size].tobytes()
    return b""


def _local_byte(simulator: Simulator, offset: int, warp: int, lane: int) -> bytes:
    """Read one byte of a thread's local memory, which is interleaved by lane in words."""
    words = int(simulator.sm.launch.local_words)
    word = int(simulator.sm.launch.local_word) + (warp * words + offset // 4) * 32 + lane
    return simulator.arena.view(np.uint8)[word * 4 + offset % 4 : word * 4 + offset % 4 + 1].tobytes()
