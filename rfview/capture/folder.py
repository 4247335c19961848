"""Saves a chosen launch as a folder with launch file, arrays and PTX; alone, it runs with the same bits and cycles."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from rfview.capture.launches import Taken
from rfview.capture.memory import Allocation
from rfview.capture.textures import table_of
from rfview.engine import files
from rfview.engine.errors import InputError
from rfview.engine.launch.sources import texts_to_copy
from rfview.engine.launch.table import read_toml
from rfview.engine.sass.listing import is_listing

LAUNCH = "launch.toml"
AFTER = "_after"        # of the file with an array's content after the launch
Named = dict[int, str]


def write(taken: Taken, folder: Path, beside: Iterable[Path] = ()) -> Path:
    """Write a launch into a folder, which is created if necessary; return the path of its launch file.

    A launch that the folder has is replaced, but files that its launch file does not name stay.
    beside: folders of the program, in which source files that the PTX names without a path are found: Triton's are. Source
    files are copied, so that the folder can be sent.
    Raises InputError if something cannot be written, or the folder contains something else.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: expected a folder, or the name of one to create")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / LAUNCH).is_file():
        raise InputError(f"{folder}: contains something other than a captured launch; name another folder")
    folder.mkdir(parents=True, exist_ok=True)
    before = _arrays_of(folder)
    (folder / LAUNCH).unlink(missing_ok=True)      # it must not name a mixture of old and new arrays
    names = named(taken)
    holders = [held for held, _ in taken.before.values() if held.kind == "buffer"]
    tables: list[str] = []
    made = [f"{stem}.npy" for stem in files.stems_of([*names.values(), *(f"{name}{AFTER}" for name in names.values())])]
    file_of, after_of = dict(zip(names, made)), dict(zip(names, made[len(names) :]))
    for address, (held, content) in taken.before.items():
        key = json.dumps(names[address])
        if held.kind == "texture":
            tables += table_of(address, np.frombuffer(content, np.uint32), names, holders)
            continue
        array = as_array(held, content)
        _save(folder / file_of[address], array)
        part = "symbols" if held.kind == "symbol" else "buffers"
        tables += ["", f"[{part}.{key}]", f'file = "{file_of[address]}"', f"address = 0x{address:x}"]
        after = taken.after[address][1] if taken.after is not None else None
        if after is not None:
            file = file_of[address]
            if after != content:
                file = after_of[address]
                _save(folder / file, as_array(held, after))
            tables += [f"[expect.{key}]", f'file = "{file}"', "rtol = 0.0"]
    files.write(folder / _module_file(taken), taken.module.text)
    for name, text in texts_to_copy(taken.module.text, beside).items():
        files.write(folder / name, text)
    files.write(folder / LAUNCH, "\n".join([*_head(taken), *tables]) + "\n")
    for old in before - set(made):
        (folder / old).unlink(missing_ok=True)
    return folder / LAUNCH


def files_of(launch: Path) -> list[Path]:
    """Return a launch file and the module and arrays that it names."""
    module = [str(read_toml(launch, "launch file")[0]["module"])]
    return [launch, *(launch.parent / name for name in (*module, *sorted(_arrays_of(launch.parent))))]


def _arrays_of(folder: Path) -> set[str]:
    """Return the names of the arrays of a folder's launch; none without a launch file that can be read."""
    try:
        content = read_toml(folder / LAUNCH, "launch file")[0]
    except InputError:
        return set()
    tables = [table for part in ("buffers", "symbols", "expect") if isinstance(content.get(part), dict)
              for table in content[part].values() if isinstance(table, dict)]
    names = {table.get("file") for table in tables}
    return {name for name in names if isinstance(name, str) and name.endswith(".npy") and os.sep not in name}


def _module_file(taken: Taken) -> str:
    """Return the name of the module's file."""
    return "launch.sass" if is_listing(taken.module.text) else "launch.ptx"


def _head(taken: Taken) -> list[str]:
    """Return the lines with module, kernel, grid, block and arguments."""
    request, entry = taken.request, taken.entry
    kernel = taken.module.kernel(request.kernel)
    size = max((one.offset + one.size for one in kernel.params), default=0)
    raw = request.params.ljust(size, b"\0")
    args = [f'    {{bytes = "{raw[one.offset : one.offset + one.size].hex()}"}},' for one in kernel.params]
    lines = [f'module = "{_module_file(taken)}"',
             f"description = {json.dumps(f'launch {entry.number} of a program: {entry.label}')}"]
    if taken.l2_lines:
        lines.append(f"l2_lines = {list(taken.l2_lines)}")
    if taken.limit:
        lines += ["", "[compile]", f"registers = {taken.limit}"]
    return [*lines, "", "[[launch]]", f"kernel = {json.dumps(request.kernel)}", f"grid = {list(request.grid)}",
            f"block = {list(request.block)}", f"shared_bytes = {request.shared_bytes}", "args = [", *args, "]"]


def named(taken: Taken) -> Named:
    """Return a name for each allocation: the program's, else that of the parameter pointing to it, else "m" and a number."""
    kernel = taken.module.kernel(taken.request.kernel)
    found: Named = {}
    used: set[str] = set()
    raw = taken.request.params

    def give(address: int, name: str) -> None:
        plain = re.sub(r"\W+", "_", name, flags=re.ASCII) or "m"
        number = 2
        unique = plain
        while unique in used:
            unique, number = f"{plain}_{number}", number + 1
        used.add(unique)
        found[address] = unique

    for address, (held, _) in taken.before.items():
        if held.kind == "symbol":       # the module's own name, which the launch file must use
            used.add(held.name)
            found[address] = held.name
    for address, (held, _) in taken.before.items():
        if held.name and address not in found:
            give(address, held.name)
    for place, one in enumerate(kernel.params):
        value = int.from_bytes(raw[one.offset : one.offset + one.size], "little") if one.size == 8 else 0
        if value in taken.before and value not in found:
            short = "" if re.search(r"_param_\d+\Z", one.name) else one.name
            give(value, short or f"arg{place}")
    for address, (held, _) in taken.before.items():
        if address not in found:
            give(address, f"m{held.number}")
    return found


def as_array(held: Allocation, content: bytes) -> np.ndarray:
    """Return an allocation's bytes as the array that the program described, else as words or bytes."""
    if held.dtype:
        dtype = np.dtype(held.dtype)
        count = int(np.prod(held.shape)) * dtype.itemsize
        if count == len(content):
            return np.frombuffer(content, dtype).reshape(held.shape)
    return np.frombuffer(content, np.uint32 if len(content) % 4 == 0 else np.uint8)


def _save(path: Path, array: np.ndarray) -> None:
    stream = io.BytesIO()
    np.save(stream, array)
    files.write(path, stream.getvalue())
