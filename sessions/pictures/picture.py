"""A buffer as rows of pixels at the cursor, with the right values and the error, or with its initial values."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rfview.engine.errors import InputError
from rfview.engine.wording import plural, suggest
from rfview.sessions.compare.comparison import has_ended
from rfview.sessions.compare.values import elements
from rfview.sessions.pictures.shape import nearly_square
from rfview.sessions.pictures.right import loses_bits, right_run
from rfview.sessions.session import Session

if TYPE_CHECKING:
    from rfview.engine.info import Variable

SIZE = re.compile(r"(\d{1,6})\s*[x×]\s*(\d{1,6})\Z")
MAX_PIXELS = 1 << 24


@dataclass(frozen=True, eq=False)
class Picture:
    """A buffer's first width * height elements at a cycle.

    name, dtype: of the buffer. now: (height, width) current values, in the buffer's type. other: the right ones
    (is_right), or those at the session's start. error: (height, width) f8 |now - other|, inf where either is NaN.
    settled: (height, width) bool; where False, the element does not have its final value yet and counts as no error.
    """

    name: str
    cycle: int
    now: np.ndarray
    other: np.ndarray
    error: np.ndarray
    settled: np.ndarray
    is_right: bool
    bits_lost: int = 0

    @property
    def width(self) -> int:
        """Pixels in a row."""
        return int(self.now.shape[1])

    @property
    def height(self) -> int:
        """Rows of pixels."""
        return int(self.now.shape[0])

    @property
    def wrong(self) -> np.ndarray:
        """Return (height, width) bool: which pixels differ from the other picture."""
        return self.settled & _differs(self.now, self.other)

    def data(self) -> dict[str, Any]:
        """Return a summary of the picture as JSON data. rmse, psnr: over all pixels that have their final value."""
        wrong = self.wrong
        facts = {"buffer": self.name, "width": self.width, "height": self.height, "cycle": self.cycle,
                 "against": "right" if self.is_right else "start", "wrong": int(wrong.sum()), "pixels": self.now.size,
                 "settled": int(self.settled.sum()), "bits_lost": self.bits_lost}
        if wrong.any():
            y, x = np.unravel_index(int(np.argmax(np.where(wrong, self.error, -1.0))), wrong.shape)
            worst = float(self.error[y, x])
            facts |= {"worst": worst if math.isfinite(worst) else str(worst), "worst_at": [int(x), int(y)]}
            mean = float(np.mean(np.where(wrong, self.error, 0.0)[self.settled] ** 2))
            span = float(np.ptp(np.nan_to_num(self.other.astype(np.float64))))
            if math.isfinite(mean) and mean > 0:
                facts["rmse"] = math.sqrt(mean)
                facts["psnr"] = 20 * math.log10(span / math.sqrt(mean)) if span > 0 else None
        return facts

    def by_size(self) -> np.ndarray:
        """Return (n,) i8 the element numbers of the wrong pixels, the worst first."""
        wrong = np.flatnonzero(self.wrong.ravel())
        return wrong[np.argsort(-self.error.ravel()[wrong], kind="stable")]


def picture(session: Session, buffer: str, size: str = "") -> Picture:
    """Return a buffer as a picture at the cursor. size: "128x96", width first; "": the buffer's own two dimensions.

    On a design that loses bits, the run is simulated again without losses to get the right values. Raises InputError for
    a buffer that does not exist or a size that does not fit it, and like right.right_run.
    """
    variable = variable_of(session, buffer)
    width, height = size_of(variable, size)
    loses = loses_bits(session)
    right = right_run(session) if loses else None
    timeline, cycle = session.timeline, session.cycle
    count, shape = width * height, (height, width)
    now = elements(timeline.at(cycle).memory, variable, count)
    if right is None:
        other = elements(timeline.at(timeline.first).memory, variable, count)
        settled, lost = np.ones(count, bool), 0
    else:
        end = right.last if has_ended(timeline) or right.last < timeline.last else timeline.last
        other = elements(right.at(end).memory, variable, count)
        last = elements(timeline.at(timeline.last).memory, variable, count)
        settled = ~_differs(now, last)
        lost = int(session.value("event.bits_lost"))
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs(now.astype(np.float64) - other.astype(np.float64))
    error[np.isnan(error)] = np.inf
    error[~_differs(now, other)] = 0.0
    return Picture(buffer, cycle, now.reshape(shape), other.reshape(shape), error.reshape(shape), settled.reshape(shape),
                   right is not None, lost)


def variable_of(session: Session, name: str) -> Variable:
    """Return the description of a buffer or symbol; raises InputError, naming the existing ones, for an unknown name."""
    variables = {one.name: one for one in session.info.variables}
    if name not in variables:
        raise InputError(f"image {name}: no such buffer{suggest(name, list(variables))}; there are "
                         f"{', '.join(variables) or 'none'}")
    return variables[name]


def size_of(variable: Variable, text: str) -> tuple[int, int]:
    """Return (width, height) from a text; raises InputError for a size that the buffer is too small for."""
    total = variable.count
    shape, name = variable.shape, variable.name
    if not text:
        if len(shape) >= 2:
            return shape[-1], total // shape[-1]
        hint = nearly_square(total)
        raise InputError(f"image {name}: its shape is {'x'.join(map(str, shape)) or total}, so give a width and height: "
                         f"`image {name} {hint[0]}x{hint[1]}`")
    match = SIZE.match(text.strip())
    if match is None:
        raise InputError(f"image {name} {text}: expected WIDTHxHEIGHT, as in 128x96")
    width, height = int(match[1]), int(match[2])
    if not 0 < width * height <= min(total, MAX_PIXELS):
        raise InputError(f"image {name} {text}: {plural(width * height, 'pixel')}; {name} has {plural(total, 'element')}")
    return width, height


def _differs(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return where two arrays differ bit by bit."""
    unsigned = np.dtype(f"u{one.dtype.itemsize}")
    differs: np.ndarray = one.view(unsigned) != other.view(unsigned)
    return differs
