"""What a check finds, and by which rules: the text of `rfview help check`.

`rfview check TARGET` runs a kernel and looks for behaviour that PTX leaves undefined, and for hazards of machine code.
`rfview check ./app 100`, or a script.py, does so in every launch of a program and reports a defect once; which bytes of
device memory have been written is known from one launch to the next, all else is checked for each launch alone. Programs
then have 1 GB of device memory.
Both compute values only, many times faster than cycles: a finding says which instruction of its warp it is, from 1 on, and
`rfview debug` goes there with `run-to instruction N cta C warp W`. With --every-cycle, and for recordings, it says in which
cycle; cycles are the same as in any other run.
The option `--check` does so during `run` and `record` and before `debug`. On the screens, `!` or `:check` opens the findings
of the whole run: Enter goes to one, o to its other access. From Python: rfview.sessions.check.check(session). The exit code
is 1 if anything is found; --json prints data. A finding stands for a pair of instructions, with its number of occurrences
and its first one.

unwritten-register   a register or predicate of the PTX that was never written in this lane. Copying a value, selecting it
                     (selp, prmt), packing it or keeping it in shared or local memory does not count as a use; using the
                     copy does: in arithmetic, a comparison, an address, or a store to global memory.
                     A shuffle is no use either, since often only one lane's value is needed; its results count as written.
                     Nor is a comparison whose result is only combined with others by `and` and `or`: compilers evaluate
                     both sides of && and ||.
unwritten-shared, unwritten-local, unwritten-global
                     a byte that was not written since the CTA or thread began, or, of global memory, since it was
                     allocated. Buffers contain what the launch file says, and module variables their initial values; memory
                     with `undefined = true` in a launch file, from device-side malloc, or from cudaMalloc in a program
                     counts as unwritten until a kernel, a copy or a memset writes it; a copy from unwritten device memory
                     leaves it unwritten. Host and managed memory, which the program may write unseen, counts as written.
race-shared, race-global
                     two accesses to the same byte by different threads, at least one of them a write, not both strong, and
                     neither ordered before the other. Two writes of the same value are no race.
barrier-exited       a barrier of the whole CTA opens without threads that have ended: they never reach it.
barrier-part         an aligned barrier (bar.*, barrier.*.aligned) opens when only some lanes of a warp have reached it, or
                     lanes of a warp reach it at different places.
mask-without-lane    a lane executes a .sync instruction whose member mask does not include it.
masks-differ         lanes that execute a .sync instruction together have different member masks.
inactive-lane        a shuffle reads a lane that does not take part; the machine returns 0.
hazard               of machine code (--isa sm_80, a cubin, a listing), on any path, whether or not the run takes it: an
                     instruction reads or overwrites a register before another one has written it (RAW, WAW) or read it
                     (WAR), because the stall counts between them are too short or because it does not wait for the counter
                     that says so; or it takes an operand from the reuse cache that has been overwritten since. What is
                     needed between two instructions was mined from the code of NVIDIA's assembler, which has no hazards by
                     this rule. Of machine code nothing else but faults is found.
fault                what stops the kernel: deadlocks at barriers, accesses outside of buffers, traps. With --on-fault report
                     a bad access stops nothing: its lanes store nothing and load 0, and what follows is checked, too.

Strong accesses are atomics, and loads and stores that are volatile, relaxed, acquire or release. One access is ordered
before another
  in the same thread, by program order (lanes of a warp are threads: that a warp executes them in step orders nothing);
  in different launches;
  by a barrier: everything before a thread's arrival is before everything after another thread's wait; bar.arrive counts;
  by bar.warp.sync: for the lanes that execute it together. Shuffles and votes order nothing;
  by release and acquire: a strong write publishes what its warp did before its last fence (membar, fence; or the write is
  itself a release), what it knew by then, and what warps of its CTA fenced before a barrier that both passed. A strong read
  of the same word learns all of that; no fence is needed after the read. membar.cta and fences of scope cta publish only
  through shared memory. Operations on mbarriers release and acquire.

So the plain first read of a compare-and-swap loop (as in the CUDA Programming Guide's atomicAdd for doubles) is a race with
the other threads' loops, although a harmless one; a volatile read is not.

Of a race, the access that came second is the finding, and which one that is depends on the order in which warps execute. By
values only, warps take turns from access to access (RULES.md, B9.5), so that it is usually the same one as in the cycles.
What a race decides (a branch, the number of turns of a loop that waits) may differ between the two, and then so does the
number of an instruction in its warp.

Not found: races with accesses older than the last write and the last reads by two warps, which are all that is
remembered. Races of bytes that share their record with other strong locations (one in some thousand does) may be missed,
but none are made up. What a cp.async or bulk copy writes counts as written at once by its thread. Textures and constant
memory are not checked, nor is what copies to the host read. Of a kernel's registers that may be read before they are
written, the first 256 are tracked; those that the compiler spills are not.
"""
