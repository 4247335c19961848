"""mma.sp, mma.m8n8k4 of halves, wmma of 4-bit numbers and bits, against NumPy, on integers so that sums are exact."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.engine.one_warp import run_one_warp

PTX = """.version 8.4
.target sm_{arch}
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {{
  .reg .b32 %r<40>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 64; add.u64 %rd1, %rd1, %rd3; mul.wide.u32 %rd3, %r1, 32; add.u64 %rd2, %rd2, %rd3;
  ld.global.v4.b32 {{%r2, %r3, %r4, %r5}}, [%rd1]; ld.global.v4.b32 {{%r6, %r7, %r8, %r9}}, [%rd1+16];
  ld.global.v4.b32 {{%r10, %r11, %r12, %r13}}, [%rd1+32]; ld.global.v4.b32 {{%r14, %r15, %r16, %r17}}, [%rd1+48];
  {body}
  st.global.v4.b32 [%rd2], {{%r10, %r11, %r12, %r13}}; st.global.v4.b32 [%rd2+16], {{%r14, %r15, %r16, %r17}}; ret;
}}
"""
LANE = np.arange(32)
GROUP, FOUR = LANE // 4, LANE % 4


def as_words(values: np.ndarray, kind: str) -> np.ndarray:
    """Return (32, n) small integers of a type, packed into words."""
    if kind in ("s4", "u4"):
        return np.ascontiguousarray(values[:, ::2] & 15 | (values[:, 1::2] & 15) << 4).astype(np.uint8).view(np.uint32)
    if kind == "bf16":
        return np.ascontiguousarray((values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)).view(np.uint32)
    if kind == "e4m3":      # 0 to 3 and their negatives
        size = np.choose(np.abs(values), [0, 0x38, 0x40, 0x44])
        return np.ascontiguousarray(size | (values < 0) << 7).astype(np.uint8).view(np.uint32)
    to = {"f16": np.float16, "tf32": np.float32, "s8": np.int8, "u8": np.uint8}[kind]
    return np.ascontiguousarray(values.astype(to)).view(np.uint32)


# types of A and B, depth, selector, type of the sums, elements of a group that stay together
SPARSE = [("f16", "f16", 16, 3, "f32", 1), ("f16", "f16", 32, 1, "f16", 1), ("bf16", "bf16", 16, 2, "f32", 1),
          ("tf32", "tf32", 8, 1, "f32", 0), ("tf32", "tf32", 16, 1, "f32", 0), ("s8", "u8", 32, 1, "s32", 1),
          ("u8", "s8", 64, 0, "s32", 1), ("s4", "u4", 64, 1, "s32", 2), ("u4", "u4", 128, 0, "s32", 2),
          ("e4m3", "e4m3", 64, 0, "f32", 1)]


@pytest.mark.parametrize(("a_kind", "b_kind", "depth", "selector", "sums", "together"), SPARSE,
                         ids=[f"{row[0]}-{row[2]}" for row in SPARSE])
def test_sparse_products(tmp_path: Path, a_kind: str, b_kind: str, depth: int, selector: int, sums: str,
                         together: int) -> None:
    rng = np.random.default_rng(depth)
    low, high = {"u": (0, 8), "s": (-8, 8)}.get(a_kind[0], (-3, 4))
    stored = rng.integers(low, high, (16, depth // 2))
    low, high = {"u": (0, 8), "s": (-8, 8)}.get(b_kind[0], (-3, 4))
    b = rng.integers(low, high, (depth, 8))
    # the two of four positions in each group's metadata, in ascending order
    groups = depth // 2 if together == 0 else depth // 4 // together
    pairs = np.array([(0, 1), (2, 3)] if together == 0 else [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])
    chosen = pairs[rng.integers(0, len(pairs), (16, groups))]
    a = np.zeros((16, depth), int)
    for row in range(16):
        for group in range(groups):
            if together == 0:
                a[row, 2 * group + chosen[row, group, 0] // 2] = stored[row, group]
                continue
            for half in (0, 1):
                first = (4 * group + chosen[row, group, half]) * together
                a[row, first:first + together] = stored[row, (2 * group + half) * together:][:together]
    nibbles = chosen[:, :, 0] | chosen[:, :, 1] << 2
    # placed as in the manual's figures: rows g and g + 8 in one word for halves, else in two lanes
    metadata = np.zeros(32, np.uint64)
    for row in range(16):
        for group in range(groups):
            if a_kind in ("f16", "bf16", "tf32"):
                per_lane = 1 if groups == 4 else 2
                lane, bit = selector * per_lane + group // 4, 4 * (group % 4) + 16 * (row // 8)
            else:
                per_lane = 2 if groups == 8 else 4
                lane, bit = selector * per_lane + 2 * (group // 8) + row // 8, 4 * (group % 8)
            metadata[4 * (row % 8) + lane] |= np.uint64(int(nibbles[row, group]) << bit)
    size = {"f16": 2, "bf16": 2, "tf32": 1, "s4": 8, "u4": 8}.get(a_kind, 4)
    count = depth // (4 * size)
    a_words = [as_words(stored[(GROUP + 8 * row)[:, None], (FOUR * size + 4 * size * chunk)[:, None] + np.arange(size)], a_kind)
               for chunk in range(count // 2) for row in (0, 1)]
    b_words = [as_words(b[(FOUR * size + 4 * size * chunk)[:, None] + np.arange(size), GROUP[:, None]], b_kind)
               for chunk in range(count)]
    data = np.zeros((32, 16), np.uint32)
    data[:, :count], data[:, 4:4 + count], data[:, 15] = np.hstack(a_words), np.hstack(b_words), metadata
    names = lambda first, many: "{" + ", ".join(f"%r{2 + first + k}" for k in range(many)) + "}"  # noqa: E731
    d = names(8, 2 if sums == "f16" else 4)
    body = (f"mma.sp.sync.aligned.m16n8k{depth}.row.col.{sums}.{a_kind}.{b_kind}.{sums} {d}, {names(0, count)}, "
            f"{names(4, count)}, {d}, %r17, {selector};")
    got = run_one_warp(tmp_path, PTX.format(body=body, arch=89), data, 8)
    want = a @ b
    held = np.ascontiguousarray(got[:, :4]).view({"f32": "f4", "s32": "i4", "f16": "f2"}[sums])
    for part in range(4):
        assert (held[:, part] == want[GROUP + 8 * (part >> 1), 2 * FOUR + (part & 1)]).all()


@pytest.mark.parametrize(("a_by", "b_by", "sums"), [("row", "col", "f32"), ("col", "row", "f16"), ("row", "row", "f32"),
                                                    ("col", "col", "f16")])
def test_voltas_products_of_halves(tmp_path: Path, a_by: str, b_by: str, sums: str) -> None:
    rng = np.random.default_rng(7)
    a, b, c = rng.integers(-4, 5, (4, 8, 4)), rng.integers(-4, 5, (4, 4, 8)), rng.integers(-9, 10, (4, 8, 8))
    product, line = LANE // 4 % 4, LANE % 4 + 4 * (LANE >= 16)
    four, inner = LANE % 4, np.arange(4)
    spread = (4 * (LANE >= 16))[:, None] + inner
    held_a = a[product[:, None], line[:, None], inner] if a_by == "row" else a[product[:, None], spread, four[:, None]]
    held_b = b[product[:, None], inner, line[:, None]] if b_by == "col" else b[product[:, None], four[:, None], spread]
    at = np.arange(8)
    if sums == "f32":
        row = (LANE & 1)[:, None] + (at & 2) + (4 * (LANE >= 16))[:, None]
        column = (at & 5) + (LANE & 2)[:, None]
    else:
        row, column = line[:, None] + 0 * at, 0 * line[:, None] + at
    held_c = c[product[:, None], row, column].astype({"f32": np.float32, "f16": np.float16}[sums])
    c_words = np.ascontiguousarray(held_c).view(np.uint32)
    data = np.zeros((32, 16), np.uint32)
    data[:, :2], data[:, 4:6], data[:, 8:8 + c_words.shape[1]] = as_words(held_a, "f16"), as_words(held_b, "f16"), c_words
    d = "{" + ", ".join(f"%r{10 + k}" for k in range(c_words.shape[1])) + "}"
    body = f"mma.sync.aligned.m8n8k4.{a_by}.{b_by}.{sums}.f16.f16.{sums} {d}, {{%r2, %r3}}, {{%r6, %r7}}, {d};"
    got = run_one_warp(tmp_path, PTX.format(body=body, arch=75), data, 8)
    held = np.ascontiguousarray(got[:, :c_words.shape[1]]).view(held_c.dtype)
    assert (held == (a @ b + c)[product[:, None], row, column]).all()


@pytest.mark.parametrize(("kind", "depth", "combine"), [("s4", 32, ""), ("u4", 32, ""), ("b1", 128, ".xor.popc")])
def test_tiles_of_numbers_smaller_than_bytes(tmp_path: Path, kind: str, depth: int, combine: str) -> None:
    rng = np.random.default_rng(4)
    packed = rng.integers(0, 256, (2, 8, 16), np.uint8)
    if kind == "b1":
        bits = np.unpackbits(packed, axis=2, bitorder="little").astype(int)
        want = (bits[0][:, None] ^ bits[1][None]).sum(2)
    else:
        numbers = np.stack([packed & 15, packed >> 4], 3).reshape(2, 8, 32).astype(int)
        numbers -= 16 * (numbers > 7) * (kind == "s4")
        want = numbers[0] @ numbers[1].T
    # all tiles are in the words of the first lanes: 8 rows of A, then 8 columns of B
    data = np.zeros((32, 16), np.uint32)
    data.reshape(-1)[:64] = np.ascontiguousarray(packed).view(np.uint32).reshape(-1)
    body = f"""mov.b32 %r9, 0; ld.param.u64 %rd1, [in]; add.u64 %rd3, %rd1, 128;
        wmma.load.a.sync.aligned.row.m8n8k{depth}.global.{kind} {{%r2}}, [%rd1], {depth};
        wmma.load.b.sync.aligned.col.m8n8k{depth}.global.{kind} {{%r3}}, [%rd3], {depth};
        wmma.mma{combine}.sync.aligned.row.col.m8n8k{depth}.s32.{kind}.{kind}.s32 {{%r10, %r11}}, {{%r2}}, {{%r3}},
            {{%r9, %r9}};"""
    got = run_one_warp(tmp_path, PTX.format(body=body, arch=75), data, 8)[:, :2].astype(np.int32)
    assert (got == np.stack([want[GROUP, 2 * FOUR], want[GROUP, 2 * FOUR + 1]], 1)).all()
