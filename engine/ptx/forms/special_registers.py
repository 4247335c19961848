"""The special registers of PTX: the type of each, and what those hold that the machine has no register for.

Source: PTX ISA 9.0, "Special Registers". Performance counters and the executing graph read as 0. The aggregate size of
shared memory is the total one. The area of it that is reserved in some kernels: lower/layout.py.
"""

from __future__ import annotations

VECTORS = ("tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid")
_TYPES = {
    "u32": ("laneid warpid nwarpid smid nsmid cluster_ctarank cluster_nctarank clock clock_hi lanemask_eq lanemask_le "
            "lanemask_lt lanemask_ge lanemask_gt globaltimer_lo globaltimer_hi total_smem_size aggr_smem_size "
            "dynamic_smem_size "
            "reserved_smem_offset_begin reserved_smem_offset_end reserved_smem_offset_cap reserved_smem_offset_0 "
            "reserved_smem_offset_1 " + " ".join([f"pm{n}" for n in range(8)] + [f"envreg{n}" for n in range(32)])),
    "u64": "gridid clock64 globaltimer current_graph_exec " + " ".join(f"pm{n}_64" for n in range(8)),
    "pred": "is_explicit_cluster",
}
TYPES = {f"%{name}": kind for kind, names in _TYPES.items() for name in names.split()} | {
    f"%{name}.{axis}": "u32" for name in VECTORS for axis in "xyzwrgba"}

# what stands for a register that the machine does not have: another register, or a number
STAND_INS: dict[str, str | int] = {
    **{f"%pm{n}": 0 for n in range(8)}, **{f"%pm{n}_64": 0 for n in range(8)}, "%current_graph_exec": 0,
    "%aggr_smem_size": "%total_smem_size", **{f"%{name}.w": 0 for name in VECTORS},
    # where every cluster is one CTA
    **{f"%clusterid.{axis}": f"%ctaid.{axis}" for axis in "xyz"},
    **{f"%nclusterid.{axis}": f"%nctaid.{axis}" for axis in "xyz"},
    **{f"%cluster_ctaid.{axis}": 0 for axis in "xyz"}, **{f"%cluster_nctaid.{axis}": 1 for axis in "xyz"},
    "%cluster_ctarank": 0, "%cluster_nctarank": 1, "%is_explicit_cluster": 0,
}
OF_CLUSTERS = ("%cluster", "%nclusterid", "%is_explicit_cluster")
