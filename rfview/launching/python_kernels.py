"""Compiles a numba-cuda or Triton kernel to PTX; runs in the user's Python, with the standard library and theirs only.

As a program, it reads one JSON object from standard input ({file, kernel, arguments}) and writes one ({ptx, formals, ...}
or {error}); the output of the user's file goes to standard error.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import runpy
import sys
from typing import Any

CAPABILITY = (8, 0)
ARRAY_HEAD = 5      # parameters of a numba array before its shape and strides
_TRITON = {"float16": "fp16", "float32": "fp32", "float64": "fp64", "uint8": "u8", "uint16": "u16", "uint32": "u32",
           "uint64": "u64", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64"}


class NotCompiled(Exception):
    """The kernel cannot be compiled; the message is the rest of a sentence about it."""


def framework_of(kernel: Any) -> str:
    """Return 'numba' or 'triton' for one of their kernels, '' for anything else."""
    home = type(kernel).__module__ or ""
    if home.startswith("numba") and hasattr(kernel, "py_func"):
        return "numba"
    if home.startswith("triton.runtime") and hasattr(kernel, "arg_names"):
        return "triton"
    inner = getattr(kernel, "fn", None)         # Triton's autotune and heuristics around a kernel
    return framework_of(inner) if home.startswith("triton.runtime") and inner is not None else ""


def compiled(kernel: Any, arguments: list[dict[str, Any]], options: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a kernel's PTX for arguments ({name, kind, dtype, rank, value}), and its parameters.

    The result has ptx; order: the arguments' indices in the kernel's order; formals: {kind, name, dtype, count, rank};
    shared: bytes of dynamic shared memory; threads: per block, 0 if the caller decides. Raises NotCompiled.
    """
    framework = framework_of(kernel)
    if not framework:
        raise NotCompiled(f"is a {type(kernel).__name__}, not a kernel of numba-cuda (@cuda.jit) or Triton (@triton.jit)")
    return _of_numba(kernel, arguments) if framework == "numba" else _of_triton(kernel, arguments, options or {})


def _ordered(names: list[str], arguments: list[dict[str, Any]]) -> list[int]:
    """Return the indices of arguments in the order of a function's parameters: by name, or as given if unnamed."""
    given = [argument["name"] for argument in arguments]
    if all(re.fullmatch(r"arg\d+", name) for name in given) and len(given) == len(names):
        return list(range(len(given)))
    missing = [name for name in names if name not in given]
    wrong = [name for name in given if name not in names]
    if missing or wrong or len(given) != len(names):
        parts = [f"missing: {', '.join(missing)}"] if missing else []
        parts += [f"unknown: {', '.join(wrong)}"] if wrong else []
        raise NotCompiled(f"takes {', '.join(names) or 'no arguments'}; {'; '.join(parts) or 'too many were given'}")
    return [given.index(name) for name in names]


def _of_numba(kernel: Any, arguments: list[dict[str, Any]]) -> dict[str, Any]:
    from numba import cuda, from_dtype, types
    from numpy import dtype

    function = kernel.py_func
    names = list(inspect.signature(function).parameters)
    order = _ordered(names, arguments)
    kinds: list[Any] = []
    formals: list[dict[str, Any]] = []
    for name, place in zip(names, order):
        one = arguments[place]
        if one["kind"] == "null":
            raise NotCompiled(f"cannot take null for {name}: numba's kernels take arrays and numbers")
        if one["kind"] == "array":
            kinds.append(types.Array(from_dtype(dtype(one["dtype"])), one["rank"], "C"))
            formals.append({"kind": "array", "name": name, "dtype": one["dtype"], "rank": one["rank"],
                            "count": ARRAY_HEAD + 2 * one["rank"]})
            continue
        number = one["dtype"] or {bool: "bool", int: "int64", float: "float64"}[type(one["value"])]
        kinds.append(types.boolean if number == "bool" else from_dtype(dtype(number)))
        formals.append({"kind": "number", "name": name, "dtype": "uint8" if number == "bool" else number, "rank": 0,
                        "count": 1})
    try:
        ptx, _ = cuda.compile(function, types.void(*kinds), cc=CAPABILITY, output="ptx", abi="numba", device=False,
                              lineinfo=True)
    except Exception as error:
        raise NotCompiled(f"cannot be compiled by numba-cuda: {_first(error)}") from None
    return {"ptx": ptx, "order": order, "formals": formals, "shared": 0, "threads": 0, "name": function.__name__}


def _of_triton(kernel: Any, arguments: list[dict[str, Any]], options: dict[str, Any]) -> dict[str, Any]:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    while not hasattr(kernel, "arg_names") or not hasattr(kernel, "params"):
        kernel = kernel.fn
    while getattr(kernel, "fn", None) is not None and framework_of(kernel.fn) == "triton":
        kernel = kernel.fn
    names = list(kernel.arg_names)
    order = _ordered(names, arguments)
    signature, constants, formals = {}, {}, []
    for param, place in zip(kernel.params, order):
        one, name = arguments[place], param.name
        if param.is_constexpr or one["kind"] == "null":
            signature[name], constants[name] = "constexpr", None if one["kind"] == "null" else one["value"]
            formals.append({"kind": "constant", "name": name, "dtype": "", "rank": 0, "count": 0})
            continue
        is_array = one["kind"] == "array"
        number = one["dtype"] or ("float32" if isinstance(one["value"], float) else
                                  "int32" if -(1 << 31) <= one["value"] < 1 << 31 else "int64")
        signature[name] = ("*" if is_array else "") + _TRITON[number]
        formals.append({"kind": "pointer" if is_array else "number", "name": name, "dtype": number, "rank": 1, "count": 1})
    try:
        built = triton.compile(ASTSource(kernel, signature, constants), target=GPUTarget("cuda", 80, 32), options=options)
    except Exception as error:
        raise NotCompiled(f"cannot be compiled by Triton: {_first(error)}") from None
    return {"ptx": built.asm["ptx"], "order": order, "formals": formals, "shared": built.metadata.shared,
            "threads": 32 * built.metadata.num_warps, "name": kernel.__name__}


def _first(error: BaseException) -> str:
    """Return the line of an error's text that says what is wrong."""
    lines = [line.strip() for line in re.sub(r"\x1b\[[\d;]*m", "", str(error)).splitlines() if line.strip()]
    plain = [line for line in lines if not line.startswith(("Failed in", "During:", "File "))]
    return f"{type(error).__name__}: {(plain or lines or [''])[0]}"


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    file, name = request["file"], request["kernel"]
    sys.path.insert(0, os.path.dirname(os.path.abspath(file)))
    sys.argv = [file]
    try:
        module = runpy.run_path(file, run_name="__rfview__")
    except ModuleNotFoundError as error:
        return {"error": f"{file}: {sys.executable} lacks the package {error.name}; --python names another Python"}
    except (Exception, SystemExit) as error:
        return {"error": f"{file}: failed when it was imported, before its kernels could be found: {_first(error)}; code "
                         "that needs a GPU belongs under if __name__ == '__main__':"}
    kernels = [key for key, value in module.items() if framework_of(value)]
    if name not in module:
        return {"error": f"{file} has no {name}; its kernels: {', '.join(kernels) or 'none'}"}
    try:
        return compiled(module[name], request["arguments"])
    except NotCompiled as error:
        return {"error": f"{file}: {name} {error}"}


def main() -> None:
    """Serve one request."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    json.dump(_answer(json.load(sys.stdin)), out)
    out.close()


if __name__ == "__main__":
    main()
