"""Gathers what TIMELINE and PIPELINE show of a stretch of cycles around the cursor, in columns of some cycles each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rfview.engine import plugin
from rfview.engine.errors import InputError
from rfview.render.scene import Pipes, Span, Track
from rfview.sessions.byte_cache import ByteCache
from rfview.sessions.reports.pipeline import lives

if TYPE_CHECKING:
    from rfview.sessions.session import Session

CURSOR_AT = 2, 3            # in TIMELINE the cursor is at two thirds of the width
PIPE_MARGIN = 4, 5          # PIPELINE moves when the cursor enters its last fifth, or lies before its start
KEPT_BYTES = 32 << 20       # of states and quantities, some 70 bytes per cycle in all

COMMON = (("issued", "stall.issued", 0.0),)
MAX_CYCLES = 4_000_000     # of states read for one picture


class Axis:
    """An axis of time of a panel, along which one can zoom. columns: as wide as it is drawn, 0 while it is closed.

    warp: the one shown, of no interest if all are. PER: cycles per column, by zoom.
    """

    PER: tuple[int, ...] = ()

    def __init__(self, session: Session):
        self.session = session
        self.columns = self.warp = self.zoom = 0

    @property
    def per(self) -> int:
        """Cycles per column."""
        return self.PER[self.zoom]

    def change_zoom(self, by: int) -> None:
        """Show a longer (by > 0) or shorter stretch."""
        self.zoom = max(0, min(len(self.PER) - 1, self.zoom + by))


class SpanSource(Axis):
    """What TIMELINE shows: the states of all warps and, below them, the design's quantities.

    Keeps the states of the chunks shown, so that scrolling and zooming cost one chunk at a time.
    """

    PER = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)

    def __init__(self, session: Session):
        super().__init__(session)
        self._chunks: ByteCache[np.ndarray] = ByteCache(KEPT_BYTES)
        self._made: tuple[tuple[Any, ...], Span] | None = None
        self._tracks: list[tuple[str, str, float]] | None = None

    def change_zoom(self, by: int) -> None:
        """Show a longer (by > 0) or shorter stretch, at most twice the run."""
        timeline = self.session.timeline
        most = next((index for index, per in enumerate(self.PER)
                     if per * max(1, self.columns) >= 2 * (timeline.last - timeline.first)
                     or per * max(1, self.columns) > MAX_CYCLES), len(self.PER) - 1)
        self.zoom = max(0, min(most, self.zoom + by))

    def span(self, last: int) -> Span | None:
        """Return the stretch around the cursor, with nothing after cycle `last`; None while TIMELINE is closed."""
        if self.columns <= 0:
            return None
        per, columns, cycle = self.per, self.columns, self.session.cycle
        start = (cycle // per - columns * CURSOR_AT[0] // CURSOR_AT[1]) * per
        key = (start, per, columns, min(last, start + per * columns))
        if self._made is None or self._made[0] != key:
            self._made = (key, self._make(start, per, columns, last))
        made = self._made[1]
        at = made.column(cycle)
        tracks = tuple(Track(name, self._now(expression, top), made.tracks[index].shares)
                       for index, (name, expression, top) in enumerate(self._track_list()))
        return Span(made.start, made.per, made.codes, made.issued, tracks) if at >= 0 else made

    def _make(self, start: int, per: int, columns: int, last: int) -> Span:
        """Gather the states of each column."""
        timeline = self.session.timeline
        warps = timeline.info.num_warps
        codes = np.full((columns, warps), Span.NOTHING, np.uint8)
        issued = np.zeros((columns, warps), np.float32)
        low, high = max(timeline.first, start), min(last, start + per * columns - 1)
        shares = [np.full(columns, np.nan) for _ in self._track_list()]
        if low <= high:
            self._fill_states(codes, issued, start, per, low, high)
            for index, (_, expression, top) in enumerate(self._track_list()):
                shares[index] = self._share(expression, top, start, per, columns, low, high)
        tracks = tuple(Track(name, "", tuple(values.tolist()))
                       for (name, _, _), values in zip(self._track_list(), shares, strict=True))
        return Span(start, per, codes, issued, tracks)

    def _fill_states(self, codes: np.ndarray, issued: np.ndarray, start: int, per: int, low: int, high: int) -> None:
        """Put the most common state of each column and warp into `codes`, the share of issues into `issued`."""
        first, last = (low - start) // per, (high - start) // per
        if per == 1:
            states = self._states(low, high + 1)
            codes[first : last + 1] = states
            issued[first : last + 1] = states == self.session.timeline.issued
            return
        # one column at a time would be slow for short columns, so many are done at once, in slices of columns
        width = max(1, 1_000_000 // (per * codes.shape[1]))
        for begin in range(first, last + 1, width):
            end = min(last + 1, begin + width)
            a, b = max(low, start + begin * per), min(high, start + end * per - 1)
            states = self._states(a, b + 1)
            edges = np.maximum(0, start + np.arange(begin, end) * per - a)
            best = np.zeros((end - begin, codes.shape[1]), np.int64)
            for code in np.unique(states):
                counts = np.add.reduceat(states == code, edges, axis=0, dtype=np.int64)
                better = counts > best
                best[better] = counts[better]
                codes[begin:end][better] = code
                if code == self.session.timeline.issued:
                    lengths = np.diff(np.append(edges, len(states)))
                    issued[begin:end] = counts / lengths[:, None]

    def _states(self, start: int, stop: int) -> np.ndarray:
        """Return (stop - start, warps) u1 states, from the chunks kept."""
        return self.column(start, stop, ("states",), lambda low, high: self.session.timeline.states(low, high))

    def column(self, start: int, stop: int, name: tuple[Any, ...], read: Any) -> np.ndarray:
        """Return read(start, stop), read and kept by chunk; a chunk that has grown is read again."""
        timeline = self.session.timeline
        parts = []
        cycle = start
        while cycle < stop:
            low, high = timeline.window(cycle)
            key = (*name, low, high)
            part = self._chunks.get(key)
            if part is None:
                part = np.asarray(read(low, high))
                self._chunks.put(key, part, part.nbytes)
            parts.append(part[cycle - low : min(high, stop) - low])
            cycle = high
        return np.concatenate(parts)

    # the quantities below the warps

    def _track_list(self) -> list[tuple[str, str, float]]:
        """Return the quantities that this run has: (name, expression, top)."""
        if self._tracks is None:
            info = self.session.info
            design = "sram" if info.is_machine_code else info.design_spec.chain[0]
            blocked = [entry.name for entry in info.stalls if entry.family == "register_file"]
            wanted = [COMMON[0], *_tracks_of(design)]
            if blocked:
                wanted.append(("blocked", " + ".join(f"stall.{name}" for name in blocked), 0.0))
            self._tracks = []
            for track in wanted:
                try:
                    self.session.expression(track[1]).check_single()
                except InputError:
                    continue    # a variant without this part
                self._tracks.append(track)
        return self._tracks

    def _share(self, expression: str, top: float, start: int, per: int, columns: int, low: int, high: int) -> np.ndarray:
        """Return the mean of each column as a share of the highest, nan where nothing has run. top < 0: growth per cycle."""
        compiled = self.session.expression(expression)
        values = self.column(low, high + 1, ("track", expression), compiled.column).astype(np.float64)
        first, last = (low - start) // per, (high - start) // per
        if top < 0:
            values = np.maximum(0.0, np.diff(values, prepend=values[:1]))
        edges = np.maximum(0, start + np.arange(first, last + 1) * per - low)
        lengths = np.diff(np.append(edges, len(values)))
        means = np.add.reduceat(values, edges) / lengths
        most = max(1e-9, float(means.max(initial=0)))
        shares = np.full(columns, np.nan)
        shares[first : last + 1] = np.minimum(1.0, means / most)
        return shares

    def _now(self, expression: str, top: float) -> str:
        """Return the value at the cursor, with its maximum if that is known."""
        value = self.session.value(expression)
        text = f"{value:,}" if value < 10_000 else f"{value / 1e3:.3g}k" if value < 999_500 else f"{value / 1e6:.3g}M"
        return f"{text}/{top:.0f}" if top > 0 else text


def _tracks_of(design: str) -> tuple[tuple[str, str, float], ...]:
    """Return a design's quantities, as in Design.tracks; those of `sram` if it names none or is not installed."""
    try:
        return plugin.design(design).tracks or plugin.design("sram").tracks
    except InputError:
        return plugin.design("sram").tracks


class PipeSource(Axis):
    """What PIPELINE shows: the focused warp's instructions; keeps the last stretch, so that steps within it cost nothing."""

    PER = (1, 2, 5, 10, 20)

    def __init__(self, session: Session):
        super().__init__(session)
        self._start = 0
        self._made: tuple[tuple[Any, ...], Pipes] | None = None

    def pipes(self, last: int) -> Pipes | None:
        """Return the stretch around the cursor, with nothing after cycle `last`; None while PIPELINE is closed."""
        if self.columns <= 0:
            return None
        per, columns, cycle = self.per, self.columns, self.session.cycle
        step = max(1, columns // 5) * per
        if not self._start <= cycle < self._start + columns * per * PIPE_MARGIN[0] // PIPE_MARGIN[1] or self._start % per:
            self._start = cycle // step * step - columns * per // PIPE_MARGIN[1] * 2
            self._start -= self._start % per
        first = max(self.session.timeline.first, self._start)
        stop = min(last, self._start + per * columns - 1) + 1
        key = (self._start, per, columns, stop, self.warp, self.session.timeline.last if stop > last else 0)
        if self._made is None or self._made[0] != key:
            rows = tuple(lives(self.session.timeline, self.warp, first, stop)) if first < stop else ()
            self._made = (key, Pipes(self._start, per, columns, first, self.warp, rows))
        return self._made[1]
