"""Files that stand for large ones: refused early by every reader, with the limit and what to do."""

from __future__ import annotations

import gzip
import resource
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from dispatch_cli import universes
from tests.cli.support import COMMAND, ROOT, call, environment
from tests.declarations.helpers import write

pytestmark = pytest.mark.slow

OPERATOR = b"dispatch: 1\noperators:\n  - func: m::a() -> ()\n    dispatch: "
BASELINE = b'{"report": "baseline", "schema_version": 1, "findings": [], "x": [%s]}'
LISTS = b"[]," * 15_000_000 + b"[]"
LAYOUT = universes.load("torch-2.15")
KEYS = ",".join(key for key in LAYOUT.runtime if key in LAYOUT.parseable).encode()


FILES: dict[str, tuple[Callable[[], bytes], tuple[str, ...], str]] = {
    "an alias of a list of keys": (
        lambda: (
            b"dispatch: 1\noperators:\n"
            b"  - {func: 'm::a() -> ()', dispatch: &d {? '"
            + KEYS
            + b"' : k}}\n"
            + b"".join(b"  - {func: 'm::a%d() -> ()', dispatch: *d}\n" % number for number in range(2_200))
        ),
        ("register",),
        "values, counting",
    ),
    "comments": (
        lambda: gzip.compress(OPERATOR + b"{CPU: k}\n" + b"# dispatch-cli: ignore[all] r\n" * 300_000),
        ("check-invariants",),
        "values, counting",
    ),
    "a baseline": (
        lambda: BASELINE % LISTS,
        ("check-invariants", "-k", "CPU", "--baseline"),
        "values, counting",
    ),
    "a project file": (
        lambda: b"[tool.dispatch-cli]\nprivateuse1 = 'npu'\n\"=\"." + b"a." * 40_000 + b"a = 1\n",
        ("check-invariants", "-k", "CPU", "--config"),
        "a key has more than 16 dotted parts",
    ),
    "a project file of checks": (
        lambda: b"[tool.dispatch-cli]\nselect = [" + b"".join(b"'x%d'," % n for n in range(12_000)) + b"]\n",
        ("check-invariants", "-k", "CPU", "--config"),
        "a table or list has more than 1000 entries",
    ),
    "an error text": (lambda: b"x\n" * (9 << 19), ("explain", "--from-error"), "larger than 8 MiB"),
}
"""Name → what makes the file, the command that reads it, and what is said of it."""
CPU_SECONDS, BYTES = 5, 500 << 20


def limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))


@pytest.mark.parametrize("name", FILES)
def test_a_small_file(name: str, tmp_path: Path) -> None:
    """Each command is a process with little time and memory."""
    make, arguments, _ = FILES[name]
    path = tmp_path / "small"
    path.write_bytes(make())
    command = [*COMMAND, *arguments, str(path)]
    answer = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment(), preexec_fn=limit
    )
    assert (answer.returncode, answer.stdout) == (2, ""), answer.stderr[:500]
    assert FILES[name][2] in answer.stderr
    assert any(word in answer.stderr for word in ("help: ", "; nothing", "Split", "Give", "ecompress", "Shorten"))
    assert len(answer.stderr) < 2_000


def test_files_of_one_run_share_what_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dispatch_cli.declarations.loader.MAX_THINGS", 60)
    files = [write(tmp_path, f"dispatch: 1\noperators: [{{func: 'm::a{n}() -> ()'}}]\n", f"{n}.yaml") for n in range(9)]
    assert call("register", *files[:3]).code == 0
    result = call("register", *files)
    assert result.code == 2
    assert "or the files together have" in result.err


def test_many_kernels_at_one_key(tmp_path: Path) -> None:
    result = call("register", write(tmp_path, OPERATOR + b"{CPU: [" + b"k," * 999 + b"k]}\n"))
    assert result.code == 0
    assert result.err.count("warning[override]") == 4
    assert "996 registrations more override another" in result.err
