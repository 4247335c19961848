"""The machine: a cycle-level streaming multiprocessor that runs real kernels with real values (no terminal, no files).

In this folder itself, for use by every room:

    simulator           the public interface: load, step, inspect, checkpoint; info and summary of a run
    program  isa        a decoded kernel, and the opcodes
    machine_code        a decoded instruction of machine code (SASS)
    info                what a run or a recording says of itself, as typed records
    state  snapshot     the complete state of the machine; a frozen copy of it, for views
    chunk               a range of recorded cycles, as the journal passes it to recordings and timelines
    hooks               the interface of a register-file design, with its defaults; RULES.md: our decisions where papers are
                        silent
    config  presets/    every number, with unit and source
    defaults            the machine that a run gets if it names no other
    modules             loads a module of PTX or machine code
    machine_code        a decoded instruction of machine code
    compilation         the options with which PTX is compiled, as settings and as words
    stalls  events  errors  fault_codes  textures    the other tables
    files               reads regular files, and writes files so that nothing is lost
    progress            the function that long work tells how far it is
    interrupts          sections that no signal interrupts
    wording             words of sentences, errors and tables
    html                tables and lines of text for notebooks
    escapes             makes text from files safe to print: control characters are shown, not obeyed

The rooms, each with its own list of duties:

    machine/    one cycle, on one page; its stages and warp schedulers; the journal
    functional/ a launch by its values only: no cycles, many times faster
    hazards/    dependences of machine code that its control codes do not cover
    values/     what instructions, memory accesses and texture fetches compute, for 32 lanes
    designs/    the register files of the papers, one file each
    plugin/     the plug-in kit: how a design is described, found, built, checked and explained
    compile/    decorators, cache, intrinsics, calls by symbol: how all of this becomes machine code
    ptx/        PTX text to a program
    sass/       machine code to a program
    launch/     launch files, and the layout of memory
    describe/   the constants of a run, collected from a simulator
    kernels/    the bundled kernels
    papers/     the papers' claims, reproduced
    check/      the checker: races, undefined reads, barriers and lane masks, in a separate machine
    batch/      many runs, distributed over processes or a cluster
    tools/      tools for designs: mappings, synthetic kernels, the TLP search
"""

import os.path
import sys

__version__ = "0.1.0"

# the folder from which `python -m rfview` finds this package, whether installed or in a checkout
IMPORT_ROOT = os.path.dirname(os.path.dirname(os.path.realpath(str(sys.modules["rfview"].__file__))))
