"""Where a register is: its bank, and the place of its newest value, in a live or recorded snapshot."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from rfview.engine import hooks
from rfview.engine.errors import InputError
from rfview.engine.machine import registers
from rfview.engine.plugin.finding import find
from rfview.engine.plugin.registry import BUILT_IN
from rfview.engine.plugin.variants import build, variant_of

if TYPE_CHECKING:
    from rfview.engine.info import DesignSpec
    from rfview.engine.snapshot import Snapshot


def locates(chain: Iterable[str]) -> bool:
    """Return whether a chain of designs may keep a register's newest value outside its main row."""
    return any(hasattr(find(name), "locate") for name in chain)


def locate(snapshot: Snapshot, warp: int, reg: int) -> np.ndarray:
    """Return the (32,) u4 newest value of a register in a snapshot, from wherever the design keeps each lane."""
    if not snapshot.info.design_spec.locates:       # so the run can be shown without its design
        return np.array(snapshot.rows[int(snapshot.sm["warp"][warp]["reg_base"]) + reg])
    record = spec_record(snapshot.info.design_spec, snapshot.info.main_rows)
    rows = [int(hooks.locate(snapshot.sm, snapshot.rf, record, warp, reg, lane)) for lane in range(32)]
    return np.array(snapshot.rows[rows, np.arange(32)])


def banks(snapshot: Snapshot, warps: Any, regs: Any) -> np.ndarray:
    """Return the i8 bank of each register (warp, reg), given as numbers or arrays that broadcast together.

    A design with its own rule (hrf: the warp's parity) is asked. If it is not installed, its banks
    are those of the machine's mapping. On the sub-core all have its banks (RULES.md, B11.2).
    """
    warps, regs = np.broadcast_arrays(np.asarray(warps, np.int64), np.asarray(regs, np.int64))
    if snapshot.info.is_machine_code:
        return np.asarray(warps % 4 * 2 + regs % 2)
    sm, chain = snapshot.sm, snapshot.info.design_spec.chain
    if not _maps_banks(chain):
        slots = sm["warp"]["reg_base"][warps].astype(np.int64) + regs
        mapped = registers.interleaved(int(sm["config"]["mapping"]), slots, warps, regs)
        return np.asarray(mapped % int(sm["config"]["num_banks"]))
    record = spec_record(snapshot.info.design_spec, snapshot.info.main_rows)
    if set(chain) <= set(BUILT_IN):     # plain arithmetic, which works on arrays
        return np.broadcast_to(hooks.bank_of(sm, snapshot.rf, record, warps, regs), warps.shape)
    numbers = [int(hooks.bank_of(sm, snapshot.rf, record, warp, reg)) for warp, reg in zip(warps.flat, regs.flat)]
    return np.array(numbers, np.int64).reshape(warps.shape)


def _maps_banks(chain: Iterable[str]) -> bool:
    """Return whether a chain of designs has its own mapping of registers to banks, as far as known."""
    try:
        return any(hasattr(find(name), "bank_of") for name in chain)
    except InputError:
        return False


_RECORDS: dict[str, Any] = {}


def spec_record(spec: DesignSpec, first_row: int) -> Any:
    """Rebuild a design's parameter record from the chain and values in a run's info; cached."""
    key = repr((spec.chain, [id(find(name)) for name in spec.chain], sorted(spec.values.items()), first_row))
    if key not in _RECORDS:
        built = build(variant_of(spec.chain), spec.values, "recorded")
        record = np.zeros(1, built.spec_dtype).view(np.recarray)[0]
        built.fill(record, first_row)
        _RECORDS[key] = record
    return _RECORDS[key]
