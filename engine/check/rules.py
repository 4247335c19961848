"""What a check finds, and by which rules: the text of `rfview help check`.

`rfview check TARGET` runs a kernel and looks for what PTX leaves open; `rfview check ./app 100`, or a script.py, does so
in every launch of a program, each by itself, and tells a defect once. Up to 1 GB of device memory then. `--check` does so
during `run`, `record` and before `debug`; in the screens `!`, or `:check`, opens the findings of the whole run: Enter
goes there, o to the other access. From Python: rfview.sessions.check.check(session). Exit code 1 where anything is found;
--json for programs. A finding stands for a pair of instructions, with how often and where it happened first; cycles are
those of any other run.

unwritten-register   a register or predicate of the PTX that nothing wrote in this lane. A copy, a choice (selp, prmt),
                     packing and keeping it in local memory are no use of a value; what uses the copy is. Nor is a shuffle,
                     which often takes one lane's value; what it gives counts as written. Nor is a comparison whose result
                     is only combined with others by and, or: compilers evaluate both sides of && and ||.
unwritten-shared, unwritten-local, unwritten-global
                     a byte that nothing wrote since the CTA or thread began. Buffers hold what the launch file says, and
                     module variables what they begin with; `undefined = true` in a launch file, and device-side malloc,
                     give memory that nothing has written.
race-shared, race-global
                     two accesses to the same byte by different threads, at least one a write, not both strong, neither
                     before the other. A write that leaves the value as the other write made it is no race with that.
barrier-exited       a barrier of the whole CTA opens without threads that have ended: they never reach it.
barrier-part         an aligned barrier (bar.*, barrier.*.aligned) opens when only some lanes of a warp have reached it, or
                     lanes of a warp reach it at different places.
mask-without-lane    a lane executes a .sync instruction whose member mask leaves it out.
mask-absent          a member mask names a lane that has not ended and does not execute the instruction with it.
masks-differ         lanes that execute a .sync instruction together name different members.
inactive-lane        a shuffle reads a lane that takes no part; the machine gives 0.
fault                what stops the kernel: deadlocks at barriers, accesses outside of buffers, traps.

Strong are atomics, and loads and stores that are volatile, relaxed, acquire or release. One access is before another
  in the same thread, by the program's order (lanes of a warp are threads: what a warp does in step orders nothing);
  in different launches;
  by a barrier: what threads did before they arrive is before what those that wait at it do after it; bar.arrive counts;
  by bar.warp.sync: for the lanes that execute it together. Shuffles and votes order nothing;
  by release and acquire: a strong write publishes what its warp did before its last fence (membar, fence; or the write is
  itself a release), what it knew by then, and what warps of its CTA fenced before a barrier that both passed. A strong read
  of the same word takes all of that over; a fence behind the read is not asked for. membar.cta and fences of scope cta
  publish through shared memory alone. Operations on mbarriers release and acquire.

So the plain first read of a compare-and-swap loop (as in the CUDA Programming Guide's atomicAdd for doubles) is a race with
the loops of others, though a harmless one: a volatile read is none.

Not found: a race between accesses that neither the last write nor the last reads of two warps remember; races of bytes that
one strong location out of some thousand shares its place with are rarely missed, never invented. What a cp.async or bulk
copy writes counts as written by its thread at once. Textures and constant memory are not looked at. Of registers that may
be read before they are written the first 64 of a kernel are followed; those that the compiler spills are not.
"""
