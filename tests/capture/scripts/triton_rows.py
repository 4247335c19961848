"""A Triton softmax over rows, with torch's tensors on device "cuda", and its own check."""

import sys

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_rows(out_ptr, in_ptr, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(in_ptr + row * stride + at, mask=at < columns, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * stride + at, e / tl.sum(e, axis=0), mask=at < columns)


torch.manual_seed(0)
x = torch.rand((4, 100), device="cuda")
out = torch.empty_like(x)
softmax_rows[(4,)](out, x, x.stride(0), x.shape[1], BLOCK=128, num_warps=2)
torch.testing.assert_close(out, torch.softmax(x, axis=1))
print("all right")
sys.exit(3)
