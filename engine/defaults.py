"""The machine that a run gets if it names no other, and the cycles after which it is stopped."""

DESIGN = "sram"
SCHEDULER = "gto"
PRESET = "fermi"
MACHINE = {"design": DESIGN, "scheduler": SCHEDULER, "preset": PRESET}      # by the names of options and keyword arguments
MAX_CYCLES = 100_000_000
