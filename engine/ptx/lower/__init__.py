"""The syntax tree to virtual instructions in basic blocks, statement by statement.

kernel.py's tables say which file lowers which instruction.

    kernel  context  names  layout        one kernel; the state of lowering it; scopes; where declared variables lie
    immediates  access  functions         numbers as bits; plain loads and stores; a module's functions and their addresses
    inline  indirect  recursion  device_library   calls: of device functions, through addresses, of themselves, malloc
    stack                                 alloca: areas whose size turns out when the kernel runs
    binding                               what the parameters of a called function stand for
    expand  steps                         what becomes several instructions, and the scalar statements for that
    arithmetic  simd  video               what computes; packed values; bytes and halves of operands
    small_floats                          conversions of floats of 8, 6 and 4 bits
    control                               branches, exits, barriers, fences, traps
    parts  locked                         registers of several values, of 128 bits; atomics of 128 bits
    memory  async_copy  bulk_copy         loads, stores, atomics; copies that the hardware does by itself
    mbarrier  cluster                     barrier objects in shared memory; clusters of one CTA
    matrix  products  tensor  sparse      exchange of matrix tiles; matrix products: Volta's, all others, with a sparse A
    refusals                              what is not there, and what to compile for instead
    texture  cube  surface                texture instructions; those on cube maps; surface accesses
"""
