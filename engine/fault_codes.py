"""Faults of a running kernel, as codes in sm.error; machine/faults.py turns each into a message."""

from __future__ import annotations

(NO_FAULT, UNMAPPED, MISALIGNED, READ_ONLY, SHARED_RANGE, LOCAL_RANGE, DEADLOCK, SYNC_LANES, TRAP, CYCLE_LIMIT, ASSERTION,
 SPLITS_FULL, PARAM_RANGE, TEXTURE, CALL, SURFACE, BARRIER) = range(17)
