"""Bundled kernels as machine code, from their listings: memory as after their PTX, byte for byte. All: tests.sass_kernels."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace

import numpy as np
import pytest

from rfview.engine import kernels
from rfview.engine.errors import InputError
from rfview.engine.functional.machine import FunctionalSimulator
from rfview.engine.launch import LaunchSpec, launch_of_text, load_launch_file
from rfview.engine.sass import tools
from rfview.engine.sass.listing import digest
from rfview.engine.sass.read import read_listing
from rfview.engine.sass.write import text_of
from rfview.engine.simulator import Simulator
from tests.engine.machine_programs import plain_only
from tests.sass_kernels import memory_of

SMALL = ("vectoradd", "dct8x8")     # one CTA each


def one_cta(name: str) -> LaunchSpec:
    """Return a bundled kernel's launch file with only the first CTA of its first launch."""
    spec = load_launch_file(kernels.path(name))
    return replace(spec, launches=(replace(spec.launches[0], grid=(1, 1, 1)),), expect={})


@pytest.fixture
def without_tools(monkeypatch):
    def refuse(name: str) -> str:
        raise AssertionError(f"{name} is asked for, though there is a listing")

    monkeypatch.setattr(tools, "tool", refuse)


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("isa", ["sm_75", "sm_80", "sm_90"])
@pytest.mark.parametrize("name", SMALL)
def test_a_listing_computes_what_the_ptx_does(name, isa, without_tools):
    spec = one_cta(name)
    runs = [FunctionalSimulator(spec, settings={"kernel.isa": kind}) for kind in ("ptx", isa)]
    for run in runs:
        run.run()
    assert runs[1].placement.kernels[0][0].architecture == int(isa[3:])
    wanted, got = map(memory_of, runs)
    assert got == wanted
    assert got != memory_of(FunctionalSimulator(spec)), "the CTA changes nothing"


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("name, isa", [("dct8x8", "sm_75"), ("dct8x8", "sm_80"), ("vectoradd", "sm_90")])
def test_the_subcore_computes_the_same_by_ptxas_control_codes(name, isa):
    spec = one_cta(name)
    run = Simulator(spec, preset="ampere", settings={"kernel.isa": isa})
    run.run()
    wanted = FunctionalSimulator(spec, settings={"kernel.isa": isa})
    wanted.run()
    assert memory_of(run) == memory_of(wanted) and run.instructions == wanted.instructions


@plain_only
@pytest.mark.nojit
def test_a_texture_handle_is_read_before_its_uniform_register_is_written_again():
    spec = one_cta("mummer")
    run = Simulator(replace(spec, launches=(replace(spec.launches[0], block=(32, 1, 1)),)), preset="hopper")
    run.step(1500)          # two fetches: a wrong handle is a fault
    assert run.cycle == 1500 and any(text.startswith("TLD") for text in run.placement.kernels[0][0].texts)


@plain_only
@pytest.mark.nojit
def test_a_preset_refuses_code_that_its_gpu_does_not_run_unless_isa_asks_for_it():
    spec = one_cta("vectoradd")
    newer = replace(spec, module_path=spec.module_path.with_suffix(".sm_90.sass"))
    with pytest.raises(InputError, match=r"sm_90, and preset ampere executes that of sm_86; .* --isa sm_90"):
        Simulator(newer, preset="ampere")
    Simulator(newer, preset="ampere", settings={"kernel.isa": "sm_90"})
    Simulator(replace(spec, module_path=spec.module_path.with_suffix(".sm_80.sass")), preset="ampere")


SCALED = """// rfview machine code 1
.target sm_80
.address_size 64
.const 16 4 factor 0x8
.bank 3 24
.bytes 0x0 0000000000000000000040400000000000000000
.entry scaled
.registers 8
.params 0x160
.param 0x0 8 u64 out
0000 B------:R-:W0:-:S02 S2R R0, SR_TID.X
0010 B------:R-:W-:-:S04 ULDC.64 UR4, c[0x0][0x160]
0020 B0-----:R-:W-:-:S04 I2FP.F32.U32 R3, R0
0030 B------:R-:W-:-:S04 FMUL R3, R3, c[0x3][0x8]
0040 B------:R-:W-:-:S04 IMAD.SHL.U32 R0, R0, 0x4, RZ
0050 B------:R-:W-:-:S04 IMAD R3, R3, c[0x0][0x0], RZ
0060 B------:R-:W-:-:S04 STG.E [R0.U32+UR4], R3
0070 B------:R-:W-:-:S05 EXIT
"""
LAUNCH = 'module = "scaled.sass"\n[[launch]]\nkernel = "scaled"\ngrid = [1]\nblock = [32]\nargs = [{buffer = "out"}]\n[buffers.out]\n'


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("given", [None, 5.0])
def test_constants_are_the_modules_or_those_of_the_launch_file(given):
    symbols = {} if given is None else {"factor": np.array([given], np.float32)}
    text = LAUNCH if given is None else LAUNCH + "[symbols.factor]\n"
    spec = launch_of_text(text, "scaled", {"out": np.zeros(32, np.uint32)}, symbols)
    run = FunctionalSimulator(spec, source=(SCALED, "scaled.sass"))
    run.run()
    factor = 3.0 if given is None else given
    # the product's bits times the number of threads, which is in constant bank 0
    wanted = (np.arange(32, dtype=np.float32) * np.float32(factor)).view(np.uint32) * np.uint32(32)
    assert run.buffers()["out"].tolist() == wanted.tolist()


BARRIERS = SCALED.replace("scaled", "barriers").partition("0000 ")[0] + """0000 B------:R-:W0:-:S02 S2R R0, SR_TID.X
0010 B------:R-:W-:-:S04 ULDC.64 UR4, c[0x0][0x160]
0020 B0-----:R-:W-:-:S04 IMAD R3, R0, 0x3, RZ
0030 B------:R-:W-:-:S10 BMOV.32 B0, R3
0040 B------:R-:W-:-:S10 BMOV.32.CLEAR B7, B0
0050 B------:R-:W1:-:S10 BMOV.32 R4, B7
0060 B------:R-:W1:-:S10 BMOV.32 R5, B0
0070 B------:R-:W-:-:S04 IMAD.SHL.U32 R0, R0, 0x4, RZ
0080 B-1----:R-:W-:-:S06 LEA R4, R5, R4, 0x8
0090 B------:R-:W-:-:S04 STG.E [R0.U32+UR4], R4
00a0 B------:R-:W-:-:S05 EXIT
"""


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("kind, preset", [(FunctionalSimulator, "fermi"), (Simulator, "a100")])
def test_a_barrier_register_moves_to_another_one_and_is_emptied(kind, preset):
    """As ptxas does at the beginning of every kernel for sm_87."""
    spec = launch_of_text(LAUNCH.replace("scaled", "barriers"), "barriers", {"out": np.zeros(32, np.uint32)}, {})
    run = kind(spec, source=(BARRIERS, "barriers.sass"), preset=preset)
    run.run()
    assert run.buffers()["out"].tolist() == [3 * lane for lane in range(32)]


def test_a_core_for_ptx_refuses_machine_code():
    spec = launch_of_text(LAUNCH, "scaled", {"out": np.zeros(32, np.uint32)}, {})
    with pytest.raises(InputError, match=r"scaled: machine code does not run on Fermi's core"):
        Simulator(spec, source=(SCALED, "scaled.sass"))


@pytest.mark.parametrize("name", ["nw", "gemm", "ray"])
def test_a_bundled_listing_is_of_its_ptx_and_reads_as_written(name):
    ptx = kernels.FOLDER / name / f"{name}.ptx"
    for sm in (75, 80, 90):
        text = ptx.with_suffix(f".sm_{sm}.sass").read_text()
        listing = read_listing(text, "k.sass")
        assert listing.made_of == digest(ptx.read_text())
        assert text_of(listing) == text


def test_every_bundled_kernel_has_listings_of_its_ptx():
    for name in kernels.names():
        ptx = kernels.FOLDER / name / f"{name}.ptx"
        want = hashlib.sha256(ptx.read_bytes()).hexdigest()[:16]
        for sm in (75, 80, 90):
            head = ptx.with_suffix(f".sm_{sm}.sass").open().read(600)
            assert re.search(r"^\.made_of (\w+)$", head, re.MULTILINE)[1] == want, f"{name}: python -m rfview.engine.kernels.make --listings {name}"


def test_code_whose_registers_do_not_fit_is_to_be_compiled_with_fewer():
    """--set kernel.max_registers is for PTX, and refused on a sub-core."""
    many = SCALED.replace(".registers 8", ".registers 128")
    spec = launch_of_text(LAUNCH.replace("block = [32]", "block = [1024]"), "scaled", {"out": np.zeros(1024, np.uint32)}, {})
    with pytest.raises(InputError, match=r"not enough registers .* -maxrregcount=64, or with __launch_bounds__"):
        Simulator(spec, source=(many, "scaled.sass"), preset="a100")
