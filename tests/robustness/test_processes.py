"""Programs of several processes: one of each way to start them; python -m tests.robustness --only processes tries many."""

from __future__ import annotations

import pytest

from tests.robustness import processes


@pytest.mark.skipif(not processes.is_compilable(), reason="needs nvcc and g++ to compile programs")
@pytest.mark.parametrize("way", list(processes.CUDA))
def test_every_process_of_a_cuda_program_has_a_device_or_is_refused_in_a_sentence(way: str) -> None:
    own, each = processes.CUDA[way]
    program, launches = processes.program(shared=way == "system"), -1 if way == "thread" else own + 2 * each
    assert processes.tried([str(program), way, "2"], launches, int(way in processes.REFUSED)) == ("done", "")


@pytest.mark.skipif(not processes.has_numba(), reason="needs numba-cuda: pip install 'rfview[test-capture]'")
@pytest.mark.parametrize("way", ["fork", "spawn", "refused", "subprocess"])
def test_every_process_of_a_script_has_a_device_or_is_refused_in_a_sentence(way: str) -> None:
    script = processes.CAPTURE / "scripts" / "processes.py"
    assert processes.tried([str(script), way], processes.PYTHON[way], 0) == ("done", "")
