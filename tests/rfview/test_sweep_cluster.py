"""Sweeps on a Dask cluster: the same rows as from local processes, killed workers, and unreachable clusters."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rfview import cli
from rfview.engine.batch import share_out
from rfview.engine.batch.cluster import Cluster
from rfview.engine.errors import InputError
from tests.engine.batch_items import Item, do
from tests.rfview.test_sweep import folder, of_the_runs, rows_of, sweep    # noqa: F401  a fixture

dask = pytest.importorskip("dask", reason="clusters are Dask's")
distributed = pytest.importorskip("dask.distributed", reason="clusters are Dask's")
pytest.importorskip("pyarrow", reason="sweeps are kept by pyarrow")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Yield a cluster of two processes that gives up a task after it has killed two workers."""
    repository = str(Path(__file__).resolve().parents[2])
    with (pytest.MonkeyPatch.context() as patch,
          dask.config.set({"distributed.scheduler.allowed-failures": 1, "distributed.admin.tick.limit": "1h"})):
        patch.setenv("PYTHONPATH", repository)
        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as started:
            yield started


def test_a_cluster_leaves_the_same_rows_as_processes_here(cluster: Any, folder: Path) -> None:     # noqa: F811
    sweep(folder)
    assert cli.main(["sweep", str(folder / "sweep.toml"), "--cluster", cluster.scheduler_address,
                     "-o", str(folder / "other")]) == 0
    assert of_the_runs(rows_of(folder, "other")) == of_the_runs(rows_of(folder)) != []


def test_a_killed_worker_loses_no_row(cluster: Any) -> None:
    items = [Item(f"n{number}", number=number, seconds=0.01) for number in range(150)]
    outcomes = []
    with Cluster(cluster.scheduler_address) as pool:
        for arrived in share_out(pool, do, items):
            if not outcomes and arrived:
                (first, *_) = cluster.workers.values()
                os.kill(first.pid, signal.SIGKILL)
            outcomes += arrived
    assert sorted(done.value() for done in outcomes) == sorted(item.number**2 for item in items)


@pytest.mark.slow
def test_what_kills_its_workers_fails_alone(cluster: Any) -> None:
    items = [Item(f"n{number}", number=number) for number in range(20)]
    items.insert(10, Item("killer", "kill"))
    with Cluster(cluster.scheduler_address) as pool:
        outcomes = [done for arrived in share_out(pool, do, items) for done in arrived]
    assert len(outcomes) == 21 and [done.item.name for done in outcomes if done.error] == ["killer"]


def test_where_no_scheduler_answers_it_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rfview.engine.batch.cluster.CONNECT_SECONDS", 1)
    for address in ("tcp://127.0.0.1:9", "nonsense", "tcp://", __file__):
        with pytest.raises(InputError, match="no Dask scheduler answers there") as told:
            Cluster(address)
        assert len(str(told.value).splitlines()) == 1
