"""Make numba generate machine code for entry points only, with everything they call linked in; and load faster.

By default numba optimises every function together with all that it calls, generates machine code for it, and links it
into its callers, where it is optimised and compiled again. A function without wrappers for Python, as jit.py binds
those of the machine, is called only from compiled code: here it is linked unoptimised, and optimised once, in the
entry points that it becomes part of. There it has internal linkage. With numba's own linkage, any function might be
called from elsewhere: LLVM would have to keep a copy of each with all of its arguments, and a single record array is
seven (with internal linkage the machine runs 1.2 to 1.6 times as fast). When machine code is loaded from the cache,
numba first loads what it needs for compiling, and reads the bitcode for linking with other functions: here it does
neither. Only times change; `python -m tests.bench --parts start` shows those of a start.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, ClassVar

from llvmlite import binding
from llvmlite.binding import parse_bitcode
from numba import types
from numba.core import codegen
from numba.core.cpu import CPUContext
from numba.core.environment import lookup_environment

# the parts of numba that this relies on: if a version differs, numba is left unchanged, and is merely slower
Base: Any = getattr(codegen, "JITCodeLibrary", object)
INSIDE = {
    Base: ("_optimize_final_module", "_finalize_final_module", "_finalize_dynamic_globals", "_verify_declare_only_symbols",
           "serialize_using_object_code", "_unserialize", "enable_object_caching", "_set_compiled_object",
           "_get_module_for_linking"),
    getattr(codegen, "JitEngine", None): ("is_symbol_defined", "_load_defined_symbols"),
    getattr(codegen, "JITCPUCodegen", None): ("_library_class",),
    getattr(codegen, "RuntimeLinker", None): ("PREFIX",),
    CPUContext: ("get_executable",),
    getattr(binding, "Linkage", None): ("internal", "linkonce_odr"),
}
FITS = all(hasattr(owner, name) for owner, names in INSIDE.items() for name in names)


class Library(Base):
    """The code of one function. is_part: it is only linked into others."""

    is_part = False
    parts: ClassVar[set[str]] = set()       # the names of all functions that are only linked into others
    # for code from the cache, until it is linked into other code
    _bitcode: bytes | None = None

    def serialize_using_object_code(self) -> tuple[str, str, tuple[bytes, bytes, list[str]]]:
        """Return what the cache stores: numba's own, and the names defined in its bitcode."""
        name, kind, (machine_code, bitcode) = super().serialize_using_object_code()
        module = self._get_module_for_linking()
        defined = [each.name for which in (module.functions, module.global_variables) for each in which
                   if not each.is_declaration]
        return name, kind, (machine_code, bitcode, defined)

    @classmethod
    def _unserialize(cls, owner: Any, state: tuple[str, str, Any]) -> Any:
        """Load machine code from the cache like numba, but leave its bitcode unread, which saves half of the time."""
        name, kind, data = state
        if kind != "object" or len(data) != 3:
            return super()._unserialize(owner, state)
        machine_code, bitcode, defined = data
        self = owner.create_library(name)
        self.enable_object_caching()
        self._set_compiled_object(machine_code)
        self._bitcode = bitcode
        self._finalize_final_module()
        owner._engine._defined_symbols.update(defined)
        return self

    def _get_module_for_linking(self) -> Any:
        if self._bitcode is not None:
            self._shared_module, self._bitcode = parse_bitcode(self._bitcode), None
        return super()._get_module_for_linking()

    def becomes_part(self, name: str, wrappers: Iterable[str]) -> bool:
        """Turn function `name` into a part if it has no wrappers; not if it comes from the cache as machine code.

        Nor if it is recursive: functions not compiled yet are looked up in machine code.
        """
        if not self._finalized:
            functions = {each.name for each in self._final_module.functions if not each.is_declaration}
            unresolved = (each.name.startswith(codegen.RuntimeLinker.PREFIX) for each in self._final_module.global_variables)
            self.is_part = functions.isdisjoint(wrappers) and not any(unresolved)
        if self.is_part:
            self.parts.add(name)
        return self.is_part

    def set_environments(self) -> None:
        """Set up the Python environments that the machine code's parts use, as numba does when it loads a library."""
        for each in self._final_module.global_variables:
            env = lookup_environment(each.name)
            if env is not None:
                self.codegen.set_env(each.name, env)

    def _optimize_final_module(self) -> None:
        if self.is_part:
            return
        for function in self._final_module.functions:
            if function.name in self.parts and function.linkage == binding.Linkage.linkonce_odr:
                function.linkage = binding.Linkage.internal
        super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        if not self.is_part:
            super()._finalize_final_module()
            return
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


class NotRun:
    """Answers numba's questions about a function that is never run on its own: no address, nothing to set up."""

    def __init__(self, library: Library):
        self.codegen, self._kept = self, library

    def get_pointer_to_function(self, name: str) -> int:
        """Return numba's value for a function without a wrapper."""
        return 0

    def set_env(self, name: str, env: Any) -> None:
        """Skip what only applies to machine code."""


def _executable_of(usual: Callable[..., Any]) -> Callable[..., Any]:
    """Return CPUContext.get_executable, unchanged for entry points; for a part it returns nothing callable from Python."""

    def get_executable(self: Any, library: Any, fndesc: Any, env: Any) -> Any:
        wrappers = fndesc.llvm_cpython_wrapper_name, fndesc.llvm_cfunc_wrapper_name
        # numba's own functions may need what their machine code sets up
        is_ours = isinstance(library, Library) and not fndesc.modname.startswith("numba.")
        if is_ours and library.becomes_part(fndesc.llvm_func_name, wrappers):
            return usual(self, NotRun(library), fndesc, env)
        made = usual(self, library, fndesc, env)
        if is_ours:
            library.set_environments()
        return made

    return get_executable


def mangling_of(kind: Any) -> tuple[str, tuple[str, ...]]:
    """Name a record type in symbols by its content.

    numba uses a number per process, so machine code of two designs, compiled in two processes and loaded from the cache
    into a third, could use the same symbols for different code: the linker would silently use one for the other.
    """
    digest = kind.__dict__.get("_content_digest")
    if digest is None:
        digest = hashlib.sha256(kind.name.encode()).hexdigest()[:16]
        kind._content_digest = digest
    return type(kind).__name__, (digest,)


def install() -> None:
    """Patch numba; call this once, before anything is compiled."""
    # numba formats the type of every argument before and after each of its passes; that of a record is long
    record: Any = types.Record
    record.__repr__ = lru_cache(maxsize=None)(record.__repr__)
    record.mangling_args = property(mangling_of)
    if FITS:
        context: Any = CPUContext
        context.get_executable = _executable_of(context.get_executable)
        codegen.JITCPUCodegen._library_class = Library
