"""Runs unmodified GPU programs without a GPU: their kernels run on the machine; launches are listed, recorded, captured.

A program is started with a stand-in for its CUDA runtime. Each of its processes that uses CUDA connects to the server on
its own, receives the memory of a device, and sends a request for whatever needs the machine. `messages`, `protocol` and
`client` use only the standard library.

    messages            the table of all messages, from which the C++ header is made
    protocol  client    reading and writing messages; the program's side, in Python
    memory              the device's memory, mapped by both sides; its allocations
    server  processes   answers one process's requests; all processes of a program
    device  modules     launches on the machine; a module, decoded once
    estimate            the cycles that launches run by their values only would take
    checked             what the checker found in a program's launches
    textures            headers of textures and surfaces, and their tables in a launch file
    reach               which memory a launch can reach
    launches            the list of launches, and choosing one of them
    folder              a chosen launch as a launch file with its data
    program  standin    starts and serves a CUDA program; the stand-in for its runtime, compiled on first use from runtime/
    interpreter         which Python runs a user's script
    block               `with rfview.capture(...)`, for launches of this process
    python/             runs in the user's Python: hooks into numba-cuda, Triton and torch
    fatbin              extracts PTX from the containers that nvcc embeds in programs
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Room(ModuleType):
    """This module, made callable: `rfview.capture(...)` is `block.capture`."""

    def __call__(self, launch: str | int | None = None, output: Any = None, **options: Any) -> Any:
        from rfview.capture.block import capture

        return capture(launch, output, **options)


sys.modules[__name__].__class__ = _Room
