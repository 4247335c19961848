"""The PTX front end: PTX text to decoded kernels (rfview.engine.program). Public: load_module, decode_module.

In the order in which a module passes them:

    parse/            text to a syntax tree
    lower/  forms/    the tree to virtual instructions (virtual.py) in basic blocks; which opcode an instruction form is
    optimise/         copies and constants propagated, dead results dropped; what each pass asks about the program; by
                      option (rfview.engine.compilation) instructions put in a better order
    allocate/         virtual variables to registers
    emit/             INST arrays, and the texts and live ranges that views show
    decode            calls all of these for one kernel
    inserted          instructions that passes insert, made by name
    link              the parts of a program joined into one module
    paused            no search for garbage meanwhile
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rfview.engine import files
from rfview.engine.compilation import Compilation
from rfview.engine.errors import PtxError
from rfview.engine.program import MAX_REGS, Kernel, Module
from rfview.engine.ptx.decode import decode_kernel
from rfview.engine.ptx.lower.device_library import declare_heap
from rfview.engine.ptx.lower.locked import declare_lock
from rfview.engine.ptx.lower.layout import module_symbols
from rfview.engine.ptx.parse.parser import parse_module
from rfview.engine.ptx.parse.source import Source
from rfview.engine.ptx.parse.syntax import Function, SyntaxModule


class Kernels(Mapping[str, Kernel]):
    """The kernels of a module by name, each decoded when first asked for, so that one bad kernel spoils no other."""

    def __init__(self, source: Source, syntax: SyntaxModule, how: Compilation) -> None:
        self._source, self._syntax, self._how = source, syntax, how
        self._entries: dict[str, Function] = {
            name: function for name, function in syntax.functions.items() if function.is_entry and function.body
        }
        self._decoded: dict[str, Kernel] = {}

    def __getitem__(self, name: str) -> Kernel:
        if name not in self._decoded:
            self._decoded[name] = decode_kernel(self._source, self._syntax, self._entries[name], self._how)
        return self._decoded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def decode_module(text: str, path: str, *, max_registers: int = MAX_REGS, optimize: bool = True,
                  how: Compilation | None = None) -> Module:
    """Parse PTX text and give its module; kernels are decoded when first looked up.

    path: shown in errors. max_registers: registers per thread before spilling (at most 63). optimize: run the clean-up
    passes (copies and constants propagated, dead results dropped). how: all options, in place of these two. Raises PtxError
    naming file, line and text.
    """
    source = Source(text, path)
    syntax = syntax_of(source)
    kernels: Any = Kernels(source, syntax, how or Compilation(min(max_registers, MAX_REGS), optimize))
    return Module(path=path, text=text, kernels=kernels, symbols=module_symbols(source, syntax))


def syntax_of(source: Source) -> SyntaxModule:
    """Parse a module and declare what its kernels may use beside its own: the heap of malloc, the lock of wide atomics."""
    syntax = parse_module(source)
    declare_heap(syntax)
    declare_lock(syntax, source.text)
    return syntax


def load_module(path: str | Path, *, max_registers: int = MAX_REGS, optimize: bool = True,
                how: Compilation | None = None) -> Module:
    """Read a PTX file; see decode_module. Raises PtxError if it cannot be read or holds no PTX."""
    try:
        raw = files.read(path)
    except OSError as problem:
        raise PtxError(f"{path}: cannot read PTX: {problem.strerror or problem}") from None
    if b"\0" in raw[:64]:
        raise PtxError(f"{path}: expected the text of PTX, found compiled code (a cubin or fatbin?); nvcc -ptx writes PTX, "
                       "cuobjdump -ptx takes it out of a program")
    # nvrtcGetPTX counts the NUL that ends its string; an editor may have put a mark of its encoding before the text
    text = raw.rstrip(b"\0").decode("utf-8-sig", errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    if ".version" not in text:
        raise PtxError(f"{path}: expected '.version', with which PTX modules begin; nvcc -ptx makes PTX of CUDA source")
    return decode_module(text, str(path), max_registers=max_registers, optimize=optimize, how=how)
