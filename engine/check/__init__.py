"""The checker: what PTX leaves open, found while a kernel runs. Only processes that check import its compiled part.

    rules       what is found, and what counts as a race: `rfview help check`
    layout      where what the checker knows lies, in one array of words
    facts       what it has to know of each instruction
    step        the machine's start of execution with a look before and after it
    undefined   which registers of the PTX may be read before they are written, found when a kernel is decoded again
    registers   registers and predicates that nothing wrote
    memory      bytes that nothing wrote, and races
    order       what happens before what
    barriers    barriers of a CTA
    lanes       shuffles, votes and their member masks
    note        a finding is noted once, and counted
    machine     a simulator with the checker beside it
    findings    findings as data and as sentences
    child       a check in a process of its own
"""
