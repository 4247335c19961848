"""C++ names of kernels as a launch file may write them: parts and template arguments, found in mangled names."""

from __future__ import annotations

import re

# Itanium C++ ABI, builtin types, and the names that the headers give them
_BUILTIN = {
    "void": "v", "bool": "b", "char": "c", "signed char": "a", "unsigned char": "h", "short": "s", "unsigned short": "t",
    "int": "i", "unsigned int": "j", "long": "l", "unsigned long": "m", "long long": "x", "unsigned long long": "y",
    "float": "f", "double": "d", "int8_t": "a", "uint8_t": "h", "int16_t": "s", "uint16_t": "t", "int32_t": "i",
    "uint32_t": "j", "int64_t": "l", "uint64_t": "m", "size_t": "m", "unsigned": "j", "half": "6__half",
}  # fmt: skip


def split_name(text: str) -> tuple[list[str], re.Pattern[str] | None]:
    """Give the parts of a C++ name, and what its template arguments look like in a mangled name (None without any).

    Parameter types behind the name are left out: `ns::reduce<256, float>(float *)` is ns, reduce and IL.256EfE. Arguments
    that are templates themselves match anything.
    """
    found = re.fullmatch(r"(?:void )?\s*([\w:]+)\s*(?:<(.*)>)?\s*(?:\(.*\))?\s*", text)
    if found is None:
        return [text], None
    parts = found[1].split("::")
    if not found[2]:
        return parts, None
    arguments = [".*"] if "<" in found[2] else [_argument(part) for part in found[2].split(",")]
    return parts, re.compile(f"{len(parts[-1])}{re.escape(parts[-1])}I{''.join(arguments)}E")


def _argument(text: str) -> str:
    """Give the pattern of one template argument: a type or a number."""
    name = " ".join(text.replace("*", " * ").split())
    if re.fullmatch(r"-?\d+[uUlL]*", name):
        digits = name.rstrip("uUlL")
        return f"L[a-z]{digits.replace('-', 'n')}E"
    if name in ("true", "false"):
        return f"Lb{int(name == 'true')}E"
    pointers = name.count("*")
    words = [word for word in name.split() if word != "*"]
    mark = "P" * pointers + "K" * ("const" in words)
    base = " ".join(word for word in words if word != "const")
    return mark + _BUILTIN.get(base, f"{len(base)}{re.escape(base)}")
