"""Triton: product of half-precision matrices, by fused multiply-adds on sm_75 and by tensor cores on sm_80.

Compile: TRITON_DISABLE_LINE_INFO=1 python triton_matmul.py.
"""

from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def triton_matmul(a_ptr, b_ptr, c_ptr, K, M: tl.constexpr, N: tl.constexpr, STEP: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    cols = tl.arange(0, N)
    ks = tl.arange(0, STEP)
    total = tl.zeros((M, N), dtype=tl.float32)
    for k in range(0, K, STEP):
        a = tl.load(a_ptr + rows[:, None] * K + (k + ks)[None, :])
        b = tl.load(b_ptr + (k + ks)[:, None] * N + cols[None, :])
        total += tl.dot(a, b)
    tl.store(c_ptr + rows[:, None] * N + cols[None, :], total)


if __name__ == "__main__":
    signature = {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp32", "K": "i32", "M": "constexpr",
                 "N": "constexpr", "STEP": "constexpr"}
    for capability in (75, 80):
        source = ASTSource(triton_matmul, signature, {"M": 32, "N": 32, "STEP": 16})
        built = triton.compile(source, target=GPUTarget("cuda", capability, 32))
        Path(__file__).with_suffix(f".sm{capability}.ptx").write_text(built.asm["ptx"])
        print(capability, "shared bytes", built.metadata.shared, "warps", built.metadata.num_warps)
