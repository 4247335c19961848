"""Runs torch programs that use device='cuda' in the CPU's memory: every tensor counts as a CUDA tensor."""

from __future__ import annotations

import contextlib
import importlib.util
import re
import sys
import weakref
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

from rfview.capture.python.hooks import Machine

CAPABILITY = (8, 0)
NAME = "rfview SM"
_CUDA = re.compile(r"cuda(:\d+)?\Z")
# by address: tensors whose data_ptr() was called
_asked: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
_told: list[bool] = []      # not empty once the note about torch.compile was printed


def pointed_at(words: Any) -> Iterator[Any]:
    """Yield the tensors that a tensor of 64-bit integers points to: grouped kernels take such lists of pointers."""
    for tensor in list(_asked.values()):
        storage = tensor.untyped_storage()
        start = storage.data_ptr()
        if storage.nbytes() and bool(((words >= start) & (words < start + storage.nbytes())).any()):
            yield tensor


class Event:
    """An event in modelled time."""

    machine: Machine

    def __init__(self, enable_timing: bool = False, **named: Any) -> None:
        self._at: float | None = None

    def record(self, stream: Any = None) -> None:
        """Note the time."""
        self._at = self.machine.now_ms

    def elapsed_time(self, other: Event) -> float:
        """Return the milliseconds up to another event; raises RuntimeError if one of them was not recorded."""
        if self._at is None or other._at is None:
            raise RuntimeError("both events must be recorded before the time between them is known")
        return other._at - self._at

    def query(self) -> bool:
        """Return True: launches are over when they return."""
        return True

    def synchronize(self) -> None:
        """Do nothing: launches are over when they return."""

    def wait(self, stream: Any = None) -> None:
        """Do nothing: launches are over when they return."""


class Stream:
    """A stream of launches, each of which is over when it returns."""

    cuda_stream = 0

    def __init__(self, device: Any = None, priority: int = 0, **named: Any) -> None:
        self.device, self.priority = device, priority

    def query(self) -> bool:
        """Return True: launches are over when they return."""
        return True

    def synchronize(self) -> None:
        """Do nothing: launches are over when they return."""

    def wait_stream(self, stream: Any) -> None:
        """Do nothing: launches are over when they return."""

    def wait_event(self, event: Any) -> None:
        """Do nothing: launches are over when they return."""

    def record_event(self, event: Any) -> Any:
        """Record an event in modelled time and return it."""
        event.record(self)
        return event


class Interface:
    """The part of torch.cuda that Triton's benchmarks use."""

    def __init__(self, machine: Machine) -> None:
        self.Event = type("Event", (Event,), {"machine": machine})

    def synchronize(self, device: Any = None) -> None:
        """Do nothing: launches are over when they return."""

    def current_device(self) -> int:
        """Return the one device."""
        return 0


def _mode(torch: Any, base: Any) -> Any:
    """Return the mode in which torch treats 'cuda' as 'cpu'; its class is created here because it needs torch."""
    is_cuda, cuda = torch.Tensor.is_cuda.__get__, torch.Tensor.cuda
    data_ptr = torch.Tensor.data_ptr
    # CUDA accumulates these in float32; the CPU accumulates their gradients in half precision, with errors that GPUs avoid
    normalised = (torch.nn.functional.layer_norm, torch.nn.functional.rms_norm, torch.nn.functional.group_norm)

    def plain(value: Any) -> Any:
        if isinstance(value, str) and _CUDA.match(value):
            return "cpu"
        return torch.device("cpu") if isinstance(value, torch.device) and value.type == "cuda" else value

    def widened(function: Any, args: Any, kwargs: Any) -> Any:
        wide = lambda value: value.float() if isinstance(value, torch.Tensor) else value
        return function(*map(wide, args), **{name: wide(value) for name, value in kwargs.items()})

    class OnCpu(base):  # type: ignore[misc]
        """Replaces 'cuda' with 'cpu' in every call of torch."""

        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if function == is_cuda:      # created at each access, so never the same object
                return True
            if function == cuda:
                return args[0]
            if function == data_ptr:
                address = function(*args)
                _asked[address] = args[0]
                return address
            if function in normalised and args and args[0].dtype in (torch.float16, torch.bfloat16):
                return widened(function, args, kwargs or {}).to(args[0].dtype)
            return function(*map(plain, args), **{name: plain(value) for name, value in (kwargs or {}).items()})

    return OnCpu()


def _properties(facts: dict[str, int]) -> SimpleNamespace:
    """Return the device's properties under torch's names."""
    return SimpleNamespace(
        name=NAME, major=CAPABILITY[0], minor=CAPABILITY[1], multi_processor_count=1, warp_size=32,
        total_memory=facts["bytes"], shared_memory_per_block=facts["shared"], regs_per_multiprocessor=facts["registers"],
        shared_memory_per_block_optin=facts["shared"], max_threads_per_multi_processor=facts["threads"],
        L2_cache_size=facts["l2"],
    )


def put(module: Any, name: str, act: Callable[..., Any]) -> None:
    """Put a function in the place of `module.name` that does `act`.

    Each is an object of its own, with the name of what it stands for: torch.compile's tables find functions by both.
    """
    def stand_in(*args: Any, **named: Any) -> Any:
        return act(*args, **named)

    stand_in.__name__ = stand_in.__qualname__ = name
    stand_in.__module__, stand_in.__doc__ = module.__name__, getattr(getattr(module, name, None), "__doc__", None)
    setattr(module, name, stand_in)


def nothing(*args: Any, **named: Any) -> None:
    """Do nothing: launches are over when they return, and there is one device."""


def uncompiled(model: Any = None, **options: Any) -> Any:
    """Return a function as it is, or a decorator that does: the CPU executes torch's operations, compiled or not.

    What torch would compile for a GPU, or with a C++ compiler for the CPU, are these operations; kernels that the program
    itself writes in Triton are launched either way.
    """
    if not _told:
        _told.append(True)
        print("rfview: note: torch.compile compiles nothing here: functions run as they are written, on the CPU; only the "
              "program's own Triton kernels are launches", file=sys.stderr)
    return model if model is not None else lambda model: model


def leave_uncompiled() -> None:
    """Make torch.compile return what it is given: called when torch has been imported, before anything can be compiled."""
    put(sys.modules["torch"], "compile", uncompiled)


def install(machine: Machine) -> None:
    """Make torch treat 'cuda' as the CPU from here on; does nothing if torch is not installed."""
    if "torch" not in sys.modules and importlib.util.find_spec("torch") is None:
        return
    import torch
    from torch.overrides import TorchFunctionMode

    _mode(torch, TorchFunctionMode).__enter__()
    stream = Stream(torch.device("cpu"))
    if not hasattr(torch.cpu, "set_stream"):
        put(torch.cpu, "set_stream", nothing)
    torch.cuda.Event = Interface(machine).Event  # type: ignore[misc, assignment]
    torch.cuda.Stream = Stream  # type: ignore[misc, assignment]
    stand_ins: dict[str, Callable[..., Any]] = {
        "is_available": lambda: True, "init": nothing, "device_count": lambda: 1,
        "current_device": lambda: 0, "set_device": nothing, "_exchange_device": lambda index: 0,
        "_maybe_exchange_device": lambda index: 0, "synchronize": nothing, "empty_cache": nothing,
        "get_device_name": lambda device=None: NAME, "get_device_capability": lambda device=None: CAPABILITY,
        "get_device_properties": lambda device=None: _properties(machine.facts),
        "current_stream": lambda device=None: stream, "default_stream": lambda device=None: stream, "set_stream": nothing,
        "stream": lambda stream: contextlib.nullcontext(stream), "manual_seed": nothing, "manual_seed_all": nothing,
        "is_bf16_supported": lambda *args, **named: True, "memory_allocated": lambda device=None: 0,
        "max_memory_allocated": lambda device=None: 0, "reset_peak_memory_stats": nothing,
        "mem_get_info": lambda device=None: (machine.facts["bytes"],) * 2,
    }
    for name, act in stand_ins.items():
        put(torch.cuda, name, act)
