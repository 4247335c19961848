"""C++ names of kernels in launch files: their parts and template arguments, to and from mangled names."""

from __future__ import annotations

import re

# Itanium C++ ABI: builtin types, and their names in headers
_BUILTIN = {
    "void": "v", "bool": "b", "char": "c", "signed char": "a", "unsigned char": "h", "short": "s", "unsigned short": "t",
    "int": "i", "unsigned int": "j", "long": "l", "unsigned long": "m", "long long": "x", "unsigned long long": "y",
    "float": "f", "double": "d", "int8_t": "a", "uint8_t": "h", "int16_t": "s", "uint16_t": "t", "int32_t": "i",
    "uint32_t": "j", "int64_t": "l", "uint64_t": "m", "size_t": "m", "unsigned": "j", "half": "6__half",
}
_NAMES = {letter: name for name, letter in reversed(_BUILTIN.items()) if len(letter) == 1}
_SIMPLE = rf"(P*)(K?)([{''.join(_NAMES)}])|L([a-z])(n?\d+)E"        # a builtin type, or a number


def kernel_name(name: str) -> str:
    """Return a kernel's name as in its C++ source, blas::scal for _ZN4blas4scalIfEEvPT_; others unchanged."""
    return "::".join(cpp_name(name)) or name


def cpp_name(mangled: str) -> list[str]:
    """Return the parts of a function's C++ name, namespaces first: _ZN1a3fooIfEEvPf is a, foo; [] for a C name.

    Itanium C++ ABI mangling; template arguments and parameter types are left out.
    """
    head = re.match(r"_ZN?[rVK]*(?:St)?", mangled)
    parts: list[str] = []
    at = head.end() if head else len(mangled)
    while length := re.match(r"L?([1-9]\d*)", mangled[at:]):
        at += length.end()
        parts.append(mangled[at : at + int(length[1])])
        at += int(length[1])
        if not mangled.startswith("_ZN"):
            break
    return parts


def split_name(text: str) -> tuple[list[str], re.Pattern[str] | None]:
    """Return the parts of a C++ name, and the pattern of its template arguments in a mangled name (None without any).

    Parameter types after the name are ignored: `ns::reduce<256, float>(float *)` is ns, reduce and IL.256EfE.
    """
    match = re.fullmatch(r"(?:void )?\s*([\w:]+)\s*(?:<(.*)>)?\s*(?:\(.*\))?\s*", text)
    if match is None:
        return [text], None
    parts = match[1].split("::")
    if not match[2]:
        return parts, None
    return parts, re.compile(f"{_named(parts[-1])}{_arguments(match[2])}")


def arguments_of(mangled: str, name: str) -> str:
    """Return a function's template arguments in the form that split_name reads, <float, 256>; "" if they are not simple."""
    match = re.search(rf"{_named(name)}I((?:{_SIMPLE})+)E", mangled)
    if match is None:
        return ""
    names = []
    for pointers, const, kind, literal, digits in re.findall(_SIMPLE, match[1]):
        if kind:
            names.append(("const " if const else "") + _NAMES[kind] + "*" * len(pointers))
        else:
            names.append(("false", "true")[digits == "1"] if literal == "b" else digits.replace("n", "-"))
    return f"<{', '.join(names)}>"


def _named(name: str) -> str:
    return f"{len(name)}{re.escape(name)}"


def _arguments(text: str) -> str:
    """Return the pattern of the text between < and >."""
    arguments, depth = [""], 0
    for char in text:
        depth += (char == "<") - (char == ">")
        if char == "," and not depth:
            arguments.append("")
        else:
            arguments[-1] += char
    return f"I{''.join(map(_argument, arguments))}E"


def _argument(text: str) -> str:
    """Return the pattern of one template argument: a type or a number."""
    outer, *inner = text.partition("<")
    inside, _, rest = inner[1].rpartition(">")
    name = " ".join(f"{outer} {rest}".replace("*", " * ").split())
    if re.fullmatch(r"-?\d+[uUlL]*", name):
        digits = name.rstrip("uUlL")
        return f"L[a-z]{digits.replace('-', 'n')}E"
    if name in ("true", "false"):
        return f"Lb{int(name == 'true')}E"
    words = [word for word in name.split() if word != "*"]
    mark = "P" * name.count("*") + "K" * ("const" in words)
    base = " ".join(word for word in words if word != "const")
    if base in _BUILTIN and not inside:
        return mark + _BUILTIN[base]
    own = _named(base.split("::")[-1]) + (_arguments(inside) if inside else "")
    # within a namespace N...E; a name or part that occurred before is abbreviated as S_, S0_ ...
    return f"(?:{mark}(?:{own}|N\\w*?{own}E)|S\\w*?_)"
