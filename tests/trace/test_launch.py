"""Programs started with the recorder, as the command does it. No PyTorch is needed."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dispatch_cli.trace.launch import launch
from tests.trace.recorded import read


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("print(1)", 0),
        ("raise SystemExit(3)", 3),
        ("1 / 0", 1),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", 128 + signal.SIGKILL),
        ("raise KeyboardInterrupt", 128 + signal.SIGINT),
    ],
)
def test_the_exit_code_is_the_programs(tmp_path: Path, source: str, code: int) -> None:
    program = tmp_path / "program.py"
    program.write_text(source, encoding="utf-8")
    assert launch(sys.executable, [str(program), "--save", "x"], tmp_path / "save") == code
    assert read(tmp_path / "save")[0]["argv"] == [str(program), "--save", "x"]


def test_a_module_and_its_options(tmp_path: Path) -> None:
    code = launch(sys.executable, ["json.tool", "--help"], tmp_path / "save", module=True, lines=False, megabytes=1)
    head = read(tmp_path / "save")[0]
    assert (code, head["argv"], head["lines"]) == (0, ["-m", "json.tool", "--help"], False)


def test_signals_reach_the_program(tmp_path: Path) -> None:
    """An interrupt of a terminal goes to both; others come to the process that was started."""
    program = tmp_path / "program.py"
    handlers = "signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))\n"
    program.write_text(
        f"import signal, sys, time\n{handlers}print('ready', flush=True)\ntime.sleep(60)", encoding="utf-8"
    )
    start = "import sys; from pathlib import Path; from dispatch_cli.trace.launch import launch\n"
    start += f"sys.exit(launch(sys.executable, [{str(program)!r}], Path({str(tmp_path / 'save')!r})))"
    process = subprocess.Popen([sys.executable, "-c", start], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 5
    process.stdout.close()


@pytest.mark.skipif(shutil.which("timeout") is None, reason="there is no timeout")
@pytest.mark.parametrize("options", [(), ("--foreground",)])
def test_a_signal_of_timeout_comes_once(tmp_path: Path, options: tuple[str, ...]) -> None:
    """It goes to the process that was started and to its group, or with an option to that process alone."""
    program = tmp_path / "program.py"
    handler = "signal.signal(signal.SIGTERM, lambda *_: print('got', flush=True))\n"
    program.write_text(f"import signal, time\n{handler}time.sleep(3)", encoding="utf-8")
    start = "import sys; from pathlib import Path; from dispatch_cli.trace.launch import launch\n"
    start += f"sys.exit(launch(sys.executable, [{str(program)!r}], Path({str(tmp_path / 'save')!r})))"
    command = ["timeout", *options, "2", sys.executable, "-c", start]
    done = subprocess.run(command, capture_output=True, text=True, check=False, start_new_session=True)
    assert (done.stdout, done.stderr) == ("got\n", "")
