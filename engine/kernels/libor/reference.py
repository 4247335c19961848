"""NumPy reference of libor: all paths at once, the kernel's operations in its order; exponentials from float64."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma32

RATES = {2: 6, 8: 16}       # by steps: of the small size, of the full one
DELTA, LOG2E, ONE = np.float32(0.25), np.float32(np.log2(np.e)), np.float32(1)
VOLATILITY = np.array([20, 21, 22, 22, 23, 23, 22, 21, 20, 20, 19, 19, 18, 18, 17, 17, 16, 16, 15, 15]) / 100
VOLATILITY = VOLATILITY.astype(np.float32)
OPTIONS = ((2, 0.045), (5, 0.05), (8, 0.055), (11, 0.05))


def growth(rate: np.ndarray) -> np.ndarray:
    """Return 1 + DELTA rate."""
    return fma32(DELTA, rate, ONE)


def walk(noise: np.ndarray, last: float = 0.05) -> list[list[np.ndarray]]:
    """Return every path's rates before each step and after the last; all begin as 0.05, the last of them as told."""
    first = [0.05] * (RATES[len(noise)] - 1) + [last]
    rates, kept = [np.full(noise.shape[1], np.float32(rate)) for rate in first], []
    for n in range(len(noise)):
        kept.append(list(rates))
        shock, total = np.float32(0.5) * noise[n], np.float32(0)
        for i in range(n + 1, len(rates)):
            vol = VOLATILITY[i - n - 1]
            part = DELTA * vol
            total = fma32(part, rates[i] / growth(rates[i]), total)
            exponent = fma32(part, total, vol * fma32(np.float32(-0.5), part, shock)) * LOG2E
            rates[i] = rates[i] * np.exp2(exponent.astype(np.float64)).astype(np.float32)
    return [*kept, rates]


def payment(rates: list[np.ndarray], steps: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return what the swaptions pay, and its derivatives by the last rates."""
    zero, later = np.zeros(len(rates[0]), np.float32), len(rates) - steps
    bond, total, bonds, totals = ONE, zero, [], []
    bond_adjoint, sum_adjoint, paid, discount = [zero] * later, [zero] * later, zero, ONE
    for rate in rates[steps:]:
        bond = bond / growth(rate)
        total = fma32(DELTA, bond, total)
        bonds.append(bond)
        totals.append(total)
    for maturity, swap_rate in OPTIONS:
        m = maturity * later // 12
        value = fma32(np.float32(swap_rate), totals[m], bonds[m]) - ONE
        pays = value < 0
        paid = np.where(pays, fma32(np.float32(-100), value, paid), paid)
        bond_adjoint[m] = np.where(pays, bond_adjoint[m] - np.float32(100), bond_adjoint[m])
        sum_adjoint[m] = np.where(pays, fma32(np.float32(-100), np.float32(swap_rate), sum_adjoint[m]), sum_adjoint[m])
    for rate in rates[:steps]:
        discount = discount / growth(rate)
    paid = paid * discount
    carried, sum_carried, last = zero, zero, []
    for m in reversed(range(later)):
        sum_carried = sum_carried + sum_adjoint[m]
        carried = fma32(DELTA, sum_carried, bond_adjoint[m] + carried) / growth(rates[steps + m])
        last.insert(0, -DELTA * discount * carried * bonds[m])
    return paid, [*(-DELTA * paid / growth(rate) for rate in rates[:steps]), *last]


def reference(memory: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return each path's payment, and its derivative by the last of the first rates."""
    kept = walk(memory["noise"])
    steps, rates = len(kept) - 1, len(kept[0])
    paid, adjoint = payment(kept[steps], steps)
    for n in reversed(range(steps)):
        carried = np.float32(0)
        for i in reversed(range(n + 1, rates)):
            before, after, part = kept[n][i], kept[n + 1][i], DELTA * VOLATILITY[i - n - 1]
            carried = fma32(part * after, adjoint[i], carried)
            adjoint[i] = fma32(carried, part / (growth(before) * growth(before)), after / before * adjoint[i])
    return {"value": paid, "slope": adjoint[-1]}
