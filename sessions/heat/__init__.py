"""Values through time: what each lane of a register, or each element of a buffer, held in each of some stretches of cycles.

    strip       what is answered: typed values by column and row, who wrote them; columns around a cycle
    kinds       what a register's words are (f32, s32, u32, offsets of addresses), by who writes them
    glyphs      a value's level on a scale, and the character that shows it
    registers   a register of a warp, from the log of writes
    memory      a range of a buffer's elements, from the log of memory words
    stores      which store wrote a word
    open        which of both a text means, and its history, kept with the session

Answers come from logs and zone maps alone: no state is put together, whatever the design.
"""

from __future__ import annotations

from rfview.sessions.heat.memory import MemoryHeat
from rfview.sessions.heat.open import Heat, heat
from rfview.sessions.heat.registers import RegisterHeat
from rfview.sessions.heat.strip import LOST, UNWRITTEN, WRITTEN, Strip, around

__all__ = ["LOST", "UNWRITTEN", "WRITTEN", "Heat", "MemoryHeat", "RegisterHeat", "Strip", "around", "heat"]
