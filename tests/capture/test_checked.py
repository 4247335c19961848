"""A program's launches under the checker: each defect is reported once, with its source line and first launch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rfview.capture.checked import CAPACITY, Checked
from rfview.capture.memory import DeviceMemory
from rfview.capture.modules import Loaded
from rfview.commands import record
from rfview.engine.check.findings import Findings
from rfview.engine.check.functional import CheckedFunctionalSimulator
from rfview.engine.check.machine import CheckedSimulator
from rfview.engine.compilation import Compilation
from rfview.engine.errors import InputError
from rfview.engine.launch.given import spec_of
from rfview.engine.ptx import decode
from rfview.engine.ptx.parse.source import Source
from rfview.engine.ptx.parse.syntax import Function, SyntaxModule
from tests.capture.driven import driven

ROOT = Path(__file__).resolve().parents[2]
PTX = """.version 8.0
.target sm_75
.address_size 64
.visible .entry count(.param .u64 out)
{
    .reg .b64 %rd<3>; .reg .b32 %r<3>;
    .loc 1 7 3
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd2, %rd1;
    ld.global.u32 %r1, [%rd2];
    add.u32 %r2, %r1, 1;
    .loc 1 8 3
    st.global.u32 [%rd2], %r2;
    ret;
}
.file 1 "count.cu"
"""


def launches() -> None:
    """Launch the kernel with one CTA, then twice with two; print the findings as JSON."""
    checked = Checked()
    with driven(values_kind=CheckedFunctionalSimulator, by_values=True, ran=checked, capacity=CAPACITY) as (client, device, _said):
        out, module = client.malloc(4), client.load(PTX)
        for grid in (1, 2, 2):
            client.launch(module, "count", (grid, 1, 1), (1, 1, 1), 0, [out])
        value = int.from_bytes(client.read(out, 4), "little")
        found = [one.as_dict() for one in checked.defects]
        text = checked.text(checked.defects, device.launches.total, "")
        print(json.dumps({"value": value, "found": found, "ran": checked.ran, "text": text}))


@pytest.fixture(scope="module")
def found() -> dict:
    """Return the findings of the launches, checked in a separate process: this one runs unchecked machines."""
    done = subprocess.run([sys.executable, "-c", "from tests.capture.test_checked import launches; launches()"], cwd=ROOT,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(("paths", "said"), [(0, ""), (40, " (machine code: hazards and faults alone)")])
def test_no_finding_in_machine_code_says_what_was_looked_for(paths: int, said: str) -> None:
    findings = Findings((), -1, False, None, instructions=12, paths=paths)
    checked = Checked()
    checked(cast(Any, None), SimpleNamespace(findings=lambda: findings, release=lambda: None))
    assert checked.text([], 1, "12 warp instructions") == f"no finding in 1 launch, 12 warp instructions{said}"
    assert ("hazards and faults alone" in findings.length) == bool(paths)


def test_a_defect_is_told_once_with_the_launch_that_shows_it_first(found: dict) -> None:
    (one,) = found["found"]
    assert (one["kind"], one["launch"], one["nth"], one["launches"], one["cta"]) == ("race-global", 1, 1, 2, one["cta"])
    assert {one["source"], one["other_source"]} <= {"count.cu:7", "count.cu:8"} and found["ran"] == 3
    assert "launch 1 count:1, and 1 more" in found["text"] and "count.cu:8, PTX line 13" in found["text"]


def test_what_one_launch_wrote_is_no_race_with_the_next(found: dict) -> None:
    assert found["value"] >= 3 and len(found["found"]) == 1


def test_recording_a_launch_of_a_program_says_where_it_is_checked() -> None:
    from rfview.cli import parsed

    _module, args = parsed("record", ["./app", "1", "--check"])
    with pytest.raises(InputError, match="rfview check"):
        record.run(args)


def test_the_checker_takes_what_the_first_decoding_of_a_kernel_gave(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[str] = []

    def counted(source: Source, syntax: SyntaxModule, entry: Function, how: Compilation, known: Any = decode.decode) -> Any:
        decoded.append(entry.name)
        return known(source, syntax, entry, how)

    monkeypatch.setattr(decode, "decode", counted)
    memory = DeviceMemory(1 << 20)
    module = Loaded([PTX.replace("count(", "once(")], "once.ptx", memory, {}, CheckedSimulator)
    spec = spec_of(module.kernel("once"), (1, 1, 1), (1, 1, 1), 0, bytes(8), "once")
    machine = module.separate_machine(spec, module.image(), kind=CheckedFunctionalSimulator)
    assert isinstance(machine, CheckedFunctionalSimulator) and len(machine.followed["once"].steps) == 5
    assert decoded == ["once"]
    memory.close()
