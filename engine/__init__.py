"""The machine: a cycle-level streaming multiprocessor that runs real kernels with real values (no terminal, no files).

On this floor: what every room may know.

    simulator           the public face: load, step, look, check point; info and summary of a run
    program  isa        a decoded kernel, and the opcodes
    state  snapshot     all that the machine remembers; a frozen copy of it, which views are given
    chunk               a stretch of recorded cycles: what the journal hands to recordings and timelines
    hooks               the interface of a register-file design, with its defaults; RULES.md: what ours do where papers are
                        silent
    config  presets/    every number, with unit and source
    compilation         the options with which PTX is compiled, as settings and as words
    stalls  events  errors  fault_codes  textures    the other tables
    files               writes files so that nothing is lost
    html                tables and lines of text for notebooks
    escapes             text from files as text alone: control characters are shown, not obeyed

The rooms, each with its own list of duties:

    machine/    one cycle, on one page, with its stages and warp schedulers; the journal
    values/     what instructions, memory accesses and texture fetches compute, for 32 lanes
    designs/    the register files of the papers, one file each
    plugin/     the plug-in kit: what a design says of itself, how it is found, built, checked and explained
    compile/    decorators, cache, intrinsics, calls by symbol: how all of this becomes machine code
    ptx/        PTX text to a program
    launch/     launch files, and where everything lies in memory
    kernels/    the bundled kernels
    papers/     the papers' claims, measured again
    batch/      many runs: shared out among processes or a cluster
    tools/      programs around designs: mappings, synthetic kernels, the TLP search
"""

import sys
from pathlib import Path

__version__ = "0.1.0"

# the folder from which `python -m rfview` finds this very package, in a checkout as where it is installed
IMPORT_ROOT = Path(str(sys.modules["rfview"].__file__)).resolve().parents[1]
