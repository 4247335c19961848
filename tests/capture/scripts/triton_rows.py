"""A Triton script that checks its results: softmax over rows, rows found by pointers in a tensor, torch's "cuda" tensors."""

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


@triton.jit
def count_up(pointers, n, BLOCK: tl.constexpr):
    row = tl.load(pointers + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    at = tl.arange(0, BLOCK)
    tl.store(row + at, tl.load(row + at, mask=at < n) + 1, mask=at < n)


torch.manual_seed(0)
x = torch.rand((4, 100), device="cuda")
out = torch.empty_like(x)
softmax_rows[(4,)](out, x, x.stride(0), x.shape[1], BLOCK=128, num_warps=2)
torch.testing.assert_close(out, torch.softmax(x, axis=1))
rows = [torch.full((100,), float(k), device="cuda") for k in range(3)]
count_up[(3,)](torch.tensor([row.data_ptr() for row in rows], device="cuda"), 100, BLOCK=128)
assert all(bool((row == k + 1).all()) for k, row in enumerate(rows))
print("all right")
sys.exit(3)
