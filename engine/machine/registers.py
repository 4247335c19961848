"""The machine's helpers that register-file designs may call, under one name: `registers.NAME(sm, ...)`.

They are compiled into the step; those that change the machine take its state record `sm` and return an int.
"""

from __future__ import annotations

from rfview.engine.machine.collectors import (count_other_refusals, delay_operand, note_unread, oldest_collector,
                                              oldest_request, operand_in_bank, operand_served, operands_in_bank,
                                              refuse_readers, set_unread, show_refusal, withdraw_request)
from rfview.engine.machine.marks import mark_cold, touch_inflight, touch_row
from rfview.engine.machine.ports import (count_refused_reads, count_refused_write, first_bank_free, read_port_free,
                                         refuse_bank, take_write_port)
from rfview.engine.machine.rows import (clear_warp, copy_lanes, copy_row, default_bank, interleaved, line_of, main_row,
                                        note_loss, note_write, write_row)
from rfview.engine.machine.scoreboard import free_inflight, refresh_reads, release
from rfview.engine.machine.stages.warp_state import reconsider

# in the order in which `rfview help design` lists them
__all__ = [
    "main_row", "default_bank", "interleaved", "line_of", "copy_row", "copy_lanes", "write_row", "clear_warp", "note_write",
    "note_loss", "take_write_port", "read_port_free", "first_bank_free", "refuse_bank", "count_refused_reads",
    "count_refused_write", "oldest_request", "oldest_collector", "operand_in_bank", "operands_in_bank", "operand_served",
    "set_unread", "delay_operand", "note_unread", "withdraw_request", "refuse_readers", "show_refusal",
    "count_other_refusals", "release", "free_inflight", "refresh_reads", "reconsider", "touch_row", "touch_inflight",
    "mark_cold",
]
