"""Runs Triton without a GPU: PTX goes to the server; each launch copies its tensors to device memory and back.

Triton's official hook for compiler stages replaces machine code with PTX, so that no assembler runs, and adds its own key
to Triton's cache. Tensors are in the CPU's memory; tensors that share storage there also share it on the device.
"""

from __future__ import annotations

import ctypes
import struct
import time
from collections.abc import Iterator
from typing import Any

from rfview.capture.client import CudaError
from rfview.capture.python import torch_on_cpu, versions
from rfview.capture.python.hooks import Machine, three

CAPABILITY = 80         # what kernels are compiled for: the newest target without asynchronous tensor copies and wgmma
FORMATS = {"i1": "<b", "i8": "<b", "i16": "<h", "i32": "<i", "i64": "<q", "u1": "<B", "u8": "<B", "u16": "<H", "u32": "<I",
           "u64": "<Q", "fp16": "<e", "fp32": "<f", "f32": "<f", "fp64": "<d", "f64": "<d"}
NUMPY = {"torch.float32": "float32", "torch.float64": "float64", "torch.float16": "float16", "torch.bfloat16": "uint16",
         "torch.int8": "int8", "torch.uint8": "uint8", "torch.bool": "uint8", "torch.int16": "int16",
         "torch.int32": "int32", "torch.int64": "int64"}


def install(machine: Machine) -> None:
    """Hook into Triton, which has just been imported. Raises UnknownVersion."""
    versions.check("triton")
    import triton
    from triton import knobs
    from triton.runtime import autotuner

    def stages(backend: Any = None, stages: Any = None, options: Any = None, language: Any = None,
               capability: Any = None) -> Any:
        if stages is None:                  # the call that queries the key for the compile cache
            return "rfview-ptx-1", "rfview-ptx-1"
        stages["cubin"] = lambda source, metadata: source.encode()
        return None

    knobs.runtime.add_stages_inspection_hook = stages
    torch_on_cpu.install(machine)
    triton.runtime.driver.set_active(_driver(machine))
    _first_that_runs(autotuner.Autotuner)


def _first_that_runs(autotuner: Any) -> None:
    """Make the autotuner take the first configuration that runs: measuring all of them would take that many runs."""
    prune, bench = autotuner.prune_configs, autotuner._bench

    def prune_configs(self: Any, *args: Any, **named: Any) -> Any:
        self._rfview_found = False
        return prune(self, *args, **named)

    def _bench(self: Any, *args: Any, **named: Any) -> Any:
        if self._rfview_found:
            return [float("inf")] * 3
        timings = bench(self, *args, **named)
        self._rfview_found = timings[0] < float("inf")
        return timings

    autotuner.prune_configs, autotuner._bench = prune_configs, _bench


class _Utils:
    """Device properties, and loading of code."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def get_device_properties(self, device: Any) -> dict[str, int]:
        """Return the machine's properties under Triton's names."""
        facts = self._machine.facts
        mhz = facts["khz"] // 1000
        return {"max_shared_mem": facts["shared"], "multiprocessor_count": 1, "warpSize": 32, "sm_clock_rate": facts["khz"],
                "max_num_regs": facts["registers"], "mem_clock_rate": facts["khz"],
                "mem_bus_width": 8 * facts["bandwidth"] // max(2 * mhz, 1)}

    def load_binary(self, name: str, kernel: bytes | str, shared: int, device: int) -> tuple[Any, ...]:
        """Load a PTX module; return it, the kernel, and its registers, spilled registers and maximum threads."""
        text = kernel.decode() if isinstance(kernel, bytes) else kernel
        try:
            module = self._machine.module(text)
            facts = self._machine.client.facts(module, name)
        except CudaError as error:
            raise RuntimeError(f"rfview: {name}: {error}") from None
        return module, (module, name), facts.registers, facts.local_bytes // 4, facts.max_threads or 1024

    def unload_module(self, module: Any) -> None:
        """Do nothing: modules stay loaded until the program ends."""


class _Copies:
    """The tensors of one launch on the device: their storages are copied in, and back after it."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._held: dict[int, tuple[int, int, Any]] = {}
        self._seen: list[int] = []      # CPU addresses at which the kernel also sees a storage

    def address(self, name: str, value: Any) -> int:
        """Return the device address of a tensor (or pointer, or None)."""
        if value is None:
            return 0
        if isinstance(value, int):
            return value
        value = getattr(value, "base", value) if not hasattr(value, "data_ptr") else value
        storage = value.untyped_storage() if hasattr(value, "untyped_storage") else None
        start, size = (storage.data_ptr(), storage.nbytes()) if storage is not None else (value.data_ptr(), value.nbytes)
        if start not in self._held:
            address = self._machine.malloc(size)
            self._machine.client.copy(address, start, size)
            self._held[start] = (address, size, value)
            whole = storage is not None and value.is_contiguous() and value.numel() * value.element_size() == size
            dtype = NUMPY.get(str(getattr(value, "dtype", "")), "") if whole else ""
            self._machine.name(address, name, dtype, tuple(value.shape) if dtype else ())
            if str(getattr(value, "dtype", "")) in ("torch.int64", "torch.uint64"):
                self._follow(name, value)
        offset = value.storage_offset() * value.element_size() if storage is not None else value.data_ptr() - start
        return int(self._held[start][0] + offset)

    def _follow(self, name: str, words: Any) -> None:
        """Make tensors available to the kernel at the addresses it reads from a tensor, which are CPU addresses."""
        for tensor in torch_on_cpu.pointed_at(words):
            storage = tensor.untyped_storage()
            if storage.data_ptr() not in self._seen:
                self.address(f"{name}_{len(self._seen)}", tensor)
                self._machine.client.alias(storage.data_ptr(), self._held[storage.data_ptr()][0], storage.nbytes())
                self._seen.append(storage.data_ptr())

    def back(self) -> None:
        """Copy everything back and free the device memory."""
        for start in self._seen:
            self._machine.client.alias(start, 0, 0)
        for start, (address, size, _) in self._held.items():
            ctypes.memmove(start, address, size)
            self._machine.free(address)
        self._held.clear()


def _flat(names: list[str], kinds: Any, values: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield name, type and value of each parameter: tuples flattened, constants left out."""
    for place, (kind, value) in enumerate(zip(kinds, values)):
        name = names[place] if place < len(names) else f"arg{place}"
        if isinstance(kind, tuple):
            yield from _flat([f"{name}_{k}" for k in range(len(kind))], kind, value)
        elif kind != "constexpr":
            yield name, kind, value


class _Launcher:
    """Launches one compiled kernel. src: what it was compiled from; metadata: the compiler's."""

    machine: Machine

    def __init__(self, src: Any, metadata: Any) -> None:
        from triton.backends.driver import expand_signature

        self._metadata = metadata
        self._names = [str(name) for name in getattr(getattr(src, "fn", None), "arg_names", src.signature)]
        self._kinds = expand_signature(src.signature.values(), None, "nvTmaDesc")

    def __call__(self, x: int, y: int, z: int, stream: Any, function: tuple[int, str], packed: Any, launch_metadata: Any,
                 enter: Any, leave: Any, *args: Any) -> None:
        """Run the kernel to its end."""
        module, kernel = function
        machine, metadata = self.machine, self._metadata
        if enter:
            enter(launch_metadata)
        copies = _Copies(machine)
        scratch = 0
        try:
            values: list[bytes | int] = []
            for name, kind, value in _flat(self._names, self._kinds, args):
                if kind.startswith("*"):
                    values.append(copies.address(name, value))
                elif kind == "bf16":
                    values.append(struct.pack("<f", value)[2:])
                else:
                    values.append(struct.pack(FORMATS[kind], value))
            missing = len(machine.client.facts(module, kernel).params) - len(values)
            if missing and getattr(metadata, "global_scratch_size", 0):
                scratch = machine.malloc(metadata.global_scratch_size * x * y * z)
            values += [scratch, 0, 0, 0][: max(missing, 0)]
            machine.launch(module, kernel, three((x, y, z)), (32 * metadata.num_warps, 1, 1), metadata.shared, values,
                           cooperative=bool(getattr(metadata, "launch_cooperative_grid", False)))
        except CudaError as error:
            raise RuntimeError(f"Triton Error [CUDA]: rfview: {kernel}: {error}") from None
        finally:
            copies.back()
            if scratch:
                machine.free(scratch)
        if leave:
            leave(launch_metadata)


def _driver(machine: Machine) -> Any:
    """Return a Triton driver for the machine; its class is created here because it needs Triton."""
    from triton.backends.compiler import GPUTarget
    from triton.backends.driver import DriverBase

    class Driver(DriverBase):
        """The machine as Triton sees it."""

        def __init__(self) -> None:
            self.utils = _Utils(machine)
            self.launcher_cls = type("Launcher", (_Launcher,), {"machine": machine})
            self.get_device_capability = lambda device=0: divmod(CAPABILITY, 10)
            self.get_current_device = lambda: 0
            self.set_current_device = lambda device: None
            self.get_current_stream = lambda device=None: 0
            self.clear_cache = lambda cache: None

        @staticmethod
        def is_active() -> bool:
            return True

        def get_active_torch_device(self) -> Any:
            import torch

            return torch.device("cpu")

        def get_device_interface(self) -> Any:
            return torch_on_cpu.Interface(machine)

        def get_benchmarker(self) -> Any:
            def once(call: Any, *, quantiles: Any = None, **named: Any) -> Any:
                began, clock = machine.now_ms, time.perf_counter()
                call()
                took = machine.now_ms - began or (time.perf_counter() - clock) * 1e3
                return [took] * len(quantiles) if quantiles else took

            return once

        def get_empty_cache_for_benchmark(self) -> Any:
            import torch

            return torch.empty(4, dtype=torch.int)

        def map_python_to_cpp_type(self, ty: str) -> str:
            return ty

        def get_current_target(self) -> Any:
            return GPUTarget("cuda", CAPABILITY, 32)

    return Driver()
