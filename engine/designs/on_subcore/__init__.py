"""What the papers' register files mean on the sub-core (RULES.md, B12): a file for each, with its state and hooks there.

    stt            slow writes in the result queue
    single_buffer  a buffer per sub-core that drains into its two banks
    hrf            two write buffers per sub-core, which warps take in turn
    hcrf           pairs of registers of one warp and bank; exchanges started in Allocate
    edram          refreshes as work of the banks, bits lost when a lower half is refreshed
    racetrack      tapes that shift while Allocate waits
    rfc            a register file cache in place of the reuse cache

`sram` needs none: it has the default hooks. PANELS are drawn below the sub-core, as Design.panels on Fermi's core.
Values are in the rows of the registers; what is kept here is where the hardware has them, from which cycles, ports and
energy follow. Energies, events and parameters are the design's own.
"""
