"""Launches cubins on a GPU, by the CUDA driver's own functions; nothing but the driver has to be installed."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np

from rfview.engine.errors import InputError
from rfview.engine.launch.params import pack_params
from rfview.engine.launch.spec import LaunchSpec
from rfview.engine.program import Module

LIBRARY = "libcuda.so.1"
MAJOR, MINOR, CLOCK_KHZ = 75, 76, 13        # CUdevice_attribute
POINTER, SIZE, END = 1, 2, 0                # CU_LAUNCH_PARAM_*: how a block of parameters is handed over
DYNAMIC_SHARED = 8                          # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
FREE_SHARED = 48 << 10                      # bytes that a launch may have without asking
NAME_BYTES = 256


class Card:
    """The first GPU of this machine. name, sm: as the driver says; clock_mhz: its highest. Raises InputError without one."""

    def __init__(self) -> None:
        try:
            self._driver = ctypes.CDLL(LIBRARY)
        except OSError:
            raise InputError(f"no GPU here: {LIBRARY}, NVIDIA's driver, is not installed") from None
        self._call("cuInit", 0)
        device, context, name = ctypes.c_int(), ctypes.c_void_p(), ctypes.create_string_buffer(NAME_BYTES)
        self._call("cuDeviceGet", ctypes.byref(device), 0)
        self._call("cuDeviceGetName", name, NAME_BYTES, device)
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self._call("cuCtxSetCurrent", context)
        self.name = name.value.decode()
        self.sm = 10 * self._attribute(MAJOR, device) + self._attribute(MINOR, device)
        self.clock_mhz = self._attribute(CLOCK_KHZ, device) / 1000

    def _call(self, function: str, *args: Any) -> None:
        code = getattr(self._driver, function)(*args)
        if code:
            raise InputError(f"the GPU's driver: {function} failed with code {code}")

    def _attribute(self, number: int, device: ctypes.c_int) -> int:
        value = ctypes.c_int()
        self._call("cuDeviceGetAttribute", ctypes.byref(value), number, device)
        return value.value

    def run(self, spec: LaunchSpec, cubin: bytes, module: Module) -> tuple[dict[str, np.ndarray], float]:
        """Run a launch file's launches of a cubin; return the buffers afterwards, and how many milliseconds they took.

        module: the cubin's, for its kernels' parameters.
        """
        handle = ctypes.c_void_p()
        self._call("cuModuleLoadData", ctypes.byref(handle), cubin)
        places: dict[str, ctypes.c_uint64] = {}
        try:
            for name, buffer in spec.buffers.items():
                places[name] = ctypes.c_uint64()
                self._call("cuMemAlloc_v2", ctypes.byref(places[name]), ctypes.c_size_t(max(buffer.array.nbytes, 1)))
                data = np.ascontiguousarray(buffer.array)
                self._call("cuMemcpyHtoD_v2", places[name], data.ctypes.data_as(ctypes.c_void_p),
                           ctypes.c_size_t(data.nbytes))
            took = self._launched(spec, handle, module, {name: place.value for name, place in places.items()})
            out = {}
            for name, buffer in spec.buffers.items():
                out[name] = np.empty_like(np.ascontiguousarray(buffer.array))
                self._call("cuMemcpyDtoH_v2", out[name].ctypes.data_as(ctypes.c_void_p), places[name],
                           ctypes.c_size_t(out[name].nbytes))
            return out, took
        finally:
            for place in places.values():
                self._driver.cuMemFree_v2(place)
            self._driver.cuModuleUnload(handle)

    def _launched(self, spec: LaunchSpec, handle: ctypes.c_void_p, module: Module, addresses: Mapping[str, int]) -> float:
        """Run the launches between two events; return the milliseconds between these."""
        begin, end, took = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_float()
        for event in (begin, end):
            self._call("cuEventCreate", ctypes.byref(event), 0)
        ready = []
        for launch in spec.launches:
            kernel = module.kernels[launch.kernel or next(iter(module.kernels))]
            function = ctypes.c_void_p()
            self._call("cuModuleGetFunction", ctypes.byref(function), handle, kernel.name.encode())
            if launch.shared_bytes > FREE_SHARED:
                self._call("cuFuncSetAttribute", function, DYNAMIC_SHARED, launch.shared_bytes)
            block = ctypes.create_string_buffer(pack_params(launch, kernel.params, addresses, str(spec.path)))
            size = ctypes.c_size_t(len(block) - 1)      # create_string_buffer adds a zero
            extra = (ctypes.c_void_p * 5)(POINTER, ctypes.addressof(block), SIZE, ctypes.addressof(size), END)
            ready.append((function, launch, block, size, extra))
        self._call("cuEventRecord", begin, None)
        for function, launch, _, _, extra in ready:
            self._call("cuLaunchKernel", function, *launch.grid, *launch.block, launch.shared_bytes, None, None, extra)
        self._call("cuEventRecord", end, None)
        self._call("cuEventSynchronize", end)
        self._call("cuEventElapsedTime", ctypes.byref(took), begin, end)
        return took.value
