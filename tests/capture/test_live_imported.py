"""Captured libraries of users: what is found of them, and what is not theirs."""

from __future__ import annotations

import gzip
import json
import subprocess
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from dispatch_cli.capture import run
from tests import in_pytorch
from tests.capture.extensions import LIBRARY, PYTORCHS_LATER, captured_extensions
from tests.capture.support import torch_python
from tests.cli.support import call

pytestmark = pytest.mark.live


def capture(out: Path, *modules: str) -> str:
    """Without the batching rules, which take long and are the same for all."""
    words = [word for module in modules for word in ("--import", module)]
    with patch.object(run, "run_probe", partial(run.run_probe, vmap=False)):
        result = call("capture", "--python", torch_python(), *words, "-o", str(out))
    assert result.code == 0, result.err
    return str(out)


def report(file: str, *options: str) -> Any:
    result = call("check-invariants", file, "--config", "none", "--allow-outside", "--format", "json", *options)
    assert result.code in (0, 1), result.err
    return json.loads(result.out)


def findings_of(file: str, *options: str) -> set[tuple[str, str | None, str | None]]:
    """Check, operator and key."""
    findings = report(file, *options)["findings"]
    return {(finding["check"], finding["operator"], finding["key"]) for finding in findings}


@pytest.fixture(scope="module")
def extensions() -> str:
    """A capture of several libraries."""
    return str(captured_extensions() / "cap.json.gz")


def test_replaced_kernels_are_named(extensions: str) -> None:
    """The dump has the order of the kernels; each has its own function."""
    rows = json.loads(call("register", extensions, "--op", "twice::op", "--format", "json").out)["operators"][0][
        "kernels"
    ]
    functions = {"second": 11, "first": 7}
    expected = [("CPU", f"replaced.{name}", f"replaced.py:{line}") for name, line in functions.items()]
    named = [(row["key"], row["wraps"]["function"], row["wraps"]["place"]) for row in rows if row["wraps"] is not None]
    assert named == (expected if len(rows) > 1 else expected[1:])


def test_a_module_that_cannot_be_imported() -> None:
    result = call("capture", "--python", torch_python(), "--import", "no_such_module")
    assert (result.code, result.out) == (2, "")
    message = (
        "the module no_such_module cannot be imported\n    ModuleNotFoundError: No module named 'no_such_module'\n"
    )
    assert f"error[no-module]: {torch_python()}: {message}" in result.err


OF_LIBRARY = {("no-autograd-kernel", "mylib::op", "AutogradCPU"), ("no-fake-kernel", "mylib::op", "Meta")}


def test_a_library_without_autograd(extensions: str) -> None:
    assert findings_of(extensions, "--op", "mylib::*") == OF_LIBRARY
    output = call("check-invariants", extensions, "--select", "no-autograd-kernel").out
    assert "operators that PyTorch registered were not checked; `check-invariants --base NAME`" in output


def test_modules_of_pytorchs_own_are_not_the_users(extensions: str) -> None:
    """`quantized_decomposed` is defined by a module of PyTorch that is imported when somebody asks for it."""
    document = json.loads(gzip.decompress(Path(extensions).read_bytes()))
    namespaces = {name_of(operator).partition("::")[0] for operator in document["imported"]["operators"]}
    assert {"mylib", "with_pytorchs"} <= namespaces
    assert PYTORCHS_LATER not in namespaces
    parsed = report(extensions, "--select", "no-autograd-kernel")
    assert parsed["operators"] == len(document["imported"]["operators"])
    assert call("table", extensions, "--op", f"{PYTORCHS_LATER}::*").code == 0


def name_of(operator: dict[str, Any]) -> str:
    """As a capture has it."""
    name: str = operator["func"].partition("(")[0] if "func" in operator else operator["name"]
    return name


def test_what_is_imported_before_capture_can_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python imports sitecustomize by itself, before anything else."""
    (tmp_path / "mylib.py").write_text(LIBRARY, encoding="utf-8")
    (tmp_path / "sitecustomize.py").write_text("import mylib\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    document = report(capture(tmp_path / "cap.json.gz", "mylib"))
    assert document["not_checked"]["unknown"] == document["operators"] > 3000


def test_backends_that_pytorch_loads_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry point of the group `torch.backends`: `import torch` loads it from 2.5 on; it is another package's."""
    (tmp_path / "mylib.py").write_text(LIBRARY + "def load():\n    pass\n", encoding="utf-8")
    information = tmp_path / "mylib-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: mylib\nVersion: 1.0\n", encoding="utf-8")
    (information / "entry_points.txt").write_text("[torch.backends]\nmylib = mylib:load\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert imported(tmp_path, "mylib") == ["mylib::op"]
    loads = torch_has("_import_device_backends")
    assert imported(tmp_path) == ["mylib::op"] * loads
    monkeypatch.setenv("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")
    assert imported(tmp_path) == []


def torch_has(name: str) -> bool:
    """True if the live PyTorch has a function of that name."""
    code = f"import torch; print(hasattr(torch, {name!r}))"
    return in_pytorch.run([torch_python(), "-c", code]).stdout.split() == ["True"]


def imported(folder: Path, *modules: str) -> Any:
    """The operators that a capture takes for those of the modules."""
    out, script = folder / "imported.json", Path(__file__).with_name("live_imports.py")
    words = [word for module in modules for word in ("--import", module)]
    subprocess.run([torch_python(), str(script), str(out), *words], check=True)
    answer = json.loads(out.read_text(encoding="utf-8"))
    assert answer["known"]
    return answer["imported"]
