"""Fuzzes recipes: bytes changed without new checksums, and contents of every kind with correct ones.

A case is one recipe of a tiny kernel, which is described, made a live session, run for a few cycles, and sometimes filled.
Without new checksums it must be refused. With them it is another run, or refused with one error that names the file; if
only its claims are changed (cycles, end, sums, version), the states shown must be the true ones, and what is filled has
the states whose checksums it claims. Nothing outside of the recipe may be read or executed: bait lies in a folder.
"""

from __future__ import annotations

import copy
import functools
import random
import resource
import sys
import tempfile
import time
import tomllib
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgpack
import msgspec

from rfview.engine.errors import InputError, RfviewError
from rfview.engine.launch import load_launch_file
from rfview.engine.simulator import Simulator
from rfview.engine.snapshot import Snapshot
from rfview.sessions.codec import streams
from rfview.sessions.file import framing
from rfview.sessions.timeline import recipe, recipe_filling
from rfview.sessions.timeline.opening import open_recording
from rfview.sessions.timeline.recipe_writing import sum_of, write_recipe
from tests.robustness import launch, ptx, recordings
from tests.robustness.found import keep

SLOW_S, MAX_MB, STEPS, FILLED = 10.0, 512, 60, 5000
CLAIMS = ("cycles", "finished", "fault", "summary", "sums")
TOML = """module = "tiny.ptx"
[[launch]]
kernel = "add"
grid = [2]
block = [40]
args = [{buffer = "data"}, {symbol = "table"}, {value = 3}]
[buffers.data]
shape = [80]
dtype = "int32"
arange = true
[symbols.table]
shape = [4]
dtype = "uint32"
value = 7
[expect.data]
shape = [80]
dtype = "int32"
value = 10
"""
PTX = """.version 8.0
.target sm_75
.address_size 64
.global .align 4 .b32 table[4];
.visible .entry add(.param .u64 data, .param .u64 more, .param .u32 bias)
{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<6>;
    .shared .align 4 .b8 room[256];
    .file 1 "BAIT/k.cu"
    .loc 1 3 0
    ld.param.u32 %r2, [bias];
    ld.param.u64 %rd1, [data];
    ld.param.u64 %rd3, [more];
    ld.global.u32 %r4, [%rd3];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd2, %rd1, %rd2;
    add.s32 %r2, %r2, %r4;
    bar.sync 0;
    st.global.u32 [%rd2], %r2;
    ret;
}
"""
# what a hostile recipe may say of its machine
CHAINS: tuple[Any, ...] = (["sram"], ["./BAIT/evil.py"], ["BAIT/evil.py"], ["evil"], ["os"], [], [None], "sram", ["sram"] * 50,
                           ["sram", "sram"], ["rfc", "stt"], ["stt"], ["racetrack"], ["sram[x=1]"], ["x" * 100_000])
DESIGN_FILES: tuple[Any, ...] = (5, {}, {"evil": {"file": "BAIT/evil.py", "code": "", "text": "import os"}}, {"os": {}},
                                 {"evil": {"file": "../../x.py", "code": "0", "text": "x = 1"}}, {"sram": {"file": "x.py", "code": ""}})
VALUES: tuple[Any, ...] = (None, True, -1, 0, 1, 3, 1 << 31, (1 << 63) - 1, (1 << 64) - 1, 1.5, float("nan"), float("inf"), "", "x",
                           "BAIT/map.toml", "9" * 5000, "x" * 100_000, [], [1], [70_000], [-1], [0] * 5000, ["a"], {}, b"x")
SETTINGS = ("racetrack.mapping", "sm.num_warps", "sm.num_banks", "sm.rows_per_bank", "memory.l2_sets", "latency.int_add",
            "kernel.addresses", "kernel.schedule", "stt.write_cycles", "sm.shared_bytes", "nonsense", "x" * 100_000)


class Bait:
    """A folder that nothing may read while a case is tried; an audit hook notes what does."""

    folder: str = ""
    taken: list[str] = []
    is_hooked = False

    @classmethod
    def lay(cls, folder: Path) -> None:
        """Fill the folder, and watch it from now on."""
        cls.folder = str(folder)
        (folder / "evil.py").write_text("raise SystemExit('executed')\n")
        (folder / "map.toml").write_text("format = 1\npositions = [[0, 1]]\n")
        (folder / "k.cu").write_text("// secret\n")
        if not cls.is_hooked:
            cls.is_hooked = True
            sys.addaudithook(cls._opened)

    @classmethod
    def _opened(cls, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and cls.folder and isinstance(arguments[0], str) and cls.folder in arguments[0]:
            cls.taken.append(arguments[0])


@functools.cache
def sample() -> tuple[bytes, dict[str, Any], dict[int, Snapshot]]:
    """Return a recipe's bytes, its body with BAIT for the folder's name, and the run's states by cycle."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "tiny.ptx").write_text(PTX)
        (Path(folder) / "tiny.toml").write_text(TOML)
        spec = load_launch_file(Path(folder) / "tiny.toml")
        path = Path(folder) / "tiny.rfr"
        write_recipe(Simulator(spec), path)
        body = msgspec.to_builtins(recipe.open_recipe(path).body, builtin_types=(bytes,))
        with closing(recipe_filling.live(recipe.open_recipe(path))) as timeline:
            timeline.extend(STEPS)
            states = {cycle: timeline.at(cycle) for cycle in range(0, STEPS + 1, 7)}
        return path.read_bytes(), body, states


def changed_claims(chance: random.Random, body: dict[str, Any]) -> None:
    """Change what a recipe says of its run's course and origin."""
    for _ in range(chance.choice((1, 1, 2))):
        key = chance.choice((*CLAIMS, "engine_version", "source_hash"))
        if key in CLAIMS:
            body[key] = chance.choice((None, -1, 1 << 70, "x", [], [[]], [[0, 0, 0, 0]] * 3, {}, 1.5, [["a", 1, 2, 3]], True, 5,
                                       float("nan"), [[0, 1, 2, 3]], recordings._changed(chance, body[key], 1)))
        else:
            body["info"][key] = chance.choice(("", "x", 5, None, "y" * 100_000, "\x1b[2J"))


def changed_any(chance: random.Random, body: dict[str, Any]) -> None:
    """Change any part of a recipe."""
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        if chance.random() < 0.5:
            key = chance.choice(list(body))
            body[key] = recordings._changed(chance, body[key], 1)
        elif isinstance(body.get("info"), dict) and body["info"]:
            key = chance.choice(list(body["info"]))
            body["info"][key] = recordings._changed(chance, body["info"][key], 2)


def changed_launch(chance: random.Random, body: dict[str, Any]) -> None:
    """Change the embedded launch file, as text or key by key."""
    text = body["info"]["launch_toml"]
    if chance.random() < 0.3:
        body["info"]["launch_toml"] = launch.changed_text(chance, text).decode("utf-8", "replace")
        return
    content = tomllib.loads(text)
    if chance.random() < 0.3:
        content["launch"][0]["grid"] = chance.choice(([2147483647], [1 << 40], [65535, 65535, 64], [0], [1, 1, 65536]))
        content["buffers"]["data"]["shape"] = [chance.choice((1 << 40, 1 << 31, 80))]
    if chance.random() < 0.3:
        content["module"] = chance.choice(("BAIT/k.cu", "/etc/passwd", "../BAIT/x.ptx", "\0"))
        content["buffers"]["data"] = {"file": "BAIT/map.toml"}
    content = launch.changed(chance, content)
    body["info"]["launch_toml"] = "\n".join(f"{launch.toml(str(key))} = {launch.toml(value)}" for key, value in content.items())


def changed_ptx(chance: random.Random, body: dict[str, Any]) -> None:
    """Change the embedded PTX, its name and its sources."""
    text = body["info"]["ptx"][0]["text"]
    if chance.random() < 0.4:
        size = chance.choice((1 << 20, 1 << 27, 2_000_000_000, 1 << 40))
        space = chance.choice((".global", ".const", ".shared", ".local"))
        text = text.replace(".visible", f".global .align 8 .b8 large[{size}];\n.visible", 1) if chance.random() < 0.5 else \
            text.replace("    .reg .pred", f"    {space} .align 8 .b8 large[{size}];\n    .reg .pred", 1)
    else:
        text = ptx.changed(chance, text)
    body["info"]["ptx"] = chance.choice(([], [{}], "x", [{"path": 5, "text": 6}], [{"path": "BAIT/k.cu", "text": text}],
                                         *[[{"path": "tiny.ptx", "text": text}]] * 6))


def changed_machine(chance: random.Random, body: dict[str, Any]) -> None:
    """Change the design, its files, the scheduler, the preset and the parameters."""
    info = body["info"]
    for _ in range(chance.choice((1, 1, 2, 3))):
        how = chance.randrange(6)
        if how == 0:
            info["design_spec"] = {**info["design_spec"], "chain": copy.deepcopy(chance.choice(CHAINS))}
        elif how == 1:
            info["design_spec"] = {**info["design_spec"], "files": copy.deepcopy(chance.choice(DESIGN_FILES)),
                                   **({"chain": ["evil"]} if chance.random() < 0.5 else {})}
        elif how < 4:
            name = chance.choice((*SETTINGS, *info["parameters"]))
            info["parameters"] = {**info["parameters"], name: copy.deepcopy(chance.choice(VALUES))}
            if name == "racetrack.mapping":
                info["design_spec"] = {**info["design_spec"], "chain": ["racetrack"]}
        else:
            info[chance.choice(("scheduler", "preset", "seed", "name", "max_cycles", "kernel"))] = copy.deepcopy(chance.choice(
                ("lrr", "paper", "gtx480", "../presets/fermi", *VALUES)))


def changed_arrays(chance: random.Random, body: dict[str, Any]) -> None:
    """Change the arrays: types, shapes, bytes, names and numbers."""
    for _ in range(chance.choice((1, 1, 2))):
        part = chance.choice(("buffers", "symbols", "expect"))
        entry = [*chance.choice(body[part])] if body[part] else ["data", ["<i4", [1], bytes(4)], 0.0, 0.0, ""]
        how = chance.randrange(4) if len(entry) > 1 and len(entry[1]) == 3 else 3
        if how == 0:
            entry[1] = [*entry[1]]
            entry[1][chance.randrange(3)] = chance.choice((
                "O8", "O", "V4", "U9", "<u4,<f4", "M8[ns]", ">f4", "f4", "?", "x", "c16", "(2,3)<f4", 5, None, [], [1 << 40], [-1], [0],
                [1 << 20] * 4, [1] * 40, b"", b"xyz", bytes(4096)))
        elif how == 1:
            entry[0] = chance.choice(("data", "table", "nothing", "../x", "", 5, None, "x" * 100_000))
        elif how == 2 and len(entry) > 2:
            entry[chance.choice((2, 3, 4))] = chance.choice(VALUES)
        else:
            entry = entry[: chance.randrange(len(entry) + 1)]
        body[part] = chance.choice(([entry], [*body[part], entry], []))


KINDS: dict[str, Callable[[random.Random, dict[str, Any]], None]] = {
    "claims": changed_claims, "contents": changed_any, "launch": changed_launch, "ptx": changed_ptx, "machine": changed_machine,
    "arrays": changed_arrays,
}


def with_bait(value: Any) -> Any:
    """Return a value with the folder's name for BAIT in its texts."""
    if isinstance(value, str):
        return value.replace("BAIT", Bait.folder) if "BAIT" in value else value
    if isinstance(value, dict):
        return {with_bait(key): with_bait(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [with_bait(inner) for inner in value]
    return value


def made(chance: random.Random, kind: str) -> bytes:
    """Return the bytes of a changed recipe."""
    whole, body, _ = sample()
    if kind == "bytes":
        return recordings.changed_bytes(chance, whole)
    body = copy.deepcopy(body)
    KINDS[kind](chance, body)
    number = chance.choice((*[1] * 40, 0, -1, "1", None, 2, 1.5, []))
    try:
        payload = msgpack.packb({"format": number, "body": streams.compress_map(with_bait(body))})
    except (OverflowError, ValueError):     # a number of more than 64 bits
        return whole[: chance.randrange(len(whole))]
    data = bytearray(recipe.MAGIC)
    data += framing.FRAME.pack(recipe.RECIPE, len(payload), framing.zlib.crc32(
        payload, framing.zlib.crc32(recipe.RECIPE + len(payload).to_bytes(8, "little")))) + payload
    return bytes(data)


def tried(path: Path, kind: str, chance: random.Random) -> tuple[str, str]:
    """Return the outcome of reading a recipe: refused, fault, ended or done, else what is wrong; and details."""
    whole, body, states = sample()
    try:
        recipe.describe(path)
        found = recipe.open_recipe(path)
        if kind == "bytes":
            return ("done", "") if path.read_bytes() == whole else ("wrong", "a changed byte is not noticed")
        if found.info.design_spec.chain != body["info"]["design_spec"]["chain"]:
            found.simulator()           # another machine, which is not compiled for a case
            return "done", ""
        with closing(recipe_filling.live(found)) as timeline:
            if kind != "claims" and chance.random() < 0.6:
                return "done", ""
            timeline.extend(STEPS)
            for cycle in states if kind == "claims" else ():
                if not timeline.at(cycle).same_as(states[cycle]):
                    return "wrong", f"cycle {cycle} is shown with another state"
        if found.cycles > FILLED or chance.random() < 0.7:
            return "done", ""
        target = path.with_suffix(".rfs")
        target.unlink(missing_ok=True)
        result = recipe_filling.fill(found, target)
        with closing(open_recording(target)) as recorded:
            for cycle, *sums in found.sums:
                if list(sums) != sum_of(recorded.at(cycle)):
                    return "wrong", f"cycle {cycle} was filled with other sums than its recipe's"
        return ("fault" if result.fault else "ended"), ""
    except InputError as error:
        return ("refused", "") if path.stem in str(error) and len(str(error)) < 2000 else ("unnamed", str(error))
    except RfviewError as error:
        return "unnamed", str(error)


def cases(seed: int, first: int, count: int) -> Iterator[tuple[int, str, str]]:
    """Try recipes first..first + count - 1 of a seed; yield (number, outcome, detail)."""
    sample()
    with tempfile.TemporaryDirectory() as folder:
        bait = Path(folder) / "bait"
        bait.mkdir()
        Bait.lay(bait)
        path = Path(folder) / "case.rfr"
        for number in range(first, first + count):
            chance = random.Random(f"recipes {seed} {number}")
            kind = chance.choice(("bytes", *KINDS))
            path.write_bytes(made(chance, kind))
            Bait.taken.clear()
            began, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            try:
                outcome, detail = tried(path, kind, chance)
            except Exception as error:
                where = " < ".join(f"{Path(one.filename).name}:{one.lineno}" for one in traceback.extract_tb(error.__traceback__)[:-5:-1])
                outcome, detail = "traceback", f"{type(error).__name__}: {str(error)[:200]} {where}"
            if Bait.taken:
                outcome, detail = "outside", f"it opened {Bait.taken[0]}"
            if time.process_time() - began > SLOW_S:
                outcome, detail = "slow", f"{time.process_time() - began:.1f} s; {detail}"
            grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
            if grown > MAX_MB:
                outcome, detail = "memory", f"{grown:.0f} MB more {detail}"
            keep(outcome, f"recipes.{kind}.{seed}-{number}.rfr", path.read_bytes())
            yield number, outcome, f"{kind}: {detail}"
        Bait.folder = ""
