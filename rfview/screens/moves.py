"""What the keys do that move in time: steps, events of a kind, playing, breakpoints, marks and the way back."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from textual.timer import Timer

from rfview.actions import Pressed
from rfview.render.scene import Scene

if TYPE_CHECKING:
    from rfview.screens.driver import Driver

SPEEDS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000,
          1_000_000)
FRAME_S = 1 / 30


class Moves:
    """Mixed into MainScreen by Deeds: one method do_NAME per action."""

    driver: Driver
    scene: Scene
    app: Any
    playing: bool
    change: Any
    say: Any
    set_interval: Any
    focused_item: Any
    _timer: Timer | None = None
    _play_debt = 0.0
    _play_clock = 0.0

    # moving in time

    def _step(self, pressed: Pressed, by: int) -> None:
        self.driver.ask("step", by * (pressed.count or 1))

    def do_step(self, pressed: Pressed) -> None:
        """Go on one cycle."""
        self._step(pressed, 1)

    def do_back(self, pressed: Pressed) -> None:
        """Go back one cycle."""
        self._step(pressed, -1)

    def do_step_10(self, pressed: Pressed) -> None:
        """Go on ten cycles."""
        self._step(pressed, 10)

    def do_back_10(self, pressed: Pressed) -> None:
        """Go back ten cycles."""
        self._step(pressed, -10)

    def do_step_100(self, pressed: Pressed) -> None:
        """Go on a hundred cycles."""
        self._step(pressed, 100)

    def do_back_100(self, pressed: Pressed) -> None:
        """Go back a hundred cycles."""
        self._step(pressed, -100)

    # events of a kind

    def _event(self, pressed: Pressed, kind: str, forward: bool, warp: int | None = None) -> None:
        self.driver.ask("event", kind, forward=forward, count=pressed.count or 1, warp=warp)

    def do_next_issue(self, pressed: Pressed) -> None:
        """Go to the next issue of the focused warp."""
        self._event(pressed, "issue", True, warp=self.scene.warp)

    def do_previous_issue(self, pressed: Pressed) -> None:
        """Go to the previous issue of the focused warp."""
        self._event(pressed, "issue", False, warp=self.scene.warp)

    def do_next_stall(self, pressed: Pressed) -> None:
        """Go to the next cycle in which the focused warp begins to wait."""
        self._event(pressed, "stall", True, warp=self.scene.warp)

    def do_previous_stall(self, pressed: Pressed) -> None:
        """Go to the previous cycle in which the focused warp begins to wait."""
        self._event(pressed, "stall", False, warp=self.scene.warp)

    def do_next_conflict(self, pressed: Pressed) -> None:
        """Go to the next cycle with a bank conflict."""
        self._event(pressed, "conflict", True)

    def do_previous_conflict(self, pressed: Pressed) -> None:
        """Go to the previous cycle with a bank conflict."""
        self._event(pressed, "conflict", False)

    def do_next_rf(self, pressed: Pressed) -> None:
        """Go to the next cycle in which the register file itself stalls a warp."""
        self._event(pressed, "rf", True)

    def do_previous_rf(self, pressed: Pressed) -> None:
        """Go to the previous cycle in which the register file itself stalls a warp."""
        self._event(pressed, "rf", False)

    def do_next_refresh(self, pressed: Pressed) -> None:
        """Go to the next refresh of a row."""
        self._event(pressed, "refresh", True)

    def do_previous_refresh(self, pressed: Pressed) -> None:
        """Go to the previous refresh of a row."""
        self._event(pressed, "refresh", False)

    def do_next_shift(self, pressed: Pressed) -> None:
        """Go to the next shift of a tape."""
        self._event(pressed, "shift", True)

    def do_previous_shift(self, pressed: Pressed) -> None:
        """Go to the previous shift of a tape."""
        self._event(pressed, "shift", False)

    def do_next_transfer(self, pressed: Pressed) -> None:
        """Go to the next transfer between two cells."""
        self._event(pressed, "transfer", True)

    def do_previous_transfer(self, pressed: Pressed) -> None:
        """Go to the previous transfer between two cells."""
        self._event(pressed, "transfer", False)

    def do_next_flush(self, pressed: Pressed) -> None:
        """Go to the next flush of a cached register."""
        self._event(pressed, "flush", True)

    def do_previous_flush(self, pressed: Pressed) -> None:
        """Go to the previous flush of a cached register."""
        self._event(pressed, "flush", False)

    def do_next_mark(self, pressed: Pressed) -> None:
        """Go to the next mark."""
        self.driver.ask("next_mark", 1)

    def do_previous_mark(self, pressed: Pressed) -> None:
        """Go to the previous mark."""
        self.driver.ask("next_mark", -1)

    def do_start(self, pressed: Pressed) -> None:
        """Go to the first cycle, or to the one counted."""
        self.driver.ask("goto", pressed.count if pressed.count is not None else "start")

    def do_percent(self, pressed: Pressed) -> None:
        """Go to a share of the run: 50%."""
        if pressed.count is None:
            self.say("a number before it: 50% is the middle of the run")
        else:
            self.driver.ask("goto", f"{pressed.count}%")

    def do_end(self, pressed: Pressed) -> None:
        """Go to the last cycle, or to the one counted."""
        if pressed.count is not None:
            self.driver.ask("goto", pressed.count)
        else:
            self.driver.ask("end")

    # playing

    def do_play(self, pressed: Pressed) -> None:
        """Play, or pause."""
        if self.playing:
            self.stop_playing()
            return
        self.playing, self._play_debt, self._play_clock = True, 0.0, time.monotonic()
        self._timer = self.set_interval(FRAME_S, self._play_frame)

    def _play_frame(self) -> None:
        """Ask for as many cycles as the speed makes due; wait while the last request is still served."""
        now = time.monotonic()
        if not self.driver.is_idle:
            self._play_clock = now
            return
        self._play_debt += min(0.25, now - self._play_clock) * self.scene.speed
        self._play_clock = now
        due = int(self._play_debt)
        if due:
            self._play_debt -= due
            self.driver.ask("play", due, speed=self.scene.speed)

    def stop_playing(self) -> None:
        """Stop playing and show the badge of rest."""
        if self._timer is not None:
            self._timer.stop()
        if self.playing:
            self.playing, self._timer = False, None
            self.driver.ask("refresh", self.scene.message)

    def _speed(self, by: int) -> None:
        at = min(range(len(SPEEDS)), key=lambda index: abs(SPEEDS[index] - self.scene.speed))
        speed = SPEEDS[max(0, min(len(SPEEDS) - 1, at + by))]
        self.change(speed=speed, message=f"{speed:,} cycles a second", message_kind="info")

    def do_slower(self, pressed: Pressed) -> None:
        """Play slower."""
        self._speed(-(pressed.count or 1))

    def do_faster(self, pressed: Pressed) -> None:
        """Play faster."""
        self._speed(pressed.count or 1)

    # stopping and coming back

    def do_continue(self, pressed: Pressed) -> None:
        """Go on to the next breakpoint."""
        self.driver.ask("continue", 1)

    def do_reverse_continue(self, pressed: Pressed) -> None:
        """Go back to the previous breakpoint."""
        self.driver.ask("continue", -1)

    def cursor_pc(self) -> int:
        """Return the instruction that CODE's cursor is on: the focused warp's next one plus the scroll."""
        assert self.scene.now is not None
        count = len(self.scene.info.get("program", ()))
        return max(0, min(count - 1, self.scene.now.pc[self.scene.warp] + self.scene.scroll))

    def do_break_here(self, pressed: Pressed) -> None:
        """Set or remove a breakpoint; with a count only for that warp."""
        self.driver.ask("break", self.cursor_pc(), warp=pressed.count)

    def do_breakpoints(self, pressed: Pressed) -> None:
        """Open the list."""
        from rfview.screens.breaks import BreaksWindow

        self.app.push_screen(BreaksWindow(self))

    def do_run_to_cursor(self, pressed: Pressed) -> None:
        """Go to where the focused warp next comes to the cursor's instruction, else to where it last did."""
        self._run_to(pressed, None)

    def do_run_back_to_cursor(self, pressed: Pressed) -> None:
        """Go to where the focused warp last came to the cursor's instruction."""
        self._run_to(pressed, False)

    def _run_to(self, pressed: Pressed, forward: bool | None) -> None:
        self.driver.ask("run_to", self.cursor_pc(), warp=self.scene.warp, forward=forward, count=pressed.count or 1)
        self.change(scroll=0)

    def do_watch_here(self, pressed: Pressed) -> None:
        """Watch the focused thing, or no longer; with a count in REGISTERS only that lane."""
        lane = f"[{pressed.count}]" if self.scene.panel == "registers" and pressed.count is not None else ""
        self.driver.ask("watch", self.focused_item() + lane)

    def do_watches(self, pressed: Pressed) -> None:
        """Open the list at the watchpoints."""
        from rfview.screens.breaks import BreaksWindow

        self.app.push_screen(BreaksWindow(self, at="watch"))

    def do_mark(self, pressed: Pressed) -> None:
        """Set a mark."""
        self.driver.ask("mark", pressed.argument)

    def do_goto_mark(self, pressed: Pressed) -> None:
        """Go to a mark."""
        self.driver.ask("goto", f"@{pressed.argument}")

    def do_previous_stop(self, pressed: Pressed) -> None:
        """Go to where the last jump came from."""
        self.driver.ask("previous_stop")

    def do_history_back(self, pressed: Pressed) -> None:
        """Go to the stop before."""
        self.driver.ask("history", -1)

    def do_history_forward(self, pressed: Pressed) -> None:
        """Go to the stop after."""
        self.driver.ask("history", 1)
