"""`rfview.launch`: makes a session of a kernel with arrays; the results come back into the arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rfview.engine.errors import InputError, KernelFault
from rfview.launching import sources
from rfview.launching.arguments import Argument, of_value
from rfview.launching.text import Call, Extent, launch_text
from rfview.sessions.cursor import Stop
from rfview.sessions.session import Session

if TYPE_CHECKING:
    from rfview.sessions.timeline.live import LiveTimeline

END = np.iinfo(np.int64).max


class LaunchSession(Session):
    """A live session of one launch with the caller's arrays.

    The arrays hold the results once a move first reaches the kernel's end, or `results` is called; until then they are
    unchanged. Going back in time afterwards does not change them again. If the kernel faults, they stay unchanged.
    """

    def __init__(self, timeline: LiveTimeline, arguments: Sequence[Argument]) -> None:
        super().__init__(timeline)
        self._live = timeline
        self._arguments = tuple({argument.name: argument for argument in arguments if argument.kind == "array"}.values())
        self._are_back = False

    def run(self) -> Stop:
        """Go to the kernel's end, past breakpoints; the arrays then hold the results."""
        return self.goto("end")

    def results(self) -> dict[str, np.ndarray]:
        """Simulate the rest, without moving the cursor, and return the arrays with the results, by name.

        Raises KernelFault if the kernel was stopped by a fault, InputError if `progress` interrupted it.
        """
        self.reach(END)
        if not self.timeline.closed:
            raise InputError(f"interrupted at cycle {self.timeline.last:,}: the results are not there yet")
        if self.timeline.fault:
            raise KernelFault(self.timeline.fault)
        self._bring_back()
        return {argument.name: argument.back for argument in self._arguments if argument.back is not None}

    def _land(self, cycle: int, reason: str, text: str) -> Stop:
        """Move the cursor, as every session does; at the end, bring back the results."""
        stop = super()._land(cycle, reason, text)
        if self.timeline.closed and cycle == self.timeline.last and not self.timeline.fault:
            self._bring_back()
        return stop

    def _bring_back(self) -> None:
        """Copy the results into the caller's arrays, once; read-only ones stay unchanged."""
        if self._are_back:
            return
        self._are_back = True
        held = self._live.memory_at_end()
        for argument in self._arguments:
            if argument.back is not None and argument.back.flags.writeable:
                raw = held[argument.name].view(np.uint8).reshape(-1)
                argument.back[...] = raw.view(argument.back.dtype).reshape(argument.back.shape)


def launch(kernel: Any, grid: int | Sequence[int], block: int | Sequence[int] | None,
           args: Sequence[Any] | Mapping[str, Any] = (), *, entry: str | None = None, shared_bytes: int | None = None,
           compile_options: dict[str, Any] | None = None, **options: Any) -> LaunchSession:
    """Launch a kernel with arrays and numbers; return its session at cycle 0: step, run, back, as with `rfview.open`.

    kernel: PTX as text; a path, or path::KERNEL, of a .ptx, .cu or .py file; or a kernel of numba-cuda or Triton.
    grid, block: 1 to 3 extents; block None if the kernel fixes it, as in Triton. args: NumPy arrays (or tensors in the
    CPU's memory), numbers, None for a null pointer, in order or by name. entry: the kernel, if the module has several.
    shared_bytes: dynamic shared memory. compile_options: of Triton, such as num_warps. options: design, scheduler, preset,
    settings, max_cycles, progress. Results come back into the arrays as described in LaunchSession. Raises InputError.
    """
    named = list(args.items()) if isinstance(args, Mapping) else [(f"arg{k}", value) for k, value in enumerate(args)]
    given = _apart([of_value(name, value, f"launch: {name}") for name, value in named])
    source = sources.source_of(kernel, given, entry=entry, options=compile_options)
    renamed = tuple(_titled(argument, formal.name) for argument, formal in zip(
        source.arguments, (one for one in source.formals if one.kind != "scratch")))
    shared = source.shared_bytes if shared_bytes is None else shared_bytes
    call = Call(_extent(grid, "grid"), block_of(block, source), shared, _shared(renamed))
    text = launch_text(call, source.kernel, source.formals, source.file)
    from rfview.engine.launch import launch_of_text
    from rfview.engine.simulator import Simulator
    from rfview.sessions.timeline.live import LiveTimeline

    arrays = {one.name: one.array for one in call.arguments if one.array is not None}
    spec = launch_of_text(text, source.name, arrays, {})
    if source.folder is not None:
        spec = replace(spec, module_path=source.folder / source.file)
    simulator = Simulator(spec, source=(source.ptx, source.file), **options)
    return LaunchSession(LiveTimeline(simulator), call.arguments)


def block_of(block: int | Sequence[int] | None, source: sources.Source) -> Extent:
    """Return the block of a launch: the one given, or the one that the kernel fixes. Raises InputError."""
    if block is not None:
        return _extent(block, "block")
    if source.threads:
        return (source.threads,)
    if any(source.kernel.required_threads):
        return tuple(source.kernel.required_threads)
    raise InputError(f"{source.name}: the kernel does not fix the size of its blocks; give --block 128, in Python block=128")


def _extent(size: int | Sequence[int], what: str) -> Extent:
    parts = (size,) if isinstance(size, int | np.integer) else tuple(size)
    if not 1 <= len(parts) <= 3 or not all(isinstance(one, int | np.integer) and one >= 1 for one in parts):
        raise InputError(f"{what}: expected 1 to 3 whole numbers of at least 1, got {size!r}")
    return tuple(int(one) for one in parts)


def _titled(argument: Argument, name: str) -> Argument:
    """Return an argument, under the kernel's name for it if the caller gave none."""
    return replace(argument, name=name) if name and argument.name.startswith("arg") else argument


def _shared(arguments: Sequence[Argument]) -> tuple[Argument, ...]:
    """Return arguments, with the same name for the same array wherever it is given twice."""
    names: dict[int, str] = {}
    shared = []
    for argument in arguments:
        if argument.back is not None:
            argument = replace(argument, name=names.setdefault(id(argument.back), argument.name))
        shared.append(argument)
    return tuple(shared)


def _apart(given: Sequence[Argument]) -> Sequence[Argument]:
    """Return arguments unchanged; raises InputError if two different arrays overlap in memory."""
    backs = [(one.name, one.back) for one in given if one.back is not None]
    for place, (name, array) in enumerate(backs):
        for other_name, other in backs[:place]:
            if other is not array and np.may_share_memory(other, array):
                raise InputError(f"launch: {other_name} and {name} overlap in memory; give the whole array, or copies")
    return given


__all__ = ["LaunchSession", "block_of", "launch"]
