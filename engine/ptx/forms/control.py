"""Forms of instructions that compute nothing: ends of functions, fences, barriers of warps and clusters, hints.

Every form has a pattern of its whole opcode, and the kinds of its operands: a type, "address" or "number".
"""

from __future__ import annotations

import re

_SCOPE = r"\.(cta|cluster|gpu|sys)"
_SHARED_ONLY = r"\.(acquire\.sync_restrict::shared::cluster|release\.sync_restrict::shared::cta)\.cluster"
# by the first part or two of the opcode; the first form of each is an example
_FORMS: dict[str, dict[str, tuple[str, ...]]] = {
    "ret": {"ret": (), r"ret\.uni": ()}, "exit": {"exit": ()}, "trap": {"trap": ()}, "brkpt": {"brkpt": ()},
    "membar": {"membar.gl": (), r"membar\.(cta|sys|proxy\.alias)": ()},
    "fence": {
        "fence.acq_rel.gpu": (), rf"fence(\.(sc|acq_rel|acquire|release))?{_SCOPE}": (),
        rf"fence(\.proxy\.async::generic)?{_SHARED_ONLY}": (), r"fence\.mbarrier_init\.release\.cluster": (),
        r"fence\.proxy\.(alias|async(\.(global|shared::(cta|cluster)))?)": (),
        rf"fence\.proxy\.tensormap::generic\.release{_SCOPE}": (),
        rf"fence\.proxy\.tensormap::generic\.acquire{_SCOPE}": ("address", "number"),
    },
    "bar.warp": {"bar.warp.sync": ("u32",)},
    "barrier.cluster": {"barrier.cluster.wait": (), r"barrier\.cluster\.arrive(\.(release|relaxed))?(\.aligned)?": (),
                        r"barrier\.cluster\.wait(\.acquire)?(\.aligned)?": ()},
    "nanosleep": {"nanosleep.u32": ("u32",)},
    "prefetch": {"prefetch.global.L2": ("address",), r"prefetch(\.(global|local))?\.L[12]": ("address",),
                 r"prefetch\.global\.L2::evict_(last|normal)": ("address",),
                 r"prefetch(\.(param|const))?\.tensormap": ("address",)},
    "prefetchu": {"prefetchu.L1": ("address",)},
    "discard": {"discard.global.L2": ("address", "number"), r"discard\.L2": ("address", "number")},
    "applypriority": {"applypriority.global.L2::evict_normal": ("address", "number"),
                      r"applypriority\.L2::evict_normal": ("address", "number")},
    "pmevent": {"pmevent": ("number",), r"pmevent\.mask": ("number",)},
    "griddepcontrol": {"griddepcontrol.wait": (), r"griddepcontrol\.launch_dependents": ()},
    "setmaxnreg": {"setmaxnreg.inc.sync.aligned.u32": ("number",), r"setmaxnreg\.dec\.sync\.aligned\.u32": ("number",)},
}


def forms_of(opcode: str) -> dict[str, tuple[str, ...]] | None:
    """Return the forms of an opcode's base; None if they are not listed here."""
    parts = opcode.split(".")
    return _FORMS.get(".".join(parts[:2])) or _FORMS.get(parts[0])


def operands_of(opcode: str, forms: dict[str, tuple[str, ...]]) -> tuple[str, ...] | None:
    """Return the kinds of an opcode's operands; None if it is none of the forms."""
    return next((kinds for pattern, kinds in forms.items() if re.fullmatch(pattern, opcode)), None)
