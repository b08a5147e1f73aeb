"""A captured library is checked as its declarations by hand are: random libraries, registered in a live PyTorch."""

from __future__ import annotations

import json
import os
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.capture.random_library import actions, declarations, module_text
from tests.capture.support import captured as captured_pytorch
from tests.capture.support import torch_python
from tests.cli.support import call
from tests.once import once

pytestmark = pytest.mark.live

SEED = os.environ.get("DISPATCH_CLI_LIVE_SEED") or Random().randrange(1 << 32)
OPERATORS = 150
LIVE_TABLE = "stale-live-table"
"""It depends on the order of registrations, which a running dispatcher does not tell."""


def capture(out: Path, *modules: str, vmap: bool = False) -> str:
    """vmap: ask for the batching rules too, which takes long and is the same for all."""
    words = [word for module in modules for word in ("--import", module)]
    result = call("capture", "--python", torch_python(), *words, *(() if vmap else ("--no-vmap",)), "-o", str(out))
    assert result.code == 0, result.err
    return str(out)


def report(file: str, *options: str) -> Any:
    result = call("check-invariants", file, "--no-config", "--allow-outside", "--format", "json", *options)
    assert result.code in (0, 1), f"seed {SEED}: {result.err}"
    return json.loads(result.out)


def found(file: str, *options: str) -> set[tuple[str, str | None, str | None]]:
    return found_in(report(file, *options))


def found_in(answer: Any) -> set[tuple[str, str | None, str | None]]:
    """The findings: check, operator and key."""
    return {(one["check"], one["operator"], one["key"]) for one in answer["findings"]}


@pytest.mark.parametrize("number", range(2))
def test_random_libraries(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = str(captured_pytorch())
    chosen = actions(Random(f"{SEED}:{number}"), OPERATORS)
    accepted = tmp_path / "accepted.json"
    (tmp_path / "random_library.py").write_text(module_text(chosen, str(accepted)), encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    captured = capture(tmp_path / "captured.json.gz", "random_library", vmap=True)
    taken = [chosen[number] for number in json.loads(accepted.read_text(encoding="utf-8"))]
    assert len(taken) > OPERATORS
    by_hand = tmp_path / "by_hand.json"
    by_hand.write_text(json.dumps(declarations(taken, plain)), encoding="utf-8")
    of_hand, of_capture = report(str(by_hand)), report(captured)
    expected = found_in(of_hand)
    stale = {operator for check, operator, _ in expected if check == LIVE_TABLE}
    comparable = {one for one in expected if one[1] not in stale}
    different = {one for one in found_in(of_capture) if one[1] not in stale} ^ comparable
    assert not different, f"seed {SEED}"
    assert len({check for check, *_ in comparable}) > 5
    assert of_capture["not_checked"] == of_hand["not_checked"]


LIBRARY = """
import torch
torch.library.define("mylib::op", "(Tensor x) -> Tensor")
@torch.library.impl("mylib::op", "CPU")
def op(x):
    return x.clone()
"""
REPLACED = """
import torch
first_library = torch.library.Library("twice", "FRAGMENT")
first_library.define("op(Tensor x) -> Tensor")
gone_library = torch.library.Library("twice", "IMPL", "CPU")
second_library = torch.library.Library("twice", "IMPL", "CPU")
def first(x):
    return x.clone()
def gone(x):
    return x.clone()
def second(x):
    return x.clone()
first_library.impl("op", first, "CPU")
try:
    gone_library.impl("op", gone)
    gone_library._destroy()
    second_library.impl("op", second)
    first_library.impl("op", torch.library.fallthrough_kernel, "AutogradCPU")
except RuntimeError:  # before 2.6 a kernel of Python is replaced by none
    pass
"""


@pytest.fixture(scope="module")
def of_both() -> str:
    """A capture of the two libraries."""

    def make(folder: Path) -> None:
        for module, text in (("mylib", LIBRARY), ("replaced", REPLACED)):
            (folder / f"{module}.py").write_text(text, encoding="utf-8")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PYTHONPATH", str(folder))
            capture(folder / "cap.json.gz", "mylib", "replaced")

    return str(once("captured-two-libraries", make) / "cap.json.gz")


def test_replaced_kernels_are_named(of_both: str) -> None:
    """The dump has the order of the kernels; each has its own function."""
    rows = json.loads(call("register", of_both, "--op", "twice::op", "--format", "json").out)["operators"][0]["kernels"]
    functions = {"second": 11, "first": 7}
    expected = [("CPU", f"replaced.{name}", f"replaced.py:{line}") for name, line in functions.items()]
    named = [(row["key"], row["wraps"]["function"], row["wraps"]["place"]) for row in rows if row["wraps"] is not None]
    assert named == (expected if len(rows) > 1 else expected[1:])


OF_LIBRARY = {("no-autograd-kernel", "mylib::op", "AutogradCPU"), ("no-fake-kernel", "mylib::op", "Meta")}


def test_a_library_without_autograd(of_both: str) -> None:
    assert found(of_both, "--op", "mylib::*") == OF_LIBRARY
    told = call("check-invariants", of_both).out
    assert "operators that PyTorch registered were not checked; --pytorch checks them" in told


def test_modules_of_pytorchs_own_are_not_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`quantized_decomposed` is defined by a module of PyTorch that is imported when somebody asks for it."""
    library = LIBRARY + "from torch.ao.quantization.fx import _decomposed\n"
    (tmp_path / "mylib.py").write_text(library, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    captured = capture(tmp_path / "cap.json.gz", "mylib")
    assert report(captured)["operators"] == 1
    assert call("table", captured, "--op", "quantized_decomposed::*").code == 0


def test_what_is_imported_before_capture_can_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python imports sitecustomize by itself, before anything else."""
    (tmp_path / "mylib.py").write_text(LIBRARY, encoding="utf-8")
    (tmp_path / "sitecustomize.py").write_text("import mylib\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    captured = capture(tmp_path / "cap.json.gz", "mylib")
    told = report(captured)
    assert told["not_checked"]["unknown"] == told["operators"] > 3000
    assert "the capture does not say who registered" in call("check-invariants", captured).out


def test_backends_that_pytorch_loads_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry point of the group `torch.backends`: `import torch` loads it, and it is another package's."""
    (tmp_path / "mylib.py").write_text(LIBRARY + "def load():\n    pass\n", encoding="utf-8")
    information = tmp_path / "mylib-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: mylib\nVersion: 1.0\n", encoding="utf-8")
    (information / "entry_points.txt").write_text("[torch.backends]\nmylib = mylib:load\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    for modules in ((), ("mylib",)):
        assert found(capture(tmp_path / "cap.json.gz", *modules)) == OF_LIBRARY
    monkeypatch.setenv("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")
    assert report(capture(tmp_path / "cap.json.gz"))["not_checked"] == {"pytorch": 0, "extended": 0, "unknown": 0}
