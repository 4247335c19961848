"""Names from the source: PTX names of registers, from a run's live ranges, and C++ names of kernels."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rfview.engine.info import RunInfo


@lru_cache
def kernel_name(name: str) -> str:
    """Return a kernel's name as in its C++ source, blas::scal for _ZN4blas4scalIfEEvPT_; others unchanged."""
    if not name.startswith("_Z"):
        return name
    from rfview.engine.launch import mangling       # C names do not need it

    return mangling.kernel_name(name)


def names_at(info: RunInfo, pc: int) -> dict[int, str]:
    """Return register -> PTX names alive at a pc (joined where two share one), with .lo/.hi for 64-bit pairs."""
    program = info.program
    kernel = program[pc].kernel if 0 <= pc < len(program) else ""
    start = next((entry.pc for entry in program if entry.kernel == kernel), 0)
    names: dict[int, str] = {}
    for name, first, last, reg, words in info.virtual.get(kernel, ()):
        if not start + int(first) <= pc <= start + int(last):
            continue
        for word in range(int(words)):
            text = str(name) if int(words) == 1 else f"{name}.{('lo', 'hi')[word] if int(words) == 2 else word}"
            names[int(reg) + word] = f"{names[int(reg) + word]} {text}" if int(reg) + word in names else text
    return names


def register_of(info: RunInfo, name: str) -> str:
    """Return "R0 at pc 38 to 50" for a PTX register without its %, such as f27 for %f27; "" if no kernel has it."""
    for kernel, ranges in info.virtual.items():
        start = next((entry.pc for entry in info.program if entry.kernel == kernel), 0)
        lives = [f"R{reg} at pc {start + int(first)} to {start + int(last)}" for text, first, last, reg, _ in ranges
                 if str(text).lstrip("%") == name]
        if lives:
            return ", ".join(lives)
    return ""
