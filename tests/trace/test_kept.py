"""Where the last recording is kept, and what a handler that raises does to a recording. No PyTorch is needed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dispatch_cli.trace import recorder
from dispatch_cli.trace.kept import RecordingPlace, last_recording


def test_runs_at_the_same_time_read_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPATCH_CLI_CACHE_DIR", str(tmp_path))
    one, other = RecordingPlace(), RecordingPlace()
    Path(one.file).write_text("one", encoding="utf-8")
    Path(other.file).write_text("other", encoding="utf-8")
    other.keep()
    assert Path(one.file).read_text(encoding="utf-8") == "one"
    assert last_recording() == other.name
    one.keep()
    assert last_recording() == one.name
    assert Path(one.name).read_text(encoding="utf-8") == "one"
    one.remove()
    other.remove()
    assert not Path(one.file).exists()
    assert not Path(other.file).exists()


def test_an_exception_of_a_handler_while_the_recording_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TimeoutError is an OSError, too: it is the program's, and no fault of the disk."""
    output = recorder.RecordingFile(str(tmp_path / "recording"), 1 << 24, 0)

    def comes(*_: int) -> None:
        raise TimeoutError("raised by the handler of a signal")

    with monkeypatch.context() as patch:
        patch.setattr(recorder.os, "posix_fallocate", comes)
        with pytest.raises(TimeoutError):
            output.make_room(1 << 20)
    assert output.stopped == ""
    assert output.write(b"x" * (1 << 20))
    with monkeypatch.context() as patch:
        patch.setattr(output, "path", str(tmp_path / "gone"))
        assert not output.make_room(1 << 20)
    assert output.stopped == "disk"


def test_kernels_of_a_call_are_written_at_once() -> None:
    """A handler that raises in between would leave some of them, and they would not be what is predicted."""
    written: list[bytes] = []
    log = SimpleNamespace(
        kernel_log_kernels=lambda _: b'0,"AutogradCPU",1,"call",false\n1,"CPU",2,"redispatch",false\n'
    )
    one: Any = SimpleNamespace(kernel_log=log, output=SimpleNamespace(write=written.append))
    thread: Any = SimpleNamespace(number=3)
    recorder.CallRecorder.kernels(one, thread, 0)
    assert written == [b'["k",3,0,"AutogradCPU",1,"call",false]\n["k",3,1,"CPU",2,"redispatch",false]\n']
