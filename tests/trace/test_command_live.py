"""`dispatch-cli trace` runs programs in a live PyTorch."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.capture.support import torch_python
from tests.cli.support import COMMAND, Result, environment
from tests.trace.recorded import cache_with_recorder

pytestmark = pytest.mark.live

HEAD = "Trace of program.py"
NOTE = "note: `dispatch-cli trace --last` shows these calls again, with --full all lines\n"


def command(folder: Path, source: str, *options: str, arguments: tuple[str, ...] = ()) -> list[str]:
    (folder / "program.py").write_text(source, encoding="utf-8")
    return [*COMMAND, "trace", "--python", torch_python(), "--no-state", *options, "program.py", *arguments]


def variables(folder: Path) -> dict[str, str]:
    """With a cache folder of its own, which has the recorder."""
    cache = folder.with_name(f"{folder.name}-cache")
    if not cache.exists():
        shutil.copytree(cache_with_recorder(torch_python()), cache)
    return environment(DISPATCH_CLI_CACHE_DIR=str(cache))


def trace(folder: Path, source: str, *options: str, arguments: tuple[str, ...] = ()) -> Result:
    line = command(folder, source, *options, arguments=arguments)
    done = subprocess.run(line, cwd=folder, env=variables(folder), capture_output=True, check=False, text=True)
    return Result(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(
    ("end", "code"),
    [
        ("sys.exit(3)", 3),
        ("os._exit(4)", 4),
        ("os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
        ("os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
    ],
)
def test_the_exit_code_is_the_programs_and_its_calls_are_shown(tmp_path: Path, end: str, code: int) -> None:
    done = trace(tmp_path, f"import os, signal, sys, torch\ntorch.sin(torch.ones(2))\nprint(1, flush=True)\n{end}\n")
    assert (done.code, done.out) == (code, "1\n")
    assert done.err.startswith(HEAD)
    assert "aten::sin" in done.err


def test_folders_threads_forks_and_input(tmp_path: Path) -> None:
    """The answer goes to a file of the folder that the command was started in, and nothing of it to standard output."""
    source = """
import os, sys, threading, torch
os.makedirs("other", exist_ok=True)
os.chdir("other")
thread = threading.Thread(target=lambda: torch.cos(torch.ones(2)))
thread.start()
thread.join()
child = os.fork()
if child == 0:
    torch.tan(torch.ones(2))
    os._exit(7)
print(os.waitpid(child, 0)[1] >> 8, sys.stdin.read(), sys.argv, os.environ["OF_THE_USER"], file=sys.stdout)
print("to stderr", file=sys.stderr)
"""
    options = ("--save", "kept", "-o", "answer.json", "--format", "json")
    line = command(tmp_path, source, *options, arguments=("--format", "x"))
    env = {**variables(tmp_path), "OF_THE_USER": "set"}
    done = subprocess.run(line, cwd=tmp_path, env=env, capture_output=True, check=False, text=True, input="typed")
    assert (done.returncode, done.stdout) == (0, "7 typed ['program.py', '--format', 'x'] set\n")
    assert done.stderr == "to stderr\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["answer.json", "kept", "other", "program.py"]
    answer = json.loads((tmp_path / "answer.json").read_text(encoding="utf-8"))
    names = {operator["operator"] for operator in answer["operators"]}
    assert "aten::cos" in names
    assert "aten::tan" not in names
    again = subprocess.run(
        [*COMMAND, "trace", "kept", "--format", "json"], cwd=tmp_path, env=env, capture_output=True, check=True
    )
    assert json.loads(again.stdout)["operators"] == answer["operators"]


def test_the_last_recording_and_what_it_does_not_have(tmp_path: Path) -> None:
    """A filter that chooses nothing is no fault of the program."""
    done = trace(tmp_path, "import torch\ntorch.ones(1)\nraise SystemExit(5)\n", "--op", "aten::nosuch")
    assert (done.code, done.out) == (5, "")
    assert "the program called no operator that matches 'aten::nosuch'" in done.err
    assert done.err.endswith(NOTE)
    line = [*COMMAND, "trace", "--last", "--limit", "5"]
    last = subprocess.run(line, env=variables(tmp_path), capture_output=True, check=False, text=True)
    assert (last.returncode, last.stderr) == (0, "")
    assert last.stdout.startswith(HEAD)


def test_an_interrupt_of_the_terminal(tmp_path: Path) -> None:
    """Calls before the interrupt are shown."""
    source = "import time, torch\ntorch.sin(torch.ones(2))\nprint('ready', flush=True)\ntime.sleep(60)\n"
    process = subprocess.Popen(
        command(tmp_path, source),
        cwd=tmp_path,
        env=variables(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    os.killpg(process.pid, signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT
    assert f"KeyboardInterrupt\n{HEAD}" in error
    assert "aten::sin" in error


def test_a_full_disk(tmp_path: Path) -> None:
    """Files may have 200 KB: the recording goes as far as that."""
    source = "import torch\na = torch.ones(2)\nfor _ in range(30000): a.add_(1)\nprint(a[0].item())"
    line = f"ulimit -f 400; exec {shlex.join(command(tmp_path, source, '--limit', '5'))}"
    done = subprocess.run(
        ["bash", "-c", line], cwd=tmp_path, env=variables(tmp_path), capture_output=True, check=False, text=True
    )
    assert (done.returncode, done.stdout) == (0, "30001.0\n")
    assert done.stderr.startswith(HEAD)
    assert "the recording cannot be written" in done.stderr
