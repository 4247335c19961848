"""Compares a run's memory with expected results, and measures the error of an approximate result."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rfview.engine.launch.spec import Expect, LaunchSpec
from rfview.engine.launch.table import LaunchError

METRICS = ("rmse", "psnr", "exact", "max_rel")


@dataclass(frozen=True)
class Mismatch:
    """One array that differs from the expected one; index, expected and got are those of its first wrong element."""

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


def verify(spec: LaunchSpec, final_arrays: Mapping[str, np.ndarray]) -> list[Mismatch]:
    """Compare the memory after the last launch with all expectations; an empty list means that all are met.

    final_arrays: buffers and symbols by name, with the bytes of the expected arrays in any shape. NaN equals NaN,
    0.0 equals -0.0, infinities equal themselves. Raises LaunchError if an expected array is missing or has a wrong size.
    """
    mismatches = []
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
            mismatches.append(mismatch)
    return mismatches


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
    with np.errstate(invalid="ignore", over="ignore"):
        # An infinite error is never within a tolerance, not even of an infinite expected value.
        same |= np.isfinite(absolute) & (absolute <= expect.atol + expect.rtol * scale)
    wrong = ~same
    if not wrong.any():
        return None
    index = tuple(int(i) for i in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
    return Mismatch(expect.name, int(wrong.sum()), wrong.size, index, want[index].item(), got[index].item(),
                    float(np.max(absolute[wrong])), float(np.max(relative[wrong])))


def _errors(want: np.ndarray, got: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return absolute and relative errors as float64; inf where only one of both is NaN or infinite."""
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
