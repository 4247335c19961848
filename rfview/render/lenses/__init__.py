"""How each register-file design looks: painters that a Design names as its lens, and one that fits any design.

    banks       a banked register file; also has what the others draw their banks with
    hrf  rfc  hcrf  single_buffer  edram  racetrack      a painter per design, by its name
    subcore     a sub-core, for machine code on every design
    panels      what a design declares of its own state, as grids, tables and values, without its own code
"""
