"""References of bundled kernels against textbook algorithms and properties of their results."""

from __future__ import annotations

import numpy as np

from rfview.engine import kernels
from rfview.engine.kernels.make import expected, reference_module
from rfview.engine.launch import LaunchSpec, load_launch_file


def bundled(name: str, size: str = "small") -> LaunchSpec:
    """Return a kernel's launch file."""
    return load_launch_file(kernels.path(name, size))


def test_a_fourier_transform_is_numpys() -> None:
    spec = bundled("fft8")
    data, output = (array.astype(float) for array in (spec.buffers["input"].array, spec.expect["output"].array))
    given, got = (pairs[..., 0] + 1j * pairs[..., 1] for pairs in (data, output))
    assert np.allclose(got, np.fft.fft(given), rtol=0, atol=1e-4)


def test_gram_and_schmidt_give_orthonormal_columns_that_make_the_matrix_again() -> None:
    for name, near in (("gramschmidt", 1e-5), ("gramschmidt_double", 1e-13)):
        spec = bundled(name)
        q, r = spec.expect["Q"].array.astype(float), spec.expect["R"].array.astype(float)
        assert np.allclose(q.T @ q, np.eye(len(r)), rtol=0, atol=near)
        assert np.allclose(q @ r, spec.buffers["A"].array, rtol=0, atol=near) and np.array_equal(r, np.triu(r))


def test_matrix_products_of_doubles_are_numpys() -> None:
    dgemm, spmv = bundled("dgemm"), bundled("spmv", "full")
    a, b, c = (dgemm.buffers[name].array for name in "ABC")
    assert np.allclose(dgemm.expect["C"].array, (a.T @ b).T + 0.5 * c, rtol=1e-14)
    values, columns, x = (spmv.buffers[name].array for name in ("values", "columns", "x"))
    matrix = np.zeros((len(x), len(x)))
    for row in range(len(x)):
        places = spmv.symbols["diagonal"].array[:spmv.symbols["length"].array[row // 32]] + row
        np.add.at(matrix[row], columns[places], values[places])
    assert np.allclose(expected("spmv", spmv)["y"], matrix @ x, rtol=1e-5)


def test_a_potential_is_the_sum_over_all_atoms_within_the_cut_off() -> None:
    spec = bundled("cutcp")
    bins, potential = spec.buffers["bins"].array.astype(float), spec.expect["potential"].array
    corner = np.stack(np.meshgrid(*(np.arange(size) - 1 for size in bins.shape[:3]), indexing="ij"), -1)[..., None, :]
    places = 4 * (corner + bins[..., 2::-1]).reshape(-1, 3)
    points = 0.5 * np.stack(np.meshgrid(*(np.arange(size) for size in potential.shape), indexing="ij"), -1)
    square = ((points[..., None, :] - places) ** 2).sum(axis=-1)
    terms = np.where(square < 16, bins[..., 3].ravel() / np.sqrt(square) * (1 - square / 16) ** 2, 0)
    assert np.allclose(potential, terms.sum(axis=-1), rtol=1e-5) and potential.min() < 0.5 * potential.max()


def test_compressed_tiles_look_more_like_the_image_than_their_mean_colour() -> None:
    spec = bundled("dxtc", "full")
    image, tiles = spec.buffers["image"].array, expected("dxtc", spec)["compressed"]
    height, width = image.shape
    pixels = image.reshape(height // 4, 4, width // 4, 4).transpose(0, 2, 1, 3).reshape(-1, 16)
    colours = np.stack([pixels >> shift & 255 for shift in (0, 8, 16)], -1) / 255
    packed = tiles[:, 0] & 65535, tiles[:, 0] >> 16
    ends = [np.stack([part >> 11, part >> 5 & 63, part & 31], -1) / (31, 63, 31) for part in packed]
    codes = tiles[:, 1, None] >> 2 * np.arange(16, dtype=np.uint32) & 3
    share = np.array([1, 0, 2 / 3, 1 / 3])[codes][..., None]
    decoded = share * ends[0][:, None] + (1 - share) * ends[1][:, None]
    mean = colours.mean(axis=1, keepdims=True)
    error, plain = (((colours - other) ** 2).sum(axis=(1, 2)) for other in (decoded, mean))
    assert np.all(packed[0] >= packed[1]) and np.all(error < 0.8 * plain)


def test_an_adjoint_is_the_derivative_of_the_payments() -> None:
    spec, libor = bundled("libor", "full"), reference_module("libor")
    noise, slope = spec.buffers["noise"].array, expected("libor", spec)["slope"]
    low, high = (libor.payment(libor.walk(noise, 0.05 + by)[-1], len(noise))[0].astype(float) for by in (-1e-3, 1e-3))
    kinked = np.abs((high - low) / 2e-3 - slope) > 0.05         # those in which a swaption begins to pay in between
    assert np.mean(kinked) < 0.05 and np.abs(slope).mean() > 10


def test_normal_numbers_are_normal() -> None:
    spec = bundled("mersenne", "full")
    output = expected("mersenne", spec)["output"].astype(float)
    assert abs(output.mean()) < 0.01 and abs(output.std() - 1) < 0.01
    assert abs((np.abs(output) < 1).mean() - 0.6827) < 0.005
    assert np.abs(np.corrcoef(output[:8])[~np.eye(8, dtype=bool)]).max() < 0.06


def test_water_of_a_column_only_moves_and_changes() -> None:
    spec = bundled("weather", "full")
    before = {name: held.array.astype(float) for name, held in spec.buffers.items()}
    weather = reference_module("weather")
    names = ("heat", "vapour", "cloud", "rain", "pressure")
    _, qv, qc, qr, rho, _ = weather.changed(*(spec.buffers[name].array for name in names))
    water = before["vapour"] + before["cloud"] + before["rain"]
    assert np.allclose(qv.astype(float) + qc + qr, water, rtol=1e-4) and min(qv.min(), qc.min(), qr.min()) >= 0
    rain, ground = weather.fall(qr, rho, np.full(qr.shape, np.float32(8)))
    column = (rho.astype(float) * qr).sum(axis=0)
    assert np.allclose((rho.astype(float) * rain).sum(axis=0) + ground / 500, column, rtol=1e-4)
    assert ground.mean() > 0.1 and ground.min() >= 0


def test_queens_stand_in_as_many_ways_as_is_known() -> None:
    for size, ways in (("small", 4), ("full", 724)):
        assert expected("nqueens", bundled("nqueens", size))["solutions"].sum() == ways
