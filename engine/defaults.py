"""The machine that a run gets if it names no other, and the presets there are; the cycles after which a run is stopped."""

from pathlib import Path

PRESETS = Path(__file__).parent / "presets"
DESIGN = "sram"
SCHEDULER = "gto"
PRESET = "fermi"
MACHINE = {"design": DESIGN, "scheduler": SCHEDULER, "preset": PRESET}      # by the names of options and keyword arguments
OF_CORE = "cggty"      # the one scheduler of a sub-core: greedy, else the youngest (RULES.md, B11)
PAPER = "paper"     # as scheduler or preset: the one of the design's paper
MAX_CYCLES = 100_000_000


def preset_names() -> list[str]:
    """Return the names of the bundled presets."""
    return sorted(path.stem for path in PRESETS.glob("*.toml"))
