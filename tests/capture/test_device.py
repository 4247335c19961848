"""Device memory, modules and launches, driven from Python over the socket."""

from __future__ import annotations

import struct
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rfview.capture import messages as wire
from rfview.capture import protocol, server
from rfview.capture.client import Client, CudaError, Stopped
from rfview.capture.device import Device, refused
from rfview.capture.folder import write
from rfview.capture.launches import Request, Taken, choice_of
from rfview.capture.memory import GRAIN, DeviceMemory
from rfview.capture.modules import Loaded
from rfview.engine.machine_code import CODE_BASE
from rfview.engine.errors import InputError, KernelFault, SassError
from rfview.engine.launch import launch_of_text, load_launch_file
from rfview.engine.program import GLOBAL_BASE
from rfview.engine.progress import Progress
from rfview.engine.sass import tools
from rfview.engine.simulator import Simulator
from tests.capture.driven import NAME, SAXPY, driven


def floats(client: Client, address: int, count: int) -> np.ndarray:
    return np.frombuffer(client.read(address, 4 * count), np.float32)


def vectors(client: Client, count: int = 100) -> tuple[int, int]:
    x, y = client.malloc(4 * count), client.malloc(4 * count)
    client.write(x, np.arange(count, dtype=np.float32).tobytes())
    client.write(y, np.ones(count, np.float32).tobytes())
    return x, y


def test_a_launch_in_clusters_is_refused_and_a_cooperative_one_is_not() -> None:
    request = Request(0, "kernel", (4, 1, 1), (64, 1, 1), 0, b"", is_cooperative=True)
    assert refused(request) is None
    outcome = refused(replace(request, has_clusters=True))
    assert outcome is not None and outcome.status != 0 and "kernel is launched in clusters" in outcome.text


def test_device_memory_begins_where_the_engine_has_it() -> None:
    assert wire.BASE == GLOBAL_BASE


def test_a_launch_reads_and_writes_the_programs_memory() -> None:
    with driven() as (client, device, said):
        x, y = vectors(client)
        module = client.load(SAXPY)
        assert client.kernels(module) == [NAME]
        cycles = client.launch(module, NAME, (4, 1, 1), (32, 1, 1), 0, [x, y, 100])
        assert np.array_equal(floats(client, y, 100), 1 + 2 * np.arange(100, dtype=np.float32))
        assert cycles == device.launches.entries[0].cycles > 0 and device.launches.entries[0].kernel == "saxpy" and not said


def test_a_program_may_be_called_as_its_kernel_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "saxpy").write_bytes(b"\x7fELF\xb0")      # the binary that nvcc -o saxpy leaves in the current folder
    monkeypatch.chdir(tmp_path)
    with driven() as (client, _device, _said):
        x, y = vectors(client)
        client.launch(client.load(SAXPY), NAME, (4, 1, 1), (32, 1, 1), 0, [x, y, 100])
        assert floats(client, y, 100)[99] == 1 + 2 * 99


@pytest.mark.parametrize(("design", "registers"), [("sram", 1024 * 32), ("racetrack", 2048 * 32)])
def test_a_program_is_told_the_registers_that_the_machine_has_under_its_design(design: str, registers: int) -> None:
    with driven(machine={"design": design}) as (_client, device, _said):
        assert device.properties()[5] == registers


def test_options_that_no_machine_has_are_refused_before_anything_is_served() -> None:
    with pytest.raises(InputError, match="stt.nothing: no such parameter; there are stt.stall, stt.write_cycles"):
        Device({"design": "stt[nothing=1]"})
    device = Device({})
    with pytest.raises(InputError, match="sm.nothing: no such parameter of preset fermi"):
        device.begin({"settings": {"sm.nothing": 1}}, None)
    assert not device.is_taking


def test_a_symbol_holds_its_value_over_launches() -> None:
    with driven() as (client, _device, _said):
        x, y = vectors(client)
        module = client.load(SAXPY)
        factor, size = client.symbol(module, "factor")
        assert size == 4 and struct.unpack("<f", client.read(factor, 4)) == (2.0,)
        client.write(factor, struct.pack("<f", 10.0))
        for _ in range(2):
            client.launch(module, NAME, (4, 1, 1), (32, 1, 1), 0, [x, y, 100])
        assert np.array_equal(floats(client, y, 100), 1 + 20 * np.arange(100, dtype=np.float32))


def test_a_machine_used_anew_takes_the_cycles_of_a_launch_file(tmp_path: Path) -> None:
    (tmp_path / "a.ptx").write_text(SAXPY)
    (tmp_path / "a.toml").write_text(f"""[[launch]]
kernel = "{NAME}"
grid = [4]
block = [32]
args = [{{buffer = "x"}}, {{buffer = "y"}}, {{value = 100}}]
[buffers.x]
shape = [100]
dtype = "float32"
arange = true
[buffers.y]
shape = [100]
dtype = "float32"
value = 1
""")
    alone = Simulator(load_launch_file(tmp_path / "a.toml"))
    alone.run()
    with driven() as (client, _device, _said):
        x, y = vectors(client)
        module = client.load(SAXPY)
        launches = [client.launch(module, NAME, (4, 1, 1), (32, 1, 1), 0, [x, y, 100]) for _ in range(3)]
    assert launches == [alone.cycle] * 3


def test_a_launch_finds_l2_as_the_one_before_left_it_if_that_is_kept_and_was_simulated(tmp_path: Path) -> None:
    cycles, alone = {}, {}
    for name, settings, by_values in (("cold", {}, False), ("kept", {"memory.keep_l2": 1}, False),
                                      ("after values", {"memory.keep_l2": 1}, True)):
        with driven(choice=choice_of("1"), by_values=by_values, machine={"settings": settings}) as (client, device, _said):
            x, y = vectors(client)
            module = client.load(SAXPY)
            for _ in range(2):
                client.launch(module, NAME, (4, 1, 1), (32, 1, 1), 0, [x, y, 100])
            cycles[name] = [one.cycles for one in device.launches.entries]
            # the folder of the second launch has the lines that it found
            file = write(device.launches.taken, tmp_path / name.replace(" ", "_"))
            simulator = Simulator(load_launch_file(file))
            simulator.run()
            alone[name] = simulator.cycle
            if name == "kept":
                again = Simulator(launch_of_text(file.read_text(), "again", simulator.buffers(), simulator.symbols()),
                                  module=simulator.module)
                again.run()
                assert again.cycle == simulator.cycle       # as from a recording, which has the launch file's text
    assert cycles["cold"][0] == cycles["cold"][1] == cycles["kept"][0] == alone["cold"] == alone["after values"]
    assert cycles["kept"][1] == alone["kept"] < alone["cold"]


def test_a_launch_written_over_another_removes_only_that_ones_arrays(tmp_path: Path) -> None:
    with driven(choice=choice_of("0")) as (client, device, _said):
        x, y = vectors(client)
        client.launch(client.load(SAXPY), NAME, (4, 1, 1), (32, 1, 1), 0, [x, y, 100])
        launch = write(device.launches.taken, tmp_path / "held")
        first = {path.name for path in launch.parent.iterdir()}
        launch.write_text(launch.read_text() + '[buffers.old]\nfile = "old.npy"\n')
        for name in ("old.npy", "mine.npy"):
            np.save(launch.parent / name, np.ones(3))
        assert write(device.launches.taken, launch.parent) == launch
        assert {path.name for path in launch.parent.iterdir()} == {*first, "mine.npy"}


def test_what_is_out_of_bounds_is_an_illegal_address_and_stays_one_until_a_reset() -> None:
    with driven() as (client, _device, said):
        x, y = vectors(client)
        module = client.load(SAXPY)
        with pytest.raises(CudaError) as fault:
            client.launch(module, NAME, (4, 1, 1), (64, 1, 1), 0, [x, y, 200])
        assert fault.value.code == protocol.ILLEGAL_ADDRESS and "past the end of" in said[0]
        with pytest.raises(CudaError) as again:
            client.ask(wire.SYNC)
        assert again.value.code == protocol.ILLEGAL_ADDRESS
        client.ask(wire.RESET)
        x, y = vectors(client)
        client.launch(module, NAME, (4, 1, 1), (32, 1, 1), 0, [x, y, 100])
        assert floats(client, y, 100)[99] == 1 + 2 * 99


def test_the_chosen_launch_is_kept_with_its_memory_before_and_after_and_stops_the_program() -> None:
    with driven(choice=choice_of("saxpy:1"), stops=True) as (client, device, _said):
        x, y = vectors(client)
        other = client.malloc(64)
        module = client.load(SAXPY)
        client.launch(module, NAME, (4, 1, 1), (32, 1, 1), 0, [x, y, 100])
        with pytest.raises(Stopped):
            client.launch(module, NAME, (4, 1, 1), (32, 1, 1), 0, [x, y, 100])
        taken = device.launches.taken
        assert taken is not None and taken.entry.number == 1 and taken.after is not None
        assert {x, y, client.symbol(module, "factor")[0]} == set(taken.before) and other not in taken.before
        before, after = (np.frombuffer(kept[y][1], np.float32) for kept in (taken.before, taken.after))
        assert np.array_equal(after - before, 2 * np.arange(100, dtype=np.float32))


@pytest.mark.parametrize(("asked", "number"), [("f:1", 1), ("f<double>", 1), ("f<float>:1", 2), ("_Z1fIdEvT_", 1), ("f<int>", None)])
def test_an_instance_of_a_template_is_chosen_by_its_arguments(asked: str, number: int | None) -> None:
    entry = ".visible .entry {}(.param .u64 x) {{ ret; }}\n"
    text = SAXPY[: SAXPY.index(".global")] + entry.format("_Z1fIfEvT_") + entry.format("_Z1fIdEvT_")
    with driven(choice=choice_of(asked)) as (client, device, _said):
        module = client.load(text)
        for name in ("_Z1fIfEvT_", "_Z1fIdEvT_", "_Z1fIfEvT_"):
            client.launch(module, name, (1, 1, 1), (32, 1, 1), 0, [0])
    assert (device.launches.taken and device.launches.taken.entry.number) == number
    assert [entry.label for entry in device.launches.entries] == ["f<float>:0", "f<double>:0", "f<float>:1"]


def test_a_launch_that_reaches_beyond_its_parameters_is_kept_with_all_memory() -> None:
    text = SAXPY.replace("[%rd5]", "[%rd5+8192]")       # y is 8 KB past the address in the parameter
    with driven(choice=choice_of("0")) as (client, device, _said):
        x, y = vectors(client)
        module = client.load(text)
        client.launch(module, NAME, (4, 1, 1), (32, 1, 1), 0, [x, y - 8192, 100])
        taken = device.launches.taken
        assert taken is not None and taken.entry.result == "" and {x, y} < set(taken.before)
        assert floats(client, y, 100)[99] == 1 + 2 * 99


@pytest.mark.parametrize(("beyond", "runs"), [(0, 1), (8192, 2)])
def test_a_chosen_launch_with_atomics_is_simulated_once_where_it_is_recorded(tmp_path: Path, beyond: int, runs: int) -> None:
    text = SAXPY.replace("st.global.f32 [%rd5]", f"atom.global.add.f32 %f1, [%rd5+{beyond}]").replace(
        "ld.global.f32 %f2, [%rd5]", f"ld.global.f32 %f2, [%rd5+{beyond}]")
    simulated: list[Simulator] = []

    def records(taken: Taken, _report: Progress) -> Simulator:
        simulated.append(Simulator(load_launch_file(write(taken, tmp_path / str(len(simulated))))))
        with suppress(KernelFault):
            simulated[-1].run()
        return simulated[-1]

    with driven(choice=choice_of("1"), by_values=True, records=records) as (client, device, _said):
        x, y = vectors(client)
        module = client.load(text)
        for _ in range(3):
            client.launch(module, NAME, (4, 1, 1), (32, 1, 1), 0, [x, y - beyond, 100])
        taken = device.launches.taken
        assert len(simulated) == runs and taken is not None and taken.after is not None
        assert taken.entry.cycles == simulated[-1].cycle and not taken.entry.is_estimate and taken.entry.result == ""
        # each launch doubles y and adds 2 x
        assert np.array_equal(floats(client, y, 100), 8 + 14 * np.arange(100, dtype=np.float32))


@pytest.mark.parametrize(("grid", "block", "shared", "code"), [
    ((1, 1, 1), (2048, 1, 1), 0, protocol.INVALID_CONFIGURATION), ((0, 1, 1), (32, 1, 1), 0, protocol.INVALID_CONFIGURATION),
    ((1, 70000, 1), (32, 1, 1), 0, protocol.INVALID_CONFIGURATION), ((1, 1, 1), (32, 1, 1), 1 << 20, protocol.OUT_OF_RESOURCES),
])
def test_a_launch_that_no_machine_takes_is_an_error_of_cuda(grid: tuple, block: tuple, shared: int, code: int) -> None:
    with driven() as (client, device, _said):
        x, y = vectors(client)
        module = client.load(SAXPY)
        with pytest.raises(CudaError) as error:
            client.launch(module, NAME, grid, block, shared, [x, y, 1])
        assert error.value.code == code and device.failed == 0


@pytest.mark.parametrize(("operation", "body", "code"), [
    (99, b"", protocol.NOT_SUPPORTED), (2, b"abc", protocol.INVALID_VALUE), (3, struct.pack("<Q", 5), protocol.INVALID_VALUE),
    (2, struct.pack("<QI", 1 << 60, 0), protocol.MEMORY_ALLOCATION), (5, struct.pack("<I", 7), 98), (8, b"", protocol.INVALID_VALUE),
    (4, struct.pack("<I", 0) + b".version oh", protocol.INVALID_PTX), (4, struct.pack("<I", 1) + b"x" * 99, 209),
    (7, struct.pack("<I", 1) + b"none", protocol.INVALID_SYMBOL), (1, struct.pack("<II", 99, 0), 801),
    (1, struct.pack("<II", wire.VERSION, 0), protocol.INVALID_VALUE), (6, struct.pack("<II", 1, 1), protocol.INVALID_VALUE),
    (11, bytes(wire.TEXTURE.request.head.size), protocol.INVALID_VALUE), (4, b"", protocol.INVALID_VALUE),
])
def test_messages_that_make_no_sense_are_errors_and_the_next_is_served(operation: int, body: bytes, code: int) -> None:
    with driven() as (client, _device, said):
        reply = client.reply(operation, body)
        assert reply.status == code and not reply.result
        assert code != protocol.INVALID_VALUE or operation == wire.FREE.number or said
        assert client.malloc(16) >= wire.BASE


def test_what_is_wrong_with_a_module_is_said_with_the_line_that_it_is_about() -> None:
    with driven() as (client, _device, said):
        module = client.load(SAXPY.replace("fma.rn.f32 ", "fma.sideways "))
        with pytest.raises(CudaError):
            client.launch(module, NAME, (1, 1, 1), (32, 1, 1), 0, [0, 0, 0])
    assert len(said) == 2 and "unsupported" in said[0] and "fma.sideways %f4" in said[1] and "\\n" not in "".join(said)


def test_a_message_that_is_too_long_ends_the_connection() -> None:
    with driven() as (client, _device, said):
        with pytest.raises(protocol.LinkError):
            client.reply(wire.MALLOC.number, bytes(wire.MAX_BODY + 1))
    assert "cannot be read" in said[0]


def test_an_operation_that_does_not_exist_is_said() -> None:
    with driven() as (client, _device, said):
        assert "operation 99, which does not exist" in client.reply(99, b"").text
        with pytest.raises(CudaError, match="a module of form 7"):
            client.ask(wire.LOAD, 7)
    assert len(said) == 2


def test_a_message_that_does_not_end_is_given_up_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MESSAGE_S", 0.05)
    with driven() as (client, _device, said):
        assert client._link is not None
        client._link.sendall(wire.REQUEST_HEAD.pack(wire.MALLOC.number, 12) + b"abcd")
        assert client._link.recv(1) == b"", "the server has not closed the connection"
        with pytest.raises(protocol.LinkError, match="the connection to rfview was lost"):
            client.malloc(16)
    assert said == ["the program's messages cannot be read: 8 bytes of a message have not come"]


def test_memory_that_is_freed_is_given_out_again_zeroed_and_never_twice() -> None:
    memory = DeviceMemory(1 << 24)
    state = np.random.RandomState(5)
    held: dict[int, int] = {}
    for turn in range(2000):
        if held and state.randint(3) == 0:
            address = list(held)[state.randint(len(held))]
            del held[address]
            assert memory.free(address)
        else:
            size = int(state.randint(1, 300_000 if turn % 50 == 0 else 3000))
            address = memory.allocate(size, page=turn % 7 == 0)
            if address:
                assert not any(start - GRAIN < address + size and address < start + other + GRAIN
                               for start, other in held.items())
                content = memory.view(memory.live[address])
                assert not content.any()
                content[:] = 255
                held[address] = size
    for address in held:
        assert memory.free(address) and not memory.free(address)
    assert memory.used == 0 and memory.allocate(1 << 23)


def test_the_memory_file_is_its_owners_alone() -> None:
    import os

    memory = DeviceMemory(1 << 20)
    assert os.fstat(memory.descriptor).st_mode & 0o777 == 0o600
    assert os.fstat(memory.descriptor).st_nlink == 0


def test_an_alias_is_the_same_memory_at_another_address() -> None:
    with driven() as (client, _device, _said):
        x, y = vectors(client)
        away = 0x1234_5000
        client.alias(away, y, 400)
        module = client.load(SAXPY)
        client.launch(module, NAME, (4, 1, 1), (32, 1, 1), 0, [x, away, 100])
        assert floats(client, y, 100)[99] == 1 + 2 * 99
        for beyond in (2**63 - 400, 2**64 - 400):
            with pytest.raises(CudaError):
                client.alias(beyond, y, 400)
        client.alias(away, 0, 0)
        with pytest.raises(CudaError):
            client.launch(module, NAME, (4, 1, 1), (32, 1, 1), 0, [x, away, 100])


def test_an_alias_ends_with_the_allocation_that_it_belongs_to_and_cannot_be_freed() -> None:
    with driven() as (client, device, _said):
        x, y = vectors(client)
        away = 0x1234_5000
        client.alias(away, y, 400)
        for refused in ((wire.FREE, away), (wire.ALIAS, y, 0, 0), (wire.ALIAS, away + 0x1002, y, 4)):
            with pytest.raises(CudaError):
                client.ask(*refused)
        module = client.load(SAXPY)
        client.free(y)
        assert x in device.memory.live and not {y, away} & set(device.memory.live)
        assert client.malloc(400) == y, "another allocation has the alias's bytes"
        with pytest.raises(CudaError) as fault:
            client.launch(module, NAME, (4, 1, 1), (32, 1, 1), 0, [x, away, 100])
        assert fault.value.code == protocol.ILLEGAL_ADDRESS


def test_launches_by_values_leave_the_same_memory_and_estimated_cycles() -> None:
    entries, results = [], []
    for options in ({}, {"by_values": True}, {"by_values": True, "samples": True}):
        with driven(**options) as (client, device, said):
            x, y = vectors(client)
            module = client.load(SAXPY)
            for _ in range(2):
                assert client.launch(module, NAME, (4, 1, 1), (32, 1, 1), 0, [x, y, 100]) > 0
            results.append(client.read(y, 400))
            entries.append(device.launches.entries)
            assert not said
    simulated, values, sampled = (rows[0] for rows in entries)
    assert results[0] == results[1] == results[2]
    assert simulated.instructions == values.instructions == sampled.instructions > 0
    assert [one.is_estimate for one in (simulated, values, sampled)] == [False, True, True]
    assert values.cycles == values.instructions     # one each, assumed
    assert sampled.cycles == simulated.cycles       # the sample was the whole launch


def test_a_chosen_launch_with_atomics_is_simulated_for_its_order() -> None:
    for store, is_estimate in (("st.global.f32 [%rd5], %f4;", True), ("red.global.add.f32 [%rd5], %f4;", False)):
        with driven(choice=choice_of("1"), by_values=True) as (client, device, _said):
            x, y = vectors(client)
            module = client.load(SAXPY.replace("st.global.f32 [%rd5], %f4;", store))
            for _ in range(3):
                client.launch(module, NAME, (4, 1, 1), (32, 1, 1), 0, [x, y, 100])
            assert [one.is_estimate for one in device.launches.entries] == [True, is_estimate, True]
            taken = device.launches.taken
            assert taken is not None and taken.before[y][1] != taken.after[y][1]


def test_faults_by_values_are_those_of_the_machine_and_a_loop_without_end_times_out() -> None:
    with driven(by_values=True) as (client, device, said):
        x, y = vectors(client)
        with pytest.raises(CudaError) as fault:
            client.launch(client.load(SAXPY), NAME, (4, 1, 1), (64, 1, 1), 0, [x, y, 200])
        assert fault.value.code == protocol.ILLEGAL_ADDRESS and "past the end of" in said[0] and "of the warp" in said[0]
        assert "--on-fault report" in said[0]       # so close behind, a GPU may not notice
    with driven(by_values=True) as (client, device, said):
        with pytest.raises(CudaError):
            client.launch(client.load(SAXPY), NAME, (1, 1, 1), (32, 1, 1), 0, [0, 0, 32])
        assert "which no buffer holds" in said[0] and "--on-fault" not in said[0]
    with driven(by_values=True, machine={"max_cycles": 5_000}) as (client, device, said):
        x, y = vectors(client)
        with pytest.raises(CudaError) as fault:
            client.launch(client.load(SAXPY.replace("ret;", "bra DONE;")), NAME, (1, 1, 1), (32, 1, 1), 0, [x, y, 32])
        assert fault.value.code == protocol.TIMEOUT and "10,000 warp instructions" in said[0]
        assert device.launches.entries[0].instructions == 10_000


def test_a_private_image_shows_memory_as_it_is_and_keeps_writes_to_itself() -> None:
    memory = DeviceMemory(1 << 20)
    address = memory.allocate(512)
    held = memory.live[address]
    memory.view(held)[:] = 7
    image = memory.private_image(memory.image())
    word = memory.image().global_word + held.at // 4
    assert image.arena[word] == 0x07070707
    image.arena[word] = 1
    assert memory.arena[word] == 0x07070707
    memory.close()


def test_machine_code_without_the_tools_is_refused_before_a_program_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    tools.tool.cache_clear()
    monkeypatch.setattr(tools, "_in_package", lambda package, name: None)
    monkeypatch.setattr(tools.shutil, "which", lambda name: None)
    with pytest.raises(SassError, match=r"ptxas is neither in PATH .* pip install 'rfview\[sass\]'"):
        Device({"settings": {"kernel.isa": "sm_80"}})
    tools.tool.cache_clear()


def test_a_limit_on_addresses_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    code = ("import resource, sys; from rfview import cli; resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30)); "
            "sys.exit(cli.main(['launches', '/bin/true']))")
    assert subprocess.run([sys.executable, "-c", code]).returncode == 2
    said = capfd.readouterr().err
    assert "MiB of address space" in said and "ulimit -v" in said and len(said.splitlines()) == 1


def test_variables_hold_the_places_of_functions_in_the_kernel_that_runs_unless_the_program_wrote_something_else() -> None:
    head = "// rfview machine code 1\n.target sm_80\n.address_size 64\n.global 24 256 table\n.address 0x8 f 0x0\n.address 0x10 g 0x0\n"
    kernels = "".join(f".entry {name}\n.registers 8\n.params 0x160\n" + "".join(
        f"{16 * at:04x} B------:R-:W-:-:S15 {line}\n" for at, line in enumerate(["NOP"] * before + ["CALL.ABS.NOINC R2", "EXIT"]))
        for name, before in (("short", 0), ("long", 5)))
    functions = "".join(f".func {name}\n.registers 8\n0000 B------:R-:W-:-:S15 RET.ABS.NODEC R2, 0x0\n" for name in "fg")
    memory = DeviceMemory(1 << 20)
    module = Loaded([head + kernels + functions], "k.sass", memory, {})
    held = memory.view(memory.live[module.addresses["table"]])[:24].view(np.uint64)
    assert held.tolist() == [0, 0, 0]
    for name in ("short", "long", "short"):
        kernel = module.kernel(name)
        module.point_to_functions(kernel)
        places = dict(kernel.functions)
        assert held.tolist() == [0, *(CODE_BASE + 16 * places[function] for function in "fg")], name
        assert places["f"] == len(kernel.insts) - 2
    held[2] = 77
    module.point_to_functions(module.kernel("long"))
    assert held.tolist() == [0, CODE_BASE + 16 * dict(module.kernel("long").functions)["f"], 77]
    module.reset()
    assert held.tolist() == [0, 0, 0]
    memory.close()
