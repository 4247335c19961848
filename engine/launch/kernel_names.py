"""Finds a module's kernel by its mangled name, or its C++ name, with or without template arguments."""

from __future__ import annotations

import re

from rfview.engine.errors import InputError
from rfview.engine.launch.mangling import arguments_of, cpp_name, split_name
from rfview.engine.launch.spec import Launch, LaunchSpec
from rfview.engine.program import Kernel, Module
from rfview.engine.wording import did_you_mean


def kernel_of(spec: LaunchSpec, module: Module, launch: Launch) -> Kernel:
    """Return the kernel of a launch, found by `kernel_named`."""
    return kernel_named(launch.kernel, module, f"{spec.path}: [[launch]] kernel")


def kernel_named(called: str | None, module: Module, where: str) -> Kernel:
    """Find a kernel by its exact name, else as the only one whose C++ name ends in it; where: the beginning of errors.

    Template arguments choose among instances: scal<float>. The name may be omitted if the module has only one entry.
    Raises InputError.
    """
    names = list(module.kernels)
    if called is None:
        if not names:
            raise InputError(f"{where}: the module has no kernel; one begins with .entry")
        if len(names) != 1:
            raise InputError(f"{where}: the module has {len(names)} kernels, name one of {_known(names)}")
        return module.kernels[names[0]]
    if called in names:
        return module.kernels[called]
    wanted, arguments = split_name(called)
    matches = [name for name in names if _goes_by(name, wanted, arguments)]
    if len(matches) == 1:
        return module.kernels[matches[0]]
    if matches:
        raise InputError(f"{where} = {called!r}: {len(matches)} kernels have this C++ name, give one in full: "
                         f"{', '.join(matches)}; or template arguments as in 'name<float, 256>'")
    bases = {(cpp_name(name) or [name])[-1]: name for name in names}
    hint = did_you_mean(wanted[-1], [*bases, *names])
    raise InputError(f"{where} = {called!r}: no such kernel{hint}; {module.path} has {_known(names)}")


def is_called(mangled: str, called: str) -> bool:
    """Say whether a name matches a kernel: its mangled name, or its C++ name with or without template arguments."""
    return mangled == called or _goes_by(mangled, *split_name(called))


def instance_name(mangled: str) -> str:
    """Return a kernel's C++ name without namespaces, with its template arguments if these are simple: scal<float>."""
    name = (cpp_name(mangled) or [mangled])[-1]
    return name + arguments_of(mangled, name)


def _goes_by(mangled: str, wanted: list[str], arguments: re.Pattern[str] | None) -> bool:
    return cpp_name(mangled)[-len(wanted):] == wanted and (arguments is None or arguments.search(mangled) is not None)


def _known(names: list[str]) -> str:
    """Return the kernels' names for a launch file: the short C++ name if it is unique."""
    short = ["::".join(cpp_name(name)) or name for name in names]
    return ", ".join(text if short.count(text) == 1 else name for name, text in zip(names, short, strict=True)) or "none"
