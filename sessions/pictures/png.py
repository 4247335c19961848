"""A picture as a PNG file: its panes side by side, one pixel per element, magnified if it is small."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable

import numpy as np

from rfview.sessions.pictures.picture import Picture

GAP, LEAST = 4, 256         # pixels between panes; a smaller pane is magnified by a whole number
GROUND = (14, 18, 23)
RED, LOW_RED = np.array([255, 74, 112]), np.array([90, 36, 52])


def panes(picture: Picture) -> list[np.ndarray]:
    """Return (height, width, 3) u1 of the other picture, the present one (both on one grey scale) and the error."""
    low, high = scale(picture)
    return [np.repeat(_grey(values, low, high)[..., None], 3, axis=2) for values in (picture.other, picture.now)] + [
        _red(picture)]


def scale(picture: Picture) -> tuple[float, float]:
    """Return the values shown as black and white: the smallest and the largest number of the other picture."""
    values = picture.other.astype(np.float64)
    if not picture.is_right:
        values = np.concatenate([values.ravel(), picture.now.astype(np.float64).ravel()])
    values = values[np.isfinite(values)]
    return (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)


def shares(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return f8 positions 0..1 on a scale; a flat picture is in the middle, NaN at the end."""
    if high <= low:
        return np.full(values.shape, 0.5)
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(np.clip((values.astype(np.float64) - low) / (high - low), 0.0, 1.0), nan=1.0)


def depths(picture: Picture) -> np.ndarray:
    """Return (height, width) f8 0..1 the size of each error, on a log scale over all errors; -1 where there is none."""
    wrong = picture.wrong
    shares = np.full(wrong.shape, -1.0)
    if wrong.any():
        size = np.log10(np.clip(picture.error[wrong], 1e-300, 1e300))
        low, high = float(size.min()), float(size.max())
        shares[wrong] = (size - low) / (high - low) if high > low else 1.0
    return shares


def blocks(values: np.ndarray, high: int, wide: int, join: Callable[..., np.ndarray]) -> np.ndarray:
    """Return values reduced by `join` in blocks of high x wide; the last ones are filled up with copies of its edge."""
    height, width = values.shape
    part = np.pad(values, ((0, -height % high), (0, -width % wide)), mode="edge")
    return join(join(part.reshape(-(-height // high), high, -(-width // wide), wide), axis=3), axis=1)


def _grey(values: np.ndarray, low: float, high: float) -> np.ndarray:
    return np.round(255 * shares(values, low, high)).astype(np.uint8)


def _red(picture: Picture) -> np.ndarray:
    depth = depths(picture)[..., None]
    return np.where(depth < 0, np.array(GROUND), LOW_RED + (RED - LOW_RED) * np.maximum(depth, 0)).astype(np.uint8)


def encode(picture: Picture) -> bytes:
    """Return a PNG file of all three panes."""
    factor = max(1, LEAST // max(picture.width, picture.height))
    parts: list[np.ndarray] = []
    for pane in panes(picture):
        large = np.repeat(np.repeat(pane, factor, axis=0), factor, axis=1)
        parts += [large, np.broadcast_to(np.array(GROUND, np.uint8), (large.shape[0], GAP, 3))]
    return _png(np.ascontiguousarray(np.concatenate(parts[:-1], axis=1)))


def _png(pixels: np.ndarray) -> bytes:
    """Return (height, width, 3) u1 as PNG: signature, header, one compressed block of unfiltered rows, end."""
    height, width, _ = pixels.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, 3 * width)], axis=1)

    def block(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return b"\x89PNG\r\n\x1a\n" + b"".join((
        block(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        block(b"IDAT", zlib.compress(rows.tobytes(), 6)), block(b"IEND", b"")))
