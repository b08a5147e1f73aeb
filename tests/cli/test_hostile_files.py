"""Some files of `tests.declarations.test_hostile` given to the command, which has little time and memory."""

from __future__ import annotations

import resource
import subprocess
from pathlib import Path

import pytest

from tests.cli.support import COMMAND, ROOT, environment
from tests.declarations.test_hostile import FILES

pytestmark = pytest.mark.slow

SECONDS = 20
BYTES = 1 << 30


def limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))


@pytest.mark.parametrize("name", [*FILES][::8])
def test_hostile_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(FILES[name][0])
    command = [*COMMAND, "check-invariants", str(path)]
    answer = subprocess.run(
        command, capture_output=True, check=False, cwd=ROOT, env=environment(), timeout=3 * SECONDS, preexec_fn=limit
    )
    place, code = FILES[name][1:]
    assert (answer.returncode, answer.stdout) == (2, b"")
    text = answer.stderr.decode()
    first, *_, last = text.splitlines()
    assert f".yaml:{place}" in first
    assert f": error[{code}" in first
    assert text.count(": error[") == 1
    assert last == "1 error; nothing was done."
    assert len(text) < 2_000
    assert not any(ord(sign) < 32 and sign != "\n" for sign in text)
