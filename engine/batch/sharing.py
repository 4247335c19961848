"""Distributes items to a pool's workers, in batches sized by the time that similar items have taken.

A batch whose worker was killed is done again, item by item; an item that kills its worker STRIKES times has failed.
"""

from __future__ import annotations

import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import Any

from rfview.engine.batch.pools import Pool, signals_deferred
from rfview.engine.errors import InputError, RfviewError

TASK_SECONDS = 1.0      # aimed at for a batch: long compared with sending it, short compared with what may be lost
AHEAD = 2               # batches sent ahead per worker, so that none idles
MOST = 512              # items in a batch
POLL_SECONDS = 0.25
STRIKES = 3
DEATHS = 15             # killed workers without an outcome in between: no item's fault, or every item's


@dataclass(frozen=True)
class Done:
    """The outcome of an item: its result, or why there is none. seconds: of its worker's time. is_input: bad input."""

    item: Any
    result: Any = None
    seconds: float = 0.0
    error: str = ""
    is_input: bool = False

    def value(self) -> Any:
        """Return the result; raises InputError if the item was bad input, RuntimeError for an internal error."""
        if self.error:
            raise InputError(self.error) if self.is_input else RuntimeError(self.error)
        return self.result


def do_batch(function: Callable[[Any], Any], items: Sequence[Any]) -> list[Done]:
    """Process items one after another, in a worker; an error is an outcome like any other."""
    outcomes = []
    for item in items:
        began = time.perf_counter()
        result, error, is_input = None, "", False
        try:
            result = function(item)
        except RfviewError as problem:
            error, is_input = str(problem), True
        except MemoryError:
            error, is_input = "out of memory", True
        except Exception:
            error = traceback.format_exc()
        outcomes.append(Done(item, result, time.perf_counter() - began, error, is_input))
    return outcomes


def share_out(pool: Pool, function: Callable[[Any], Any], items: Sequence[Any],
              like: Callable[[Any], Hashable] = lambda item: None) -> Iterator[list[Done]]:
    """Process all items and yield the outcomes as they arrive; an empty list several times a second if there are none.

    function: a module's, since workers import it. like: items with an equal value are assumed to take equally long.
    Raises InputError if the pool is lost, or no worker is left. Closing the generator cancels what has not begun.
    """
    sharing = _Sharing(pool, function, items, like)
    try:
        while sharing.is_left():
            sharing.give_away()
            yield sharing.arrived()
    finally:
        sharing.cancel()


class _Sharing:
    """The items that wait, are at workers, or are suspected of killing their worker; by their place in the list."""

    def __init__(self, pool: Pool, function: Callable[[Any], Any], items: Sequence[Any],
                 like: Callable[[Any], Hashable]) -> None:
        self._pool, self._function, self._items, self._like = pool, function, items, like
        self._waiting = deque(range(len(items)))
        self._suspects: deque[int] = deque()
        self._given: dict[Future[list[Done]], list[int]] = {}
        self._strikes: Counter[int] = Counter()
        self._deaths = 0
        self._seconds: dict[Hashable, float] = {}

    def is_left(self) -> bool:
        return bool(self._waiting or self._suspects or self._given)

    def give_away(self) -> None:
        """Keep the workers busy; a suspect runs alone, since anything else running would be suspected as well."""
        width = max(1, self._pool.width())
        while self._waiting or self._suspects:
            is_alone = bool(self._suspects) or any(self._strikes[batch[0]] for batch in self._given.values())
            if len(self._given) >= (1 if is_alone else AHEAD * width):
                return
            batch = [self._suspects.popleft()] if self._suspects else self._next(width)
            try:
                future = self._pool.submit(do_batch, self._function, [self._items[index] for index in batch])
            except self._pool.broken:
                (self._suspects if self._strikes[batch[0]] else self._waiting).extendleft(reversed(batch))
                if not self._given:
                    self._pool.renew()
                return
            self._given[future] = batch

    def _next(self, width: int) -> list[int]:
        """Take as many items as a worker does in TASK_SECONDS, fewer towards the end, and one if their time is unknown."""
        most = min(MOST, -(-len(self._waiting) // (AHEAD * width)))
        batch: list[int] = []
        total = 0.0
        while self._waiting and len(batch) < most:
            seconds = self._seconds.get(self._like(self._items[self._waiting[0]]), TASK_SECONDS)
            if batch and total + seconds > TASK_SECONDS:
                break
            batch.append(self._waiting.popleft())
            total += seconds
        return batch

    def arrived(self) -> list[Done]:
        """Wait a moment and return the outcomes that have arrived."""
        with signals_deferred():
            finished = wait(self._given, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED).done
        outcomes: list[Done] = []
        lost: list[list[int]] = []
        for future in finished:
            self._collect(future, outcomes, lost)
        if lost and self._pool.shares_fate:
            for future in wait(self._given).done:
                self._collect(future, outcomes, lost)
            self._pool.renew()
        self._deaths = 0 if outcomes else self._deaths + bool(lost)
        if self._deaths >= DEATHS:
            raise InputError(f"workers were killed {DEATHS} times in a row, whatever they ran: is there enough "
                             "memory for that many at once? Finished results are kept")
        for batch in lost:
            outcomes += self._suspect(batch)
        return outcomes

    def _collect(self, future: Future[list[Done]], outcomes: list[Done], lost: list[list[int]]) -> None:
        """Add the outcomes of a finished batch, or add the batch to those lost with their worker."""
        batch = self._given.pop(future)
        try:
            results = self._pool.result_of(future)
        except self._pool.broken:
            lost.append(batch)
            return
        for one in results:
            like = self._like(one.item)
            self._seconds[like] = (self._seconds.get(like, one.seconds) + one.seconds) / 2
        outcomes += results

    def _suspect(self, batch: list[int]) -> list[Done]:
        """Note that a batch's worker was killed; return failures for items that have been in such batches too often."""
        failed = []
        for index in batch:
            # a pool that retries has had a suspect, which ran alone, kill several workers
            self._strikes[index] += STRIKES if self._pool.retries and self._strikes[index] else 1
            if self._strikes[index] < STRIKES:
                self._suspects.append(index)
            else:
                failed.append(Done(self._items[index], None, 0.0, f"its worker was killed {STRIKES} times (out of memory, "
                                   "or a crash)", is_input=True))
        return failed

    def cancel(self) -> None:
        """Cancel what no worker has begun."""
        for future in self._given:
            self._pool.cancel(future)
