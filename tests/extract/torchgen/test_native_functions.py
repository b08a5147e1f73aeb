"""Registrations in small torchgen files. The rules are PyTorch's; ``test_live.py`` holds them against its own files."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli.model.span import Span
from tests.extract.torchgen.support import PYTORCH, Found

GROUP = """\
- func: twice(Tensor self) -> Tensor
  structured_delegate: twice.out
- func: twice_(Tensor(a!) self) -> Tensor(a!)
  structured_delegate: twice.out
  dispatch:
    SparseCPU: twice_sparse_
- func: twice.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU, CUDA: twice_out
    SparseCPU: twice_sparse_out
"""


def test_each_key_has_its_place(tmp_path: Path) -> None:
    reading = Found(tmp_path, native_functions=PYTORCH + GROUP)
    file = str(tmp_path / "native_functions.yaml")
    assert reading.kernels["twice", "CUDA"].at == Span(file, 13, 10)
    assert reading.kernels["twice_", "SparseCPU"].at == Span(file, 9, 5)
    assert reading.kernels["twice", "Meta"].at == Span(file, 5, 3)
    assert reading.definitions["aten::twice"].at == Span(file, 4, 3)


@pytest.mark.parametrize(("backends", "keys"), [(("CPU",), set()), (("CPU", "CUDA"), {"CUDA"}), (None, {"CUDA"})])
def test_a_build_has_its_backends(tmp_path: Path, backends: tuple[str, ...] | None, keys: set[str]) -> None:
    reading = Found(tmp_path, backends, native_functions=PYTORCH + GROUP)
    assert reading.keys("twice") - {"CPU", "Meta", "CompositeExplicitAutogradNonFunctional"} == keys
    when = [str(condition) for kernel in reading.kernels.values() for condition in kernel.block.when]
    assert set(when) == ({"codegen backend CUDA"} if backends is None else set())


def test_announced_forms_are_made(tmp_path: Path) -> None:
    text = "- func: f_(Tensor(a!) self, SymInt n=2) -> Tensor(a!)\n  dispatch:\n    CPU: f_\n  autogen: f, f.out\n"
    reading = Found(tmp_path, native_functions=PYTORCH + text)
    assert reading.definitions["aten::f"].schema == "aten::f(Tensor self, SymInt n=2) -> Tensor"
    out = reading.definitions["aten::f.out"]
    assert out.schema == "aten::f.out(Tensor self, SymInt n=2, *, Tensor(a!) out) -> Tensor(a!)"
    assert out.at.line == 7
    assert set(out.tags) == {"generated", "pt2_compliant_tag", "out"}
    assert reading.keys("f") == reading.keys("f.out") == {"CompositeExplicitAutograd"}
    assert reading.keys("f_") == {"CPU", "Meta"}


def test_derivatives_decide_the_keys_of_autograd(tmp_path: Path) -> None:
    functions = PYTORCH + (
        "- func: f(Tensor self) -> Tensor\n  dispatch:\n    CPU: f\n"
        "- func: g(Tensor self) -> Tensor\n  dispatch:\n    CPU: g\n"
        "- func: g_(Tensor(a!) self) -> Tensor(a!)\n  dispatch:\n    CPU: g_\n  autogen: g.out\n"
        "- func: h(Tensor self) -> Tensor\n"
        "- func: detach(Tensor(a) self) -> Tensor(a)\n  dispatch:\n    CPU: detach\n"
    )
    derivatives = (
        "- name: f(Tensor self) -> Tensor\n  self: grad\n"
        "- name: g(Tensor self) -> Tensor\n  dispatch:\n    Default:\n      self: grad\n"
        "    AutogradNestedTensor:\n      self: grad * 2\n"
    )
    reading = Found(tmp_path, native_functions=functions, derivatives=derivatives)
    assert reading.keys("f") == {"CPU", "Tracer", "Autograd"}
    assert reading.keys("g") == {"CPU", "Tracer", "Autograd", "AutogradNestedTensor"}
    assert reading.keys("g_") == {
        *("CPU", "Meta", "Tracer", "Autograd", "AutogradNestedTensor", "ADInplaceOrView", "Functionalize")
    }
    assert reading.keys("g.out") == {
        "CompositeExplicitAutograd",
        "Tracer",
        "Autograd",
        "ADInplaceOrView",
        "Functionalize",
    }
    assert reading.keys("h") == {"CompositeImplicitAutograd", "Tracer"}
    assert reading.keys("detach") == {"CPU", "Functionalize"}
    assert reading.kernels["g_", "AutogradNestedTensor"].at == Span(str(tmp_path / "derivatives.yaml"), 7, 5)
    assert reading.said == []


def test_factories_have_a_kernel_at_backend_select(tmp_path: Path) -> None:
    options = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
    names = ("make", "make_like", "new_make")
    text = "".join(
        f"- func: {name}(int n, *, {options}) -> Tensor\n  dispatch:\n    CompositeExplicitAutograd: x\n"
        for name in names
    )
    reading = Found(tmp_path, native_functions=PYTORCH + text)
    assert [name for name in names if "BackendSelect" in reading.keys(name)] == ["make"]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("- func: f(Tensor x\n", 1, "schema"),
        ("- func: f(Tensor x) -> Tensor\n  dispatch:\n    PrivateUse1: g\n", 3, "PrivateUse1"),
        ("- func: f(Tensor x) -> Tensor\n  kernels: [g]\n", 2, "kernels"),
        ("- func: f(Tensor x) -> Tensor\n  structured_delegate: f.out\n", 2, "f.out"),
        ("- func: f(Tensor x) -> Tensor\n- func: f(Tensor x) -> Tensor\n", 2, "twice"),
        ("- func: f(Tensor x) -> Tensor\n- just text\n", 2, "mapping"),
        ("- func: f(Tensor x) -> Tensor\n  structured: maybe\n", 2, "true or false"),
        ("- func: f(Tensor x) -> Tensor\n dispatch: [\n", 2, ""),
        ("- func: a::b::f(Tensor x) -> Tensor\n", 1, "namespace"),
        ("- func: f\n- func: g\n  dispatch:\n    PrivateUse1: h\n", 1, "1 more"),
        ("text\n", 1, "list"),
        ("", 1, "empty"),
    ],
)
def test_what_is_wrong_has_a_place(tmp_path: Path, text: str, line: int, words: str) -> None:
    (where, why), *_ = Found(tmp_path, native_functions=text).said
    assert where == line
    assert words in why


def test_a_file_alone_says_what_is_missing(tmp_path: Path) -> None:
    assert "derivatives.yaml" in Found(tmp_path, native_functions=PYTORCH).said[0][1]
    alone = Found(tmp_path, derivatives="- name: f(Tensor self) -> Tensor\n  self: grad\n")
    assert "native_functions.yaml" in alone.said[0][1]


def test_a_derivative_of_nothing_has_a_place(tmp_path: Path) -> None:
    derivatives = "# text\n- name: nothing(Tensor self) -> Tensor\n  self: grad\n"
    assert Found(tmp_path, native_functions=PYTORCH, derivatives=derivatives).said[0][0] == 2


def test_a_namespace_of_ones_own_is_defined(tmp_path: Path) -> None:
    text = "- func: mine::f(Tensor x) -> Tensor\n  dispatch:\n    CPU: mine::f_cpu\n    CUDA: mine::f_cuda\n"
    reading = Found(tmp_path, native_functions=text)
    assert list(reading.definitions) == ["mine::f"]
    assert reading.keys("f") == {"CPU", "CUDA"}


def test_a_backend_outside_pytorch_repeats_its_operators(tmp_path: Path) -> None:
    text = GROUP.replace("CPU, CUDA", "XPU").replace("SparseCPU", "SparseXPU") + "- func: h(Tensor x) -> Tensor\n"
    reading = Found(tmp_path, ("CPU", "XPU"), native_functions=text)
    assert reading.definitions == {}
    assert reading.keys("twice") == {"XPU"}
    assert reading.keys("twice_") == {"XPU", "SparseXPU"}
    assert reading.keys("h") == set()


def test_there_may_be_more_returns_than_letters(tmp_path: Path) -> None:
    text = f"- func: f(Tensor x) -> ({', '.join(['Tensor'] * 40)})\n  dispatch:\n    CPU: f\n  autogen: f.out\n"
    assert "aten::f.out" in Found(tmp_path, native_functions=PYTORCH + text).definitions


def test_a_backend_that_torchgen_does_not_have_is_refused(tmp_path: Path) -> None:
    (problem,) = Found(tmp_path, ("cpu", "CUDAA"), native_functions=GROUP).extraction.problems
    assert problem.message == "torchgen has no code for a backend CUDAA"
    assert problem.hint == "did you mean CUDA?"


def test_what_the_build_would_decide_is_counted(tmp_path: Path) -> None:
    assert Found(tmp_path, native_functions=GROUP).extraction.missing == (("CUDA", 3),)
    assert Found(tmp_path, ("CPU",), native_functions=GROUP).extraction.missing == ()


# The kind of torchgen's YAML files that a text is.
