"""The table of forms, read from its parts: every instruction that ptxas takes, and what rfview does not execute of it.

    REFUSED     instructions that rfview does not execute in any form, by the start of their opcodes
"""

from __future__ import annotations

import difflib
from functools import lru_cache

from rfview.engine.ptx.forms.grammar import NOTHING, TYPE_WIDTHS, Form, Row, Table, rows_of
from rfview.engine.ptx.forms.table_matrix import MATRIX
from rfview.engine.ptx.forms.table_memory import MEMORY
from rfview.engine.ptx.forms.table_values import VALUES

_INT, _BITS = "u16/s16/u32/s32/u64/s64", "b16/b32/b64"
_MOVED = f"b8/u8/s8/{_BITS}/{_INT}/f32/f64/b128@8.3,70"
_EVICTED = "evict_normal@7.4,70/L1::evict_unchanged@7.4,70/L1::evict_first@7.4,70/L1::evict_last@7.4,70"
_SHAREABLE = "global/shared/shared::cta@7.8,30/shared::cluster@7.8,90"
SETS = {
    "INT": _INT, "INT8": f"u8/s8/{_INT}", "BITS": _BITS, "BITS2": "b32/b64", "MOVED": _MOVED,
    "ROUND": "rn/rz/rm/rp", "ROUNDI": "rni/rzi/rmi/rpi", "F8": "e4m3/e5m2",
    "COMPARE": "eq/ne", "COMPARE6": "eq/ne/lt/le/gt/ge", "COMPAREU": "eq/ne/lt/le/gt/ge/lo/ls/hi/hs",
    "COMPAREF": "eq/ne/lt/le/gt/ge/equ/neu/ltu/leu/gtu/geu/num/nan",
    "SCOPE": "gpu/cta/cluster@7.8,90/sys", "SHAREABLE": _SHAREABLE, "SHARED": _SHAREABLE,
    "LD": f"const/local/param/param::entry@8.3/param::func@8.3/{_SHAREABLE}",
    "ST": f"local/param/param::func@8.3/{_SHAREABLE}",
    "L1E": f"L1::{_EVICTED}/L1::no_allocate@7.4,70", "HINT": "L2::cache_hint@7.4,80",
    "L2E": "L2::evict_last@8.8,100/L2::evict_normal@8.8,100/L2::evict_first@8.8,100",
    "PRE": "L2::64B@7.4,75/L2::128B@7.4,75/L2::256B@7.4,80", "VEC": "v2/v4/v8", "VEC2": "v2/v4",
    "SEM": "relaxed@6.0,70/acquire@6.0,70/release@6.0,70/acq_rel@6.0,70", "RSEM": "relaxed@6.0,70/release@6.0,70",
    "POLICY": "L2::evict_last/L2::evict_normal/L2::evict_first/L2::evict_unchanged",
    "CREATE2": "L2::evict_first/L2::evict_unchanged",
    "SPACEC": "global/shared/shared::cta@7.8,30/shared::cluster@7.8,90/local/const@3.1/param@7.7,70/param::entry@8.3,70",
    "SPACEW": "global/shared/shared::cta@7.8", "SHAPEW": "m16n16k16/m8n32k16/m32n8k16", "BOOL": "and/or/xor",
    "GEOMETRY": "1d/2d/3d/a1d/a2d/cube/acube/2dms/a2dms", "CACHE": "ca/cg/cs/cv", "STORE": "wb/cg/cs/wt",
}

_TENSOR = "tensor-core instructions of sm_90a and sm_100a are not supported; compile for sm_80, whose mma.sync is"
_MAPS = "tensor maps are not supported; compile for sm_80, or copy rows with cp.async.bulk"
_CLUSTERS = "clusters of several CTAs are not supported; compile for sm_80"
_SCALED = "products of 6 and 4 bits, or with scales, are not supported; compile for sm_89, whose e4m3 and e5m2 are"
REFUSED = {
    "wgmma": _TENSOR, "tcgen05": _TENSOR, "tensormap": _MAPS, "cp.async.bulk.tensor": _MAPS,
    "cp.async.bulk.prefetch.tensor": _MAPS, "cp.reduce.async.bulk.tensor": _MAPS,
    "clusterlaunchcontrol": _CLUSTERS, "st.async": _CLUSTERS, "red.async": _CLUSTERS,
    "multimem": "addresses on several GPUs at once are not supported; compile for one GPU",
    "mma.sync.aligned.kind": _SCALED, "mma.sp::ordered_metadata.sync.aligned.kind": _SCALED,
    "st.bulk": "not supported; compile for sm_90, which stores words",
    "sured": "surface reductions are not supported; use atomics on global memory",
    "sust.p": "formatted stores to surfaces are not supported; use sust.b",
    "istypep": "queries of a texture's kind are not supported",
}


@lru_cache(maxsize=1)
def table() -> Table:
    """Return the table; it is read on first use."""
    return Table(rows_of("\n".join([VALUES, MEMORY, MATRIX]), SETS))


def forms_of(opcode: str) -> tuple[Form, ...]:
    """Return the forms that an opcode can be, () if PTX has none; those that need a newer target included."""
    return table().forms(opcode)


def reason_of(opcode: str) -> str:
    """Return why rfview does not execute an opcode of PTX and what to do instead, "" for all others."""
    return next((reason for words, reason in REFUSED.items() if opcode.startswith(words)), "")


def nearest(opcode: str) -> str:
    """Return a form of PTX like an opcode that is none."""
    base, parts = table().base_of(opcode)
    rows = table().rows.get(base)
    if rows is None:
        names = [name.split(".")[0] for name in table().rows]
        known = difflib.get_close_matches(opcode.split(".")[0], names, n=1, cutoff=0.0)[0]
        rows = [row for name, named in table().rows.items() if name.split(".")[0] == known for row in named]
    current = [row for row in rows if row.needs.last_version == NOTHING.last_version]
    spelt = [completed(row, parts) for row in current or rows]
    fewest = min(lost for lost, _ in spelt)
    return difflib.get_close_matches(opcode, [name for lost, name in spelt if lost == fewest], n=1, cutoff=0.0)[0]


def completed(row: Row, parts: list[str]) -> tuple[int, str]:
    """Spell a row with the given modifiers where it has them, and its first alternatives where it needs one.

    Returns how many of the modifiers it has no place for, and the spelling.
    """
    words, left, taken = [row.base], list(parts), 0
    for each in row.slots:
        word = next((part for part in left if part in each.words), "" if each.is_optional else next(iter(each.words)))
        if word:
            words.append(word)
        if word in left:        # types keep their order
            at, taken = left.index(word), taken + 1
            left = [part for place, part in enumerate(left)
                    if place > at or place < at and not (each.is_type and part in TYPE_WIDTHS)]
    return len(parts) - taken, ".".join(words)
