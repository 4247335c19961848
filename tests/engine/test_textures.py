"""Texture fetches against NumPy: formats, address modes, filtering, layers, gathers, queries, and errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rfview.engine.errors import InputError, KernelFault
from rfview.engine.launch import load_launch_file
from rfview.engine.simulator import Simulator
from rfview.engine.textures import Texture, described, header

HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"
LANES = 32


def source(opcode: str, coordinates: str, kind: str = "f32", texture: str = "%rd1", head: str = "", extra: str = "") -> str:
    """Return a kernel that fetches at the coordinates of in[lane] (four words) and stores four words to out[lane]."""
    return f"""{HEAD}{head}
.visible .entry k(.param .u64 out, .param .u64 in, .param .u64 tex) {{
  .reg .b32 %r<20>; .reg .f32 %f<20>; .reg .b64 %rd<10>;
  ld.param.u64 %rd2, [out]; ld.param.u64 %rd3, [in]; ld.param.u64 %rd1, [tex];
  mov.u32 %r1, %tid.x; mul.wide.u32 %rd4, %r1, 16; add.u64 %rd5, %rd2, %rd4; add.u64 %rd6, %rd3, %rd4;
  ld.global.v4.f32 {{%f1, %f2, %f3, %f4}}, [%rd6]; ld.global.v4.u32 {{%r2, %r3, %r4, %r5}}, [%rd6];
  {opcode} {{%r10, %r11, %r12, %r13}}, [{texture}, {{{coordinates}}}]{extra};
  st.global.v4.b32 [%rd5], {{%r10, %r11, %r12, %r13}};
  ret;
}}
"""


def run(folder: Path, ptx: str, coordinates: np.ndarray, texels: np.ndarray, described: str, argument: str = "",
        ) -> np.ndarray:
    """Run a kernel over one warp and return out as u4 words (32, 4)."""
    (folder / "k.ptx").write_text(ptx)
    np.save(folder / "in.npy", np.ascontiguousarray(coordinates))
    np.save(folder / "texels.npy", texels)
    (folder / "k.toml").write_text(f"""
[[launch]]
grid = [1]
block = [32]
args = [{{buffer = "out"}}, {{buffer = "in"}}, {argument or '{texture = "t"}'}]
[buffers.in]
file = "in.npy"
[buffers.texels]
file = "texels.npy"
[buffers.out]
shape = [32, 4]
dtype = "uint32"
zeros = true
{described}
""")
    simulator = Simulator(load_launch_file(folder / "k.toml"))
    simulator.run()
    return simulator.buffers()["out"]


def table(**keys: Any) -> str:
    """Return the [textures.t] table over the buffer of texels."""
    words = {True: "true", False: "false"}
    lines = [f"{key} = {words[value] if isinstance(value, bool) else repr(value)}" for key, value in keys.items()]
    return "\n".join(["[textures.t]", "buffer = 'texels'", *lines])


def coordinates_of(seed: int, low: float, high: float) -> np.ndarray:
    """Return four random coordinates per lane; those of the first lanes are on texel edges and far outside."""
    found = np.random.RandomState(seed).uniform(low, high, (LANES, 4)).astype("f4")
    found[:6] = np.array([0.0, 1.0, -1.0, 0.5, 1e9, -1e9], "f4")[:, None]
    return found


def wrapped(index: np.ndarray, extent: int, mode: str) -> np.ndarray:
    """Apply an address mode to texel indices; -1 is the border."""
    if mode == "wrap":
        return index % extent
    if mode == "border":
        return np.where((index < 0) | (index >= extent), -1, index)
    return np.clip(index, 0, extent - 1)


def axis(x: np.ndarray, extent: int, mode: str, normalized: bool, linear: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower texel (not yet wrapped) and the weight of the upper one, in steps of 1/256."""
    u = x.astype("f8")
    if normalized:
        if mode == "wrap":
            u = u - np.floor(u)
        if mode == "mirror":
            whole = np.floor(u)
            u = np.where(whole % 2 == 1, 1 - (u - whole), u - whole)
        u = (u * extent).astype("f4").astype("f8")
    u = np.clip(u, -2, extent + 2) - (0.5 if linear else 0.0)
    lower = np.floor(u)
    return lower.astype("i8"), np.floor((u - lower) * 256 + 0.5) / 256 if linear else np.zeros_like(u)


def sampled(texels: np.ndarray, where: list[np.ndarray], modes: list[str], normalized: bool, linear: bool,
            border: float = 0.0) -> np.ndarray:
    """Return the fetch of f4 texels (..., y, x, channel) at coordinates x, y, z as (lanes, channels) f4."""
    extents = texels.shape[:-1][::-1]
    placed = [axis(x, n, m, normalized, linear) for x, n, m in zip(where, extents, modes, strict=True)]
    total = np.zeros((LANES, texels.shape[-1]), "f8")
    for corner in range(1 << len(where) if linear else 1):
        weight, index, outside = np.ones(LANES), [], np.zeros(LANES, bool)
        for k, (lower, upper) in enumerate(placed):
            bit = corner >> k & 1
            weight = weight * (upper if bit else 1 - upper)
            mode = modes[k] if normalized or modes[k] == "border" else "clamp"
            index.append(wrapped(lower + bit, extents[k], mode))
            outside |= index[-1] < 0
        value = texels[tuple(index[::-1])].astype("f8")
        total += weight[:, None] * np.where(outside[:, None], border, value)
    return total.astype("f4")


MODES = [("clamp", "clamp"), ("wrap", "mirror"), ("border", "border"), ("mirror", "wrap")]


@pytest.mark.parametrize("modes", MODES)
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("filter_mode", ["point", "linear"])
def test_a_2d_fetch_follows_the_programming_guide(
    tmp_path: Path, modes: tuple[str, str], normalized: bool, filter_mode: str) -> None:
    texels = np.random.RandomState(1).uniform(-4, 4, (5, 7, 4)).astype("f4")
    where = coordinates_of(2, -1.5, 2.5) if normalized else coordinates_of(3, -3.0, 10.0)
    got = run(tmp_path, source("tex.2d.v4.f32.f32", "%f1, %f2"), where, texels,
              table(channels=4, filter=filter_mode, address=list(modes), normalized=normalized, border=[1.5] * 4))
    want = sampled(texels, [where[:, 0], where[:, 1]], list(modes), normalized, filter_mode == "linear", 1.5)
    assert (got == want.view("u4")).all()


def test_rows_may_have_a_gap_behind_them_and_texels_another_type_than_the_buffer(tmp_path: Path) -> None:
    rows = np.random.RandomState(1).randint(0, 256, (5, 16)).astype("u1")       # 7 texels of two channels, and two more bytes
    where = coordinates_of(3, -3.0, 10.0)
    got = run(tmp_path, source("tex.2d.v4.u32.f32", "%f1, %f2"), where, rows.reshape(-1).view("u4"),
              table(channels=2, type="uint8", size=[7, 5], pitch=16))
    x, y = (np.clip(np.floor(where[:, k]), 0, n - 1).astype(int) for k, n in ((0, 7), (1, 5)))
    assert (got[:, 0] == rows[y, 2 * x]).all() and (got[:, 1] == rows[y, 2 * x + 1]).all()


def test_a_header_says_which_texture_it_is() -> None:
    texture = Texture("t", "b", 8, "int16", (7, 5, 2), 2, False, True, False, (0, 1, 3), (1.0, -2.0, 0.0, 3.0), 32, 0x7100)
    assert described(header(texture, 0x7000, 64), "t", "b", 0x7000, 0x7100) == texture


def test_a_3d_fetch_weighs_eight_texels(tmp_path: Path) -> None:
    texels = np.random.RandomState(4).uniform(0, 1, (3, 4, 5, 1)).astype("f4")
    where = coordinates_of(5, -1.0, 6.0)
    got = run(tmp_path, source("tex.3d.v4.f32.f32", "%f1, %f2, %f3, %f3"), where, texels[..., 0], table(filter="linear"))
    want = sampled(texels, [where[:, 0], where[:, 1], where[:, 2]], ["clamp"] * 3, False, True)
    assert (got[:, :1] == want.view("u4")).all()
    assert (got[:, 1:] == np.array([0.0, 0.0, 1.0], "f4").view("u4")).all()  # the channels that the texture lacks


@pytest.mark.parametrize("dtype, kind", [("uint8", "u32"), ("int8", "s32"), ("uint16", "u32"), ("int16", "s32"),
                                         ("uint32", "u32"), ("int32", "s32"), ("float32", "f32"), ("float16", "f32")])
@pytest.mark.parametrize("channels", [1, 2, 4])
def test_a_1d_fetch_at_an_index_reads_elements_and_zeros_outside(
    tmp_path: Path, dtype: str, kind: str, channels: int) -> None:
    whole = np.random.RandomState(6).randint(0, 1 << 32, (40, channels), "u8").astype("u4")
    texels = (whole / 1e6 - 2000).astype(dtype) if dtype.startswith("f") else whole.astype(dtype)
    index = np.arange(LANES, dtype="i4")[:, None] * np.array([[2, 0, 0, 0]], "i4") - 5
    got = run(tmp_path, source(f"tex.1d.v4.{kind}.s32", "%r2"), index, texels.squeeze(), table(channels=channels))
    want = np.zeros((LANES, 4), "f4" if dtype.startswith("f") else "i8")
    held = (index[:, 0] >= 0) & (index[:, 0] < 40)
    want[held, 3] = 1
    want[held, :channels] = texels[index[held, 0]]
    assert (got == (want.view("u4") if dtype.startswith("f") else (want & 0xFFFFFFFF).astype("u4"))).all()


@pytest.mark.parametrize("dtype, most", [("uint8", 255), ("int8", 127), ("uint16", 65535), ("int16", 32767)])
def test_integers_read_as_normalised_floats(tmp_path: Path, dtype: str, most: int) -> None:
    info = np.iinfo(dtype)
    texels = np.random.RandomState(7).randint(info.min, info.max + 1, (6, 6, 2)).astype(dtype)
    texels[0, 0] = info.min
    where = coordinates_of(8, -1.0, 7.0)
    got = run(tmp_path, source("tex.2d.v4.f32.f32", "%f1, %f2"), where, texels,
              table(channels=2, read="normalized_float", filter="linear"))
    numbers = np.maximum(texels / most, -1.0).astype("f4")
    want = sampled(numbers, [where[:, 0], where[:, 1]], ["clamp"] * 2, False, True)
    assert (got[:, :2] == want.view("u4")).all()


def test_layers_are_clamped_and_never_mixed(tmp_path: Path) -> None:
    texels = np.arange(3 * 4 * 5, dtype="f4").reshape(3, 4, 5)
    where = coordinates_of(9, 0.0, 5.0)
    words = where.view("u4").copy()
    words[:, 0] = np.arange(LANES) % 5 - np.uint32(1)
    ptx = source("tex.a2d.v4.f32.f32", "%r2, %f2, %f3, %f3")
    got = run(tmp_path, ptx, words.view("f4"), texels, table(filter="linear"))
    layer = np.minimum(words[:, 0], 2)      # PTX manual: the layer is a .u32
    for n in range(3):
        want = sampled(texels[n][..., None], [where[:, 1], where[:, 2]], ["clamp"] * 2, False, True)
        assert (got[layer == n, :1] == want[layer == n].view("u4")).all()


@pytest.mark.parametrize("linear", [False, True])
def test_a_direction_finds_its_face_of_a_cube_and_its_place_there(tmp_path: Path, linear: bool) -> None:
    texels = np.random.RandomState(20).uniform(0, 1, (12, 4, 4)).astype("f4")       # two cubes of six faces
    x, y, z = where = np.random.RandomState(21).uniform(-2, 2, (3, LANES)).astype("f4")
    layer = np.arange(LANES, dtype="u4") % 2
    words = np.stack([layer, *(one.view("u4") for one in where)], axis=1)
    ptx = source("tex.acube.v4.f32.f32", "%r2, %f2, %f3, %f4")
    described = table(filter="linear" if linear else "point", normalized=True)
    got = run(tmp_path, ptx, words.view("f4"), texels, described)[:, 0]
    rows = [(x, -z, -y), (-x, z, -y), (y, x, z), (-y, x, -z), (z, x, -y), (-z, -x, -y)]    # the guide's table: size, s, t
    face = np.argmax([row[0] for row in rows], axis=0)
    assert len(set(face)) == 6
    for n in range(LANES):
        size, s, t = (one[n] for one in rows[face[n]])
        place = [np.full(LANES, ((one / size) + np.float32(1)) / np.float32(2), "f4") for one in (s, t)]
        want = sampled(texels[6 * layer[n] + face[n]][..., None], place, ["clamp"] * 2, True, linear)
        assert got[n] == want[:1].view("u4")[0, 0]


def test_a_gather_gives_one_component_of_four_texels(tmp_path: Path) -> None:
    texels = np.random.RandomState(10).uniform(0, 1, (5, 6, 4)).astype("f4")
    where = coordinates_of(11, 0.0, 6.0)
    got = run(tmp_path, source("tld4.g.2d.v4.f32.f32", "%f1, %f2"), where, texels, table(channels=4))
    x, _ = axis(where[:, 0], 6, "clamp", False, True)
    y, _ = axis(where[:, 1], 5, "clamp", False, True)
    for k, (right, up) in enumerate([(0, 1), (1, 1), (1, 0), (0, 0)]):
        want = texels[wrapped(y + up, 5, "clamp"), wrapped(x + right, 6, "clamp"), 1]
        assert (got[:, k] == want.view("u4")).all()


def test_a_texture_reference_is_found_by_its_name(tmp_path: Path) -> None:
    texels = np.arange(64, dtype="f4")
    index = np.zeros((LANES, 4), "i4")
    index[:, 0] = np.arange(LANES)
    ptx = source("tex.1d.v4.f32.s32", "%r2, %r2, %r2, %r2", texture="t", head=".global .texref t;\n")
    got = run(tmp_path, ptx, index, texels, table(), argument="{null = true}")
    assert (got[:, 0].view("f4") == np.arange(LANES)).all()
    with pytest.raises(InputError, match=r"describe it in \[textures.t\]"):
        run(tmp_path, ptx, index, texels, "", argument="{null = true}")


def test_levels_gradients_and_queries(tmp_path: Path) -> None:
    texels = np.arange(20, dtype="f4").reshape(4, 5)
    where = np.full((LANES, 4), 1.5, "f4")
    plain = run(tmp_path, source("tex.2d.v4.f32.f32", "%f1, %f2"), where, texels, table())
    for opcode, extra in (("tex.level.2d.v4.f32.f32", ", %f3"), ("tex.grad.2d.v4.f32.f32", ", {%f1, %f2}, {%f3, %f4}")):
        assert (run(tmp_path, source(opcode, "%f1, %f2", extra=extra), where, texels, table()) == plain).all()
    query = source("tex.2d.v4.f32.f32", "%f1, %f2").replace("st.global.v4.b32 [%rd5], {%r10, %r11, %r12, %r13}", """
        suq.width.b32 %r10, [%rd1]; txq.height.b32 %r11, [%rd1]; txq.normalized_coords.b32 %r12, [%rd1];
        st.global.v4.u32 [%rd5], {%r10, %r11, %r12, %r11}""")
    assert (run(tmp_path, query, where, texels, table(normalized=True)) == [5, 4, 1, 4]).all()
    fixed = query.replace("suq.width", "txq.num_mipmap_levels").replace("txq.height", "suq.memory_layout").replace(
        "txq.normalized_coords", "txq.num_samples")
    assert (run(tmp_path, fixed, where, texels, table()) == [1, 0, 1, 0]).all()
    layers = query.replace("suq.width", "txq.array_size").replace("txq.height", "suq.array_size")
    got = run(tmp_path, layers, where, np.tile(texels, (3, 1, 1)), table(size=[5, 4, 3]))
    assert (got[:, :2] == [3, 3]).all()


def test_only_components_that_are_read_are_written(tmp_path: Path) -> None:
    text = source("tex.2d.v4.f32.f32", "%f1, %f2").replace("{%r10, %r11, %r12, %r13};", "{%r12, %r12, %r12, %r12};")
    where = np.full((LANES, 4), 1.0, "f4")
    got = run(tmp_path, text, where, np.arange(64, dtype="f4").reshape(4, 4, 4), table(channels=4))
    assert (got.view("f4") == 22.0).all()
    simulator = Simulator(load_launch_file(tmp_path / "k.toml"))
    fetch = next(line for line in simulator.info.program if line.text.startswith("tex."))
    assert len(fetch.dst) == 1


@pytest.mark.parametrize("described, problem", [
    ("[textures.t]\nbuffer = 'texel'", "expected the name of a"),
    (table(channels=3), "expected 1, 2 or 4"),
    (table(size=[100, 100]), "the buffer has"),
    (table(filter="cubic"), "expected one of point, linear"),
    (table(address="repeat"), "expected one of wrap, clamp, mirror, border"),
    (table(filter="linear"), "linear needs floats"),
    (table(borders=1), "unknown key"),
    (table(pitch=15), "at least the 16 bytes"),
    (table(pitch=32), "texels end at byte"),
    (table(type="uint8"), "expected together with size"),
    (table(handle=0x10001), "a multiple of 4"),
    (table(address=["clamp", []]), "expected one of wrap, clamp, mirror, border, or a list of them"),
    (table(border=[10**400, 0, 0, 0]), "border: expected a list of four numbers in -2147483648..4294967295, got"),
    (table(border=[1 << 40, 0, 0, 0]), "border: expected a list of four numbers in"),
    (table(border=[float("nan"), 0, 0, 0]), "border: expected a list of four numbers in"),
])
def test_a_wrong_table_is_refused(tmp_path: Path, described: str, problem: str) -> None:
    where = np.zeros((LANES, 4), "f4")
    with pytest.raises(InputError, match=problem):
        run(tmp_path, source("tex.2d.v4.u32.f32", "%f1, %f2"), where, np.zeros((4, 4), "u4"), described)


def test_a_handle_that_is_no_texture_is_a_fault(tmp_path: Path) -> None:
    where = np.zeros((LANES, 4), "f4")
    with pytest.raises(KernelFault, match="no .textures.NAME. of the launch file"):
        run(tmp_path, source("tex.2d.v4.f32.f32", "%f1, %f2"), where, np.zeros((4, 4), "f4"), table(),
            argument='{buffer = "texels"}')


def surface_kernel(body: str) -> str:
    """Return a kernel with one surface parameter; %r1 is the lane, out at %rd5 + 16 * lane."""
    return f"""{HEAD}
.visible .entry k(.param .u64 out, .param .u64 in, .param .u64 tex) {{
  .reg .b16 %rs<9>; .reg .b32 %r<20>; .reg .b64 %rd<10>; .reg .pred %p<4>;
  ld.param.u64 %rd2, [out]; ld.param.u64 %rd1, [tex];
  mov.u32 %r1, %tid.x; mul.wide.u32 %rd4, %r1, 16; add.u64 %rd5, %rd2, %rd4;
  mov.u32 %r10, 9; mov.u32 %r11, 9; mov.u32 %r12, 9; mov.u32 %r13, 9;
  and.b32 %r2, %r1, 7; shr.u32 %r3, %r1, 3; shl.b32 %r4, %r2, 2; setp.lt.u32 %p1, %r1, 20;
  {body}
  st.global.v4.u32 [%rd5], {{%r10, %r11, %r12, %r13}};
  ret;
}}
"""


TEXELS = np.arange(3 * 4 * 8, dtype="u4").reshape(3, 4, 8) * np.uint32(0x01010107)
LANE = np.arange(LANES)


@pytest.mark.parametrize("body, want", [
    ("suld.b.2d.b32.trap {%r10}, [%rd1, {%r4, %r3}];", lambda x, y: TEXELS[0, y, x]),
    ("@%p1 suld.b.2d.b32.trap {%r10}, [%rd1, {%r4, %r3}];", lambda x, y: np.where(LANE < 20, TEXELS[0, y, x], 9)),
    ("add.u32 %r3, %r3, -2; suld.b.2d.b32.zero {%r10}, [%rd1, {%r4, %r3}];",
     lambda x, y: np.where(y >= 2, TEXELS[0, y - 2, x], 0)),
    ("@!%p1 add.u32 %r4, %r4, 90; @!%p1 add.u32 %r3, %r3, -9; suld.b.2d.b32.clamp {%r10}, [%rd1, {%r4, %r3}];",
     lambda x, y: np.where(LANE < 20, TEXELS[0, y, x], TEXELS[0, 0, 7])),
    ("mov.u32 %r5, 2; suld.b.3d.b32.trap {%r10}, [%rd1, {%r4, %r3, %r5, %r5}];", lambda x, y: TEXELS[2, y, x]),
    ("mov.u32 %r5, 1; suld.b.a2d.b32.trap {%r10}, [%rd1, {%r5, %r4, %r3, %r3}];", lambda x, y: TEXELS[1, y, x]),
    ("suld.b.1d.v2.b16.trap {%rs1, %rs2}, [%rd1, {%r4}]; mov.b32 %r10, {%rs2, %rs1};",
     lambda x, y: TEXELS[0, 0, x] >> 16 | TEXELS[0, 0, x] << np.uint32(16)),
])
def test_surface_loads_address_by_bytes_and_handle_the_outside(tmp_path: Path, body: str, want: Any) -> None:
    got = run(tmp_path, surface_kernel(body), np.zeros((LANES, 4), "f4"), TEXELS, table())
    assert (got[:, 0] == want(LANE & 7, LANE >> 3)).all()


def test_surface_stores_reach_the_buffer(tmp_path: Path) -> None:
    body = """mov.u32 %r5, 1; mov.u32 %r6, 77;
      sust.b.3d.b32.trap [%rd1, {%r4, %r3, %r5, %r5}], {%r1};
      add.u32 %r7, %r4, 16; @%p1 sust.b.2d.b32.zero [%rd1, {%r7, %r3}], {%r6};
      mov.u16 %rs1, 1; mov.u16 %rs2, 2; mov.u16 %rs3, 3; mov.u16 %rs4, 4; add.u32 %r8, %r5, 1;
      sust.b.a2d.v4.b8.clamp [%rd1, {%r8, %r4, %r3, %r3}], {%rs1, %rs2, %rs3, %rs4};"""
    run(tmp_path, surface_kernel(body), np.zeros((LANES, 4), "f4"), TEXELS, table())
    simulator = Simulator(load_launch_file(tmp_path / "k.toml"))
    simulator.run()
    want = TEXELS.copy()
    want[1] = LANE.reshape(4, 8)
    x, y = LANE & 7, LANE >> 3
    inside = (x < 4) & (LANE < 20)
    want[0, y[inside], x[inside] + 4] = 77
    want[2] = 0x04030201
    assert (simulator.buffers()["texels"] == want).all()


def test_a_surface_access_outside_stops_the_kernel(tmp_path: Path) -> None:
    body = "shl.b32 %r4, %r1, 2; sust.b.1d.b32.trap [%rd1, {%r4}], {%r1};"
    with pytest.raises(KernelFault, match="accesses a surface outside its extent.*lane 8"):
        run(tmp_path, surface_kernel(body), np.zeros((LANES, 4), "f4"), TEXELS, table())


@pytest.mark.parametrize("argument", ['{buffer = "texels"}', '{buffer = "out"}', "{value = 77}"])
@pytest.mark.parametrize("described", ["", "table"])
def test_a_buffer_in_a_surface_s_place_is_named_as_that(tmp_path: Path, argument: str, described: str) -> None:
    body = "suld.b.2d.b32.trap {%r10}, [%rd1, {%r4, %r3}];"
    if argument == '{buffer = "out"}' and described:
        pytest.skip("a buffer of zeros is a surface of no extent")
    with pytest.raises(KernelFault, match=r"suld.* none of the launch file's .textures.NAME.: pass .texture = "):
        run(tmp_path, surface_kernel(body), np.zeros((LANES, 4), "f4"), TEXELS, table() if described else "", argument)
