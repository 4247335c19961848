"""The machine: a cycle-level streaming multiprocessor that runs real kernels with real values (no terminal, no files).

    simulator                     the public face: load, step, look, check point; info and summary of a run
    launch/ ptx/ placement        a launch file and its PTX become the arrays of program.py, laid out in one arena
    state  program                the records: everything that the machine remembers, and one instruction
    cycle  stages/ schedulers/    one cycle, on one page, and what it calls in hardware order
    hooks  designs/ registers     the register file: the interface, a file per design, the helpers they share; RULES.md
    execute  access  texel        what instructions, memory accesses and texture fetches do, for 32 lanes; over lanes,
                                  vectors, words, arithmetic, rounding and sfu
    journal  chunk  snapshot      what changed in a cycle, and what views and recordings are given
    config  presets/              every number, with unit and source; stalls, events, faults and errors: the other tables
    jit  device  bits  far  warm  how all of this is compiled, and kept
    kernels/ claims/ tools/       bundled kernels; the papers' figures measured again; programs around designs
"""

__version__ = "0.1.0"
