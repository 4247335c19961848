"""The help topics that are plain text: launch files, programs, exit codes, environment, plain mode, engine/RULES.md."""

import re
from pathlib import Path

from rfview import engine

RULE = re.compile(r"- \*\*(B\d\.\d+)\*\*")

LAUNCH = """\
A launch file describes how to run a kernel: TOML next to its PTX. Paths are relative to the file.

  module = "saxpy.ptx"
  [[launch]]                      # one or more, run in order on the same memory
  kernel = "saxpy"                # C++ name, such as scale<float>; optional if the module has one entry
  grid = [64, 1, 1]
  block = [256, 1, 1]
  shared_bytes = 0                # dynamic shared memory
  args = [{value = 16384}, {value = 2.0}, {buffer = "x"}, {buffer = "y"}]
                                  # also {buffer = "x", offset = 256}, {symbol = "t"}, {null = true}, {bytes = "0a0000"}
                                  # a struct with a pointer: {bytes = "...", pointers = [{at = 8, buffer = "x"}]}
                                  # in a loop: repeat = 8 here, or [[launch]] repeat = 8 and [[launch.each]] for several;
                                  # {buffer = ["a", "b"]} alternates, {value = 0, step = 1} counts
                                  # Triton's kernels end with one or two pointers to scratch memory: {null = true}
  [buffers.x]
  shape = [16384]
  dtype = "float32"
  random = {seed = 1, low = 0.0, high = 1.0}     # or zeros = true, value = 1.0, arange = true, or file = "x.npy";
                                  # undefined = true: zeros, which `rfview check` treats as never written
  [buffers.y]
  file = "y.npy"                  # pointers = [{at = 0, buffer = "x", offset = 64}, ...] writes addresses into it
  [symbols.d_table]               # a .const or .global variable of the module
  file = "table.npy"
  [textures.image]                # for {texture = "image"} in args, or a .texref variable of this name
  buffer = "x"                    # the texels, row by row; size = [width, height, depth or layers] if not its shape
  channels = 1                    # 1, 2 or 4;  filter = "point" or "linear";  read = "element" or "normalized_float"
  address = ["clamp", "wrap"]     # per dimension: clamp, border, wrap, mirror;  border = [0, 0, 0, 0]
  normalized = false              # coordinates in 0..1;  pitch = 512: bytes from row to row; type = "uint8"
  [compile]                       # how the PTX is compiled; `rfview help compile`
  schedule = true
  [expect.y]                      # a buffer or symbol after the last launch; what `rfview run` verifies
  file = "y_expected.npy"
  rtol = 1e-6

PTX may come from any compiler: nvcc -ptx, numba.cuda.compile_ptx, Triton. Then: rfview run saxpy.toml"""

PROGRAMS = """\
rfview launches ./app 100                             run a CUDA program as nvcc compiled it; list its kernel launches
rfview launches --quick ./app 100                     the same by values only: many times faster, cycles are estimates
rfview check ./app 100                                look for races, uninitialised reads and wrong barriers in every launch
rfview record --launch matmul:1 -o m.rfs ./app 100    record the second launch of kernel matmul
rfview debug --launch matmul:1 ./app 100              step through it, forwards and backwards
rfview capture --launch 3 --output DIR ./app 100      write it as a launch file with its data, to run, compare, sweep or send
rfview launches --design stt ./app --size 100         everything behind the program's name is its own
rfview record --launch softmax_kernel --stop -o s.rfs softmax.py   a script with numba-cuda or Triton, unchanged
    from Python: with rfview.capture(launch="matmul:0", output="m.rfs") as c: ...   the launches of your own process

Nothing is re-linked and no GPU is needed: a stand-in replaces the CUDA runtime in the program, kernels run on the modelled
machine with the design you choose, and the program continues with their results and its own exit code. --stop ends it
after the launch. record, debug and capture compute only the values of launches: the same results, unless they depend on the
order in which warps execute (races, atomics, clocks); --every-cycle simulates them all. Events measure modelled time, an
estimate where cycles are not simulated; faults of kernels are CUDA errors at the next wait, as on a GPU. Every launch begins
with empty caches; with --every-cycle --set memory.keep_l2=1 it finds L2 as the one before it left it.

Needed: Linux on x86-64, g++ and CUDA's headers, with which the stand-in is built on first use; the program with PTX inside,
as plain nvcc embeds it (with -gencode ...,code=sm_NN alone, launches run by their values only, with nvdisasm), and, if the
runtime is linked statically, not stripped. Kernels may be in shared libraries that the program is linked with, also with the
runtime inside; those that it loads with dlopen have to be linked with nvcc -cudart shared. Of CUDA's driver API there is the
core: modules of PTX or fat binaries, their kernels and variables, memory, launches, streams, events.
A call that the stand-in does not support prints its name and returns cudaErrorNotSupported."""

EXIT_CODES = """\
0    success
1    the run ended with a wrong result, or a check found something
2    bad input: a file, option, expression or session that cannot be used
3    the kernel misbehaved: out-of-bounds or misaligned access, barrier deadlock, trap, cycle limit
70   a bug in rfview itself; a report is written and its path printed (RFVIEW_TRACEBACK=1 shows the traceback)
129, 143  ended by a hang-up or SIGTERM: 128 and the signal's number
130  interrupted"""

ENVIRONMENT = """\
RFVIEW_THEME          dark, light, dark256, ansi16 (the terminal's own colours) or mono
NO_COLOR              set: no colours, attributes and glyphs only, as with RFVIEW_THEME=mono; RFVIEW_THEME takes precedence
RFVIEW_GRAPHICS       how `image` draws pictures: auto, kitty, sixel (pip install 'rfview[pictures]') or blocks, half blocks.
                      auto depends on the terminal's name: Kitty, Ghostty: kitty; foot, WezTerm, iTerm2, Konsole, mintty,
                      mlterm, contour: sixel; else, and in tmux or a browser: blocks; without colours or with 16: ink
COLORTERM             if TERM ends in 256color: truecolor selects dark, otherwise dark256
TERM                  linux: ansi16; vt100 or xterm-mono: mono; dumb, unknown or not set: prints the screen once, as text
XDG_CONFIG_HOME       folder of rfview/keys.toml and rfview/startup.txt (default ~/.config); `rfview help startup`
XDG_STATE_HOME        folder of rfview/ with the prompt's history and defect reports (default ~/.local/state)
RFVIEW_DESIGNS        design files known by name, separated as in PATH; see `rfview help design`
RFVIEW_CACHE_DIR      folder for compiled designs (default: rfview in the user's cache folder)
RFVIEW_LIMIT          the default for --limit: memory that reading a recording may use, such as 2GB (256MB if not set)
RFVIEW_TRACEBACK      set: internal errors print their traceback
NUMBA_DISABLE_JIT     1: run the machine as plain Python, some hundred times slower"""

PLAIN = """\
`rfview debug TARGET --plain` and `rfview replay FILE.rfs --plain` print sentences instead of a screen: after each
command they print what has changed, one sentence per line, and redraw nothing; for screen readers, pipes and logs.

  (rfv) 43% 533 w0> s
  cycle 534. w4 issued add.f32 R8, R9, R8. w6 began to wait: long_scoreboard, for R9. 30 others continue as before.

The commands are those of `rfview help commands`; warp N chooses the warp of the prompt, verbose on reports what every
warp does, Enter repeats the last command, q quits. From a pipe, commands are read line by line; the exit code is 2 if
one of them failed."""


def rules() -> str:
    """Return what the models decide where the papers are silent."""
    return (Path(engine.__file__).parent / "RULES.md").read_text(encoding="utf-8").strip()


def rule(number: str) -> str:
    """Return one rule by its number, "B2.3"; "" if there is none."""
    for part in re.split(r"\n(?=- \*\*|\n)", rules()):
        match = RULE.match(part)
        if match and match[1].lower() == number.lower():
            return part.strip()
    return ""
