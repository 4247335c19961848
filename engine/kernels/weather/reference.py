"""NumPy reference of weather: all columns at once, the kernel's operations in its order, exponentials from float64."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma32

STEPS, STEP, THICKNESS = 2, np.float32(20), np.float32(500)
LOG2E, LN2 = np.float32(np.log2(np.e)), np.float32(np.log(2))
F = np.float32


def exponential(x: np.ndarray) -> np.ndarray:
    """Return e to a power, as ex2.approx of a rounded product."""
    return np.exp2((x * LOG2E).astype(np.float64)).astype(np.float32)


def power(x: np.ndarray, exponent: float) -> np.ndarray:
    """Return x to a power; x that are 0 give anything finite."""
    logarithm = np.log2(np.maximum(x, F(1e-30)).astype(np.float64)).astype(np.float32) * LN2
    return exponential(F(exponent) * logarithm)


def changed(t: np.ndarray, qv: np.ndarray, qc: np.ndarray, qr: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return temperature, vapour, cloud and rain after a step of changes, density, and the speed of the rain."""
    rho = p / (F(287) * t)
    steam = F(610.78) * exponential(F(17.27) * (t - F(273.16)) / (t - F(35.86)))
    saturated = F(0.622) * steam / (p - steam)
    gain = np.maximum((qv - saturated) / fma32(F(10.5) * saturated / (t * t), F(1e6), F(1)), -qc)
    qv, qc, t = qv - gain, qc + gain, fma32(F(2488), gain, t)
    grown = np.where(qc > F(0.0005), F(0.001) * STEP * (qc - F(0.0005)), F(0))
    caught = fma32(F(2.2) * STEP * qc, power(qr, 0.875), grown)
    grown = np.minimum(np.where((qc > 0) & (qr > F(1e-9)), caught, grown), qc)
    qc, qr = qc - grown, qr + grown
    dries = (qv < saturated) & (qr > F(1e-9))
    lost = np.minimum(F(0.004) * STEP * (F(1) - qv / saturated) * power(rho * qr, 0.525), qr)
    lost = np.where(dries, np.minimum(lost, saturated - qv), F(0))
    qr, qv, t = qr - lost, qv + lost, np.where(dries, fma32(F(-2488), lost, t), t)
    speed = np.where(qr > F(1e-9), F(14.2) * power(rho * qr, 0.1364) / np.sqrt(rho), F(0))
    return t, qv, qc, qr, rho, speed


def fall(rain: np.ndarray, rho: np.ndarray, speed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rain of each level after its fall, and what reached the ground."""
    rain, ground = rain.copy(), np.zeros(rain.shape[1:], np.float32)
    parts = (speed.max(axis=0) * (STEP / THICKNESS)).astype(np.int32) + 2
    scale = STEP / THICKNESS / parts.astype(np.float32)
    for part in range(parts.max()):
        falls, coming = part < parts, np.zeros(rain.shape[1:], np.float32)
        for k in reversed(range(len(rain))):
            leaving = rho[k] * rain[k] * (speed[k] * scale)
            rain[k] = np.where(falls, rain[k] + (coming - leaving) / rho[k], rain[k])
            coming = leaving
        ground = np.where(falls, fma32(THICKNESS, coming, ground), ground)
    return rain, ground


def reference(memory: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the state of the air after all steps, and the rain on the ground."""
    names = ("heat", "vapour", "cloud", "rain")
    state, fallen = [memory[name] for name in names], memory["fallen"]
    for _ in range(STEPS):
        *state, rho, speed = changed(*state, memory["pressure"])
        state[3], ground = fall(state[3], rho, speed)
        fallen = fallen + ground
    return {**dict(zip(names, state)), "fallen": fallen}
