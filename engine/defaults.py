"""The machine that a run gets if it names no other; the word for a paper's own; the cycles after which a run is stopped."""

DESIGN = "sram"
SCHEDULER = "gto"
PRESET = "fermi"
MACHINE = {"design": DESIGN, "scheduler": SCHEDULER, "preset": PRESET}      # by the names of options and keyword arguments
PAPER = "paper"     # as scheduler or preset: the one of the design's paper
MAX_CYCLES = 100_000_000
