"""mma.sync on 8-bit floats, and min / max .relu with the modifier in either position, against NumPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.engine.one_warp import run_one_warp

PTX = """.version 8.4
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {{
  .reg .b32 %r<14>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 24; add.u64 %rd1, %rd1, %rd3; mul.wide.u32 %rd3, %r1, 16; add.u64 %rd2, %rd2, %rd3;
  ld.global.v2.b32 {{%r2, %r3}}, [%rd1]; ld.global.v2.b32 {{%r4, %r5}}, [%rd1+8]; ld.global.v2.b32 {{%r6, %r7}}, [%rd1+16];
  mov.b32 %r8, 0f3F000000; mov.b32 %r9, 0; mov.b32 %r10, %r9; mov.b32 %r11, %r8;
  {body}
  st.global.v4.b32 [%rd2], {{%r8, %r9, %r10, %r11}}; ret;
}}
"""


def run(folder: Path, body: str, words: np.ndarray) -> np.ndarray:
    """Run one warp whose lanes get six words each in R2..R7; return the four words of each in R8..R11."""
    return run_one_warp(folder, PTX.format(body=body), words, 4)


def values(codes: np.ndarray, mantissa: int) -> np.ndarray:
    """Decode 8-bit floats with `mantissa` bits of mantissa."""
    bias = (1 << 6 - mantissa) - 1
    exponent, rest = codes >> mantissa & (1 << 7 - mantissa) - 1, codes & (1 << mantissa) - 1
    size = np.where(exponent == 0, rest * 2.0 ** (1 - bias - mantissa),
                    (rest + 2.0**mantissa) * 2.0 ** (exponent.astype(float) - bias - mantissa))
    return np.where(codes >> 7 == 1, -size, size)


@pytest.mark.parametrize(("a_type", "b_type"), [("e4m3", "e4m3"), ("e5m2", "e4m3"), ("e4m3", "e5m2")])
def test_products_of_8_bit_floats(tmp_path: Path, a_type: str, b_type: str) -> None:
    rng = np.random.default_rng(8)
    mantissa = {"e4m3": 3, "e5m2": 2}
    # exponents near the middle, so that every sum is exact
    a, b = ((rng.integers(-4, 5, shape) + (7 if kind == "e4m3" else 15) << mantissa[kind]) +
            rng.integers(0, 1 << mantissa[kind], shape) + (rng.integers(0, 2, shape) << 7)
            for kind, shape in ((a_type, (16, 32)), (b_type, (32, 8))))
    a[3], b[:, 5] = 0, 0x80
    a[4], b[:, 2] = rng.integers(0, 1 << mantissa[a_type], 32), 1
    lane = np.arange(32)
    group, four = lane // 4, lane % 4
    held = np.stack([a[(group + 8 * (part & 1))[:, None], (4 * four + 16 * (part >> 1))[:, None] + np.arange(4)]
                     for part in range(4)] +
                    [b[(4 * four + 16 * part)[:, None] + np.arange(4), group[:, None]] for part in (0, 1)], 1)
    got = run(tmp_path, f"mma.sync.aligned.m16n8k32.row.col.f32.{a_type}.{b_type}.f32 "
              "{%r8, %r9, %r10, %r11}, {%r2, %r3, %r4, %r5}, {%r6, %r7}, {%r8, %r9, %r10, %r11};",
              held.astype(np.uint8).reshape(32, 24).view(np.uint32)).view(np.float32)
    product = values(a, mantissa[a_type]) @ values(b, mantissa[b_type])
    for part, more in enumerate((0.5, 0, 0, 0.5)):
        want = product[group + 8 * (part >> 1), 2 * four + (part & 1)] + more
        assert (got[:, part] == want.astype(np.float32)).all()


def test_relu_stands_before_or_behind_the_type(tmp_path: Path) -> None:
    words = np.random.default_rng(1).integers(0, 2**32, (32, 6), dtype=np.uint32)
    got = run(tmp_path, "max.relu.s32 %r8, %r2, %r3; max.s32.relu %r9, %r2, %r3;"
              "min.relu.s16x2 %r10, %r2, %r3; min.s16x2.relu %r11, %r2, %r3;", words)
    first, second = (np.ascontiguousarray(words[:, place]).view(np.int32) for place in (0, 1))
    assert (got[:, 0].astype(np.int32) == np.maximum(np.maximum(first, second), 0)).all()
    halves = np.maximum(np.minimum(first.view(np.int16), second.view(np.int16)), 0)
    assert (np.ascontiguousarray(got[:, 2]).view(np.int16) == halves).all()
    assert (got[:, 0] == got[:, 1]).all() and (got[:, 2] == got[:, 3]).all()
