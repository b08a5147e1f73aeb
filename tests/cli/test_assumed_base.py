"""Sources start from the PyTorch state that their project allows, unless something names another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.support import call

BACKEND = """
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("add.Tensor", &my_add);
}
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "csrc").mkdir()
    (tmp_path / "csrc/add.cpp").write_text(BACKEND, "utf-8")
    monkeypatch.chdir(tmp_path)


def checks(*arguments: str) -> list[str]:
    answer = call("check-invariants", "csrc", "--format", "json", *arguments)
    return [finding["check"] for finding in json.loads(answer.out)["findings"]]


def test_kernels_of_pytorchs_operators_are_not_dangling() -> None:
    assert "dangling-implementation" not in checks()
    assert "dangling-implementation" in checks("--base", "none")


def test_the_project_says_which_versions() -> None:
    Path("requirements.txt").write_text("torch==2.9.1\n", "utf-8")
    answer = call("table", "csrc")
    sentence = "the newest embedded state that the project allows (requirements.txt:1:1: torch==2.9.1)"
    assert f"note: over torch-2.9, {sentence}; --base names another, or none\n" in answer.err
    Path("requirements.txt").write_text("torch==2.3\n", "utf-8")
    sentence = "the nearest embedded state to what the project requires (requirements.txt:1:1: torch==2.3)"
    assert f"note: over torch-2.4, {sentence};" in call("table", "csrc").err


def test_options_and_settings_count_more() -> None:
    Path("requirements.txt").write_text("torch==2.9.1\n", "utf-8")
    assert "note: over" not in call("table", "csrc", "--base", "torch-2.13").err
    assert "note: over torch-2.13, as --universe says" in call("table", "csrc", "--universe", "torch-2.13").err
    Path("pyproject.toml").write_text('[tool.dispatch-cli]\nbase = "torch-2.12"\n', "utf-8")
    assert "note: over torch-2.12, as pyproject.toml:2:8 says\n" in call("table", "csrc").err
    Path("pyproject.toml").write_text('[tool.dispatch-cli]\nbase = "none"\n', "utf-8")
    assert "dangling-implementation" in checks()
    Path("pyproject.toml").write_text('[tool.dispatch-cli]\nbase = "torch-9"\n', "utf-8")
    answer = call("table", "csrc")
    assert answer.code == 2 and "pyproject.toml:2:8: error[unknown-state]" in answer.err


def test_declarations_decide_alone() -> None:
    Path("a.yaml").write_text("dispatch: 1\noperators: [{func: 'a::b() -> ()'}]\n", "utf-8")
    assert "note: over" not in call("check-invariants", "a.yaml", "--fail-on", "none").err
    Path("csrc/b.yaml").write_text("dispatch: 1\nextends: [torch-2.13]\n", "utf-8")
    assert json.loads(call("table", "csrc", "--format", "json").out)["universe"] == "torch-2.13"


@pytest.mark.parametrize(
    "declaration",
    [
        "operators: [{func: 'a::b() -> ()'}]",
        "operators: [{name: aten::mul.Tensor, dispatch: {PrivateUse1: my_mul}}]",
        "changes: [{remove: {operator: aten::add.Tensor, dispatch_key: PrivateUse1}}]",
        "libraries: [{kind: IMPL, namespace: aten, dispatch_key: PrivateUse1, impl: {mul.Tensor: my_mul}}]",
    ],
)
def test_declarations_beside_sources_keep_the_state_of_the_sources(declaration: str) -> None:
    Path("a.yaml").write_text(f"dispatch: 1\n{declaration}\n", "utf-8")
    Path("csrc/setup.py").write_text("setup(name='a', install_requires=['torch==2.9.1'])\n", "utf-8")
    answer = call("check-invariants", "csrc", "a.yaml", "--format", "json", "--fail-on", "none")
    assert "note: over torch-2.9, " in answer.err
    assert "dangling-implementation" not in [finding["check"] for finding in json.loads(answer.out)["findings"]]


def test_sources_that_define_aten_are_pytorch() -> None:
    Path("csrc/def.cpp").write_text(
        'TORCH_LIBRARY(aten, m) {\n  m.def("add.Tensor(Tensor a) -> Tensor");\n}\n', "utf-8"
    )
    answer = call("table", "csrc", "--format", "json")
    assert "note: over" not in answer.err
    assert [operator["operator"] for operator in json.loads(answer.out)["operators"]] == ["aten::add.Tensor"]


def test_pytorchs_own_sources_are_checked_over_no_state() -> None:
    for folder in ("aten/src", "c10", "torch/csrc", "test"):
        Path(folder).mkdir(parents=True)
        Path(folder, "def.cpp").write_text('TORCH_LIBRARY(quantized, m) { m.def("add(Tensor x) -> Tensor"); }', "utf-8")
    Path("version.txt").write_text("2.13.0a0\n", "utf-8")
    note = "note: PyTorch's own sources are checked alone, with torch-2.{}'s keys; --base adds a state\n"
    for folder in (".", "aten", "torch/csrc"):
        assert note.format(13) in call("check-invariants", folder).err
    assert note.format(6) in call("check-invariants", "aten", "--universe", "torch-2.6").err
    for arguments in (["check-invariants", "test"], ["check-invariants", "aten", "--base", "torch-2.13"]):
        assert "checked alone" not in call(*arguments).err
    explained = call("explain", "aten::add.Tensor", "CPU", "aten")  # of which these sources define nothing
    assert explained.code == 0 and "RegisterCPU" in explained.out


@pytest.mark.parametrize(("namespace", "is_refused"), [("aten", True), ("prims", True), ("inductor", False)])
def test_pytorch_has_the_one_library_of_a_namespace(namespace: str, is_refused: bool) -> None:
    """As PyTorch 2.4, 2.13 and 2.15; in inductor it has fragments."""
    text = f'import torch\nlibrary = torch.library.Library("{namespace}", "DEF")\n'
    Path("csrc/ops.py").write_text(text, "utf-8")
    assert ("refused-registration" in checks()) == is_refused
    assert "refused-registration" not in checks("--base", "none")
    Path("csrc/ops.py").write_text(text.replace("DEF", "FRAGMENT"), "utf-8")
    assert "refused-registration" not in checks()


class TestBackendName:
    """The name that the sources give to the backend at PrivateUse1."""

    PYTHON = """
import torch
torch.utils.rename_privateuse1_backend("npu")
library = torch.library.Library("aten", "IMPL", "AutogradNPU")
library.impl("add.Tensor", add)
"""

    def test_keys_are_named_by_it(self) -> None:
        Path("csrc/backend.py").write_text(self.PYTHON, "utf-8")
        answer = call("check-invariants", "csrc", "--format", "json")
        assert "note: PrivateUse1 is npu (csrc/backend.py:3:13)\n" in answer.err
        assert json.loads(answer.out)["counts"]["error"] == 0
        table = call("table", "csrc", "--op", "aten::add.Tensor", "--key", "AutogradPrivateUse1", "--format", "csv")
        assert "csrc/backend.py:5:1" in table.out

    def test_an_option_counts_more(self) -> None:
        Path("csrc/backend.py").write_text(self.PYTHON.replace("AutogradNPU", "AutogradFOO"), "utf-8")
        assert "refused-registration" in checks()
        assert "refused-registration" not in checks("--privateuse1", "foo")

    def test_several_names_are_not_taken(self) -> None:
        Path("csrc/backend.py").write_text(self.PYTHON, "utf-8")
        Path("csrc/other.cpp").write_text('int i = (c10::register_privateuse1_backend("foo"), 0);\n', "utf-8")
        answer = call("table", "csrc")
        assert "note: PrivateUse1 has several names, " in answer.err
        assert "foo (csrc/other.cpp:1:15)" in answer.err and "npu (csrc/backend.py:3:13)" in answer.err

    def test_keys_of_several_names_are_those_that_the_backends_share(self) -> None:
        """Each build has one of the names, and PyTorch reads it there; see `tests.extract.python.test_reading`."""
        Path("csrc/backend.py").write_text(
            f"{self.PYTHON}\nif torch.foo:\n    torch.library.impl('aten::mul.Tensor', 'FOO')(mul)\n", "utf-8"
        )
        Path("csrc/other.cpp").write_text('int i = (c10::register_privateuse1_backend("foo"), 0);\n', "utf-8")
        assert "refused-registration" not in checks() + checks("--privateuse1", "npu")
        assert "csrc/backend.py:5:1" in call("table", "csrc", "--op", "aten::add.Tensor", "--format", "csv").out

    def test_an_imported_package_names_the_backend_of_its_keys(self) -> None:
        text = self.PYTHON.replace(
            'torch.utils.rename_privateuse1_backend("npu")\n', "import torch_npu\nimport torch_xla\n"
        )
        Path("csrc/backend.py").write_text(text, "utf-8")
        answer = call("check-invariants", "csrc", "--format", "json")
        assert "note: PrivateUse1 is npu (csrc/backend.py:3:1)\n" in answer.err
        assert json.loads(answer.out)["counts"]["error"] == 0
        Path("csrc/backend.py").write_text(text.replace("import torch_npu\n", ""), "utf-8")
        assert "refused-registration" in checks()

    @pytest.mark.parametrize(("package", "refused"), [("torch_tiny", False), ("tiny", True)])
    def test_an_imported_package_names_the_backend_of_a_device(self, package: str, refused: bool) -> None:
        Path("csrc/backend.py").write_text(
            f"import {package}, torch\n"
            '@torch.library.custom_op("my::f", mutates_args=(), device_types="tiny")\n'
            "def f(x: torch.Tensor) -> torch.Tensor:\n    return x.clone()\n",
            "utf-8",
        )
        assert ("refused-registration" in checks()) == refused


class TestNothingIsChecked:
    """A run that looked at no operator does not pass where the sources may register some."""

    def test_undecided(self) -> None:
        Path("csrc/add.cpp").write_text('TORCH_LIBRARY(NAME_OF_THE_BUILD(), m) {\n  m.def("f() -> ()");\n}\n', "utf-8")
        answer = call("check-invariants", "csrc")
        assert answer.code == 1
        assert answer.out.startswith("No operator was checked: ")
        assert "passed" not in answer.out
        assert call("check-invariants", "csrc", "--fail-on", "none").code == 0

    def test_nothing_there(self) -> None:
        Path("csrc/add.cpp").write_text("int x;\n", "utf-8")
        answer = call("check-invariants", "csrc")
        assert answer.code == 0
        assert answer.out.startswith("There is no operator to check (torch-")


def test_a_registration_that_asks_for_its_operator_is_not_refused() -> None:
    text = """
import torch
if hasattr(torch.ops.mylib, "f"):
    @torch.library.register_fake("mylib::f")
    def fake(x):
        return x
"""
    library = 'TORCH_LIBRARY(mylib, m) {\n  m.def("g(Tensor x) -> Tensor", &g);\n}\n'
    Path("csrc/mylib.cpp").write_text(library, "utf-8")
    Path("csrc/fake.py").write_text(text, "utf-8")
    assert "refused-registration" not in checks()
    Path("csrc/fake.py").write_text(text.replace('hasattr(torch.ops.mylib, "f")', "True"), "utf-8")
    assert "refused-registration" in checks()


def test_operators_of_a_dialect_of_native_functions_may_be_defined() -> None:
    """Names without schemas in a backend's own file: its generator may define those that PyTorch lacks."""
    Path("csrc/tiny_functions.yaml").write_text("- func: abs\n- func: abs.out\n- func: _fused_tiny\n", "utf-8")
    kernel = (
        'TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {\n  m.impl("_fused_tiny", &f);\n  m.impl("_fused_other", &f);\n}\n'
    )
    Path("csrc/add.cpp").write_text(kernel, "utf-8")
    report = json.loads(call("check-invariants", "csrc", "--format", "json").out)
    severities = {
        finding["operator"]: finding["severity"]
        for finding in report["findings"]
        if finding["check"] == "dangling-implementation"
    }
    assert severities == {"aten::_fused_tiny": "info", "aten::_fused_other": "warning"}


def test_functions_of_an_unknown_generator_are_no_definitions_of_pytorchs_operators() -> None:
    """A backend's list repeats operators of PyTorch, and may have others in a namespace that it does not name."""
    kernel = 'TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {\n  m.impl("_fused_tiny", &f);\n}\n'
    Path("csrc/add.cpp").write_text(kernel, "utf-8")
    functions = "- func: abs(Tensor self) -> Tensor\n- func: _fused_tiny(Tensor self, bool wide=false) -> Tensor\n"
    Path("csrc/tiny_functions.yaml").write_text(functions, "utf-8")
    listed = "- func: abs_(Tensor(a!) self) -> Tensor(a!)\n  dispatch:\n    PrivateUse1: abs_tiny\n"
    Path("csrc/native_functions.yaml").write_text(listed, "utf-8")
    report = json.loads(call("check-invariants", "csrc", "--format", "json").out)
    assert [(finding["check"], finding["severity"]) for finding in report["findings"]] == [
        ("dangling-implementation", "info")
    ]


@pytest.mark.parametrize(
    ("block", "more", "severity"),
    [
        ("TORCH_LIBRARY", 0, "error"),
        ("TORCH_LIBRARY_FRAGMENT", 0, "warning"),
        ("TORCH_LIBRARY_FRAGMENT", 3, "warning"),
        ("TORCH_LIBRARY_FRAGMENT", 4, "info"),
    ],
)
def test_another_library_may_define_operators_of_a_namespace_that_is_extended(
    block: str, more: int, severity: str
) -> None:
    kernels = "".join(f'm.impl("other{number}", &f); ' for number in range(more))
    Path("csrc/add.cpp").write_text(
        f'{block}(my, m) {{ m.def("add(Tensor x) -> Tensor"); }}\n'
        f'TORCH_LIBRARY_IMPL(my, CPU, m) {{ m.impl("add", &f); m.impl("lookup", &f); {kernels}}}\n',
        "utf-8",
    )
    report = json.loads(call("check-invariants", "csrc", "--format", "json", "--severity", "info").out)
    findings = [item for item in report["findings"] if item["check"] == "dangling-implementation"]
    assert {item["severity"] for item in findings} == {severity} and findings[0]["operator"] == "my::lookup"
    Path("csrc/add.cpp").write_text(
        f'{block}(my, m) {{ m.def("add(Tensor x) -> Tensor"); }}\n'
        'TORCH_LIBRARY_IMPL(my, CPU, m) { m.impl("addd", &f); }\n',
        "utf-8",
    )
    assert "dangling-implementation" in checks()


def test_a_registration_in_a_function_that_nothing_calls_is_no_error() -> None:
    define = 'import torch\nlib = torch.library.Library("my", "DEF")\nlib.define("add(Tensor x) -> Tensor")\n'
    register = 'torch.library.register_fake("my::mul")(lambda x: x)\n'
    for text, severity in ((register, "error"), (f"def later():\n    {register}", "warning")):
        Path("csrc/ops.py").write_text(define + text, "utf-8")
        report = json.loads(call("check-invariants", "csrc", "--format", "json").out)
        assert [item["severity"] for item in report["findings"] if item["check"] == "refused-registration"] == [
            severity
        ]


def test_a_fallback_for_a_backend_may_be_its_librarys() -> None:
    """A library with kernels of its own operators at PrivateUse1 alone is not the backend there."""
    own = 'TORCH_LIBRARY(my, m) { m.def("add(Tensor x) -> Tensor"); }\n'
    own += 'TORCH_LIBRARY_IMPL(my, PrivateUse1, m) { m.impl("add", &f); }\n'
    backend = 'TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("abs", &f); }\n'
    for text, severity in ((own, "info"), (own + backend, "error")):
        Path("csrc/add.cpp").write_text(text, "utf-8")
        options = ("--format", "json", "--severity", "info", "--base", "torch-2.7")
        report = json.loads(call("check-invariants", "csrc", *options).out)
        assert {item["severity"] for item in report["findings"] if item["check"] == "no-autograd-kernel"} == {severity}


def test_an_operator_of_pytorch_without_a_fake_kernel_is_pytorchs_to_repair() -> None:
    defined = 'm.def("allgather_coalesced_(Tensor x) -> Tensor", {at::Tag::pt2_compliant_tag});'
    for definition, severity in (("", "info"), (f"TORCH_LIBRARY(my, m) {{ {defined} }}\n", "warning")):
        namespace = "my" if definition else "c10d"
        kernel = f'TORCH_LIBRARY_IMPL({namespace}, CPU, m) {{ m.impl("allgather_coalesced_", &f); }}\n'
        Path("csrc/add.cpp").write_text(definition + kernel, "utf-8")
        report = json.loads(call("check-invariants", "csrc", "--format", "json", "--severity", "info").out)
        severities = {item["severity"] for item in report["findings"] if item["check"] == "no-fake-kernel"}
        assert severities == {severity}


def test_an_operator_of_another_version_is_not_dangling_for_sure() -> None:
    """PyTorch had named tensors until 2.12; the sources may be for that."""
    Path("csrc/add.cpp").write_text(BACKEND.replace("add.Tensor", "index_copy.dimname"), "utf-8")
    for options, severity, words in (((), "info", "torch-2.12 has it"), (("--base", "torch-2.15"), "warning", "")):
        report = json.loads(call("check-invariants", "csrc", "--format", "json", *options).out)
        (finding,) = (finding for finding in report["findings"] if finding["check"] == "dangling-implementation")
        assert finding["severity"] == severity and words in finding["message"]
    assert "dangling-implementation" not in checks("--base", "torch-2.12")


def test_a_second_definition_is_a_warning_in_every_combination_of_conditions() -> None:
    """Another PyTorch may lack the operator."""
    kernels = "".join(f'm.impl("{name}", &f); ' for name in ("neg", "exp", "cos"))
    block = f'#ifdef A\n{kernels}\n#else\nm.def("abs(Tensor self) -> Tensor");\n#endif\n'
    Path("csrc/add.cpp").write_text(f"TORCH_LIBRARY_FRAGMENT(aten, m) {{\n{block}}}\n", "utf-8")
    report = json.loads(call("check-invariants", "csrc", "--format", "json").out)
    (finding,) = (finding for finding in report["findings"] if finding["check"] == "refused-registration")
    assert finding["severity"] == "warning"
