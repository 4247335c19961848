"""The SM of Volta and later GPUs: four sub-cores steered by the control codes of machine code. Rules: RULES.md, B11.

    loop       one cycle, on one page; when nothing can happen, and when nothing ever will
    state      what the core remembers, and its parameters; parameters: from a preset's numbers to them
    issue      the control codes: stall counters, yields, dependence counters; which warp issues (CGGTY)
    operands   Control and Allocate: read ports of three cycles, the reuse cache
    values     what an instruction computes, and when its result can be read
    results    the write ports, and results of variable latency
    accesses   credits, the memory queues and their arbiter; accesses to caches and shared memory
    fetch      the L0 and L1 instruction caches, and the instruction buffers
    constants  the L0 cache of constants
    classes    which class an instruction belongs to: pipe, latency, whether it is variable
    stalls     the reasons for which only this core makes a warp wait
"""
