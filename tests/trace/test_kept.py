"""Where the last recording is kept, and exceptions of a program while a recording grows. No PyTorch is needed."""

from __future__ import annotations

import os
from pathlib import Path

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
        patch.setattr(os, "posix_fallocate", comes)
        with pytest.raises(TimeoutError):
            output.make_room(1 << 20)
    assert output.stopped == ""
    assert output.write(b"x" * (1 << 20))
    with monkeypatch.context() as patch:
        patch.setattr(output, "path", str(tmp_path / "gone"))
        assert not output.make_room(1 << 20)
    assert output.stopped == "disk"
