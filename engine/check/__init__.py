"""The checker: finds undefined behaviour while a kernel runs. Only processes that check import its compiled part.

    rules       what is reported, and what counts as a race: `rfview help check`
    layout      the layout of the checker's data, in one array of words
    facts       what it has to know about each instruction
    step        the machine's stage that starts execution, with checks before and after it
    undefined   which PTX registers may be read before they are written, found by decoding the kernel again
    undefined_map  which bytes of global memory nothing has written, from launch to launch
    registers   reads of registers and predicates that were never written
    memory      reads of bytes that were never written, and races
    order       the happens-before relation
    barriers    barriers of a CTA
    lanes       shuffles, votes and their member masks
    note        notes a finding once, and counts it
    machine     simulators with the checker: what they share, and the one of cycles
    watching    the checker in the functional loop
    functional  the functional mode with the checker
    warm        compiles that into the disk cache, in a process of its own
    code        the hazards of machine code, once per kernel
    findings    findings as data and as sentences
    selection   which findings are shown: filters, and baselines of known findings
    child       a check in a separate process
"""
