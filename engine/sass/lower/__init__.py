"""Lowering: what engine instruction each machine instruction is, one to one.

    moves  integers  shifts       moves and selections; arithmetic; shifts and logic
    floats  conversions           floats, halves, the special function unit; between types
    predicates  warp              comparisons and predicate logic; between lanes
    memory  texture               loads, stores, atomics, constants; textures and surfaces
    control  mbarrier             branches, calls, barriers; barrier objects
    tensor                        tensor cores, and matrices in lanes

Each function takes the form (engine/sass/form.py) and fills the draft (engine/sass/draft.py); it raises NotExecuted for
what is not executed. Semantics: as ptxas's own code needs them to compute what the PTX says (tests/sass).
"""
