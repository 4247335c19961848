"""Triton: masked addition of two vectors. Compile: python triton_add.py."""

from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def triton_add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x * 2.0 + y, mask=mask)


if __name__ == "__main__":
    signature = {"x_ptr": "*fp32", "y_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    for capability in (75, 80):
        source = ASTSource(triton_add, signature, {"BLOCK": 256})
        built = triton.compile(source, target=GPUTarget("cuda", capability, 32))
        Path(__file__).with_suffix(f".sm{capability}.ptx").write_text(built.asm["ptx"])
        print(capability, "shared bytes", built.metadata.shared, "warps", built.metadata.num_warps)
