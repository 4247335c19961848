"""CUDA programs compiled by nvcc, run without a GPU: results, exit codes, errors, and a launch exported to run alone."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rfview.sessions import open_session
from rfview.sessions.commands.table import execute

from rfview.capture import fatbin
from rfview.capture.program import check, libraries
from rfview.capture.standin import SONAME, SOURCES, SUM, include_folder, is_intact, rest
from rfview.commands import debug, options
from rfview.commands.rerun import Rerun
from rfview.engine.errors import InputError, SassError
from rfview.engine.sass import tools
from tests.conftest import PATIENCE_S

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None or shutil.which("g++") is None,
                                reason="needs nvcc and g++ to compile programs")


def has_nvdisasm() -> bool:
    """Return whether nvdisasm is in PATH or among Python's packages."""
    try:
        return bool(tools.tool("nvdisasm"))
    except SassError:
        return False


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile the programs with nvcc's defaults, which link the runtime statically."""
    path = tmp_path_factory.mktemp("programs") / "app"
    subprocess.run(["nvcc", str(HERE / "programs.cu"), "-o", str(path)], check=True, capture_output=True)
    return path


def rfview(*words: object, cwd: Path = REPOSITORY) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    return subprocess.run([sys.executable, "-m", "rfview", *map(str, words)], cwd=cwd, env=environment, capture_output=True,
                          text=True, check=False)


@needs_nvcc
@pytest.mark.parametrize("number", [0, 1, 2, 3, 4, 5, 7, 9, 12, 13, 15, 17, 18, 19])
def test_a_program_finds_its_own_check_passed_and_ends_with_its_exit_code(program: Path, number: int) -> None:
    done = rfview("launches", program, number)
    assert done.returncode == 3, (done.stdout, done.stderr)
    assert "result" in done.stdout and "Traceback" not in done.stderr


@needs_nvcc
@pytest.mark.skipif(not has_nvdisasm(), reason="needs nvdisasm to read machine code")
def test_a_program_without_ptx_runs_as_the_machine_code_that_it_has(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text("""
#include <cuda_runtime.h>
__device__ int total;
__global__ void add(int by) { atomicAdd(&total, by + threadIdx.x); }
int main() {
  int got, blocks;
  add<<<2, 32>>>(3);
  return cudaMemcpyFromSymbol(&got, total, 4) || got != 2 * (32 * 3 + 496)
         || cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 256, 0) || blocks != 6;
}""")
    subprocess.run(["nvcc", "-gencode", "arch=compute_80,code=sm_80", tmp_path / "k.cu", "-o", tmp_path / "k"], check=True)
    done = rfview("launches", "--json", tmp_path / "list.json", tmp_path / "k")
    assert done.returncode == 0, done.stderr
    only, = json.loads((tmp_path / "list.json").read_text())["list"]
    assert only["is_estimate"] and only["result"] == "" and "machine code has no cycles" in done.stderr
    saved = rfview("capture", "--launch", "add", "-o", tmp_path / "add", tmp_path / "k")
    assert saved.returncode == 0, saved.stderr
    alone = rfview("run", "--quick", "--json", tmp_path / "add" / "launch.toml")
    assert json.loads(alone.stdout)["verified"] is True, alone.stderr


@needs_nvcc
def test_what_a_kernel_prints_comes_in_its_place(program: Path) -> None:
    done = rfview("launches", program, 6)
    assert done.stdout.splitlines()[:4] == ["before", "thread 0 of 2", "thread 1 of 2", "after"]


@needs_nvcc
@pytest.mark.parametrize(("at", "byte", "says"), [(0, 0, "has 0xba55ed00 there"), (15, 0x7f, "of which 16 are there")])
def test_a_program_whose_kernels_are_damaged_is_told_so_once(program: Path, tmp_path: Path, at: int, byte: int, says: str) -> None:
    content = bytearray(program.read_bytes())
    place = content.find(struct.pack("<I", fatbin.MAGIC))
    while place >= 0:
        content[place + at] = byte
        place = content.find(struct.pack("<I", fatbin.MAGIC), place + 4)
    damaged = tmp_path / "damaged"
    damaged.write_bytes(content)
    damaged.chmod(0o755)
    done = rfview("launches", damaged, 6)
    assert done.stderr.count("rfview: ") == 1 and says in done.stderr, done.stderr


@needs_nvcc
def test_a_fault_is_said_with_its_place(program: Path) -> None:
    done = rfview("launches", program, 4)
    assert "past the end of m" in done.stderr and "past the end of m" in done.stdout


@needs_nvcc
def test_a_program_that_does_not_look_at_a_fault_is_no_success(program: Path, tmp_path: Path) -> None:
    done = rfview("launches", "--json", tmp_path / "list.json", program, 16)
    assert done.returncode == 1 and "ended with code 0 although 1 launch ended in a fault" in done.stderr, done.stderr
    assert json.loads((tmp_path / "list.json").read_text())["exit_code"] == 0


@needs_nvcc
def test_a_copy_past_the_end_of_an_allocation_is_refused_and_said(program: Path) -> None:
    done = rfview("launches", program, 14)
    assert done.returncode == 3, done.stderr
    assert "takes 801 bytes" in done.stderr and "1 more than the 800 bytes allocated" in done.stderr
    assert "--set sm.shared_bytes=65536" in done.stderr


@needs_nvcc
def test_launches_that_cannot_run_are_listed_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "nested.cu").write_text("""
#include <stdio.h>
__global__ void child(int *p) { *p = 1; }
__global__ void parent(int *p) { child<<<1, 1>>>(p); }
__global__ void plain(int *p) { p[threadIdx.x] = 2; }
int main() {
  int *p; cudaMalloc(&p, 256);
  parent<<<2, 2>>>(p);
  int code = cudaGetLastError() == cudaSuccess;
  cudaLaunchAttribute cluster; cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = 2, cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {}; config.gridDim = 4, config.blockDim = 32, config.attrs = &cluster, config.numAttrs = 1;
  code += 2 * (cudaLaunchKernelEx(&config, plain, p) == cudaSuccess);
  plain<<<1, 32, 60000>>>(p); code += 4 * (cudaGetLastError() == cudaSuccess);
  plain<<<1, 32>>>(p); return code + 8 * (cudaDeviceSynchronize() != cudaSuccess);
}""")
    subprocess.run(["nvcc", "-rdc=true", tmp_path / "nested.cu", "-o", tmp_path / "nested", "-lcudadevrt"], check=True)
    done = rfview("launches", "--json", tmp_path / "list.json", tmp_path / "nested")
    assert done.returncode == 0, (done.stdout, done.stderr)
    parent, cluster, large, plain = json.loads((tmp_path / "list.json").read_text())["list"]
    assert parent["kernel"] == "parent" and parent["grid"] == [2, 1, 1] and "dynamic parallelism" in parent["result"]
    assert "clusters of several CTAs" in cluster["result"] and "--set sm.shared_bytes=60000" in large["result"]
    assert (plain["label"], plain["result"]) == ("plain:2", "") and "[[launch]]" not in done.stderr


@needs_nvcc
def test_what_is_not_there_says_its_name(program: Path) -> None:
    done = rfview("launches", program, 8)
    assert done.returncode == 3 and "rfview: cudaMemPoolExportPointer is not supported" in done.stderr


@needs_nvcc
def test_a_program_that_a_signal_ends_gives_128_and_its_number(program: Path) -> None:
    done = rfview("launches", program, 11)
    assert done.returncode == 128 + signal.SIGABRT and f"was ended by signal {int(signal.SIGABRT)}, Aborted" in done.stderr


@needs_nvcc
def test_a_captured_launch_runs_alone_in_as_many_cycles_and_bit_for_bit(program: Path, tmp_path: Path) -> None:
    listed = rfview("launches", "--json", tmp_path / "list.json", program, 2)
    assert listed.returncode == 3, listed.stderr
    cycles = [row["cycles"] for row in json.loads((tmp_path / "list.json").read_text())["list"]]
    for chosen in ("1", "add:1"):
        folder = tmp_path / chosen.replace(":", "")
        done = rfview("capture", "--launch", chosen, "-o", folder, "--", program, "2")
        assert done.returncode == 3, done.stderr
        alone = rfview("run", folder / "launch.toml", "--json")
        summary = json.loads(alone.stdout)
        assert summary["cycles"] == cycles[1] and summary["verified"] is True
        assert sum(path.stat().st_size for path in folder.iterdir()) < 100_000


@needs_nvcc
@pytest.mark.parametrize("chosen", ["fetch:2", "draw"])
def test_a_folder_holds_the_textures_and_surfaces_of_its_launch(program: Path, tmp_path: Path, chosen: str) -> None:
    folder = tmp_path / "launch"
    done = rfview("capture", "--launch", chosen, "--stop", "-o", folder, "--", program, "7")
    assert done.returncode == 0, done.stderr
    alone = json.loads(rfview("run", folder / "launch.toml", "--json").stdout)
    assert alone["verified"] is True and f"{alone['warp_instructions']:,} warp instructions" in done.stdout


@needs_nvcc
def test_a_recording_of_a_launch_has_its_cycles_and_stop_ends_the_program_behind_it(program: Path, tmp_path: Path) -> None:
    done = rfview("record", "--launch", "add", "--stop", "-o", tmp_path / "a.rfs", program, 0)
    assert done.returncode == 0, done.stderr
    said = rfview("info", tmp_path / "a.rfs")
    assert said.returncode == 0 and "add" in said.stdout
    whole = rfview("record", "--launch", "add:1", "-o", tmp_path / "b.rfs", program, 0)
    assert whole.returncode == 3, whole.stderr


@needs_nvcc
def test_a_recording_is_the_same_whether_the_other_launches_are_simulated_or_not(program: Path, tmp_path: Path) -> None:
    for name, words in (("values", []), ("cycles", ["--every-cycle"])):
        done = rfview("record", "--launch", "add:1", "--stop", *words, "-o", tmp_path / f"{name}.rfs", program, 0)
        assert done.returncode == 0, done.stderr
        assert ("2 launches ran by values only" in done.stderr) == (name == "values")
    with open_session(tmp_path / "values.rfs") as one, open_session(tmp_path / "cycles.rfs") as other:
        assert one.timeline.last == other.timeline.last > 100
        for cycle in range(0, one.timeline.last + 1, 10):
            assert one.timeline.at(cycle).same_as(other.timeline.at(cycle))


@needs_nvcc
def test_a_quick_list_has_instructions_and_marks_cycles_as_estimates(program: Path, tmp_path: Path) -> None:
    quick = rfview("launches", "--quick", "--json", tmp_path / "quick.json", program, 2)
    slow = rfview("launches", "--json", tmp_path / "slow.json", program, 2)
    assert quick.returncode == slow.returncode == 3, quick.stderr
    rows, simulated = (json.loads((tmp_path / f"{name}.json").read_text())["list"] for name in ("quick", "slow"))
    assert [(row["label"], row["instructions"], row["result"]) for row in rows] == [
        (row["label"], row["instructions"], row["result"]) for row in simulated]
    assert all(row["is_estimate"] for row in rows) and not any(row["is_estimate"] for row in simulated)
    assert "instructions" in quick.stdout and f"~{rows[0]['cycles']:,}" in quick.stdout and "~" not in slow.stdout


@needs_nvcc
def test_debug_opens_the_launch_before_it_ran(program: Path) -> None:
    done = rfview("debug", "--launch", "count", program, 3)
    assert done.returncode == 0 and "count" in done.stdout, done.stderr


@needs_nvcc
def test_an_edited_program_runs_again_up_to_the_launch_that_the_session_shows(tmp_path: Path) -> None:
    source = """#include <cstdlib>
__global__ void other(int *p) { *p = 1; }
__global__ void fill(int *p) { p[threadIdx.x] = FACTOR * threadIdx.x; }
int main(int argc, char **argv) { int *p; cudaMalloc(&p, 4096); other<<<1, 1>>>(p);
    fill<<<1, atoi(argv[1])>>>(p); return cudaDeviceSynchronize(); }"""
    program = tmp_path / "app"

    def build(factor: int) -> None:
        (tmp_path / "app.cu").write_text(source.replace("FACTOR", str(factor)))
        subprocess.run(["nvcc", str(tmp_path / "app.cu"), "-o", str(program)], check=True, capture_output=True)

    build(2)
    parser = argparse.ArgumentParser()
    debug.add_arguments(parser)
    args = parser.parse_args(["--launch", "fill", "--preset", "gtx480", str(program), "64"])
    again = Rerun(args)
    with options.open_target(argparse.Namespace(**{**vars(args), "target": str(again.launch_file()), "origin": again})) as first:
        build(5)
        edited = execute(first, "reload").session
        assert edited is not None
        for session, last in ((first, 2 * 63), (edited, 5 * 63)):
            assert "fill" in session.info.kernel and session.info.preset == "gtx480"
            execute(session, "goto end")
            assert session.value(f"mem[{session.info.buffers[0].address + 63 * 4}]") == last


@needs_nvcc
def test_a_launch_that_there_is_not_says_which_there_are(program: Path, tmp_path: Path) -> None:
    done = rfview("capture", "--launch", "cuont", "-o", tmp_path / "x", program, 3)
    assert done.returncode == 2 and "made 1 launch of count" in done.stderr and not (tmp_path / "x").exists()


@needs_nvcc
def test_without_a_choice_the_first_launch_is_meant(program: Path, tmp_path: Path) -> None:
    done = rfview("record", "--output", tmp_path / "first.rfs", program, 3)
    chosen = rfview("record", "--launch", "0", "--output", tmp_path / "chosen.rfs", program, 3)
    assert done.returncode == chosen.returncode == 3, "the program ends with what it was given"
    assert "the program's first launch; --launch chooses" in done.stderr and "--launch chooses" not in chosen.stderr
    with open_session(tmp_path / "first.rfs") as one, open_session(tmp_path / "chosen.rfs") as other:
        assert one.timeline.last == other.timeline.last and one.info.kernel == other.info.kernel


@needs_nvcc
def test_nothing_is_left_of_a_run_that_is_killed(program: Path) -> None:
    before = set(os.listdir("/dev/shm"))
    running = subprocess.Popen([sys.executable, "-m", "rfview", "launches", str(program), "10"], cwd=REPOSITORY,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert running.stdout is not None
    child = int(running.stdout.readline())
    running.kill()
    running.wait()
    running.stdout.close()
    end = time.monotonic() + PATIENCE_S
    while Path(f"/proc/{child}").exists() and "Z" not in Path(f"/proc/{child}/stat").read_text().split(")")[1][:3]:
        assert time.monotonic() < end, "the program outlives the server"
        time.sleep(0.05)
    assert set(os.listdir("/dev/shm")) <= before


@needs_nvcc
def test_a_stripped_program_with_the_runtime_inside_is_refused_in_a_sentence(program: Path, tmp_path: Path) -> None:
    if shutil.which("strip") is None:
        pytest.skip("needs strip")
    bare = tmp_path / "bare"
    subprocess.run(["strip", "-o", str(bare), str(program)], check=True)
    with pytest.raises(InputError, match="stripped"):
        check(bare)


@needs_nvcc
def test_a_program_linked_with_a_library_past_the_runtime_is_told_so(tmp_path: Path) -> None:
    library, path = tmp_path / "libcublas.so.13", tmp_path / "app"
    (tmp_path / "a.c").write_text("int one(void) { return 1; }")
    (tmp_path / "b.c").write_text("int one(void); int main(void) { return one(); }")
    subprocess.run(["gcc", "-shared", "-fPIC", tmp_path / "a.c", f"-Wl,-soname,{library.name}", "-o", library], check=True)
    subprocess.run(["gcc", tmp_path / "b.c", library, f"-Wl,-rpath,{tmp_path}", "-o", path], check=True)
    done = rfview("launches", path)
    assert done.returncode == 1 and f"is linked with {library.name}: what such a library does" in done.stderr


@needs_nvcc
def test_kernels_of_a_shared_library_run_and_where_they_cannot_that_is_said(tmp_path: Path) -> None:
    library, linked, loads = tmp_path / "libk.so", tmp_path / "linked", tmp_path / "loads"
    (tmp_path / "k.cu").write_text("""
__global__ void fill(int *out) { out[threadIdx.x] = threadIdx.x; }
extern "C" int sum() {
  int *out, all = 0;
  if (cudaMallocManaged(&out, 128)) return 1;
  fill<<<1, 32>>>(out);
  if (cudaDeviceSynchronize()) return 2;
  for (int k = 0; k < 32; k++) all += out[k];
  return all == 496 ? 3 : 4;
}""")
    (tmp_path / "linked.c").write_text("int sum(void); int main(void) { return sum(); }")
    (tmp_path / "loads.c").write_text("#include <dlfcn.h>\n#include <stddef.h>\nint main(int n, char **words) {\n"
                                      "void *all = dlopen(words[1], RTLD_NOW); return all ? ((int (*)(void))dlsym(all, \"sum\"))() : 9; }")
    subprocess.run(["nvcc", "-shared", "-Xcompiler", "-fPIC", tmp_path / "k.cu", "-o", library], check=True)     # the runtime inside
    subprocess.run(["gcc", tmp_path / "linked.c", library, f"-Wl,-rpath,{tmp_path}", "-o", linked], check=True)
    subprocess.run(["gcc", tmp_path / "loads.c", "-ldl", "-o", loads], check=True)
    done = rfview("launches", linked)
    assert done.returncode == 3 and "fill:0" in done.stdout and not done.stderr, done.stderr
    done = rfview("launches", loads, library)
    assert done.returncode == 1 and "libk.so was loaded by dlopen" in done.stderr and "-cudart shared" in done.stderr
    if shutil.which("strip") is not None:
        subprocess.run(["strip", library], check=True)
        done = rfview("launches", linked)
        assert done.returncode == 1 and "libk.so is stripped" in done.stderr and "-cudart shared" in done.stderr
    subprocess.run(["nvcc", "-cudart", "shared", "-shared", "-Xcompiler", "-fPIC", tmp_path / "k.cu", "-o", library], check=True)
    assert rfview("launches", loads, library).returncode == 3


@needs_nvcc
def test_a_program_with_the_shared_runtime_whose_device_code_was_linked_of_parts_runs_too(tmp_path: Path) -> None:
    path = tmp_path / "shared"
    subprocess.run(["nvcc", "-cudart", "shared", "-rdc=true", str(HERE / "programs.cu"), "-o", str(path)], check=True,
                   capture_output=True)
    done = rfview("launches", path, 3)
    assert done.returncode == 3, done.stderr


@pytest.mark.parametrize(("words", "said"), [
    (["launches"], "expected a program"), (["launches", "./not-there"], "there is no such program"),
    (["capture", "--launch", "-1", "true"], "--launch"), (["capture"], "expected a program or FILE::KERNEL"),
    (["record", "--stop"], "expected a program and its arguments"),
])
def test_command_lines_that_cannot_be_understood_end_in_a_sentence(words: list[str], said: str) -> None:
    done = rfview(*words)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr


def test_a_damaged_table_of_sections_is_no_reason_to_refuse_a_program(tmp_path: Path) -> None:
    path = tmp_path / "app"
    head = bytearray(b"\x7fELF\x02" + bytes(200))
    head[18:20], head[40:48], head[58:64] = b"\x3e\0", struct.pack("<Q", 64), struct.pack("<HHH", 64, 2, 1)
    for offset in (0, 1 << 63, (1 << 64) - 1):
        head[64 + 64 + 24 : 64 + 64 + 32] = struct.pack("<Q", offset)
        for content in (head, head[:40] + struct.pack("<Q", offset) + head[48:]):
            path.write_bytes(content)
            check(path)
            assert libraries(path) == []


def test_a_library_that_is_damaged_cut_short_or_writable_by_others_is_not_loaded(tmp_path: Path) -> None:
    folder = tmp_path / "cudart"
    assert not is_intact(folder)
    folder.mkdir(mode=0o700)
    content = b"code" * 1000
    for name, data in ((SONAME, content), (SUM, hashlib.sha256(content).hexdigest().encode())):
        (folder / name).write_bytes(data)
        (folder / name).chmod(0o600)
    assert is_intact(folder)
    for damaged in (content[:-1], b"", b"x" + content[1:]):
        (folder / SONAME).write_bytes(damaged)
        assert not is_intact(folder)
    (folder / SONAME).write_bytes(content)
    for path in (folder, folder / SONAME, folder / SUM):
        mode = path.stat().st_mode
        path.chmod(mode | 0o002)
        assert not is_intact(folder), path
        path.chmod(mode)
    assert is_intact(folder)
    (folder / SONAME).rename(folder / "other")
    (folder / SONAME).symlink_to("other")
    assert not is_intact(folder)


def test_every_name_of_the_runtime_is_there_or_says_that_it_is_not() -> None:
    names = (SOURCES / "names.txt").read_text().split()
    made = rest()
    assert len(names) == len(set(names)) > 400
    assert 'rfview_not_supported("cudaGraphConditionalHandleCreate")' in made and "jmp cudaMemcpyAsync@PLT" in made
    assert "cudaMalloc()" not in made


DRIVER_PROGRAM = r"""
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#define C(call) do { CUresult is = call; if (is) { const char *text; cuGetErrorString(is, &text); printf("%s: %d %s\n", #call, is, text); return 3; } } while (0)
int main(int count, char **words) {
  CUdevice device; CUcontext context; CUmodule module; CUfunction twice; CUdeviceptr x, factor; CUstream stream; size_t size;
  C(cuInit(0)); C(cuDeviceGet(&device, 0)); C(cuDevicePrimaryCtxRetain(&context, device)); C(cuCtxSetCurrent(context)); C(cuModuleLoad(&module, words[1]));
  C(cuModuleGetFunction(&twice, module, "twice")); C(cuModuleGetGlobal(&factor, &size, module, "factor"));
  float h[64], by = 3; int n = 64;
  for (int k = 0; k < n; k++) h[k] = k;
  C(cuMemAlloc(&x, sizeof h)); C(cuMemcpyHtoD(x, h, sizeof h)); C(cuStreamCreate(&stream, 0));
  void *args[] = {&x, &n};
  C(cuLaunchKernel(twice, 1, 1, 1, 64, 1, 1, 0, stream, args, NULL)); C(cuMemcpyHtoD(factor, &by, size));
  struct { CUdeviceptr x; int n; } packed = {x, 32}; size_t bytes = sizeof packed;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  C(cuLaunchKernel(twice, 1, 1, 1, 64, 1, 1, 0, stream, NULL, extra)); C(cuStreamSynchronize(stream)); C(cuMemcpyDtoH(h, x, sizeof h));
  printf("%g %g %d\n", h[31], h[63], (int)size);
  if (count > 2) C(cuLinkDestroy(NULL));
  return cuMemFree(x);
}
"""


@needs_nvcc
def test_programs_of_the_driver_api_run_and_what_is_missing_of_it_is_said(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text("__device__ float factor = 2;\n"
                                   'extern "C" __global__ void twice(float *x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= factor; }\n')
    (tmp_path / "app.c").write_text(DRIVER_PROGRAM)
    used = sorted(set(re.findall(r"\bcu[A-Z]\w+", DRIVER_PROGRAM)))
    headers = include_folder()
    # cuda.h gives functions the names of their versions
    text = subprocess.run(["gcc", "-E", "-P", f"-I{headers}", "-include", "cuda.h", "-x", "c", "-"],
                          input="\n".join(f"NAME {name}" for name in used), capture_output=True, text=True, check=True).stdout
    (tmp_path / "driver.c").write_text("\n".join(f"int {name}() {{ return 99; }}" for name in re.findall(r"^NAME (\w+)", text, re.MULTILINE)))
    driver = tmp_path / "libcuda.so.1"
    subprocess.run(["gcc", "-shared", "-fPIC", tmp_path / "driver.c", f"-Wl,-soname,{driver.name}", "-o", driver], check=True)
    subprocess.run(["gcc", f"-I{headers}", tmp_path / "app.c", driver, "-o", tmp_path / "app"], check=True)
    driver.unlink()
    for form in ("-ptx", "-fatbin"):
        subprocess.run(["nvcc", form, "-arch=compute_80", tmp_path / "k.cu", "-o", tmp_path / f"k{form}"], check=True)
        done = rfview("launches", tmp_path / "app", tmp_path / f"k{form}")
        assert "186 126 4" in done.stdout, done.stdout + done.stderr
        assert done.returncode == 0 and "2 launches" in done.stdout
    missing = rfview("launches", tmp_path / "app", tmp_path / "k-ptx", "1")
    assert "cuLinkDestroy is not supported" in missing.stderr and missing.returncode == 3
    absent = rfview("launches", tmp_path / "app", tmp_path / "none.ptx")
    assert "cuModuleLoad(&module, words[1]): 301" in absent.stdout and absent.returncode == 3
