"""The YAML of backends outside PyTorch: what small files register, and what is said of those that torchgen refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli.model.span import Span
from tests.ends import ends
from tests.extract.torchgen.support import PYTORCH, Found

FUNCTIONS = PYTORCH + (
    "- func: f(Tensor self) -> Tensor\n  dispatch:\n    CPU: f\n"
    "- func: f_(Tensor(a!) self) -> Tensor(a!)\n  dispatch:\n    CPU: f_\n"
    "- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  dispatch:\n    CPU: f_out\n"
    "- func: g(Tensor self) -> Tensor\n"
)
HEAD = "backend: XLA\ncpp_namespace: mine\n"


def found(folder: Path, text: str, functions: str | None = FUNCTIONS) -> Found:
    return Found(folder, ("CPU",), native_functions=functions, backend_yaml=text, derivatives="[]\n")


def said(folder: Path, text: str, functions: str | None = FUNCTIONS) -> list[tuple[int, str]]:
    return found(folder, text, functions).said


def test_in_place_and_out_forms_are_registered_with_the_functional_one(tmp_path: Path) -> None:
    here = found(tmp_path, HEAD + "supported:\n  - f\nsymint:\n- f\nautograd:\n- g\n")
    kernels = {pair: kernel for pair, kernel in here.kernels.items() if "XLA" in pair[1]}
    assert set(kernels) == {("f", "XLA"), ("f_", "XLA"), ("f.out", "XLA"), ("g", "AutogradXLA")}
    assert kernels["f", "XLA"].kernel == "mine::XLANativeFunctions::f_symint"
    assert {one.at for pair, one in kernels.items() if pair[1] == "XLA"} == {Span(str(tmp_path / "backend.yaml"), 4, 5)}
    assert not any(kernel.when or kernel.block.when for kernel in kernels.values())


def test_forms_stay_away_where_the_out_form_is_primary(tmp_path: Path) -> None:
    here = found(tmp_path, HEAD + "class_name: Mine\nuse_out_as_primary: true\nfull_codegen:\n  - f.out\n")
    assert {pair for pair in here.kernels if pair[1] == "XLA"} == {("f.out", "XLA")}
    assert here.kernels["f.out", "XLA"].kernel == "mine::Mine::f_out"


def test_without_the_operators_of_pytorch_the_forms_are_unknown(tmp_path: Path) -> None:
    here = Found(tmp_path, backend_yaml=HEAD + "supported:\n  - f\n")
    assert set(here.kernels) == {("f", "XLA")}
    ((line, why),) = here.said
    assert (line, "native_functions.yaml" in why) == (1, True)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("cpp_namespace: mine\nsupported: [f]\n", 1, "backend:"),
        ("backend: XLA\nsupported: [f]\n", 1, "cpp_namespace:"),
        ("backend:\ncpp_namespace: mine\nsupported: [f]\n", 1, "backend:"),
        (HEAD + "supported: f\n", 3, "list"),
        (HEAD + "supported:\n- f\n- h\n", 5, "no operator h"),
        (HEAD + "supported:\n- 7\n", 4, "names"),
        (HEAD + "supported:\n- func: f\n", 4, "a mapping"),
        (HEAD + "autograd:\n", 3, "list"),
        (HEAD + "use_out_as_primary: 1\n", 3, "true or false"),
        (HEAD + "supported: [f]\nautograd: [f_]\n", 4, "supported:"),
        (HEAD + "custom:\n- func: mine(Tensor x) -> Tensor\n", 3, "custom"),
        (HEAD + "extra_headers: x\n", 3, "extra_headers"),
        ("backend: NPU\ncpp_namespace: mine\nsupported: [f]\n", 1, "NPU"),
        ("backend: CPU\ncpp_namespace: mine\nsupported: [f]\n", 1, "CPU"),
        ("backend: Vulkan\ncpp_namespace: mine\nautograd: [g]\n", 1, "AutogradVulkan"),
        (HEAD + "supported: [f\n", 3, ""),
        (HEAD + "<<<<<<< HEAD\n", 3, "merge conflict"),
    ],
)
def test_what_torchgen_refuses_has_a_place(tmp_path: Path, text: str, line: int, words: str) -> None:
    (where, why), *_ = said(tmp_path, text)
    assert where == line
    assert words in why


@pytest.mark.parametrize(
    "text", [HEAD, HEAD + "supported:\n", HEAD + "symint: ~\nir_gen: 3\n", HEAD + "supported: []\n"]
)
def test_what_torchgen_takes_is_not_refused(tmp_path: Path, text: str) -> None:
    assert said(tmp_path, text) == []


def test_other_dialects_are_named_field_by_field(tmp_path: Path) -> None:
    text = HEAD + "supported:\n- f\ncustom:\n- func: m(Tensor x) -> Tensor\ncustom_autograd:\n- func: n() -> ()\n"
    here = found(tmp_path, text)
    assert [line for line, _ in said(tmp_path, text)] == [5, 7]
    assert ("f", "XLA") in here.kernels


def test_many_unknown_operators_take_no_time(tmp_path: Path) -> None:
    functions = FUNCTIONS + "".join(f"- func: function_{number}(Tensor x) -> Tensor\n" for number in range(1000))
    text = HEAD + "supported:\n" + "".join(f"- functoin_{number}\n" for number in range(20_000))
    with ends():
        assert len(said(tmp_path, text, functions)) == 20_000
