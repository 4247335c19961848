"""The PTX front end: PTX text to decoded kernels (rfview.engine.program). Public: load_module, decode_module.

In the order in which a module passes through them:

    parse/            text to a syntax tree
    lower/  forms/    the tree to virtual instructions (virtual.py) in basic blocks; the opcode of an instruction form
    optimise/         copy and constant propagation, dead code elimination; analyses for all passes; optionally
                      (rfview.engine.compilation) instruction scheduling
    allocate/         register allocation
    emit/             INST arrays, and the texts and live ranges that views show
    decode            calls all of these for one kernel
    inserted          instructions that passes insert, built by name
    link              links the parts of a program into one module
    paused            keeps the garbage collector off meanwhile
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rfview.engine import files
from rfview.engine.compilation import Compilation
from rfview.engine.errors import PtxError
from rfview.engine.program import Kernel, Module, Param
from rfview.engine.ptx.parse.source import Source

if TYPE_CHECKING:
    from rfview.engine.ptx.decode import Decoded
    from rfview.engine.ptx.parse.syntax import Function, SyntaxModule

# start-up: the front end is imported inside of functions, as what shows a recording only needs source locations


LONG_MODULE = 5_000     # lines


@lru_cache(maxsize=4)
def _decoded_of(text: str, how: Compilation) -> dict[str, Kernel]:
    """Return the kernels of a text decoded so far, for all its modules: a command may read it again for each design."""
    return {}


class Kernels(Mapping[str, Kernel]):
    """The kernels of a module by name, each decoded on first use, so that one bad kernel does not affect the others."""

    def __init__(self, source: Source, syntax: SyntaxModule, how: Compilation) -> None:
        self._source, self._syntax, self._how = source, syntax, how
        self._entries: dict[str, Function] = {
            name: function for name, function in syntax.functions.items() if function.is_entry and function.body
        }
        self._decoded = _decoded_of(source.text, how)
        self.keeps_last = False     # what decoding gave besides the kernel, of the last one: as much memory as its text
        self._last: Decoded | None = None

    def __getitem__(self, name: str) -> Kernel:
        if name not in self._decoded:
            decoded = self._decode(name, self._how)
            self._decoded[name] = decoded.kernel
            self._last = decoded if self.keeps_last else None
        return self._decoded[name]

    def decoded(self, name: str, how: Compilation) -> Decoded:
        """Return what decoding a kernel gives besides it: what was kept, or by decoding it again."""
        if self._last is not None and self._last.kernel.name == name and how == self._how:
            return self._last
        return self._decode(name, how)

    def _decode(self, name: str, how: Compilation) -> Decoded:
        from rfview.engine.ptx.decode import decode     # start-up

        return decode(self._source, self._syntax, self._entries[name], how)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def takes_seconds(text: str, how: Compilation = Compilation()) -> bool:
    """Return whether decoding a kernel of a module may take seconds; a matrix product becomes some 100 instructions."""
    return not _decoded_of(text, how) and text.count("\n") + 100 * text.count("mma.") > LONG_MODULE


def decode_module(text: str, path: str, *, how: Compilation = Compilation()) -> Module:
    """Parse PTX text and return its module; kernels are decoded when first looked up.

    path: shown in errors. Raises PtxError with file, line and text.
    """
    from rfview.engine.ptx.lower.layout import module_symbols       # start-up

    source = Source(text, path)
    syntax = syntax_of(source)
    kernels: Any = Kernels(source, syntax, how)
    return Module(path=path, text=text, kernels=kernels, symbols=module_symbols(source, syntax))


def syntax_of(source: Source) -> SyntaxModule:
    """Parse a module and declare the implicit variables its kernels may use: malloc's heap, the lock of wide atomics."""
    from rfview.engine.ptx.lower.device_library import declare_heap     # start-up
    from rfview.engine.ptx.lower.locked import declare_lock     # likewise
    from rfview.engine.ptx.parse.parser import parse_module     # likewise

    syntax = parse_module(source)
    declare_heap(syntax)
    declare_lock(syntax, source.text)
    return syntax


def parameters_of(text: str) -> dict[str, tuple[Param, ...]]:
    """Return the parameters of each kernel of a PTX text. Raises PtxError."""
    from rfview.engine.ptx.lower.layout import kernel_params    # start-up
    from rfview.engine.ptx.parse.parser import parse_module

    source = Source(text, "PTX")
    return {name: kernel_params(source, function) for name, function in parse_module(source).functions.items()
            if function.is_entry}


def load_module(path: str | Path, *, how: Compilation = Compilation()) -> Module:
    """Read a PTX file; see decode_module. Raises PtxError if it cannot be read or is not PTX."""
    try:
        raw = files.read(path)
    except OSError as problem:
        raise PtxError(f"{path}: cannot read PTX: {problem.strerror or problem}") from None
    return decode_module(text_of(raw, path), str(path), how=how)


def text_of(raw: bytes, path: str | Path) -> str:
    """Return the text in the bytes of a PTX file; raises PtxError if they are something else."""
    if b"\0" in raw[:64]:
        raise PtxError(f"{path}: expected the text of PTX, found compiled code (a cubin or fatbin?); nvcc -ptx writes PTX, "
                       "cuobjdump -ptx takes it out of a program")
    # nvrtcGetPTX includes the terminating NUL; an editor may have put a byte order mark before the text
    text = raw.rstrip(b"\0").decode("utf-8-sig", errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    if ".version" not in text:
        raise PtxError(f"{path}: expected '.version', with which PTX modules begin; nvcc -ptx makes PTX of CUDA source")
    return text
