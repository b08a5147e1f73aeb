"""Error texts that a PyTorch prints now: found, and explained over a capture of that same PyTorch."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dispatch_cli.answers.errors.answer import OPSETS, answer, key_of
from dispatch_cli.answers.errors.read import find_errors
from dispatch_cli.answers.explain.report import SlotExplanation, explain
from dispatch_cli.api import load_state
from dispatch_cli.engine.state import State
from dispatch_cli.model.names import OperatorName
from tests import in_pytorch
from tests.answers.errors.test_read import TREATMENTS, differing, first_line
from tests.capture.support import captured, live_seed, torch_python
from tests.cli.support import ROOT
from tests.support import of_slots

pytestmark = pytest.mark.live


_OPSETS = """
import importlib, json, pkgutil, sys
try:
    import torch.onnx._internal.torchscript_exporter as exporter
    registration = importlib.import_module(f"{exporter.__name__}.registration")
except ImportError:
    import torch.onnx as exporter
    from torch.onnx._internal import registration
for module in pkgutil.iter_modules(exporter.__path__):
    if module.name.startswith("symbolic_opset"):
        importlib.import_module(f"{exporter.__name__}.{module.name}")
groups = {name: registration.registry.get_function_group(f"aten::{name}") for name in sys.argv[1:]}
print(json.dumps({name: group and [*group._functions] for name, group in groups.items()}))
"""


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Recorded anew, each time from another seed."""
    path = tmp_path_factory.mktemp("errors") / "errors.json"
    script = ROOT / "tests/recordings/record_errors.py"
    in_pytorch.run([torch_python(), str(script), str(path), str(live_seed())])
    texts: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["errors"]
    return of_slots(texts)


def test_the_exporter_has_the_operators_from_these_opsets_on() -> None:
    own = [name for name in OPSETS if "::" not in name]  # and not torchvision's
    registered = json.loads(in_pytorch.run([torch_python(), "-c", _OPSETS, *own, "inverse"]).stdout)
    assert registered.pop("inverse") is None
    assert [name for name, opsets in registered.items() if OPSETS[name] not in opsets] == []


def test_the_operator_and_the_key_are_found(errors: list[dict[str, Any]]) -> None:
    assert len(errors) > 30
    for error in errors:
        for treatment in TREATMENTS:
            texts = find_errors(treatment(error["text"]))
            assert {(text.operator, text.key) for text in texts} == {(error["operator"], error["key"])}, treatment


def test_what_pytorch_says_is_so_over_its_capture(errors: list[dict[str, Any]]) -> None:
    """The slot holds what the error says, and not a slot of the printed table differs: full texts, or first lines."""
    state = load_state([str(captured())])
    declared = load_state([str(captured()), str(ROOT / "tests/answers/broken.yaml")])
    assert len(errors) > 30
    for number, error in enumerate(errors[::2]):
        name = OperatorName.parse(error["operator"])
        own = name.namespace == "broken"
        text = error["text"] if number % 2 else first_line(error["text"])
        _check(declared if own else state, name, text)
        _explained(declared if own else state, name, error["key"])


def _check(state: State, name: OperatorName, text: str) -> None:
    report = answer("", find_errors(text), state)
    assert report.reproduced, name
    assert differing(state, text) == [], name


def _explained(state: State, name: OperatorName, key: str | None) -> None:
    """Check that a failing call has an explanation, and advice where the declarations are wrong."""
    key = key or key_of(state.dispatcher, name)
    what = explain(state, name, key)
    assert isinstance(what, SlotExplanation)
    if name.namespace == "broken":
        assert what.advice, (name, key)
