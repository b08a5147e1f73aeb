"""A captured library is checked as its declarations by hand are: a random library, registered in a live PyTorch."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import pytest

from dispatch_cli.capture import run
from tests.capture.extensions import LIBRARY, PYTORCHS_LATER, captured_extensions
from tests.capture.support import captured as captured_pytorch
from tests.capture.support import torch_python
from tests.cli.support import call

Action = dict[str, Any]

SCHEMAS = (
    *("(Tensor x) -> Tensor", "(Tensor x, Tensor y) -> Tensor", "(Tensor(a!) x) -> Tensor(a!)"),
    *("(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", "(Tensor(a) x) -> Tensor(a)", "(Tensor x, SymInt n) -> Tensor"),
    *("(Tensor[] x) -> ()", "(int n) -> Tensor"),
)
KEYS = (
    *("CPU", "CUDA", "PrivateUse1", "Meta", "SparseCPU", "QuantizedCPU", "NestedTensorCPU", "MkldnnCPU"),
    *("Autograd", "AutogradCPU", "AutogradPrivateUse1", "AutogradOther", "AutogradNestedTensor", "ADInplaceOrView"),
    *("CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional"),
    *("FuncTorchBatched", "FuncTorchBatchedDecomposition", "Functionalize", "Python", "BackendSelect", "Tracer"),
    *("Conjugate", "Negative", "ZeroTensor", "AutocastCPU", "CompositeImplicitAutogradNestedTensor"),
)
PYTHON_KEYS = ("CPU", "Meta", "AutogradCPU", "CompositeImplicitAutograd", "Autograd")
OF_PYTORCH = (
    *("aten::mm", "aten::add.Tensor", "aten::relu", "aten::relu_", "aten::softmax.int", "aten::im2col"),
    *("aten::to.dtype", "aten::view", "aten::bmm.out", "aten::zeros_like", "aten::convolution", "aten::_softmax"),
    *("aten::sum",),
)
FALLBACK_KEYS = ("PrivateUse1", "HPU")

MODULE = '''\
"""Registers what ACTIONS say, as far as PyTorch takes it, and writes which it took to ACCEPTED."""

import json

import torch

ACTIONS = json.loads({actions!r})
libraries = []


def kernel(*arguments, **others):
    return arguments[0] if arguments else None


def custom(action):
    def function(x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    def mutating(x: torch.Tensor) -> None:
        x.zero_()

    writes, device = action["mutates"], action["device"]
    made = torch.library.custom_op(
        action["name"], mutating if writes else function, mutates_args=("x",) if writes else (), device_types=device
    )
    if action["autograd"]:
        made.register_autograd(lambda context, grad: grad)
    if action["vmap"]:
        made.register_vmap(lambda info, dims, x: (x, dims[0]))


def named(number):
    def function(*arguments):
        return kernel(*arguments)

    function.__name__ = function.__qualname__ = f"function_{{number}}"
    return function


def run(number, action):
    namespace, _, rest = action.get("name", "_::").partition("::")
    base, _, overload = rest.partition(".")
    if action["do"] == "custom":
        custom(action)
    elif action["do"] == "py_impl":
        packet = getattr(getattr(torch.ops, namespace), base)
        getattr(packet, overload or "default").py_impl(getattr(torch._C.DispatchKey, action["key"]))(lambda *all: None)
    else:
        library = torch.library.Library(namespace, action["library"])
        libraries.append(library)
        if action["do"] == "define":
            library.define(rest + action["schema"])
        elif action["do"] == "fallback":
            library.fallback(lambda *all: None, action["key"])
        else:
            chosen = torch.library.fallthrough_kernel if action["fallthrough"] else named(number)
            library.impl(rest, chosen, action["key"])


accepted = []
for number, action in enumerate(ACTIONS):
    try:
        run(number, action)
    except Exception:
        continue
    accepted.append(number)
with open({accepted!r}, "w") as file:
    json.dump(accepted, file)
'''


def actions(random: Random, count: int) -> list[Action]:
    """*count* operators of a few libraries with their registrations, and registrations for operators of PyTorch's."""
    steps: list[Action] = []
    for number in range(count):
        name = f"random_{random.randrange(3)}::op{number}"
        kind = random.choice(("defined", "defined", "defined", "custom", "dangling", "pytorch"))
        if kind == "custom":
            choices = {field: random.random() < 0.4 for field in ("mutates", "autograd", "vmap")}
            device = random.choice((None, "cpu", "cuda"))
            choices["autograd"] &= not choices["mutates"]  # refused for an operator that writes to its arguments
            steps.append({"do": "custom", "name": name, "device": device, **choices})
        elif kind == "pytorch":
            name = random.choice(OF_PYTORCH)
        elif kind == "defined":
            schema = random.choice(SCHEMAS)
            steps.append({"do": "define", "library": "FRAGMENT", "name": name, "schema": schema})
        for key in random.sample(KEYS, random.choice((0, 1, 1, 2, 3, 4)) if kind == "defined" else kind != "custom"):
            skips = random.random() < 0.15
            steps.append({"do": "impl", "library": "FRAGMENT", "name": name, "key": key, "fallthrough": skips})
        if kind != "dangling" and random.random() < 0.15:
            steps.append({"do": "py_impl", "name": name, "key": random.choice(PYTHON_KEYS)})
    if random.random() < 0.5:
        key = random.choice(FALLBACK_KEYS)
        steps.append({"do": "fallback", "library": "IMPL", "name": "_::", "key": key})
    return steps


def module_text(chosen: list[Action], accepted: str) -> str:
    """A module that runs the actions and writes to *accepted* the numbers of those that PyTorch takes."""
    return MODULE.format(actions=json.dumps(chosen), accepted=accepted)


def declarations(taken: Iterable[Action], base: str) -> dict[str, Any]:
    """The same by hand: a file that extends *base*, every registration in the short form."""
    operators: dict[str, dict[str, Any]] = {}
    fallbacks: dict[str, str] = {}

    def register(name: str, key: str, kernel: Any) -> None:
        operators.setdefault(name, {"name": name}).setdefault("dispatch", {}).setdefault(key, []).append(kernel)

    for number, action in enumerate(taken):
        name, function = action["name"], {"kernel": f"function_{number}", "python": True}
        if action["do"] == "define":
            operators[name] = {"func": name + action["schema"]}
        elif action["do"] == "impl":
            register(name, action["key"], {"fallthrough": True} if action["fallthrough"] else function)
        elif action["do"] == "fallback":
            fallbacks[action["key"]] = f"function_{number}"
        elif action["do"] == "py_impl":
            entry = operators.setdefault(name, {"name": name})
            entry.setdefault("python_dispatch", {})[action["key"]] = f"function_{number}"
        else:
            mutates = action["mutates"]
            arguments = "(Tensor(a0!) x) -> ()" if mutates else "(Tensor x) -> Tensor"
            operators[name] = {"func": name + arguments, "tags": ["pt2_compliant_tag"]}
            device = {None: "CompositeExplicitAutograd", "cpu": "CPU", "cuda": "CUDA"}[action["device"]]
            # what torch.library.custom_op registers, each from PyTorch's own files
            operators[name]["fake"] = {"missing": True}
            for key in ("Autograd", device, *["FuncTorchBatched"] * action["vmap"]):
                register(name, key, {**function, "kernel": f"function_{number}_{key}"})
            if mutates:
                register(name, "ADInplaceOrView", f"function_{number}_in_place")
    document: dict[str, Any] = {"dispatch": 1, "extends": [base], "operators": list(operators.values())}
    return {**document, "fallbacks": fallbacks} if fallbacks else document


pytestmark = pytest.mark.live

SEED = os.environ.get("DISPATCH_CLI_LIVE_SEED") or Random().randrange(1 << 32)
OPERATORS = 300
LIVE_TABLE = "stale-live-table"
"""It depends on the order of registrations, which a running dispatcher does not tell."""


def capture(out: Path, *modules: str, vmap: bool = False) -> str:
    """vmap: ask for the batching rules too, which takes long and is the same for all."""
    words = [word for module in modules for word in ("--import", module)]
    with patch.object(run, "run_probe", partial(run.run_probe, vmap=vmap)):
        result = call("capture", "--python", torch_python(), *words, "-o", str(out))
    assert result.code == 0, result.err
    return str(out)


def report(file: str, *options: str) -> Any:
    result = call("check-invariants", file, "--config", "none", "--allow-outside", "--format", "json", *options)
    assert result.code in (0, 1), f"seed {SEED}: {result.err}"
    return json.loads(result.out)


def findings_of(file: str, *options: str) -> set[tuple[str, str | None, str | None]]:
    return found_in(report(file, *options))


def found_in(answer: Any) -> set[tuple[str, str | None, str | None]]:
    """The findings: check, operator and key."""
    return {(finding["check"], finding["operator"], finding["key"]) for finding in answer["findings"]}


def test_a_random_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = str(captured_pytorch())
    chosen = actions(Random(str(SEED)), OPERATORS)
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
    comparable = {row for row in expected if row[1] not in stale}
    different = {row for row in found_in(of_capture) if row[1] not in stale} ^ comparable
    assert not different, f"seed {SEED}"
    assert len({check for check, *_ in comparable}) > 5
    assert of_capture["not_checked"] == of_hand["not_checked"]


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


OF_LIBRARY = {("no-autograd-kernel", "mylib::op", "AutogradCPU"), ("no-fake-kernel", "mylib::op", "Meta")}


def test_a_library_without_autograd(extensions: str) -> None:
    assert findings_of(extensions, "--op", "mylib::*") == OF_LIBRARY
    output = call("check-invariants", extensions, "--select", "no-autograd-kernel").out
    assert "operators that PyTorch registered were not checked; `check-invariants --pytorch` checks them" in output


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
    captured = capture(tmp_path / "cap.json.gz", "mylib")
    document = report(captured)
    assert document["not_checked"]["unknown"] == document["operators"] > 3000
    assert "the capture does not say who registered" in call("check-invariants", captured, "--op", "mylib::*").out


def test_backends_that_pytorch_loads_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry point of the group `torch.backends`: `import torch` loads it, and it is another package's."""
    (tmp_path / "mylib.py").write_text(LIBRARY + "def load():\n    pass\n", encoding="utf-8")
    information = tmp_path / "mylib-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: mylib\nVersion: 1.0\n", encoding="utf-8")
    (information / "entry_points.txt").write_text("[torch.backends]\nmylib = mylib:load\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert findings_of(capture(tmp_path / "cap.json.gz")) == OF_LIBRARY
    assert imported(tmp_path, "mylib") == ["mylib::op"]
    monkeypatch.setenv("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")
    assert imported(tmp_path) == []


def imported(folder: Path, *modules: str) -> Any:
    """The operators that a capture takes for those of the modules."""
    out, script = folder / "imported.json", Path(__file__).with_name("live_imports.py")
    words = [word for module in modules for word in ("--import", module)]
    subprocess.run([torch_python(), str(script), str(out), *words], check=True)
    answer = json.loads(out.read_text(encoding="utf-8"))
    assert answer["known"]
    return answer["imported"]
