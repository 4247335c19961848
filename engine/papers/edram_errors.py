"""The effect of approximate refresh on kernels' outputs: errors over seeds, and the rows of the eDRAM paper's Table 2."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from rfview.engine.papers import Number
from rfview.engine.papers.lab import Lab, average, mean
from rfview.engine.launch import quality

SEEDS = (0, 1, 2)          # the worst of three, as in the paper
ERRORS = ("the paper's bit error model is not public: ours is a lognormal retention with 2e-5 at 8 T0 (B4.7), drawn at "
          "every T0 for cells of 2^M T0, as in its step 1 (B4.11)")
LITERAL = {"error_mode": "literal"}     # step 1 of the paper's error injection (B4.11)
POLYBENCH = ("2dconv", "2mm", "3dconv", "3mm", "atax", "bicg", "corr", "covar", "fdtd-2d", "gemm", "gesummv", "gramschmidt",
             "syrk", "syr2k")          # the rows of Table 2 that have an RMSE, and hotspot
CUT_OFF = {"gramschmidt": "Gramschm"}     # as printed in Table 2


@dataclass(frozen=True)
class OutputTest:
    """A program's own test of its output: a value passes if its error is at most one of the three tolerances.

    relative: to the value; absolute; of_largest: relative to the array's largest magnitude. of_sum: the sum of magnitudes
    has to agree as well, with this relative tolerance (None: not tested). source: where the suite says so.
    """

    relative: float
    source: str
    absolute: float = 0.0
    of_largest: float = 0.0
    of_sum: float | None = None

    def passes(self, wanted: np.ndarray, got: np.ndarray) -> bool:
        """Say whether an output passes; values that are not finite have to be the same."""
        wanted, got = wanted.astype(np.float64), got.astype(np.float64)
        same = (wanted == got) | (np.isnan(wanted) & np.isnan(got))
        finite = np.isfinite(wanted) & np.isfinite(got)
        largest = np.abs(wanted[np.isfinite(wanted)]).max(initial=0.0)
        allowed = np.maximum(self.relative * np.abs(wanted), max(self.absolute, self.of_largest * largest))
        error = np.abs(np.where(finite, got, 0.0) - np.where(finite, wanted, 0.0))
        if not np.all(same | (finite & (error <= allowed))):
            return False
        if self.of_sum is None:
            return True
        total = np.abs(wanted[finite]).sum()
        return bool(abs(np.abs(got[finite]).sum() - total) <= self.of_sum * total)


PARBOIL = "Parboil 2.5, tools/compare-output of the program"
# cutcp's script lets a point be 200 times its value away, where its comment says 0.5 %; the sum of magnitudes decides
PASS_OR_FAIL = {
    "cutcp": OutputTest(0.005, f"{PARBOIL}; points by its comment, since its formula accepts any", of_sum=0.0025),
    "mri-q": OutputTest(0.002, PARBOIL, of_largest=1e-4),
    "sgemm": OutputTest(0.01, PARBOIL, absolute=0.01),
    "spmv": OutputTest(0.002, PARBOIL, of_largest=1e-4),
}


def run(lab: Lab, names: Iterable[str] | None = None, *, outputs: bool = False, **options: Any) -> dict[str, Any]:
    """Run edram with given options."""
    text = ",".join(f"{key}={option}" for key, option in options.items())
    return lab.many(f"edram[{text}]" if text else "edram", "gto", names=names, outputs=outputs)


def bits_lost(lab: Lab, names: Iterable[str] | None, **options: Any) -> tuple[float, str]:
    """Return the mean number of bits that a run loses, over kernels and seeds, and the unit."""
    lost = [float(result["counts"]["bits_lost"]) for seed in SEEDS
            for result in run(lab, lab.kernels if names is None else names, outputs=True, seed=seed, **LITERAL,
                              **options).values()]
    return sum(lost) / max(len(lost), 1), "bits lost"


def errors(lab: Lab, names: Iterable[str] | None = None, metric: str = "rmse", **options: Any) -> dict[str, float]:
    """Return the worst error of three seeds against the exact run, per kernel, in percent; inf if a run misbehaved."""
    chosen = lab.kernels if names is None else lab.of(names)
    exact = lab.many("sram", "gto", names=chosen, outputs=True)
    by_kernel = dict.fromkeys(chosen, 0.0)
    for seed in SEEDS:
        for name, result in run(lab, chosen, outputs=True, seed=seed, **LITERAL, **options).items():
            if result["misbehaved"]:
                by_kernel[name] = math.inf
                continue
            wanted = exact[name]["outputs"]
            worst = max(quality("rmse", array, result["outputs"][key])[metric] for key, array in wanted.items())
            by_kernel[name] = max(by_kernel[name], 100 * worst)
    return by_kernel


def rmse(lab: Lab, names: Iterable[str] | None, note: str = ERRORS, **options: Any) -> Number:
    """Return the mean error."""
    return replace(average(errors(lab, names, **options), note), acted=bits_lost(lab, names, **options))


def double_over_single(lab: Lab) -> Number:
    """Return the mean error of the programs in double precision over that of the same ones in single precision."""
    pairs = {f"{name}_double": name for name in lab.single if f"{name}_double" in lab.double}
    single, double = errors(lab, pairs.values()), errors(lab, pairs)
    ran, wrong = (*pairs, *pairs.values()), mean(single)
    note = f"mean RMSE {mean(double):.2g} % of doubles, {wrong:.2g} % of floats, in {len(pairs)} programs"
    return Number(mean(double) / wrong if wrong else math.nan, note, kernels=ran, acted=bits_lost(lab, ran))


def best_m(lab: Lab) -> Number:
    """Return the largest counter width with which the worst kernel's error is below 1 %."""
    worst = {m: max(errors(lab, m=m).values(), default=math.nan) for m in (1, 2, 3, 4)}
    good = [m for m, error in worst.items() if error < 1]
    listed = ", ".join(f"{m}: {error:.2g}" for m, error in worst.items())
    ran = lab.kernels
    return Number(max(good, default=0) if ran else math.nan, f"worst kernel's RMSE in % by m: {listed}; {ERRORS}",
                  kernels=ran, acted=bits_lost(lab, ran, m=max(worst)))


def single_called(lab: Lab, name: str) -> tuple[str, ...]:
    """Return the kernel with this name in Table 2, in single precision, or none."""
    return tuple(one for one in lab.called(name) if one in lab.single)


def row_of_table_2(lab: Lab, name: str) -> Number:
    """Return the error of a kernel of Table 2."""
    names = single_called(lab, name)
    return rmse(lab, names) if names else Number(math.nan, lab.missing(name))


def outputs(lab: Lab, names: tuple[str, ...]) -> Iterable[tuple[np.ndarray, np.ndarray, bool]]:
    """Yield each array of the exact run, the same of an approximate run with each seed, and whether that run misbehaved."""
    exact = lab.many("sram", "gto", names=names, outputs=True)
    for seed in SEEDS:
        for name, result in run(lab, names, outputs=True, seed=seed, **LITERAL).items():
            for key, wanted in exact[name]["outputs"].items():
                yield wanted, result["outputs"][key], bool(result["misbehaved"])


def same(lab: Lab, name: str) -> Number:
    """Return 1 if a kernel passes its suite's own output test with all seeds, 0 if not."""
    names = single_called(lab, name)
    if not names:
        return Number(math.nan, lab.missing(name))
    test = PASS_OR_FAIL[name]
    failed = sum(broken or not test.passes(wanted, got) for wanted, got, broken in outputs(lab, names))
    note = f"tolerance {test.relative:g} of each value" + "".join(
        f", {tolerance:g} {of}" for tolerance, of in (
            (test.absolute, "absolute"), (test.of_largest, "of the largest"), (test.of_sum, "of the sum")) if tolerance)
    return Number(float(not failed), f"{note} ({test.source}); three seeds", kernels=names, acted=bits_lost(lab, names))


def picture(lab: Lab, name: str) -> Number:
    """Return the worst PSNR of a kernel's outputs in dB."""
    names = single_called(lab, name)
    if not names:
        return Number(math.nan, lab.missing(name))
    worst = min(-math.inf if broken else quality("psnr", wanted, got)["psnr"] for wanted, got, broken in outputs(lab, names))
    return Number(worst, "worst of three seeds", kernels=names, acted=bits_lost(lab, names))


def mismatches(lab: Lab, name: str) -> Number:
    """Return how many values of a kernel's integer outputs differ, with the worst of three seeds."""
    names = single_called(lab, name)
    if not names:
        return Number(math.nan, lab.missing(name))
    whole = [(wanted, got, broken) for wanted, got, broken in outputs(lab, names) if wanted.dtype.kind in "iu"]
    worst = max((wanted.size if broken else int((wanted != got).sum()) for wanted, got, broken in whole), default=math.nan)
    return Number(worst, "assignments, worst of three seeds", kernels=names, acted=bits_lost(lab, names))


TABLE_2: dict[str, Callable[[Lab], Number]] = {
    **{f"edram-t2-{name}": partial(row_of_table_2, name=CUT_OFF.get(name, name)) for name in (*POLYBENCH, "hotspot")},
    **{f"edram-t2-{name}": partial(same, name=name) for name in PASS_OR_FAIL},
    "edram-t2-srad": lambda lab: picture(lab, "srad"),
    "edram-t2-streamcluster": lambda lab: mismatches(lab, "streamcluster"),
}
