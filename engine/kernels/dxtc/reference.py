"""NumPy reference of dxtc, all tiles and groupings at once, and the table of groupings."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma32

PIXELS = 16
THIRD, BYTE = np.float32(0.333333343), np.float32(0.00392156886)
COUNTS = {False: 192, True: 965}      # groupings tried in the small size, in the full one
CODES = np.array([1, 3, 2, 0], np.uint32)       # of 0, 1, 2 and 3 thirds of the start


def inputs() -> dict[str, np.ndarray]:
    """Return every way to cut sixteen sorted colours into four groups, but for those of one group alone."""
    ways = []
    for first in range(PIXELS + 1):
        for second in range(first, PIXELS + 1):
            for third in range(second, PIXELS + 1):
                sizes = (first, second - first, third - second, PIXELS - third)
                if max(sizes) < PIXELS:
                    weights = np.repeat([3, 2, 1, 0], sizes)
                    ways.append(sum(int(weight) << 2 * i for i, weight in enumerate(weights)))
    return {"groupings": np.random.RandomState(117).permutation(np.array(ways, np.uint32))}


def on_grid(x: np.ndarray, levels: int) -> np.ndarray:
    """Return components as the nearest of levels + 1 steps."""
    return np.rint(np.clip(x, np.float32(0), np.float32(1)) * np.float32(levels)) / np.float32(levels)


def fit(colours: np.ndarray, groupings: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray]:
    """Return starts and ends by component, and errors, of sorted colours (3, 16, tiles, 1) for groupings."""
    zero = np.zeros(np.broadcast_shapes(colours.shape[2:], groupings.shape), np.float32)
    start_2 = end_2 = both = zero
    start_x, end_x = [zero] * 3, [zero] * 3
    for i in range(PIXELS):
        weight = (groupings >> np.uint32(2 * i) & np.uint32(3)).astype(np.float32) * THIRD
        rest = np.float32(1) - weight
        start_2, end_2, both = fma32(weight, weight, start_2), fma32(rest, rest, end_2), fma32(weight, rest, both)
        start_x = [fma32(weight, colour[i], total) for colour, total in zip(colours, start_x)]
        end_x = [fma32(rest, colour[i], total) for colour, total in zip(colours, end_x)]
    factor = np.float32(1) / fma32(start_2, end_2, -(both * both))
    starts, ends, error = [], [], zero
    for levels, from_start, from_end in zip((31, 63, 31), start_x, end_x):
        a = on_grid(fma32(from_start, end_2, -(from_end * both)) * factor, levels)
        b = on_grid(fma32(from_end, start_2, -(from_start * both)) * factor, levels)
        cross = fma32(a, b * both, -fma32(a, from_start, b * from_end))
        error = error + fma32(np.float32(2), cross, fma32(a * a, start_2, b * b * end_2))
        starts.append(a)
        ends.append(b)
    return starts, ends, error


def axis(colours: np.ndarray) -> list[np.ndarray]:
    """Return the principal axis of each tile's colours (3, 16, tiles), its largest component about 1."""
    apart = []
    for colour in colours:
        total = np.zeros(colour.shape[1], np.float32)
        for one in colour:
            total = total + one
        apart.append(colour - total * np.float32(0.0625))
    sums = []
    for first, second in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
        product = apart[first] * apart[second]
        while len(product) > 1:
            product = product[:len(product) // 2] + product[len(product) // 2:]
        sums.append(product[0])
    x = y = z = np.ones(colours.shape[2], np.float32)
    for _ in range(8):
        new = [fma32(sums[i], x, fma32(sums[j], y, sums[k] * z)) for i, j, k in ((0, 1, 2), (1, 3, 4), (2, 4, 5))]
        scale = np.float32(1) / np.maximum(np.max(np.abs(new), axis=0), np.float32(1e-20))
        x, y, z = (one * scale for one in new)
    return [x, y, z]


def reference(memory: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return every tile's two colours and the codes of its pixels."""
    height, width = memory["image"].shape
    pixels = memory["image"].reshape(height // 4, 4, width // 4, 4).transpose(1, 3, 0, 2).reshape(PIXELS, -1)
    colours = np.stack([(pixels >> np.uint32(8 * k) & np.uint32(255)).astype(np.float32) * BYTE for k in range(3)])
    x, y, z = axis(colours)
    along = fma32(colours[0], x, fma32(colours[1], y, colours[2] * z))
    order = np.argsort(along, axis=0, kind="stable")
    places = np.argsort(order, axis=0, kind="stable")
    sorted_colours = np.take_along_axis(colours, order[None], 1)[..., None]
    tried = memory["groupings"][:COUNTS[len(memory["compressed"]) > 2]]
    best = tried[np.argmin(fit(sorted_colours, tried)[2], axis=1)][:, None]
    starts, ends, _ = fit(sorted_colours, best)
    start, end = (sum(np.rint(one[:, 0] * np.float32(levels)).astype(np.uint32) << np.uint32(shift)
                      for one, levels, shift in zip(some, (31, 63, 31), (11, 5, 0))) for some in (starts, ends))
    weights = best[:, 0] >> (2 * places).astype(np.uint32) & np.uint32(3)
    codes = np.bitwise_or.reduce(CODES[weights] << 2 * np.arange(PIXELS, dtype=np.uint32)[:, None], axis=0)
    swapped = start < end
    codes = np.where(swapped, codes ^ np.uint32(0x55555555), codes)
    high, low = np.maximum(start, end), np.minimum(start, end)
    return {"compressed": np.stack([high | low << np.uint32(16), codes], axis=1).astype(np.uint32)}
