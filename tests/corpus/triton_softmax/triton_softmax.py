"""Triton: softmax of each row, one program per row. Compile: python triton_softmax.py."""

from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def triton_softmax(in_ptr, out_ptr, stride, num_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < num_cols
    x = tl.load(in_ptr + row * stride + cols, mask=mask, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * stride + cols, e / tl.sum(e, axis=0), mask=mask)


if __name__ == "__main__":
    signature = {"in_ptr": "*fp32", "out_ptr": "*fp32", "stride": "i32", "num_cols": "i32", "BLOCK": "constexpr"}
    source = ASTSource(triton_softmax, signature, {"BLOCK": 256})
    built = triton.compile(source, target=GPUTarget("cuda", 75, 32))
    Path(__file__).with_suffix(".sm75.ptx").write_text(built.asm["ptx"])
    print("shared bytes", built.metadata.shared, "warps", built.metadata.num_warps)
