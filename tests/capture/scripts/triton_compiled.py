"""A Triton script that uses torch.compile and torch.compiler as libraries of kernels do, and checks its results."""

import sys

import torch


@torch.compile
def early(x):
    return x * 2 + 1


early(torch.ones(4))

import triton  # noqa: E402
import triton.language as tl  # noqa: E402


@triton.jit
def double(out_ptr, in_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, 2 * tl.load(in_ptr + at, mask=at < n), mask=at < n)


@torch.compiler.disable
def launched(x):
    with torch.cuda.device(x.device.index), torch.cuda.stream(torch.cuda.Stream()):
        out = torch.empty_like(x)
        double[(triton.cdiv(x.numel(), 64),)](out, x, x.numel(), BLOCK=64)
    return out


@torch.compile(fullgraph=True, mode="max-autotune")
def compiled(x):
    out = torch.empty_like(x)
    double[(triton.cdiv(x.numel(), 64),)](out, x + 1, x.numel(), BLOCK=64)
    return out.sin()


class Twice(torch.nn.Module):
    def forward(self, x):
        return launched(launched(x))


import torch._dynamo  # noqa: E402
from torch._dynamo.trace_rules import get_torch_obj_rule_map  # noqa: E402

x = torch.rand(100, device="cuda")
torch.testing.assert_close(launched(x), 2 * x)
torch.testing.assert_close(compiled(x), (2 * (x + 1)).sin())
torch.testing.assert_close(torch.compile(compiled, dynamic=True)(x), (2 * (x + 1)).sin())
module = Twice()
module.compile()
torch.testing.assert_close(module(x), 4 * x)
assert torch.compile(launched) is launched and not torch.compiler.is_compiling()
assert len(get_torch_obj_rule_map()) > 1000
functions = [getattr(torch.cuda, name) for name in dir(torch.cuda)]
own = [one for one in functions if "torch_on_cpu" in getattr(getattr(one, "__code__", None), "co_filename", "")]
assert len(own) > 15 and len({id(one) for one in own}) == len(own)
assert all(getattr(torch.cuda, one.__qualname__) is one and one.__module__ == "torch.cuda" for one in own)
print("all right")
sys.exit(3)
