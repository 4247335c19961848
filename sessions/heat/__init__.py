"""Values over time: what each lane of a register, or each element of a buffer, held in each of a series of cycle ranges.

    strip       the result: typed values by column and row, and their writers; columns around a cycle
    kinds       the type of a register's words (f32, s32, u32, address offsets), by the instructions that write them
    glyphs      a value's level on a scale, and the character that shows it
    registers   a warp's register, from the write log
    memory      a range of a buffer's elements, from the log of memory words
    open        the register or buffer that a text names, and its history, kept with the session

Everything comes from logs and zone maps; no machine state is reconstructed, whatever the design.
"""

from __future__ import annotations

from rfview.sessions.heat.memory import MemoryHeat
from rfview.sessions.heat.open import Heat, heat
from rfview.sessions.heat.registers import RegisterHeat
from rfview.sessions.heat.strip import LOST, UNWRITTEN, WRITTEN, Strip, around

__all__ = ["LOST", "UNWRITTEN", "WRITTEN", "Heat", "MemoryHeat", "RegisterHeat", "Strip", "around", "heat"]
