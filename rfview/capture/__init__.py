"""Unmodified GPU programs, run without a GPU: their kernels on the machine, their launches listed, recorded, captured.

A program is started with a stand-in for its CUDA runtime, inherits a socket and the device's memory, and asks the server
for whatever needs the machine. `protocol` and `client` need the standard library alone.

    protocol  client    what both sides say; the program's side, in Python
    memory              the device's memory, mapped by both
    server              requests answered
    device  modules     launches on the machine; a module decoded once
    checked             what the checker found in a program's launches
    textures            headers of textures and surfaces, and what a launch file says of them
    reach               what a launch can touch
    launches            the list of launches, and which is meant
    folder              a chosen launch as a launch file with its data
    program  standin    a CUDA program started and served; its runtime's stand-in, compiled on first use from runtime/
    interpreter         the Python that runs a user's script
    block               `with rfview.capture(...)`, for launches of this process
    python/             what runs there: hooks into numba-cuda, Triton and torch
    fatbin              PTX out of what nvcc packs into programs
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Room(ModuleType):
    """This module, which can be called, too: `rfview.capture(...)` is `block.capture`."""

    def __call__(self, launch: str | int | None = None, output: Any = None, **options: Any) -> Any:
        from rfview.capture.block import capture

        return capture(launch, output, **options)


sys.modules[__name__].__class__ = _Room
