"""A simulator of the run in a recording, from its embedded data."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rfview.engine import kernels
from rfview.engine.errors import InputError
from rfview.engine.info import Run, Variable
from rfview.engine.plugin import design, origin
from rfview.engine.plugin.variants import variant_of
from rfview.sessions.codec import limits
from rfview.sessions.file.run_info import Inputs

if TYPE_CHECKING:
    from rfview.engine.simulator import Simulator
    from rfview.engine.launch import LaunchSpec
    from rfview.sessions.timeline.replay import RecordedTimeline


def simulator_of(timeline: RecordedTimeline, **more: Any) -> Simulator:
    """Return a simulator at cycle 0 of the run that a recording holds, from what it embeds; more: as of simulator_like."""
    info, memory, inputs = timeline.info, timeline.header.memory, timeline.header.inputs
    if not info.launch_toml:
        raise InputError("fork: this recording contains no launch file, so it cannot be simulated again")
    if inputs is not None:
        return _of_named(info, inputs, **more)
    from rfview.engine.launch import launch_of_text     # start-up: most sessions are never simulated

    buffers, symbols = ({variable.name: _content(memory, variable) for variable in part}
                        for part in (info.buffers, info.symbols))
    spec = replace(launch_of_text(info.launch_toml, info.name, buffers, symbols), **_limits())
    return simulator_like(info, spec, **more)


def _limits() -> dict[str, Any]:
    """Return how much memory a recorded run may have, as fields of its launch."""
    return {"max_bytes": limits.Limit.bytes // limits.ARRAYS, "more_bytes": "; --limit SIZE allows more"}


def _of_named(info: Run, inputs: Inputs, **more: Any) -> Simulator:
    """Return simulator_of a recording that names its inputs; raises InputError if those here are others."""
    from rfview.engine.launch import load_launch_file

    spec = replace(load_launch_file(kernels.path(inputs.kernel, inputs.size)), **_limits())
    made = simulator_like(info, spec, **more) if spec.text == info.launch_toml else None
    if made is None or Inputs.of(inputs.kernel, inputs.size, made.initial_memory) != inputs:
        raise InputError(f"this recording holds no inputs but names those of the bundled kernel {inputs.kernel}, and this "
                         "version of rfview has others; record the run again")
    return made


def simulator_like(info: Run, spec: LaunchSpec, for_what: str = "simulating it again", **more: Any) -> Simulator:
    """Return a simulator at cycle 0 of `spec` on the machine that a run's info describes, with the PTX that it holds.

    Nothing outside of the recording is read for it, and of the code in it only PTX is run. Its designs are found
    by name among those that are bundled, installed or named by the user; the texts of design files in it are not executed.
    for_what: what needs the machine, in the error. more: further options of Simulator. Raises InputError where this version
    lacks the design or a parameter, or the design's file cannot be found.
    """
    from rfview.engine.simulator import Simulator       # imports numba

    origin.require(info.design_spec, for_what)
    chain = info.design_spec.chain
    for name in chain:
        for parameter in (one for one in design(name).parameters if one.unit == "file"):
            value = info.parameters.get(f"{name}.{parameter.name}")
            if isinstance(value, str) and value != parameter.default:
                raise InputError(f"parameters.{name}.{parameter.name}: expected the content of a file, not its name; record "
                                 "the run again")
    source = info.ptx[0]
    return Simulator(spec, design=variant_of(chain), scheduler=info.scheduler, preset=info.preset,
                     settings=info.parameters, seed=info.seed, source=(source.text, source.path), sources=info.sources,
                     **more)


def _content(memory: np.ndarray, variable: Variable) -> np.ndarray:
    """Return a buffer's content from an image of the memory."""
    dtype, shape = np.dtype(variable.dtype), tuple(variable.shape)
    begin = variable.word * 4
    size = dtype.itemsize * int(np.prod(shape))
    return memory.view(np.uint8)[begin : begin + size].copy().view(dtype).reshape(shape)
