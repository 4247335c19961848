"""Lowering: turns the syntax tree into virtual instructions in basic blocks, statement by statement.

kernel.py's tables say which file lowers which instruction.

    kernel  context  names  layout        one kernel; the state of lowering it; scopes; addresses of declared variables
    immediates  access  functions         bits of numbers; plain loads and stores; a module's functions and their addresses
    inline  indirect  recursion  device_library   calls: inlined, indirect and recursive ones; malloc and the grid barrier
    stack  frames                         alloca: areas whose size is known only at run time; frames of recursive functions
    check  operand_kinds  single_operand  a statement against the table of forms, before it is lowered
    binding                               binds the parameters of a called function to the arguments
    expand  steps                         forms that become several instructions; emitting scalar statements
    arithmetic  simd  video               arithmetic, mov and cvta; packed values; bytes and halves of operands
    small_floats                          conversions of floats of 8, 6 and 4 bits
    control                               branches, exits, barriers, fences, traps
    parts  locked                         vector and 128-bit registers; 128-bit atomics
    memory  async_copy  bulk_copy         loads, stores, atomics; asynchronous copies
    mbarrier  cluster                     barrier objects in shared memory; clusters of one CTA
    matrix  products  tensor  sparse      exchange of matrix tiles; matrix products: Volta's, all others, with a sparse A
    texture  cube  surface                texture instructions; those on cube maps; surface accesses
"""
