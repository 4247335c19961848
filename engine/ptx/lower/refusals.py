"""Unsupported instructions, by the start of their opcodes: why they are refused, and what to compile for instead."""

from __future__ import annotations

_TENSOR = "tensor-core instructions of sm_90a and sm_100a are not supported; compile for sm_80, whose mma.sync is"
_MAPS = "tensor maps are not supported; compile for sm_80, or copy rows with cp.async.bulk"
_CLUSTERS = "clusters of several CTAs are not supported; compile for sm_80"
_SCALED = "products of 6 and 4 bits, or with scales, are not supported; compile for sm_89, whose e4m3 and e5m2 are"
_REASONS = {
    "wgmma": _TENSOR, "tcgen05": _TENSOR, "tensormap": _MAPS, "cp.async.bulk.tensor": _MAPS,
    "cp.async.bulk.prefetch.tensor": _MAPS, "cp.reduce.async.bulk.tensor": _MAPS,
    "clusterlaunchcontrol": _CLUSTERS, "st.async": _CLUSTERS, "red.async": _CLUSTERS,
    "multimem": "addresses on several GPUs at once are not supported; compile for one GPU",
    "mma.sync.aligned.kind": _SCALED, "mma.sp::ordered_metadata.sync.aligned.kind": _SCALED,
    "st.bulk": "not supported; compile for sm_90, which stores words",
    "sured": "surface reductions are not supported; use atomics on global memory",
    "istypep": "queries of a texture's kind are not supported",
}
REFUSED = {opcode for opcode in _REASONS if "." not in opcode}


def reason_of(opcode: str) -> str:
    """Return why an opcode is refused and what to do instead, "" for all others."""
    return next((reason for words, reason in _REASONS.items() if opcode.startswith(words)), "")
