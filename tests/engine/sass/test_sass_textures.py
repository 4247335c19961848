"""Textures and surfaces of machine code: where ptxas puts coordinates and handles, and values, by values and cycle by cycle."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rfview.engine import isa
from rfview.engine.errors import KernelFault, SassError
from rfview.engine.hazards.flow import hazards_of
from rfview.engine.launch import load_launch_file
from rfview.engine.sass.module import module_of_listing
from tests.engine.machine_programs import plain_only
from tests.engine.sass.test_driver import BEGIN, WAYS, listing
from tests.engine.sass.test_sass_lowering import one
from tests.engine.test_textures import coordinates_of, sampled, table

LANES = np.arange(32)
# the texture's handle in R30, in[lane] in R4 to R7, the place of out[lane] in R22 and R23
LOAD = BEGIN.replace("0x8, R22", "0x10, R22") + """
B------:R-:W0:-:S15 LDC.64 R24, c[0x0][0x160]
B------:R-:W1:-:S15 LDC R30, c[0x0][0x170]
B01----:R-:W-:-:S15 IMAD.WIDE.U32 R24, R2, 0x10, R24
B------:R-:W0:-:S15 LDG.E.128 R4, [R24.64]"""
STORE = "B0-----:R0:W-:-:S15 STG.E.128 [R22.64], R8\nEXIT"
LAUNCH = """
[[launch]]
grid = [1]
block = [32]
args = [{buffer = "in"}, {buffer = "out"}, {texture = "t"}]
[buffers.in]
file = "in.npy"
[buffers.texels]
file = "texels.npy"
[buffers.out]
shape = [32, 4]
dtype = "uint32"
zeros = true
"""
W0 = "B0-----:R-:W0:-:S15 "      # waits for what was loaded, and counts


def run(way: Any, folder: Path, body: str, words: np.ndarray, texels: np.ndarray, described: str, sm: int = 80) -> Any:
    """Run a listing with four words per lane; return the simulator."""
    text = listing(body, "", sm).replace("0x8 8 u64 out", "0x8 8 u64 out\n.param 0x10 8 u64 t").replace(".registers 24", ".registers 40")
    np.save(folder / "in.npy", np.ascontiguousarray(words))
    np.save(folder / "texels.npy", texels)
    (folder / "k.ptx").write_text("")
    (folder / "k.toml").write_text(LAUNCH + described)
    kind, more = way
    simulator = kind(load_launch_file(folder / "k.toml"), module=module_of_listing(text, "k.sass"), **more)
    simulator.run()
    return simulator


def fetched(way: Any, folder: Path, fetch: str, words: np.ndarray, texels: np.ndarray, described: str) -> np.ndarray:
    """Return what a fetch into R8 to R11 gives, as (32, 4) u4."""
    return run(way, folder, "\n".join((LOAD, W0 + fetch, STORE)), words, texels, described).buffers()["out"].astype(np.uint32)


@pytest.mark.parametrize("text, aux, slots", [
    ("TEX.SCR.LL R6, R4, R14, R16, 0x0, 0x58, 2D", 2 | isa.TEX_FLAT, {2: 14, 3: 15, 4: 16}),
    ("TEX.SCR.LZ R6, R4, R14, R16, 0x0, 0x58, 2D", 2 | isa.TEX_FLAT, {2: 14, 3: 16}),
    ("TEX.SCR.LL R6, R4, R14, R16, 0x0, 0x58, 3D", 3, {2: 14, 3: 15, 4: 16, 5: 17}),
    ("TEX.SCR.LL R6, R4, R14, R16, 0x0, 0x58, ARRAY_2D", 2 | isa.TEX_LAYERED, {2: 14, 3: 15, 4: 16, 5: 17}),
    ("TEX.LL R6, R4, R14, R19, 0x0, 0x58, ARRAY_CUBE", 2 | isa.TEX_LAYERED | isa.TEX_CUBE, {2: 14, 3: 15, 4: 16, 5: 17, 6: 19}),
    ("TEX.LL R6, R4, R14, R18, UR4, 0x0, ARRAY_1D", 1 | isa.TEX_LAYERED, {2: 14, 3: 15, 4: 18}),
    ("TEX R6, R4, R14, UR4, CUBE", 2 | isa.TEX_CUBE, {2: 14, 3: 15, 4: 16}),
    ("TEX.SCR.B.LL R6, R4, R14, R16, 2D", 2 | isa.TEX_FLAT, {0: 16, 2: 14, 3: 15, 4: 17}),
    ("TEX.B.LL R6, R4, R14, R18, 3D", 3, {0: 18, 2: 14, 3: 15, 4: 16, 5: 19}),
    ("TLD.SCR.B.LZ R6, R4, R14, R16, ARRAY_2D", 2 | isa.TEX_LAYERED | isa.TEX_INTEGER, {0: 17, 2: 14, 3: 15, 4: 16}),
    ("TLD.SCR.LL.CL R6, R4, R14, R16, 0x0, 0x58, 1D", 1 | isa.TEX_INTEGER, {2: 14, 3: 16}),
    ("TLD.LZ R6, R4, R14, UR4, 3D", 3 | isa.TEX_INTEGER, {2: 14, 3: 15, 4: 16}),
    ("TLD4.SCR.A R6, R4, R14, R16, 0x0, 0x58, 2D", 2 | 4 << isa.TEX_GATHER_SHIFT, {2: 14, 3: 16}),
    ("TLD4.SCR.B.B R6, R4, R14, R16, 2D", 2 | 3 << isa.TEX_GATHER_SHIFT, {0: 16, 2: 14, 3: 15}),
    ("TXD.B R6, R4, R14, R18, ARRAY_2D", 2 | isa.TEX_LAYERED, {0: 14, 2: 17, 3: 15, 4: 16, 5: 18, 6: 19, 7: 20, 8: 21}),
    ("TXQ RZ, R4, R14, TEX_HEADER_DIMENSION, 0x0, 0x58, 0x5", isa.TEX_HEADER, {2: 14}),
    ("TXQ.B RZ, R4, R14, TEX_HEADER_DIMENSION, 0x5", isa.TEX_HEADER, {0: 14, 2: 15}),
])
def test_a_fetch_finds_its_coordinates_and_handle_in_two_vectors(text, aux, slots):
    inst = one(text)
    assert int(inst["aux"]) & 0xFFFF == aux
    assert {slot: int(inst["src"][slot]) for slot in range(10) if inst["src_mask"] >> slot & 1} == slots
    wanted = int(inst["aux"]) >> isa.TEX_MASK_SHIFT
    assert wanted == (5 if "0x5" in text.rpartition(",")[2] else 15)
    assert inst["dst"][: inst["num_dst"]].tolist() == [4, 5, 6, 7][: wanted.bit_count()]
    assert bool(inst["uniform_mask"] & 1) == ("UR4" in text) and bool(inst["const_mask"] & 1) == ("0x58" in text)


@pytest.mark.parametrize("text, said", [
    ("TEX.SCR.DC.LL R6, R4, R14, R16, 0x0, 0x58, 2D", "TEX with .DC is not executed"),
    ("TEX.SCR.LL R6, R4, R14, R16, 0x0, 0x58, 2D_MS", "TEX of 2D_MS is not executed"),
    ("TEX.LL R6, R4, R14, UR4, 0x0, 2D", "TEX with operands R6, R4, R14, UR4, 0x0, 2D is not executed"),
    ("TLD.LZ R6, R4, R14, UR4, 0x1, 2D", "TLD without a handle is not executed"),
    ("TLD4.R R6, R4, R14, UR4, 0x0, ARRAY_2D", "TLD4 but as .R, .G, .B or .A of 2D is not executed"),
    ("TXQ RZ, R4, R14, TEX_SAMPLER_POS, UR4, 0x0, 0x1", "TXQ of TEX_SAMPLER_POS is not executed"),
    ("SULD.P.2D R4, [R6], UR4, 0x0", "SULD with .P is not executed"),
    ("SULD.D.BA.2D.TRAP R4, [R6+0x4], UR4, 0x0", "SULD with operand [R6+0x4] is not executed"),
    ("SULD.D.BA.TRAP R4, [R6], UR4, 0x0", "SULD with operand [R6] is not executed"),
])
def test_what_is_not_executed_of_textures_is_refused(text, said):
    with pytest.raises(SassError, match=re.escape(f"{said} (textures and surfaces)")):
        one(text)


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("modes, normalized, kind", [(("clamp", "clamp"), False, "point"), (("border", "border"), False, "linear"),
                                                     (("mirror", "wrap"), True, "linear")])
def test_a_2d_fetch_gives_what_the_programming_guide_says(way, modes, normalized, kind, tmp_path):
    texels = np.random.RandomState(1).uniform(-4, 4, (5, 7, 4)).astype("f4")
    where = coordinates_of(2, -1.5, 2.5) if normalized else coordinates_of(3, -3.0, 10.0)
    got = fetched(way, tmp_path, "TEX.SCR.B.LZ R10, R8, R4, R30, 2D", where, texels,
                  table(channels=4, filter=kind, address=list(modes), normalized=normalized, border=[1.5] * 4))
    want = sampled(texels, [where[:, 0], where[:, 1]], list(modes), normalized, kind == "linear", 1.5)
    assert (got == want.view("u4")).all()


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("way", WAYS)
def test_a_fetch_from_one_row_at_y_0_is_one_dimensional(way, tmp_path):
    texels = np.random.RandomState(1).uniform(-4, 4, (7, 4)).astype("f4")
    where = coordinates_of(3, -3.0, 10.0)
    where[:, 1] = 0
    got = fetched(way, tmp_path, "TEX.SCR.B.LZ R10, R8, R4, R30, 2D", where, texels,
                  table(channels=4, filter="linear", address="border", border=[1.5] * 4))
    assert (got == sampled(texels, [where[:, 0]], ["border"], False, True, 1.5).view("u4")).all()


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("way", WAYS)
def test_a_layer_is_unsigned_and_the_last_one_beyond_the_end(way, tmp_path):
    texels = np.arange(3 * 2 * 4, dtype="u4").reshape(3, 2, 4)
    words = np.stack([np.where(LANES == 5, -1, LANES % 5), LANES % 4, LANES % 2, LANES], 1).astype("i4")
    body = "\n".join((LOAD, "B0-----:R-:W-:-:S15 MOV R31, R30", "MOV R30, R6",
                      "B------:R-:W0:-:S15 TLD.SCR.B.LZ RZ, R8, R4, R30, ARRAY_2D, 0x1", STORE))
    got = run(way, tmp_path, body, words, texels, table()).buffers()["out"]
    layer = np.where(LANES == 5, 2, np.minimum(LANES % 5, 2))
    assert (got[:, 0] == texels[layer, LANES % 2, LANES % 4]).all()


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("way", WAYS)
def test_a_direction_finds_its_face_of_a_cube(way, tmp_path):
    texels = np.arange(6 * 4 * 4, dtype="f4").reshape(6, 4, 4)
    where = np.random.RandomState(4).uniform(-2, 2, (32, 4)).astype("f4")
    got = fetched(way, tmp_path, "TEX.B.LZ RZ, R8, R4, R30, CUBE, 0x1", where, texels, table(normalized=True))[:, 0].view("f4")
    x, y, z = where[:, :3].T
    most = np.abs(where[:, :3]).argmax(1)
    size = np.abs(where[:, :3]).max(1)
    below = where[LANES, most] < 0
    face = 2 * most + below
    s = np.choose(most, [np.where(below, z, -z), x, np.where(below, -x, x)])
    t = np.choose(most, [-y, np.where(below, -z, z), -y])
    column, row = ((np.clip((one / size + 1) / 2, 0, 0.9999) * 4).astype(int) for one in (s, t))
    assert (got == texels[face, row, column]).all()


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("way", WAYS)
def test_a_query_gives_the_extents_and_one_level(way, tmp_path):
    got = run(way, tmp_path, "\n".join((LOAD, "B0-----:R-:W-:-:S15 MOV R31, RZ",
                                        "B------:R-:W0:-:S15 TXQ.B R10, R8, R30, TEX_HEADER_DIMENSION, 0xf", STORE)),
              np.zeros((32, 4), "u4"), np.zeros((3, 5, 7), "f4"), table()).buffers()["out"]
    assert got.tolist() == [[7, 5, 3, 1]] * 32


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mode", ["", ".IGN"])
def test_a_surface_is_addressed_in_bytes_and_texels_and_clamped_or_zero_outside(way, mode, tmp_path):
    texels = np.arange(4 * 3 * 6, dtype="u4").reshape(4, 3, 6)
    words = np.stack([4 * (LANES % 8) - 4, LANES % 5 - 1, LANES % 6 - 1, LANES], 1).astype("i4")
    simulator = run(way, tmp_path, "\n".join((
        LOAD, "B0-----:R-:W-:-:S15 MOV R8, 0x63", f"B------:R-:W0:-:S15 SULD.D.BA.3D.STRONG.SM{mode} R8, [R4], R30",
        "B0-----:R-:W-:-:S15 IADD3 R9, R8, 0x64, RZ", "ISETP.NE.AND P0, PT, R7, 0xd, PT",
        f"B------:R0:W-:-:S15 @!P0 SUST.D.BA.2D_ARRAY.STRONG.SM{mode} [R4], R9, R30", STORE)), words, texels, table())
    x, y, z = words[:, 0] // 4, words[:, 1], words[:, 2]
    inside = (x >= 0) & (x < 6) & (y >= 0) & (y < 3) & (z >= 0) & (z < 4)
    found = texels[np.clip(z, 0, 3), np.clip(y, 0, 2), np.clip(x, 0, 5)]
    assert (simulator.buffers()["out"][:, 0] == (np.where(inside, found, 0) if mode else found)).all()
    wanted = texels.copy()
    wanted[z[13], y[13], x[13]] += 100
    assert (simulator.buffers()["texels"] == wanted).all()
    assert inside[13] and not inside.all()


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("way", WAYS)
def test_a_surface_access_out_of_bounds_stops_the_kernel_and_so_does_a_handle_of_no_texture(way, tmp_path):
    words = np.stack([4 * LANES, LANES * 0, LANES, LANES], 1).astype("i4")
    suld = "B0-----:R-:W0:-:S15 SULD.D.BA.1D.U16.STRONG.SM.TRAP R8, [R4], "
    with pytest.raises(KernelFault, match="surface outside its extent; k.ptx:.* lane 6"):
        run(way, tmp_path, "\n".join((LOAD, suld + "R30", STORE)), words, np.zeros(6, "f4"), table())
    with pytest.raises(KernelFault, match="handle 0x700000000005.* lane 5"):
        run(way, tmp_path, "\n".join((LOAD, "B0-----:R-:W-:-:S15 ISETP.EQ.AND P0, PT, R7, 0x5, PT", "@P0 MOV R30, R7", suld + "R30", STORE)),
            words, np.zeros(32, "f4"), table())


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("way", WAYS)
def test_r2ur_or_adds_to_the_lanes_with_another_value(way, tmp_path):
    words = np.stack([LANES % 2, LANES % 3, LANES, LANES], 1).astype("u4")
    got = run(way, tmp_path, "\n".join((
        LOAD, "B0-----:R-:W-:-:S15 ISETP.EQ.AND P1, PT, R7, 0x6, PT", "R2UR P0, UR4, R4", "R2UR.OR P0, UR5, R5", "R2UR P1, UR6, R6",
        "SEL R8, RZ, 0x1, !P0", "MOV R9, UR5", "SEL R10, RZ, 0x1, !P1", STORE)), words, np.zeros(1, "f4"), table()).buffers()["out"]
    assert got[:, 0].tolist() == [int(lane % 6 != 0) for lane in range(32)] and got[:, 1].tolist() == [0] * 32
    assert got[:, 2].tolist() == [int(lane != 0) for lane in range(32)], "without .OR the predicate is not read"


@plain_only
@pytest.mark.nojit
def test_fetches_end_in_order_so_that_a_counter_above_0_says_which_have(tmp_path):
    texels = np.arange(64 * 32, dtype="u4")         # the first fetch takes 32 lines, the second one
    body = "\n".join((LOAD, "B0-----:R-:W-:-:S15 SHF.L.U32 R5, R2, 0x5, RZ",
                      "B------:R-:W3:-:S02 TLD.SCR.B.LZ RZ, R8, R5, R30, 1D, 0x1", "B------:R-:W3:-:S02 TLD.SCR.B.LZ RZ, R9, R2, R30, 1D, 0x1",
                      "B------:R-:W-:-:S04 DEPBAR.LE SB3, 0x1", "IADD3 R10, R8, 0x1, RZ",
                      "B---3--:R0:W-:-:S15 STG.E.128 [R22.64], R8\nEXIT"))
    got = run(WAYS[1], tmp_path, body, np.zeros((32, 4), "u4"), texels, table()).buffers()["out"]
    assert (got[:, 2] == 32 * LANES + 1).all() and (got[:, 1] == LANES).all()


FETCHES = ("B------:R-:W3:-:S02 {0} R8, {1}", "B------:R-:W-:-:S02 {0} R9, {1}", "B------:R-:W3:-:S02 {0} R10, {1}",
           "B------:R-:W-:-:S04 DEPBAR.LE SB3, 0x1", "IADD3 R12, {2}, 0x1, RZ")


@pytest.mark.parametrize("opcode, operands, read, expected", [
    ("TLD.LZ RZ,", "R4, UR4, 0x0, 1D, 0x1", "R8", []),
    ("SULD.D.BA.1D.TRAP", "[R4], UR4, 0x0", "R8", []),
    ("TLD.LZ RZ,", "R4, UR4, 0x0, 1D, 0x1", "R9", [("R9", "RAW", "counter")]),
    ("TLD.LZ RZ,", "R4, UR4, 0x0, 1D, 0x1", "R10", [("R10", "RAW", "counter")]),
    ("LDG.E", "[R4.64]", "R8", [("R8", "RAW", "counter")]),
])
def test_a_counter_above_0_covers_all_but_the_last_fetches_and_no_loads(opcode, operands, read, expected):
    body = "\n".join(line.format(opcode, operands, read) for line in FETCHES) + "\nEXIT"
    kernel = module_of_listing(listing(body, "", 90).replace("0x160", "0x210"), "k.sass").kernels["k"]
    assert [(one.register, one.kind, one.cover) for one in hazards_of(kernel)] == expected


HANDLES = """B------:R-:W-:-:S13 PLOP3.LUT P1, PT, PT, PT, PT, 0x80, 0x0
B------:R-:W-:-:S02 PLOP3.LUT P0, PT, P0, P1, PT, 0xa2, 0x0
B------:R-:W-:Y:S{0:02} @P1 R2UR P0, UR6, R4
B------:R-:W-:-:S{1:02} PLOP3.LUT P0, PT, P0, P1, PT, 0xa2, 0x0
B------:R-:W-:Y:S{2:02} @P1 R2UR.OR P0, UR7, R5
B------:R-:W5:-:S01 @!P0 TLD.LZ R10, R8, R7, UR6, 0x0, 1D
B-----5:R-:W-:-:S05 EXIT"""


@pytest.mark.parametrize("stalls, short", [((8, 2, 13), 0), ((7, 2, 13), 1), ((8, 1, 13), 1), ((8, 2, 12), 1)])
def test_the_loop_over_the_handles_of_textures_has_no_hazards_with_ptxas_own_stall_counts(stalls, short):
    kernel = module_of_listing(listing(HANDLES.format(*stalls), "", 90).replace("0x160", "0x210"), "k.sass").kernels["k"]
    assert bool(hazards_of(kernel)) == bool(short)
