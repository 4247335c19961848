"""Runs numba-cuda without a GPU: the server answers its driver's calls and runs its kernels as PTX.

numba's own contexts, memory managers, arrays, streams and events are unchanged; only the driver below them, the loading
of code, and the launch are replaced.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import inspect
import weakref
from typing import Any

from rfview.capture import messages as wire
from rfview.capture import protocol
from rfview.capture.client import CudaError
from rfview.capture.python import versions
from rfview.capture.python.hooks import Machine, three


def install(machine: Machine) -> None:
    """Hook into numba.cuda, which has just been imported, or is in use without a GPU. Raises UnknownVersion."""
    versions.check("numba-cuda")
    codegen, dispatcher, devicearray, drv = map(_module, ("codegen", "dispatcher", "cudadrv.devicearray", "cudadrv.driver"))
    calls = _Calls(machine, drv)
    drv.Driver.__getattr__ = lambda self, name: calls.find(name)
    drv.driver.initialization_error, drv.driver.is_initialized = None, True
    drv._logger = drv.make_logger()
    drv.driver.devices.clear()
    drv.Device = functools.partial(_Device, machine, drv)
    drv._to_core_stream = lambda stream: stream
    drv.Stream.add_callback = lambda self, callback, arg=None: callback(self, 0, arg)     # launches have completed
    devicearray._make_strided_memory_view = functools.partial(_host_view, devicearray)
    devicearray._to_strided_memory_view = _views(machine, devicearray)
    libraries = _Libraries(machine, drv)
    codegen.CUDACodeLibrary.get_cufunc = libraries.function
    launches = _Launches(machine, drv)
    dispatcher.launch, dispatcher.LaunchConfig = launches.launch, _Config
    plain = dispatcher._Kernel.launch

    def launch(self: Any, args: Any, *rest: Any, **named: Any) -> None:
        launches.kernel = self
        plain(self, args, *rest, **named)

    dispatcher._Kernel.launch = launch
    made = dispatcher._Kernel.__init__

    def compiled(self: Any, *args: Any, **named: Any) -> None:
        # with source lines, as after @cuda.jit(lineinfo=True), which does not change the code; debug writes its own
        made(self, *args, **{**named, "lineinfo": not named.get("debug")})

    dispatcher._Kernel.__init__ = compiled


def _module(name: str) -> Any:
    """Return a module of numba.cuda; imported dynamically, because type checkers may see another release."""
    return importlib.import_module(f"numba.cuda.{name}")


class _Config:
    """The grid, block and shared memory of a launch, with numba's argument names."""

    def __init__(self, grid: Any, block: Any, shmem_size: int = 0, is_cooperative: bool = False,
                 cooperative_launch: bool = False) -> None:
        self.grid, self.block, self.shared = three(grid), three(block), int(shmem_size or 0)
        self.cooperative = is_cooperative or cooperative_launch


class _Device:
    """The only device; replaces numba's class."""

    id, uuid = 0, "GPU-rfview"
    name = "rfview SM"

    def __init__(self, machine: Machine, drv: Any, number: int) -> None:
        self._machine, self._drv = machine, drv
        self.compute_capability = machine.capability
        self.primary_context: Any = None
        facts = machine.facts
        self._attributes = {
            "MULTIPROCESSOR_COUNT": 1, "WARP_SIZE": 32, "MAX_THREADS_PER_BLOCK": 1024, "CLOCK_RATE": facts["khz"],
            "MAX_THREADS_PER_MULTI_PROCESSOR": facts["threads"], "MAX_SHARED_MEMORY_PER_BLOCK": facts["shared"],
            "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": facts["shared"], "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": facts["shared"],
            "MAX_REGISTERS_PER_BLOCK": facts["registers"], "MAX_REGISTERS_PER_MULTIPROCESSOR": facts["registers"],
            "MAX_BLOCKS_PER_MULTIPROCESSOR": facts["ctas"], "L2_CACHE_SIZE": facts["l2"], "TOTAL_CONSTANT_MEMORY": 65536,
            "MAX_BLOCK_DIM_X": 1024, "MAX_BLOCK_DIM_Y": 1024, "MAX_BLOCK_DIM_Z": 64, "MAX_GRID_DIM_X": 2**31 - 1,
            "MAX_GRID_DIM_Y": 65535, "MAX_GRID_DIM_Z": 65535, "UNIFIED_ADDRESSING": 1, "CAN_MAP_HOST_MEMORY": 1,
            "MANAGED_MEMORY": 1, "CONCURRENT_MANAGED_ACCESS": 1, "COOPERATIVE_LAUNCH": 1, "CONCURRENT_KERNELS": 0,
            "COMPUTE_CAPABILITY_MAJOR": machine.capability[0], "COMPUTE_CAPABILITY_MINOR": machine.capability[1],
            "PCI_DOMAIN_ID": 0, "PCI_BUS_ID": 0, "PCI_DEVICE_ID": 0, "ASYNC_ENGINE_COUNT": 0, "COMPUTE_MODE": 0,
            "INTEGRATED": 0, "KERNEL_EXEC_TIMEOUT": 0, "TCC_DRIVER": 0,
        }
        self.supports_float16 = self.supports_bfloat16 = True
        self.supports_fp8 = machine.capability >= (8, 9)

    def __getattr__(self, name: str) -> int:
        if name.startswith("_") or name not in self._attributes:
            raise AttributeError(f"rfview: its device has no attribute {name}")
        return self._attributes[name]

    def __repr__(self) -> str:
        return f"<CUDA device 0 '{self.name}'>"

    def get_device_identity(self) -> dict[str, int]:
        """Return its position on the PCI bus, which numba needs."""
        return {"pci_domain_id": 0, "pci_bus_id": 0, "pci_device_id": 0}

    def get_primary_context(self) -> Any:
        """Return the device's context, an instance of numba's own class."""
        if self.primary_context is None:
            self.primary_context = self._drv.Context(weakref.proxy(self), self._drv.binding.CUcontext(1))
        return self.primary_context

    def release_primary_context(self) -> None:
        """Forget the context."""
        self.primary_context = None

    def reset(self) -> None:
        """Free the context's resources and forget it."""
        if self.primary_context is not None:
            self.primary_context.reset()
        self.release_primary_context()


def _host_view(arrays: Any, obj: Any, **named: Any) -> Any:
    """Return a host array or record as numba describes one, without cuda.core."""
    from numpy import asanyarray

    array = asanyarray(obj)
    address = obj.__array_interface__["data"][0] if hasattr(obj, "__array_interface__") else array.ctypes.data
    flags = array.flags
    layout = arrays._StridedLayoutShim(strides_in_bytes=array.strides, is_contiguous_c=flags.c_contiguous,
                                       is_contiguous_f=flags.f_contiguous, is_contiguous_any=flags.forc)
    return arrays._StridedMemoryViewShim(ptr=address, shape=array.shape, dtype=array.dtype, size=array.size, _layout=layout)


class _HostArray:
    """Device memory for a host array that is passed to a kernel, in its shape; freed with this object."""

    def __init__(self, machine: Machine, arrays: Any, obj: Any, copies: bool) -> None:
        host = _host_view(arrays, obj)
        if host.size:
            arrays.sentry_contiguous(obj)
        self.shape, self.dtype, self.size, self._layout = host.shape, host.dtype, host.size, host._layout
        size = host.size * host.dtype.itemsize
        self.ptr = machine.malloc(size)
        weakref.finalize(self, machine.free, self.ptr)
        if copies:
            machine.client.copy(self.ptr, host.ptr, size)


def _views(machine: Machine, arrays: Any) -> Any:
    """Return a replacement for numba's _to_strided_memory_view, which would otherwise allocate through cuda.core."""
    plain = arrays._to_strided_memory_view

    def view(obj: Any, stream: Any = 0, copy: bool = True, user_explicit: bool = False) -> tuple[Any, bool]:
        if (isinstance(obj, arrays.StridedMemoryView) or getattr(obj, "__cuda_memory__", False)
                or getattr(obj, "__cuda_array_interface__", None) is not None):
            return plain(obj, stream, copy, user_explicit)
        return _HostArray(machine, arrays, obj, copy), True

    return view


class _Calls:
    """The driver's functions: copies are plain copies, since device memory is mapped at the same addresses here."""

    def __init__(self, machine: Machine, drv: Any) -> None:
        self._machine, self._drv = machine, drv
        self._contexts: list[Any] = []
        self._events: dict[int, float] = {}
        self._count = 0

    def find(self, name: str) -> Any:
        """Return a driver function that raises numba's errors; a missing one raises an error with its name when called."""
        if not name.startswith("cu"):
            raise AttributeError(name)
        own = getattr(self, name, None)

        def call(*args: Any) -> Any:
            if own is None:
                text = f"rfview: {name} is not there on the machine that it models"
                raise self._drv.CudaAPIError(protocol.NOT_SUPPORTED, text)
            try:
                return own(*args)
            except CudaError as error:
                raise self._drv.CudaAPIError(error.code, f"rfview: {error}") from None

        return call

    def _number(self) -> int:
        self._count += 1
        return self._count

    def cuInit(self, flags: int) -> None:
        return

    def cuDriverGetVersion(self) -> int:
        return 13000

    def cuDeviceGetCount(self) -> int:
        return 1

    def cuCtxGetCurrent(self) -> Any:
        return self._contexts[-1] if self._contexts else self._drv.binding.CUcontext(0)

    def cuCtxPushCurrent(self, context: Any) -> None:
        self._contexts.append(context)

    def cuCtxPopCurrent(self) -> Any:
        return self._contexts.pop()

    def cuCtxGetDevice(self) -> int:
        return 0

    def cuCtxSynchronize(self) -> None:
        self._machine.client.ask(wire.SYNC)

    def cuMemGetInfo(self) -> tuple[int, int]:
        total = self._machine.facts["bytes"]
        return total - sum(self._machine.sizes.values()), total

    def cuMemAlloc(self, size: int) -> Any:
        return self._drv.binding.CUdeviceptr(self._machine.malloc(size))

    def cuMemAllocManaged(self, size: int, flags: int) -> Any:
        return self._drv.binding.CUdeviceptr(self._machine.malloc(size, wire.KIND_MANAGED))

    def cuMemHostAlloc(self, size: int, flags: int) -> int:
        return self._machine.malloc(size, wire.KIND_HOST)

    def cuMemHostGetDevicePointer(self, pointer: Any, flags: int) -> Any:
        return self._drv.binding.CUdeviceptr(int(pointer))

    def cuMemHostRegister(self, pointer: Any, size: int, flags: int) -> None:
        if flags & self._drv.binding.CU_MEMHOSTREGISTER_DEVICEMAP:
            raise CudaError(protocol.NOT_SUPPORTED, "memory of the host cannot be mapped afterwards; cuda.mapped_array can")

    def cuMemHostUnregister(self, pointer: Any) -> None:
        return

    def cuMemFree(self, pointer: Any) -> None:
        self._machine.free(int(pointer))

    cuMemFreeHost = cuMemFree

    def cuMemcpyHtoD(self, to: Any, source: Any, size: int, stream: Any = None) -> None:
        self._machine.client.copy(int(to), int(source), size)

    cuMemcpyHtoDAsync = cuMemcpyDtoH = cuMemcpyDtoHAsync = cuMemcpyDtoD = cuMemcpyDtoDAsync = cuMemcpyHtoD

    def cuMemsetD8(self, to: Any, value: int, size: int, stream: Any = None) -> None:
        self._machine.client.fill(int(to), int(value), size)

    cuMemsetD8Async = cuMemsetD8

    def cuPointerGetAttribute(self, attribute: Any, pointer: Any) -> Any:
        return pointer

    def cuMemGetAddressRange(self, pointer: Any) -> tuple[int, int]:
        for address, size in self._machine.sizes.items():
            if address <= int(pointer) < address + max(size, 1):
                return address, size
        raise CudaError(protocol.INVALID_VALUE, "nothing is allocated there")

    def cuStreamCreate(self, flags: int) -> Any:
        return self._drv.binding.CUstream(0x1000 + self._number())

    def cuStreamDestroy(self, stream: Any) -> None:
        return

    def cuStreamSynchronize(self, stream: Any) -> None:
        self.cuCtxSynchronize()

    def cuStreamWaitEvent(self, stream: Any, event: Any, flags: int) -> None:
        return

    def cuEventCreate(self, flags: int) -> Any:
        return self._drv.binding.CUevent(0x2000 + self._number())

    def cuEventRecord(self, event: Any, stream: Any) -> None:
        self._events[int(event)] = self._machine.now_ms

    def cuEventSynchronize(self, event: Any) -> None:
        self.cuCtxSynchronize()

    def cuEventQuery(self, event: Any) -> None:
        return

    def cuEventElapsedTime(self, begin: Any, end: Any) -> float:
        if int(begin) not in self._events or int(end) not in self._events:
            raise CudaError(protocol.INVALID_VALUE, "an event that was not recorded")
        return self._events[int(end)] - self._events[int(begin)]

    def cuEventDestroy(self, event: Any) -> None:
        self._events.pop(int(event), None)

    def cuProfilerStart(self) -> None:
        return

    cuProfilerStop = cuProfilerStart

    def cuOccupancyMaxActiveBlocksPerMultiprocessor(self, handle: Any, threads: int, dynamic: int) -> int:
        asked = (handle.module, int(threads), int(dynamic))
        return int(self._machine.client.ask(wire.OCCUPANCY, *asked, rest=handle.name.encode())[0])


class _Handle:
    """A kernel of a module; replaces both the driver's handle and cuda.core's kernel in numba."""

    def __init__(self, module: int, name: str, attributes: Any) -> None:
        self.module, self.name, self.attributes = module, name, attributes


class _Attributes:
    """A kernel's attributes, under cuda.core's names."""

    def __init__(self, facts: protocol.Facts) -> None:
        self.max_threads_per_block = facts.max_threads or 1024


class _Module:
    """A module with symbols; replaces numba's class."""

    initialized = True

    def __init__(self, machine: Machine, drv: Any, number: int) -> None:
        self._machine, self._drv, self.number = machine, drv, number

    def get_global_symbol(self, name: str) -> tuple[Any, int]:
        """Return a variable of the module as a numba pointer, and its size."""
        address, size = self._machine.client.symbol(self.number, name)
        context = _module("cudadrv.devices").get_context()
        return self._drv.MemoryPointer(context, self._drv.binding.CUdeviceptr(address), size), size


class _Function:
    """A kernel ready to launch; replaces numba's class."""

    def __init__(self, module: _Module, name: str, facts: protocol.Facts, drv: Any) -> None:
        self.module, self.name = module, name
        self.attrs = drv.FuncAttr(facts.registers, facts.shared_bytes, facts.local_bytes, 0, facts.max_threads or 1024)
        self.kernel = self.handle = _Handle(module.number, name, _Attributes(facts))

    def set_shared_memory_carveout(self, carveout: int) -> None:
        """Do nothing: the machine's shared memory is separate from its caches."""


class _Libraries:
    """Loads numba's code libraries as PTX."""

    def __init__(self, machine: Machine, drv: Any) -> None:
        self._machine, self._drv = machine, drv

    @property
    def function(self) -> Any:
        """Return a replacement for numba's CUDACodeLibrary.get_cufunc."""
        machine, drv = self._machine, self._drv

        def get_cufunc(library: Any) -> _Function:
            found = library._cufunc_cache.get(0)
            if found is None:
                cc = machine.capability
                linked = bool(library._linking_files)
                try:
                    number = machine.module(_linked(library, drv, cc) if linked else library.get_asm_str(cc=cc))
                    facts = machine.client.facts(number, library._entry_name)
                except CudaError as error:
                    raise drv.CudaAPIError(error.code, f"rfview: {error}") from None
                found = library._cufunc_cache[0] = _Function(_Module(machine, drv, number), library._entry_name, facts, drv)
            return found

        return get_cufunc


def _linked(library: Any, drv: Any, cc: tuple[int, int]) -> str:
    """Return the PTX of a library and the files linked with it, made by nvJitLink."""
    linker = drv._Linker(max_registers=library._max_registers, cc=cc, additional_flags=["-ptx"], lto=True)
    linker.add_ltoir(library.get_ltoir(cc=cc))
    for path in library._linking_files:
        linker.add_file_guess_ext(path, True)
    return str(linker.get_linked_ptx().decode("utf-8"))


class _Launches:
    """The launch itself. kernel: the one whose arguments numba is preparing."""

    def __init__(self, machine: Machine, drv: Any) -> None:
        self._machine, self._drv = machine, drv
        self.kernel: Any = None

    def launch(self, stream: Any, config: _Config, handle: _Handle, *values: Any) -> None:
        """Run a kernel to its end; replaces cuda.core's launch."""
        self._name(values)
        try:
            self._machine.launch(handle.module, handle.name, config.grid, config.block, config.shared,
                                 [_raw(value) for value in values], cooperative=config.cooperative)
        except CudaError as error:
            raise self._drv.CudaAPIError(error.code, f"rfview: {error}") from None

    def _name(self, values: tuple[Any, ...]) -> None:
        """Name the arrays among a kernel's arguments after its parameters."""
        kernel, self.kernel = self.kernel, None
        function = getattr(kernel, "py_func", None)
        if function is None:        # from numba's cache on disk
            return
        names = list(inspect.signature(function).parameters)
        at = 0
        for name, kind in zip(names, kernel.argument_types):
            rank = getattr(kind, "ndim", None)
            if rank is None or not hasattr(kind, "layout"):
                if hasattr(kind, "types") or hasattr(kind, "fields") or "complex" in str(kind) or kernel.extensions:
                    return      # takes several parameters; what follows it is not worth the search
                at += 1
                continue
            count, item = int(values[at + 2]), int(values[at + 3])
            shape = [int(size) for size in values[at + 5 : at + 5 + rank]]
            whole = self._machine.sizes.get(int(values[at + 4])) == count * item
            self._machine.name(int(values[at + 4]), name, str(kind.dtype) if whole and kind.layout == "C" else "",
                               shape if whole and kind.layout == "C" else ())
            at += 5 + 2 * rank


def _raw(value: Any) -> bytes | int:
    return bytes(value) if isinstance(value, ctypes._SimpleCData) else int(value)
