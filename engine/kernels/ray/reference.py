"""NumPy reference of ray: every ray of the image at once, those that have ended masked."""

from __future__ import annotations

import numpy as np

from rfview.engine.kernels.rounding import fma32

FAR, NEAR = np.float32(100), np.float32(0.001)
BOUNCES = {False: 3, True: 5}       # rays of a pixel in the small size, in the full one
LIGHT = [np.float32(0.577350259), np.float32(0.577350259), np.float32(-0.577350259)]
SKY = np.array([0.5, 0.7, 1.0], np.float32)[:, None, None]
Vector = list[np.ndarray]


def dot(a: Vector, b: Vector) -> np.ndarray:
    """Return a scalar product."""
    return fma32(a[0], b[0], fma32(a[1], b[1], a[2] * b[2]))


def along(a: Vector, t: np.ndarray, b: Vector) -> Vector:
    """Return a + t b."""
    return [fma32(t, y, x) for x, y in zip(a, b)]


def nearest(centres: Vector, radii: np.ndarray, start: Vector, to: Vector) -> tuple[np.ndarray, np.ndarray]:
    """Return how far along each ray a sphere is met, FAR if none, and which (-1)."""
    least, which = np.full(start[0].shape, FAR), np.full(start[0].shape, -1)
    for i, radius in enumerate(radii):
        apart = along([centre[i] for centre in centres], np.float32(-1), start)
        b = dot(apart, to)
        inside = fma32(b, b, fma32(radius, radius, -dot(apart, apart)))
        t = b - np.sqrt(np.maximum(inside, 0))
        better = (inside > 0) & (t > NEAR) & (t < least)
        least, which = np.where(better, t, least), np.where(better, i, which)
    return least, which


def first_rays(height: int, width: int) -> Vector:
    """Return the unit vectors from the eye through the pixels."""
    x = (2 * np.arange(width) + 1 - width).astype(np.float32) / np.float32(width)
    y = (height - 2 * np.arange(height) - 1).astype(np.float32) / np.float32(width)
    to = [np.broadcast_to(x, (height, width)), np.broadcast_to(y[:, None], (height, width)), np.float32(2)]
    return along([np.float32(0)] * 3, np.float32(1) / np.sqrt(dot(to, to)), to)


def reference(memory: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the image, eight bits per colour."""
    shape = memory["image"].shape
    scale = zip(memory["spheres"].T[:3], (4, 2, 5), (-2, -0.8, 1))
    centres = [fma32(part, np.float32(by), np.float32(to)) for part, by, to in scale]
    radii = fma32(memory["spheres"][:, 3], np.float32(0.5), np.float32(0.3))
    zero, to = np.zeros(shape, np.float32), first_rays(*shape)
    start = [zero, zero + np.float32(0.5), zero - np.float32(4)]
    colour, weight, alive = np.zeros((3, *shape), np.float32), np.float32(1), np.ones(shape, bool)
    for _ in range(BOUNCES[shape[1] > 16]):
        t, which = nearest(centres, radii, start, to)
        with np.errstate(divide="ignore"):
            down = (np.float32(-1) - start[1]) / to[1]
        floor = (to[1] < 0) & (down > NEAR) & (down < t)
        t, which = np.where(floor, down, t), np.where(floor, -1, which)
        missed = t >= FAR
        colour = np.where(alive & missed, fma32(weight, SKY, colour), colour)
        alive &= ~missed
        at = along(start, t, to)
        apart = along(at, np.float32(-1), [centre[which] for centre in centres])
        on_sphere = along([np.float32(0)] * 3, np.float32(1) / radii[which], apart)
        normal = [np.where(which >= 0, part, np.float32(up)) for part, up in zip(on_sphere, (0, 1, 0))]
        odd = (np.floor(at[0]).astype(np.int64) + np.floor(at[2]).astype(np.int64)) & 1
        paint = np.where(which >= 0, memory["colours"].T[:, which], np.where(odd, np.float32(0.9), np.float32(0.2)))
        start = along(at, NEAR, normal)
        bright = np.maximum(dot(normal, LIGHT), np.float32(0))
        shadow = nearest(centres, radii, start, [zero + part for part in LIGHT])[0] < FAR
        bright = fma32(np.where(shadow, np.float32(0), bright), np.float32(0.8), np.float32(0.2)) * weight
        colour = np.where(alive, fma32(bright, paint, colour), colour)
        weight = weight * np.float32(0.5)
        to = along(to, np.float32(-2) * dot(to, normal), normal)
    levels = (np.minimum(colour, np.float32(1)) * np.float32(255)).astype(np.uint32)
    return {"image": levels[0] | levels[1] << np.uint32(8) | levels[2] << np.uint32(16)}
