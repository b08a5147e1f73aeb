"""The name of the backend at PrivateUse1, as PyTorch's ``rename_privateuse1_backend`` has it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dispatch_cli import universes
from dispatch_cli.api import load_state
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.model.calls.options import Options
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import InputError
from tests.capture.support import live_universe, torch_python
from tests.declarations.helpers import write
from tests.engine.live_cases import answers_to

UNIVERSE = universes.load("torch-2.15")
HEADS = ("", "Autograd", "Sparse", "SparseCsr", "Quantized", "NestedTensor", "Autocast")
EMPTY = OperatorName.parse("aten::empty.memory_format")


@pytest.mark.live
@pytest.mark.parametrize("name", ["my_dev", "cuda", "npu2", "vulkan"])
def test_as_in_pytorch(name: str) -> None:
    python = torch_python()
    universe = universes.from_data(live_universe(python))
    keys = [f"{head}{text}" for head in HEADS for text in (name.upper(), name, name.capitalize(), "PrivateUse1")]
    live: dict[str, Any] = answers_to("backend names")(python, [name, keys])
    try:
        renamed = universe.with_backend(name)
    except ValueError as error:
        # PyTorch takes names that no device string can have; 2.4 takes those of other devices, too
        assert live.get("refused", str(error)) == str(error)
        assert live.get("device") is None or name in universe.devices
        return
    assert (live["device"], live["unnamed"]) == (name, name)
    assert renamed.devices[name] == "PrivateUse1"
    old = live["read"][name.upper()] is None  # before 2.13 names of backends are no names of keys
    for key, meant in live["read"].items():
        ours = renamed.key_written(key)
        if not (old and ours != key):
            assert ours == (meant or key), key
    printed = [renamed.key_in_error(key) for key in ("PrivateUse1", "SparsePrivateUse1", "SparseCsrPrivateUse1")]
    assert live["errors"] == printed


def test_the_error_of_a_missing_kernel() -> None:
    state = load_state([], bases=["torch-2.15"], privateuse1="npu")
    for device, layout, printed in (
        ("npu", None, "npu"),
        ("privateuseone", None, "npu"),
        ("npu", "sparse", "Sparsenpu"),
    ):
        call = simulate(state, EMPTY, options=Options(device=device, layout=layout))
        assert call.end.error is not None
        assert f"arguments from the '{printed}' backend" in call.end.error.text


DECLARED = """\
dispatch: 1
privateuse1: npu
operators:
  - func: my::f(Tensor x) -> Tensor
    dispatch: {NPU: f_npu, AutogradNPU: f_autograd}
libraries:
  - {kind: IMPL, namespace: my, dispatch_key: SparseNPU, impl: {f: f_sparse}}
"""


def test_declarations_can_use_the_name(tmp_path: Path) -> None:
    state = load_state([write(tmp_path, DECLARED)])
    table = state.dispatcher.table(OperatorName.parse("my::f"))
    kernels = {key: table[key].kernel for key in ("PrivateUse1", "AutogradPrivateUse1", "SparsePrivateUse1")}
    assert [kernel and kernel.debug for kernel in kernels.values()] == ["f_npu", "f_autograd", "f_sparse"]
    assert state.dispatcher.universe.devices["npu"] == "PrivateUse1"


def test_a_kernel_of_the_device_type_before_the_name(tmp_path: Path) -> None:
    """``torch._C._dispatch_key_for_device("privateuseone")`` is PrivateUse1 after the backend got a name, too."""
    text = "dispatch: 1\nprivateuse1: npu\noperators:\n  - custom_op: my::f(Tensor x) -> Tensor\n    kernels:"
    state = load_state([write(tmp_path, f"{text} {{privateuseone: f_npu}}\n")])
    assert state.dispatcher.table(OperatorName.parse("my::f"))["PrivateUse1"].decision.source == "PrivateUse1"


@pytest.mark.parametrize(
    ("text", "given", "code"),
    [
        (DECLARED, "foo", "backend-name"),
        (DECLARED.replace(": npu", ": cuda"), None, "backend-name"),
        (DECLARED.replace(": npu", ": NPU"), None, "backend-name"),
        (DECLARED.replace("privateuse1: npu\n", ""), None, "unknown-dispatch-key"),
    ],
)
def test_names_that_are_refused(tmp_path: Path, text: str, given: str | None, code: str) -> None:
    with pytest.raises(InputError) as caught:
        load_state([write(tmp_path, text)], privateuse1=given)
    assert caught.value.problems[0].code == code
    assert caught.value.problems[0].span is not None


def test_an_overlay_of_an_embedded_state(tmp_path: Path) -> None:
    text = DECLARED.replace("privateuse1: npu\n", "extends: [torch-2.15]\n")
    state = load_state([write(tmp_path, text)], privateuse1="npu")
    assert state.over == ("torch-2.15",)


def test_keys_in_any_case_and_by_the_name() -> None:
    universe = UNIVERSE.with_backend("npu")
    assert UNIVERSE.with_backend("npu") is universe  # what is derived from it is found again
    for text in ("autogradnpu", "AutogradNPU", "autogradprivateuse1"):
        assert universe.key_named(text) == "AutogradPrivateUse1"
    assert UNIVERSE.key_named("npu") == "npu"
