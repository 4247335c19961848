"""Finding a launch's kernel, and the contents of a module's symbols before the first cycle."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from rfview.engine.config import load_preset
from rfview.engine.errors import InputError, KernelFault
from rfview.engine.machine.faults import _left_out
from rfview.engine.launch import load_launch_file
from rfview.engine.launch.kernel_names import is_called
from rfview.engine.launch.mangling import arguments_of, cpp_name, split_name
from rfview.engine.launch.placement import Placement, place
from rfview.engine.ptx import load_module
from rfview.engine.simulator import Simulator
from tests.conftest import PATIENCE_S, REPOSITORY

HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"
NAMES = ("_Z3addPf", "_ZN4blas4scalIfEEvPT_", "_Z4copyIfEvPT_", "_Z4copyIdEvPT_", "plain")


def placed(tmp_path: Path, kernel: str, text: str = "") -> Placement:
    """Return the placement of a launch of `kernel` from a module whose kernels are NAMES."""
    entries = "".join(f".visible .entry {name}() {{ ret; }}\n" for name in NAMES)
    (tmp_path / "k.ptx").write_text(HEAD + text + entries)
    (tmp_path / "k.toml").write_text(f'[[launch]]\nkernel = "{kernel}"\ngrid = [1]\nblock = [32]\n')
    spec = load_launch_file(tmp_path / "k.toml")
    return place(spec, load_module(spec.module_path), load_preset("fermi"), 1024)


@pytest.mark.parametrize("mangled, parts", [
    ("_Z3fooPf", ["foo"]), ("_ZN1a3fooIfEEvPf", ["a", "foo"]), ("_ZL5localPi", ["local"]), ("foo", []), ("_Z", []),
    ("_ZN12_GLOBAL__N_11kEv", ["_GLOBAL__N_1", "k"]), ("_Z6kernelILi16EEvPf", ["kernel"]), ("_Z1f3fooPf", ["f"]),
])
def test_a_mangled_name_gives_its_parts(mangled: str, parts: list[str]) -> None:
    assert cpp_name(mangled) == parts


@pytest.mark.parametrize("asked, found", [
    ("plain", "plain"), ("add", "_Z3addPf"), ("_Z3addPf", "_Z3addPf"), ("scal", "_ZN4blas4scalIfEEvPT_"),
    ("blas::scal", "_ZN4blas4scalIfEEvPT_"), ("_Z4copyIdEvPT_", "_Z4copyIdEvPT_"), ("copy<double>", "_Z4copyIdEvPT_"),
    ("blas::scal<float>(float *)", "_ZN4blas4scalIfEEvPT_"), ("add(float*)", "_Z3addPf"),
])
def test_a_kernel_is_found_by_its_cpp_name(tmp_path: Path, asked: str, found: str) -> None:
    assert placed(tmp_path, asked).launches[0].kernel.name == found


@pytest.mark.parametrize("asked, mangled", [
    ("reduce<512, float, true>", "_Z6reduceILj512EfLb1EEvPT0_"), ("k<const float *>", "_Z1kIPKfEvT_"),
    ("a::each<a::b::Axpy<float>, float, 2>", "_ZN1a4eachINS_1b4AxpyIfEEfLi2EEEvT_PKT0_i"),
    ("each<Pair<int, Of<int *, 3>>, Pair<int, Of<int *, 3>>>", "_Z4eachI4PairIi2OfIPiLi3EEES4_EvT_T0_"),
    ("k<unsigned int, -3>", "_Z1kIjLin3EEvv"), ("void k<float4>(float4)", "_Z1kI6float4EvT_"),
])
def test_template_arguments_are_found_in_a_mangled_name(asked: str, mangled: str) -> None:
    parts, arguments = split_name(asked)
    assert cpp_name(mangled) == parts and arguments is not None and arguments.search(mangled)


@pytest.mark.parametrize("mangled, said", [
    ("_Z6reduceILj512EfLb1EEvPT0_", "<512, float, true>"), ("_Z1kIPKfEvT_", "<const float*>"), ("_Z1kIxLin3EEvv", "<long long, -3>"),
    ("_Z1kI6float4EvT_", ""), ("_Z1kPf", ""), ("k", ""),
])
def test_simple_template_arguments_are_said_as_they_may_be_asked_for(mangled: str, said: str) -> None:
    assert arguments_of(mangled, "k" if "1k" in mangled else "reduce") == said
    assert is_called(mangled, f"{(cpp_name(mangled) or ['k'])[-1]}{said}")


@pytest.mark.parametrize("asked, message", [
    ("copy", "2 kernels have this C++ name, give one in full: _Z4copyIfEvPT_, _Z4copyIdEvPT_"),
    ("copy<int>", "no such kernel (did you mean 'copy'?)"),
    ("skal", "no such kernel (did you mean 'scal'?)"), ("other::scal", "no such kernel"), ("_Z3addPd", "no such kernel"),
])
def test_a_wrong_name_says_what_there_is(tmp_path: Path, asked: str, message: str) -> None:
    with pytest.raises(InputError, match="kernel") as error:
        placed(tmp_path, asked)
    assert message in str(error.value)


def test_a_table_of_functions_holds_numbers_that_are_not_null(tmp_path: Path) -> None:
    text = ".func f() { ret; }\n.global .align 8 .u64 table[2] = {f, values};\n.global .align 4 .u32 values[1] = {7};\n"
    place = placed(tmp_path, "plain", text)
    table, values = place.variables
    assert place.arena[table.word : table.word + 4].view(np.uint64).tolist() == [16, values.address]


def test_a_packed_structure_holds_addresses_byte_by_byte(tmp_path: Path) -> None:
    def parts(address: str) -> str:
        return ", ".join(f"0x{0xFF << 8 * byte:X}({address})" for byte in range(8))

    text = (f".func f() {{ ret; }}\n.global .align 4 .u32 v;\n.global .align 1 .u8 packed[17] = {{1, {parts('generic(v)+4')}, "
            f"{parts('f')}}};\n.global .align 8 .u64 far[2] = {{v-0x7FFFFFFFFFFFFFFF, v+0xFFFFFFFFFFFFFFFF}};\n")
    place = placed(tmp_path, "plain", text)
    found = {variable.name: variable for variable in place.variables}
    packed, far = (bytes(place.arena.view(np.uint8)[4 * found[name].word :][: found[name].size]) for name in ("packed", "far"))
    address = found["v"].address
    assert packed == b"\x01" + (address + 4).to_bytes(8, "little") + (16).to_bytes(8, "little")
    assert np.frombuffer(far, "u8").tolist() == [(address - 0x7FFFFFFFFFFFFFFF) % (1 << 64), address - 1]


def test_a_symbol_without_bytes_is_refused(tmp_path: Path) -> None:
    text = (".extern .global .align 4 .b8 far[];\n.visible .entry reads() { .reg .b32 %r<2>; .reg .b64 %rd<2>; "
            "mov.u64 %rd1, far; ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd1], %r1; ret; }\n")
    with pytest.raises(InputError, match="'far' is declared extern"):
        placed(tmp_path, "reads", text)


def test_a_cta_that_does_not_fit_says_what_would_help(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"not enough shared memory .*; --set sm\.shared_bytes=65536 "):
        placed(tmp_path, "fills", ".shared .align 4 .b8 tile[65536];\n"
               ".visible .entry fills() { st.shared.u32 [tile], 1; ret; }\n")


def test_a_cooperative_launch_that_is_too_large_is_refused_at_load(tmp_path: Path) -> None:
    corpus = Path(__file__).resolve().parents[1] / "corpus" / "grid_sync"
    text = (corpus / "grid_sync.sm75.toml").read_text()
    (tmp_path / "grid_sync.sm75.ptx").write_text((corpus / "grid_sync.sm75.ptx").read_text())
    (tmp_path / "out_expected.npy").write_bytes((corpus / "out_expected.npy").read_bytes())
    launch = tmp_path / "k.toml"

    def laid_out(file: Path) -> Placement:
        spec = load_launch_file(file)
        return place(spec, load_module(spec.module_path), load_preset("fermi"), 1024)

    launch.write_text(text.replace("grid = [3]", "grid = [8]"))
    laid_out(launch)
    launch.write_text(text.replace("grid = [3]", "grid = [9]"))
    with pytest.raises(InputError, match="barrier of the whole grid .* 9 CTAs .* 8 fit, limited by CTA slots"):
        laid_out(launch)


def test_a_run_that_waits_for_ctas_without_room_says_so() -> None:
    def said(done: int, begun: int) -> str:
        launch = SimpleNamespace(num_ctas=20, next_cta=begun, done_ctas=done, resident_ctas=8)
        return _left_out(SimpleNamespace(sm=SimpleNamespace(launch=launch)))     # type: ignore[arg-type]

    assert "12 of 20 CTAs have not begun" in said(0, 8) and "8 fit" in said(0, 8)
    assert said(1, 9) == said(0, 20) == ""


def given(tmp_path: Path, *tables: str) -> Path:
    """Write a launch file whose buffers have given addresses."""
    (tmp_path / "a.ptx").write_text(".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n    ret;\n}\n")
    (tmp_path / "a.toml").write_text("\n".join(
        ['[[launch]]\nkernel = "k"\ngrid = [1]\nblock = [32]\nargs = [{buffer = "x"}]',
         *(f'[buffers.{name}]\nshape = [100]\ndtype = "uint32"\nvalue = {k}\n{table}'
           for k, (name, table) in enumerate(zip("xyz", tables)))]))
    return tmp_path / "a.toml"


def test_buffers_lie_where_a_launch_file_says_and_others_behind_them(tmp_path: Path) -> None:
    from rfview.engine.simulator import Simulator

    spec = load_launch_file(given(tmp_path, "address = 0x700000100000", "", "address = 0x5000_0000_0000"))
    simulator = Simulator(spec)
    found = {one.name: one for one in simulator.placement.variables}
    assert {name: one.address for name, one in found.items()} == {
        "x": 0x7000_0010_0000, "y": 0x7000_0010_0400, "z": 0x5000_0000_0000}
    assert simulator.arena.nbytes < 1 << 20      # gaps between addresses take no space
    assert {name: array[99] for name, array in simulator.buffers().items()} == {"x": 0, "y": 1, "z": 2}
    assert list(simulator.regions["base_address"]) == sorted(simulator.regions["base_address"])
    simulator = Simulator(load_launch_file(given(tmp_path, "address = 0x700000100014", "", "")))
    assert [one.address for one in simulator.placement.variables] == [0x7000_0010_0014, 0x7000_0010_0400, 0x7000_0010_0800]


@pytest.mark.parametrize(("tables", "said"), [
    (("address = 100",), "expected an integer in"), (("address = 0x700000000012",), "multiple of 4"),
    (("address = 0x700000000000", "address = 0x700000000000"), "overlap"), (('address = "here"',), "expected an integer"),
])
def test_addresses_that_cannot_be_are_refused(tmp_path: Path, tables: tuple[str, ...], said: str) -> None:
    from rfview.engine.errors import InputError
    from rfview.engine.simulator import Simulator

    with pytest.raises(InputError, match=said):
        Simulator(load_launch_file(given(tmp_path, *tables)))


def test_a_kernel_of_32_kb_of_parameters_reads_all_of_them_and_no_more(tmp_path: Path) -> None:
    data = np.arange(8190, dtype=np.uint32)
    text = """.version 8.7\n.target sm_100\n.address_size 64
.visible .entry k(.param .align 4 .b8 many[32752], .param .u64 out)
{ .reg .b32 %r<4>; .reg .b64 %rd<4>; ld.param.u64 %rd1, [out]; cvta.param.u64 %rd3, many;
  mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, AWAY; add.u64 %rd3, %rd3, %rd2; ld.param.u32 %r2, [many+32748];
  ld.u32 %r3, [%rd3]; add.u32 %r2, %r2, %r3; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r2; ret; }
"""
    (tmp_path / "k.toml").write_text(
        f'[[launch]]\ngrid = [1]\nblock = [32]\nargs = [{{bytes = "{data.tobytes()[:32752].hex()}"}}, {{buffer = "out"}}]\n'
        '[buffers.out]\nshape = [32]\ndtype = "uint32"\nzeros = true\n')
    (tmp_path / "k.ptx").write_text(text.replace("AWAY", "1000"))
    machine = Simulator(load_launch_file(tmp_path / "k.toml"))
    machine.run()
    assert np.array_equal(machine.buffers()["out"], np.arange(32) * 250 + 8187)
    (tmp_path / "k.ptx").write_text(text.replace("AWAY", "1100"))
    machine = Simulator(load_launch_file(tmp_path / "k.toml"))
    with pytest.raises(KernelFault, match="param"):
        machine.run()


def test_a_large_variable_takes_memory_only_for_what_is_touched(tmp_path: Path) -> None:
    """One of 2.1 GB took 6.3 GB; its zeros are not stored, and the copy that the machine changes has only what is not zero."""
    text = ".global .b8 big[1500000000];\n.global .u64 after[4] = {big, 7};\n"
    code = (f"import re, sys; sys.path.insert(0, {str(REPOSITORY)!r})\n"
            "from rfview.engine.launch import load_launch_file\nfrom rfview.engine.simulator import Simulator\n"
            f"machine = Simulator(load_launch_file({str(tmp_path / 'k.toml')!r}))\n"
            "big, after = (each for each in machine.placement.variables if each.kind == 'symbol')\n"
            "print(machine.arena[big.word], machine.arena[big.word + big.size // 4 - 1])\n"
            "print(machine.arena[after.word : after.word + 8].view('u8').tolist() == [big.address, 7, 0, 0])\n"
            "status = open('/proc/self/status').read()\n"     # unlike ru_maxrss, not that of the process that started it
            "print(int(re.search(r'VmHWM:\\s+(\\d+) kB', status)[1]) < 800_000)\n")
    placed(tmp_path, "plain")
    (tmp_path / "k.ptx").write_text(f"{HEAD}{text}.visible .entry plain() {{ ret; }}\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.stdout.splitlines() == ["0 0", "True", "True"], done


@pytest.mark.parametrize("registers, unit, resident", [
    (21, 1, 6), (21, 2, 5), (21, 4, 5),         # 8 warps in 1,024 rows: of 168, 176 and 192 rows each
    (25, 1, 5), (25, 2, 4), (20, 4, 6), (32, 4, 4),
])
def test_registers_are_allocated_in_units(tmp_path: Path, registers: int, unit: int, resident: int) -> None:
    """B0.22"""
    (tmp_path / "k.ptx").write_text(HEAD + ".visible .entry k() { ret; }\n")
    (tmp_path / "k.toml").write_text('[[launch]]\nkernel = "k"\ngrid = [9]\nblock = [256]\n')
    spec = load_launch_file(tmp_path / "k.toml")
    config = load_preset("fermi").with_setting("kernel.registers", registers).with_setting("sm.register_unit", unit)
    assert place(spec, load_module(spec.module_path), config, 1024).launches[0].resident_ctas == resident
