"""A small kernel with source lines, and edited versions of it, for tests of comparisons of programs."""

from __future__ import annotations

from pathlib import Path

SOURCE = """__global__ void k(float *out)
{
    int i = threadIdx.x;
    float x = i * 3;
    out[i] = x;
}
"""
HEAD = """.version 7.8
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<9>; .reg .b64 %d<9>;
"""
BODY = """  .loc 1 3 0
  mov.u32 %r1, %tid.x;
  ld.param.u64 %d1, [out];
  .loc 1 4 0
  mul.lo.u32 %r2, %r1, 3;
  .loc 1 5 0
  mul.wide.u32 %d2, %r1, 4;
  add.s64 %d3, %d1, %d2;
  st.global.u32 [%d3], %r2;
  .loc 1 6 0
  ret;
}
"""
ARGUMENTS = ("--grid", "2", "--block", "64", "--arg", "out=u4[128]")


def write(folder: Path, *, slow: int = 0, source: str = SOURCE, lines: bool = True, extra: str = "") -> Path:
    """Write k.ptx, and k.cu if it has lines; slow: multiplications by which line 4 takes longer. Return the PTX."""
    body = BODY.replace(", 3;\n", ", 3;\n" + "  mul.lo.u32 %r2, %r2, 1;\n" * slow + extra)
    if not lines:
        body = "\n".join(line for line in body.splitlines() if ".loc" not in line) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "k.ptx").write_text(HEAD + body + ('.file 1 "k.cu"\n' if lines else ""))
    if lines:
        (folder / "k.cu").write_text(source)
    return folder / "k.ptx"
