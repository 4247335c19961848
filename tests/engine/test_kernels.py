"""The bundled kernels: every launch file loads, references give the committed results, sizes fill the machine."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from math import erf, exp, log, sqrt

import numpy as np
import pytest

from rfview.engine import kernels
from rfview.engine.functional.machine import FunctionalSimulator
from rfview.engine.kernels.make import expected, reference_module
from rfview.engine.kernels.rounding import fma32, fma64
from rfview.engine.launch import LaunchError, load_launch_file
from rfview.engine.simulator import Simulator
from tests.test_house import REPOSITORY

NAMES = kernels.names()
MAX_THREADS, MAX_CTAS = 1536, 8  # of one SM in the fermi preset


def test_the_core_is_bundled():
    assert set(kernels.CORE) <= set(NAMES) and list(kernels.CORE) == sorted(kernels.CORE)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in kernels.CORE])
def test_kernels_beside_the_core_give_their_results(name):
    simulator = Simulator(load_launch_file(kernels.path(name)))
    simulator.run()
    assert simulator.verify() == (True, [])
    values = FunctionalSimulator(simulator.spec, module=simulator.module)
    values.run()
    assert memory_of(values) == memory_of(simulator)


@pytest.mark.parametrize("name", kernels.CORE)
def test_the_core_gives_its_results_by_values_only(name):
    values = FunctionalSimulator(load_launch_file(kernels.path(name)))
    values.run()
    assert values.verify() == (True, [])


def memory_of(simulator):
    return {name: array.tobytes() for name, array in {**simulator.buffers(), **simulator.symbols()}.items()}


def test_an_unknown_name_is_answered_with_the_nearest_and_the_command_that_lists_all():
    with pytest.raises(LaunchError, match=f"did you mean 'gemm'.*`rfview kernels` lists all {len(NAMES)}") as error:
        kernels.path("gem")
    assert "\n" not in str(error.value)
    with pytest.raises(LaunchError, match="no bundled kernel has this name; `rfview kernels`"):
        kernels.path("../gemm/gemm")


@pytest.mark.parametrize("name", NAMES)
def test_the_launch_file_loads_and_says_what_it_is(name):
    spec = load_launch_file(kernels.path(name))
    assert spec.name == name and spec.description and spec.expect and not spec.order_dependent
    entries = spec.module_path.read_text()
    assert all(f".visible .entry {launch.kernel}(" in entries for launch in spec.launches)
    assert (spec.module_path.parent / f"{name}.cu").is_file()


@pytest.mark.parametrize("name", NAMES)
def test_a_tolerance_above_1e_6_has_a_reason(name):
    for expect in load_launch_file(kernels.path(name)).expect.values():
        assert (expect.rtol <= 1e-6 and expect.atol <= 1e-6) or expect.reason


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_gives_the_committed_results(name):
    spec = load_launch_file(kernels.path(name))
    results = expected(name, spec)
    assert set(results) == set(spec.expect)
    for key, array in results.items():
        want = spec.expect[key]
        assert array.dtype == want.array.dtype and array.shape == want.array.shape
        # Library functions may differ in the last bit between versions of NumPy.
        assert np.allclose(array, want.array, rtol=want.rtol, atol=want.atol)


@pytest.mark.parametrize("name", NAMES)
def test_inputs_are_seeded(name):
    spec = load_launch_file(kernels.path(name))
    for key, array in getattr(reference_module(name), "inputs", dict)().items():
        held = np.load(kernels.FOLDER / name / f"{key}.npy")
        assert array.dtype == held.dtype and np.allclose(array, held, rtol=1e-6 if array.dtype.kind == "f" else 0.0)
        assert key in spec.path.read_text()


@pytest.mark.parametrize("name", kernels.CORE)
def test_the_first_launch_fills_every_cta_slot_twice(name):
    launch = load_launch_file(kernels.path(name)).launches[0]
    resident = min(MAX_CTAS, MAX_THREADS // launch.num_threads_per_cta)
    assert launch.num_ctas >= 2 * resident


@pytest.mark.parametrize("name", NAMES)
def test_the_folder_is_small(name):
    assert sum(file.stat().st_size for file in (kernels.FOLDER / name).iterdir() if file.is_file()) < 300_000


def test_results_are_near_the_textbook_formula():
    gemm = load_launch_file(kernels.path("gemm"))
    a, b, c = (gemm.buffers[name].array.astype(float) for name in "ABC")
    assert np.allclose(gemm.expect["C"].array, 1.5 * a @ b + 0.5 * c, rtol=1e-5)
    dot = load_launch_file(kernels.path("scalarprod"))
    a, b = (dot.buffers[name].array.astype(float) for name in "ab")
    assert np.allclose(dot.expect["out"].array, (a * b).sum(axis=1), rtol=1e-5)
    total = load_launch_file(kernels.path("reduction"))
    assert np.allclose(total.expect["sum"].array, total.buffers["in"].array.astype(float).sum(), rtol=1e-5)
    atax = load_launch_file(kernels.path("atax"))
    a, x = (atax.buffers[name].array.astype(float) for name in "Ax")
    assert np.allclose(atax.expect["y"].array, a.T @ (a @ x), rtol=1e-5)
    double = load_launch_file(kernels.path("gemm_double"))
    a, b, c = (double.buffers[name].array for name in "ABC")
    assert np.allclose(double.expect["C"].array, 1.5 * a @ b + 0.5 * c, rtol=1e-14)
    fwt = load_launch_file(kernels.path("fwt"))
    data, bits = fwt.buffers["data"].array.astype(float), np.arange(fwt.buffers["data"].array.size)
    for row in (0, 1, 5, 4096, 16383):
        signs = 1 - 2 * (np.bitwise_count(bits & row) & 1).astype(float)
        assert np.isclose(fwt.expect["data"].array[row], (signs * data).sum(), rtol=0, atol=1e-3)
    mriq = load_launch_file(kernels.path("mriq"))
    samples = mriq.symbols["samples"].array.astype(float)
    angle = np.stack([mriq.buffers[name].array.astype(float) for name in "xyz"], axis=1) @ samples[:, :3].T
    assert np.abs(angle).max() <= np.pi
    assert np.allclose(mriq.expect["q_real"].array, np.cos(angle) @ samples[:, 3], rtol=1e-5, atol=2e-5)
    assert np.allclose(mriq.expect["q_imag"].array, np.sin(angle) @ samples[:, 3], rtol=1e-5, atol=2e-5)


def test_both_ways_of_pricing_options_come_near_black_and_scholes():
    def call(spot: float, strike: float, log_growth: float, volatility: float) -> float:
        """Return the expected gain if log(end / spot) is normal with variance volatility squared."""
        def below(z: float) -> float:
            return (1 + erf(z / sqrt(2))) / 2

        z = (log(spot / strike) + log_growth) / volatility
        return spot * exp(log_growth + volatility**2 / 2) * below(z + volatility) - strike * below(z)

    paths = load_launch_file(kernels.path("montecarlo"))
    mean, mean_square = (paths.expect[name].array.astype(float) for name in ("mean", "mean_square"))
    exact = np.array([call(*option) for option in paths.buffers["options"].array.tolist()])
    assert np.all(np.abs(mean - exact) < 4 * np.sqrt((mean_square - mean**2) / 2048))
    tree = load_launch_file(kernels.path("binomial"))
    steps, options = 95, tree.buffers["options"].array.tolist()
    for (spot, strike, log_up, up, down), value in zip(options, tree.expect["value"].array):
        discount, volatility = (up + down)**steps, log_up * sqrt(steps)
        growth = -log(discount) - volatility**2 / 2
        assert np.isclose(value, discount * call(spot, strike, growth, volatility), rtol=0.01)


def test_some_keys_of_the_tree_are_missing_and_its_nodes_are_not_alike():
    btree = load_launch_file(kernels.path("btree"))
    found, used = btree.expect["found"].array, btree.buffers["used"].array
    assert 50 < (found < 0).sum() < 500 and set(used[1:].tolist()) >= {4, 5, 6, 7, 8}
    assert len(set(btree.expect["total"].array.tolist())) > 200


def test_fma32_rounds_once():
    state = np.random.RandomState(0)
    a, b, c = (state.randint(0, 2**32, 3000, dtype=np.uint32).view(np.float32) for _ in range(3))
    with np.errstate(over="ignore", invalid="ignore"):  # cancellation: the result is the product's rounding error
        c[:1000] = -(a[:1000].astype(np.float64) * b[:1000]).astype(np.float32)
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    a, b, c = a[finite], b[finite], c[finite]
    for x, y, z, got in zip(a, b, c, fma32(a, b, c)):
        exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        if np.isfinite(got):
            error = abs(Fraction(float(got)) - exact)
            for other in (np.nextafter(got, np.float32(np.inf)), np.nextafter(got, np.float32(-np.inf))):
                assert not np.isfinite(other) or error <= abs(Fraction(float(other)) - exact)
        else:
            assert abs(exact) > Fraction(float(np.finfo(np.float32).max))


def test_fma64_rounds_once():
    x = np.array([1 + 2.0**-52])
    assert fma64(x, x, -(x * x))[0] == 2.0**-104


@pytest.mark.parametrize("module", ["rfview.engine.kernels.make", "rfview.learn.make", "tests.corpus.make"])
def test_what_regenerates_files_refuses_a_name_that_it_does_not_know(module: str) -> None:
    done = subprocess.run([sys.executable, "-m", module, "no_such_one"], cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith("no_such_one: no such name") and done.stderr.count("\n") == 1
