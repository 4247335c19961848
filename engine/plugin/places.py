"""Where a register is: its bank, and the place of its newest value, in a live or recorded snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from rfview.engine import hooks
from rfview.engine.errors import InputError
from rfview.engine.machine import registers
from rfview.engine.plugin.finding import find
from rfview.engine.plugin.registry import BUILT_IN
from rfview.engine.plugin.variants import build, variant_of


def locates(chain: Iterable[str]) -> bool:
    """Return whether a chain of designs may keep a register's newest value outside its main row."""
    return any(hasattr(find(name), "locate") for name in chain)


def in_main_rows(spec: Mapping[str, Any]) -> bool:
    """Return whether every register's newest value is in its main row. spec: a run's info["design_spec"].

    The run may say so itself, so that it can be shown without its design.
    """
    return not (spec["locates"] if "locates" in spec else locates(spec["chain"]))


def locate(snapshot: Any, warp: int, reg: int) -> np.ndarray:
    """Return the (32,) u4 newest value of a register in a snapshot, from wherever the design keeps each lane."""
    spec = snapshot.info["design_spec"]
    if in_main_rows(spec):
        return np.array(snapshot.rows[int(snapshot.sm["warp"][warp]["reg_base"]) + reg])
    record = spec_record(spec, int(snapshot.info["main_rows"]))
    rows = [int(hooks.locate(snapshot.sm, snapshot.rf, record, warp, reg, lane)) for lane in range(32)]
    return np.array(snapshot.rows[rows, np.arange(32)])


def banks(snapshot: Any, warps: Any, regs: Any) -> np.ndarray:
    """Return the i8 bank of each register (warp, reg), given as numbers or arrays that broadcast together.

    A design with its own rule (hrf: the warp's parity) is asked. If it is not installed, its banks
    are those of the machine's mapping.
    """
    warps, regs = np.broadcast_arrays(np.asarray(warps, np.int64), np.asarray(regs, np.int64))
    sm, chain = snapshot.sm, snapshot.info["design_spec"]["chain"]
    if not _maps_banks(chain):
        slots = sm["warp"]["reg_base"][warps].astype(np.int64) + regs
        mapped = registers.interleaved(int(sm["config"]["mapping"]), slots, warps, regs)
        return np.asarray(mapped % int(sm["config"]["num_banks"]))
    record = spec_record(snapshot.info["design_spec"], int(snapshot.info["main_rows"]))
    if set(chain) <= set(BUILT_IN):     # plain arithmetic, which works on arrays
        return np.broadcast_to(hooks.bank_of(sm, snapshot.rf, record, warps, regs), warps.shape)
    found = [int(hooks.bank_of(sm, snapshot.rf, record, warp, reg)) for warp, reg in zip(warps.flat, regs.flat)]
    return np.array(found, np.int64).reshape(warps.shape)


def _maps_banks(chain: Iterable[str]) -> bool:
    """Return whether a chain of designs has its own mapping of registers to banks, as far as known."""
    try:
        return any(hasattr(find(name), "bank_of") for name in chain)
    except InputError:
        return False


_RECORDS: dict[str, Any] = {}


def spec_record(spec: Mapping[str, Any], first_row: int) -> Any:
    """Rebuild a design's parameter record from the chain and values in a run's info; cached."""
    chain = list(spec["chain"])
    key = repr((chain, [id(find(name)) for name in chain], sorted(spec["values"].items()), first_row))
    if key not in _RECORDS:
        built = build(variant_of(chain), spec["values"], "recorded")
        record = np.zeros(1, built.spec_dtype).view(np.recarray)[0]
        built.fill(record, first_row)
        _RECORDS[key] = record
    return _RECORDS[key]
