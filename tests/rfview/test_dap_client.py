"""The debug adapter under VS Code's own test client, if Node.js and its packages are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import PATIENCE_S

CLIENT = "@vscode/debugadapter-testsupport@1.68.0"
ROOT = Path(__file__).resolve().parents[2]


def test_a_session_driven_by_the_client_of_vs_code(tmp_path: Path) -> None:
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("Node.js is not here")
    install = [npm, "install", "--prefix", str(tmp_path), "--no-audit", "--no-fund", "--fetch-retries=0", CLIENT]
    try:
        made = subprocess.run(install, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    except subprocess.TimeoutExpired:
        pytest.skip("npm's registry does not answer")
    if made.returncode:
        pytest.skip(f"npm cannot install {CLIENT}")
    script = tmp_path / "adapter.py"
    script.write_text("import sys\nfrom rfview.cli import main\nsys.exit(main(['dap']))\n")
    client = Path(shutil.copy(Path(__file__).with_name("vscode_client.cjs"), tmp_path))
    ran = subprocess.run([node, str(client), sys.executable, str(script), str(ROOT / "sessions" / "recorded" / "first.rfs")],
                         capture_output=True, text=True, timeout=PATIENCE_S, cwd=tmp_path,
                         env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert ran.returncode == 0 and ran.stdout.rstrip().endswith("done"), ran.stdout + ran.stderr
