"""The files of `tests.declarations.test_hostile` given to the command, which has little time and memory."""

from __future__ import annotations

import resource
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.cli.support import COMMAND, ROOT, environment
from tests.declarations.test_hostile import FILES

SECONDS = 20
BYTES = 1 << 30


def limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))


def run(path: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*COMMAND, "check-invariants", str(path)],
        capture_output=True,
        check=False,
        cwd=ROOT,
        env=environment(),
        timeout=3 * SECONDS,
        preexec_fn=limit,
    )


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, subprocess.CompletedProcess[bytes]]:
    """Every file's answer; two at a time."""
    folder = tmp_path_factory.mktemp("hostile")
    paths = []
    for number, (content, _, _) in enumerate(FILES.values()):
        path = folder / f"{number}.yaml"
        path.write_bytes(content)
        paths.append(path)
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(FILES, pool.map(run, paths), strict=True))


@pytest.mark.parametrize("name", FILES)
def test_hostile_file(name: str, answers: dict[str, subprocess.CompletedProcess[bytes]]) -> None:
    answer = answers[name]
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
