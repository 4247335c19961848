"""Batches of work: every item once, errors as outcomes, killed workers, batch sizes, and how a pool ends."""

from __future__ import annotations

import os
import pickle
import pkgutil
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rfview.engine.batch import Pool, Processes, compile_machines, pool_of, share_out, sharing
from rfview.engine.batch.sharing import Done
from rfview.engine.errors import InputError
from tests.conftest import PATIENCE_S, REPOSITORY
from tests.engine.batch_items import Item, begun, do, many_bytes

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="workers are killed by signals")
LONG_S = 3600.0     # duration of items that no test waits for


@pytest.fixture
def two() -> Iterator[Pool]:
    """Yield a pool of two processes."""
    with Processes(2) as pool:
        yield pool


def all_of(pool: Pool, items: list[Item]) -> dict[str, Done]:
    """Do items and return their outcomes by name, exactly one each."""
    outcomes = [done for arrived in share_out(pool, do, items, lambda item: item.what) for done in arrived]
    assert len(outcomes) == len({done.item.name for done in outcomes})
    return {done.item.name: done for done in outcomes}


def test_every_item_is_done_once_and_errors_are_outcomes(tmp_path: Path) -> None:
    items = [Item(f"n{number}", number=number, folder=str(tmp_path)) for number in range(300)]
    items[7:7] = [Item("bad", "refuse"), Item("slip", "slip")]
    with pool_of(1) as pool:
        found = all_of(pool, items)
    assert len(found) == 302 and found["n17"].value() == 289 and all(begun(item) == 1 for item in items[9:])
    with pytest.raises(InputError, match="bad: not like this"):
        found["bad"].value()
    with pytest.raises(RuntimeError, match="KeyError: 'slip'"):
        found["slip"].value()


def test_a_killed_worker_loses_nothing(two: Pool, tmp_path: Path) -> None:
    items = [Item(f"n{number}", number=number, seconds=0.002) for number in range(200)]
    items.insert(60, Item("once", "kill once", number=5, folder=str(tmp_path)))
    found = all_of(two, items)
    assert len(found) == 201 and not any(done.error for done in found.values())
    assert found["once"].value() == 25 and begun(items[60]) == 2


def test_what_a_worker_sends_is_written_at_once_however_long_its_result_is() -> None:
    """Else a worker killed while writing leaves the executor waiting for the rest; up to PIPE_BUF bytes are atomic."""
    with Processes(1) as pool:
        future = pool.submit(many_bytes, 2_000_000)
        sent = future.result(timeout=PATIENCE_S)
        assert len(pickle.dumps(sent)) < select.PIPE_BUF - 1000 and Path(sent).exists()
        assert pool.result_of(future) == many_bytes(2_000_000) and not Path(sent).exists()
        folder = Path(sent).parent
        assert folder.is_dir()
    assert not folder.exists()


class Stopped(Exception):
    """What the tests' handler of SIGTERM raises."""


@pytest.fixture
def stopped_by_sigterm() -> Iterator[None]:
    """Let SIGTERM raise Stopped."""
    def handler(number: int, frame: object) -> None:
        raise Stopped

    before = signal.signal(signal.SIGTERM, handler)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("where", ["concurrent.futures._base._AcquireFutures.__enter__",
                                   "concurrent.futures._base._AcquireFutures.__exit__",
                                   "concurrent.futures.ProcessPoolExecutor.submit"])
def test_a_signal_within_the_executors_code_does_not_leave_its_locks_taken(
    where: str, stopped_by_sigterm: None, monkeypatch: pytest.MonkeyPatch,
) -> None:
    came: list[str] = []
    owner, name = where.rsplit(".", 1)
    original = getattr(pkgutil.resolve_name(owner), name)

    def interrupted(*args: object, **more: object) -> object:
        signal.raise_signal(signal.SIGTERM)
        came.append("the executor's code goes on")
        monkeypatch.undo()
        return original(*args, **more)

    monkeypatch.setattr(where, interrupted)
    with pytest.raises(Stopped), Processes(2) as pool:
        list(share_out(pool, do, [Item(f"n{number}") for number in range(8)]))
    assert came


def test_results_that_cannot_be_kept_are_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with Processes(1) as pool:
        pool._folder = str(tmp_path / "gone")
        with pytest.raises(InputError, match="gone: the workers' results cannot be stored there .No such file"):
            pool.result_of(pool.submit(many_bytes, 256))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    with Processes(1) as pool, pytest.raises(InputError, match="temporary files: .* TMPDIR names another"):
        pool.submit(many_bytes, 256)


def test_an_item_that_kills_each_worker_fails_alone(two: Pool, tmp_path: Path) -> None:
    items = [Item(f"n{number}", number=number) for number in range(60)]
    items.insert(30, Item("killer", "kill", folder=str(tmp_path)))
    found = all_of(two, items)
    assert begun(items[30]) == sharing.STRIKES
    assert {name for name, done in found.items() if done.error} == {"killer"}
    assert found["killer"].is_input and "killed 3 times" in found["killer"].error


def test_where_no_worker_lives_not_every_item_is_called_a_failure(two: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "DEATHS", 4)
    failed = []
    with pytest.raises(InputError, match="killed 4 times in a row"):
        for arrived in share_out(two, do, [Item(f"n{number}", "kill") for number in range(50)]):
            failed += arrived
    assert failed == []


def test_a_suspect_runs_alone_until_it_is_done(tmp_path: Path) -> None:
    with pool_of(1) as pool:
        shared = sharing._Sharing(pool, do, [Item(f"n{number}", number=number) for number in range(9)], lambda item: item.what)
        shared._waiting.popleft()
        assert shared._suspect([0]) == [] and list(shared._suspects) == [0]
        shared.give_away()
        assert list(shared._given.values()) == [[0]]        # the last suspect, while other work waits
        shared.give_away()
        assert len(shared._given) == 1
        assert [done.value() for done in shared.arrived()] == [0]
        shared.give_away()
        assert len(shared._given) == sharing.AHEAD


def test_batches_grow_until_they_take_a_second() -> None:
    with pool_of(1) as pool:
        shared = sharing._Sharing(pool, do, [Item(f"n{number}", "quick") for number in range(4000)], lambda item: item.what)
        sizes = []
        for _ in range(4):
            shared.give_away()
            sizes.append([len(batch) for batch in shared._given.values()])
            shared.arrived()
            shared._seconds["quick"] = 1 / 128 if len(sizes) < 3 else 0.25
    assert sizes == [[1, 1], [128, 128], [128, 128], [4, 4]]


def test_the_last_items_are_shared_among_all_workers() -> None:
    with pool_of(1) as pool:
        shared = sharing._Sharing(pool, do, [Item(f"n{number}", "quick") for number in range(40)], lambda item: item.what)
        shared._seconds["quick"] = 0.001
        assert len(shared._next(5)) == 4


def test_whoever_stops_listening_ends_the_workers_at_once() -> None:
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), Processes(2) as pool:
        for arrived in share_out(pool, do, [Item("first"), *(Item(f"n{number}", seconds=LONG_S) for number in range(4))]):
            if arrived:
                raise KeyboardInterrupt
    assert time.monotonic() - began < PATIENCE_S < LONG_S


def test_workers_end_that_are_sending_more_than_a_pipe_holds() -> None:
    """If just killed, they would leave the executor's thread waiting for the rest."""
    pool = Processes(2)
    results = [pool.submit(bytes, 10 << 20) for _ in range(8)]
    results[0].result()
    ending = threading.Thread(target=pool.close, kwargs={"kill": True}, daemon=True)
    ending.start()
    ending.join(PATIENCE_S)
    assert not ending.is_alive()


def test_workers_end_with_a_parent_that_was_killed(tmp_path: Path) -> None:
    code = ("from rfview.engine.batch import Processes, share_out\nfrom tests.engine.batch_items import Item, do\n"
            "if __name__ == '__main__':\n    pool = Processes(2)\n"
            f"    items = [Item(f'n{{n}}', folder={str(tmp_path)!r}, seconds={LONG_S}) for n in range(4)]\n"
            "    for arrived in share_out(pool, do, items):\n        pass\n")
    (tmp_path / "main.py").write_text(code)
    child = subprocess.Popen([sys.executable, str(tmp_path / "main.py")],
                             env={**os.environ, "PYTHONPATH": str(REPOSITORY), "TMPDIR": str(tmp_path)})
    try:
        notes = wait_for(lambda: [path for path in tmp_path.glob("n*") if path.read_text().strip()], 2)
        workers = [int(path.read_text().split()[0]) for path in notes]
        assert all(is_alive(worker) for worker in workers) and list(tmp_path.glob("rfview-batch-*"))
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    wait_for(lambda: [worker for worker in workers if not is_alive(worker)], 2)
    assert not list(tmp_path.glob("rfview-batch-*"))


def wait_for(look, number: int, seconds: float = PATIENCE_S) -> list:
    """Return the results of `look` as soon as there are at least `number`."""
    until = time.monotonic() + seconds
    while len(found := look()) < number:
        assert time.monotonic() < until, found
        time.sleep(0.05)
    return found


def is_alive(pid: int) -> bool:
    """Say whether a process runs; zombies do not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not (stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z")


def test_machines_are_compiled_for_their_preset_s_core_and_each_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from rfview.engine.compile import warm      # imports numba

    started: list[list[str]] = []

    class Child:
        """A compilation that ends at once."""

        def __init__(self, command: list[str], **rest: object) -> None:
            started.append(command[3:])

        def poll(self) -> int:
            return 0

    monkeypatch.setattr(warm, "is_ready", lambda dtype: False)
    monkeypatch.setattr(subprocess, "Popen", Child)
    shown: list[float | None] = []
    compile_machines([("sram", "ampere"), ("sram", "fermi"), ("sram", "hopper"), ("stt", "paper"), ("nothing", "fermi")], 2,
                     lambda part, text: shown.append(part))
    assert started == [["sram", "ampere"], ["sram"], ["stt"]]
    assert shown[-1] == 1.0


def test_only_designs_on_fermi_s_core_wait_for_what_these_share(monkeypatch: pytest.MonkeyPatch) -> None:
    from rfview.engine.compile import extern, warm      # imports numba

    live: set[tuple[str, ...]] = set()
    together: list[set[tuple[str, ...]]] = []

    class Child:
        """A compilation that takes a while."""

        def __init__(self, command: list[str], **rest: object) -> None:
            self.words, self.polls = tuple(command[3:]), 0
            live.add(self.words)
            together.append(set(live))

        def poll(self) -> int | None:
            self.polls += 1
            if self.polls < 3:
                return None
            live.discard(self.words)
            return 0

    monkeypatch.setattr(warm, "is_ready", lambda dtype: False)
    monkeypatch.setattr(extern, "is_ready", lambda: False)
    monkeypatch.setattr(subprocess, "Popen", Child)
    compile_machines([("sram", "ampere"), ("stt", "ampere"), ("sram", "fermi"), ("stt", "fermi")], 2, lambda part, text: None)
    assert {("sram", "ampere"), ("stt", "ampere")} in together
    assert len(together) == 4 and not any({("sram",), ("stt",)} <= both for both in together)
