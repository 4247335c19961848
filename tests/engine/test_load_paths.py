"""Every load extends by type and register alike: path x type x register x vector, on the machine and in the reference."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rfview.engine.launch import load_launch_file
from rfview.engine.ptx import load_module
from rfview.engine.simulator import Simulator
from tests.reference.interpreter import run_launches

DATA = bytes(range(0x81, 0xC1))         # 64 bytes: whatever is loaded from here is negative
LETTER = {8: "b", 16: "h", 32: "r", 64: "d"}
TYPES = {"b8": 8, "u8": 8, "s8": 8, "b16": 16, "u16": 16, "s16": 16, "b32": 32, "u32": 32, "s32": 32, "f32": 32,
         "b64": 64, "u64": 64, "s64": 64, "f64": 64}
# (type, bits of the register, elements): what ptxas accepts, with untyped registers
LOADS = [(kind, bits, count) for kind, width in TYPES.items() for bits in LETTER for count in (1, 2, 4)
         if bits >= width and count * width <= 128 and not (bits == 8 and count > 1)]
SHORT = [load for load in LOADS if load[2] == 1]
REGISTERS = ".reg .b8 %b<4>; .reg .b16 %h<4>; .reg .b32 %r<4>; .reg .b64 %d<4>;"
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
MODULE = """
.const .align 16 .b8 constants[64] = {{{values}}};
.global .align 16 .b8 variables[64] = {{{values}}};
{functions}
.visible .entry k(.param .u64 in, .param .u64 out, .param .align 16 .b8 given[64])
{{
.reg .b64 %in, %out, %at, %x<2>; .reg .b32 %depth; {registers}
.shared .align 16 .b8 sh[64]; .local .align 16 .b8 lo[64];
ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
{body}
ret;
}}
"""
LAUNCH = """module = "k.ptx"
[[launch]]
grid = [1]
block = [1]
args = [{{buffer = "in"}}, {{buffer = "out"}}, {{bytes = "{data}"}}]
[buffers.in]
file = "in.npy"
[buffers.out]
shape = [{count}]
dtype = "uint64"
zeros = true
"""


def filled(space: str, variable: str) -> str:
    """Return PTX that copies the data to a variable."""
    return "".join(f"ld.global.v2.b64 {{%x0, %x1}}, [%in+{at}]; st.{space}.v2.b64 [{variable}+{at}], {{%x0, %x1}};\n"
                   for at in range(0, 64, 16))


# path: what comes first, the instruction, the address
PATHS = {
    "param": ("", "ld.param", "given"),
    "param by register": ("mov.b64 %at, given;", "ld.param", "%at"),
    "generic param": ("cvta.param.u64 %at, given;", "ld", "%at"),
    "const": ("", "ld.const", "constants"),
    "const by register": ("mov.b64 %at, constants;", "ld.const", "%at"),
    "variable": ("", "ld.global", "variables"),
    "global": ("", "ld.global", "%in"),
    "read-only": ("", "ld.global.nc", "%in"),
    "uniform": ("", "ldu.global", "%in"),
    "past L1": ("", "ld.global.cg", "%in"),
    "volatile": ("", "ld.volatile.global", "%in"),
    "acquire": ("", "ld.acquire.gpu.global", "%in"),
    "generic": ("", "ld", "%in"),
    "shared": (filled("shared", "sh"), "ld.shared", "sh"),
    "generic shared": (filled("shared", "sh") + "cvta.shared.u64 %at, sh;", "ld", "%at"),
    "local": (filled("local", "lo"), "ld.local", "lo"),
    "generic local": (filled("local", "lo") + "cvta.local.u64 %at, lo;", "ld", "%at"),
}


def load(which: int, load: tuple[str, int, int], opcode: str, base: str, first: int) -> str:
    """Return PTX for one load at an offset that depends on its number, and for the stores of its results."""
    kind, bits, count = load
    names = [f"%{LETTER[bits]}{k}" for k in range(count)]
    target, vector = (names[0], "") if count == 1 else ("{" + ", ".join(names) + "}", f".v{count}")
    lines = [f"{opcode}{vector}.{kind} {target}, [{base}+{place(which, load)}];"]
    lines += [f"st.global.b{bits} [%out+{8 * (first + k)}], {name};" for k, name in enumerate(names)]
    return "\n".join(lines) + "\n"


def place(which: int, load: tuple[str, int, int]) -> int:
    size = TYPES[load[0]] // 8 * load[2]
    return which * size % 64


def wanted(loads: list[tuple[str, int, int]], at_zero: bool = False) -> np.ndarray:
    """Return the words stored: every element, extended to its register and cut to it."""
    words = []
    for which, (kind, bits, count) in enumerate(loads):
        width, at = TYPES[kind] // 8, 0 if at_zero else place(which, loads[which])
        for k in range(count):
            value = int.from_bytes(DATA[at + k * width:at + (k + 1) * width], "little", signed=kind[0] == "s")
            words.append(value % (1 << bits))
    return np.array(words, np.uint64)


def body_of(loads: list[tuple[str, int, int]], opcode: str, base: str) -> str:
    """Return the PTX of all loads, each result in its own 64-bit word of `out`."""
    text, first = "", 0
    for which, item in enumerate(loads):
        text += load(which, item, opcode, base, first)
        first += item[2]
    return text


def check(folder: Path, body: str, expected: np.ndarray, functions: str = "") -> None:
    """Run a kernel on the machine and in the reference interpreter; compare both with what is expected."""
    text = HEAD + MODULE.format(values=", ".join(map(str, DATA)), functions=functions, registers=REGISTERS, body=body)
    (folder / "k.ptx").write_text(text)
    (folder / "k.toml").write_text(LAUNCH.format(data=DATA.hex(), count=len(expected)))
    np.save(folder / "in.npy", np.frombuffer(DATA, np.uint8))
    spec = load_launch_file(folder / "k.toml")
    simulator = Simulator(spec)
    simulator.run()
    np.testing.assert_array_equal(simulator.buffers()["out"], expected)
    np.testing.assert_array_equal(run_launches(spec, load_module(spec.module_path))["out"], expected)


@pytest.mark.parametrize("path", [
    pytest.param(path, marks=pytest.mark.nojit if path == "param" else ()) for path in PATHS
])
def test_a_load_extends_by_its_type_whatever_its_path(tmp_path: Path, path: str) -> None:
    before, opcode, base = PATHS[path]
    check(tmp_path, before + "\n" + body_of(LOADS, opcode, base), wanted(LOADS))


@pytest.mark.parametrize("depth", [0, 2])
def test_a_load_of_a_functions_parameter_extends_by_its_type(tmp_path: Path, depth: int) -> None:
    # bytes one by one, read as any type: the parameter is in local memory; with a depth the function calls itself
    copies = "".join(f"ld.param.b8 %b0, [{{0}}+{at}]; st.param.b8 [p+{at}], %b0;\n" for at in range(64))
    call = "{{ .param .align 16 .b8 p[64]; .param .b64 o; .param .b32 n;\n" + copies + (
        "st.param.b64 [o], %out; st.param.b32 [n], %depth;\ncall.uni f, (p, o, n); }}\n")
    function = f"""
.func f(.param .align 16 .b8 own[64], .param .b64 out, .param .b32 depth)
{{
.reg .b64 %out; .reg .b32 %depth; .reg .pred %more; {REGISTERS}
ld.param.b64 %out, [out]; ld.param.b32 %depth, [depth];
setp.ne.u32 %more, %depth, 0;
@!%more bra last;
sub.u32 %depth, %depth, 1;
{call.format("own") if depth else ""}
ret;
last:
{body_of(LOADS, "ld.param", "own")}
ret;
}}"""
    check(tmp_path, f"mov.b32 %depth, {depth};\n" + call.format("given"), wanted(LOADS), function)


def test_scalar_parameters_and_return_values_of_functions_extend_by_the_type_of_the_load(tmp_path: Path) -> None:
    # each is passed by a store of its own width, so that it stays in a register
    functions, body = "", ""
    for which, item in enumerate(SHORT):
        kind, bits, _ = item
        width, name, wide = TYPES[kind], f"%{LETTER[bits]}0", LETTER[TYPES[kind]]
        functions += f""".func (.param .b{width} back) f{which}(.param .b{width} a, .param .b64 out)
{{
.reg .b64 %out; {REGISTERS}
ld.param.b64 %out, [out]; ld.param.{kind} {name}, [a]; st.global.b{bits} [%out+{8 * which}], {name};
ld.param.b{width} %{wide}1, [a]; st.param.b{width} [back], %{wide}1; ret;
}}
"""
        body += f"""{{ .param .b{width} a; .param .b64 o; .param .b{width} back;
ld.global.b{width} %{wide}1, [%in]; st.param.b{width} [a], %{wide}1; st.param.b64 [o], %out;
call.uni (back), f{which}, (a, o);
ld.param.{kind} {name}, [back]; st.global.b{bits} [%out+{8 * (len(SHORT) + which)}], {name}; }}
"""
    once = wanted(SHORT, at_zero=True)
    check(tmp_path, body, np.concatenate([once, once]), functions)
