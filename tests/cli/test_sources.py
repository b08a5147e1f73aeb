"""Sources and directories where a command takes files, and the command that writes what they register."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from dispatch_cli.cli import source_reading
from dispatch_cli.declarations import source
from tests.cli.support import call

CPP = """// registrations
TORCH_LIBRARY(my, m) {
  m.def("f(Tensor x) -> Tensor");
  m.def("g(Tensor x) -> Tensor", &g);
}
TORCH_LIBRARY_IMPL(my, CPU, m) { m.impl("f", &f_cpu); }
#ifdef WITH_CUDA
TORCH_LIBRARY_IMPL(my, CUDA, m) { m.impl("f", &f_cuda); }
#endif
"""
PYTHON = """import torch


@torch.library.impl("my::f", "XLA")
def f_xla(x):
    return x
"""
UNKNOWN = """TORCH_LIBRARY_FRAGMENT(my, m) {
  m.def("h(Tensor x) -> Tensor")->annotate(x);
}
"""
UNDECIDED = """TORCH_LIBRARY_FRAGMENT(my, m) {
  m.impl("f", key_of_machine(), &h);
}
"""


@pytest.fixture(autouse=True)
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "f.cpp").write_text(CPP)
    (tmp_path / "src" / "f.py").write_text(PYTHON)
    return tmp_path


COMMANDS = (
    ("register",),
    ("table",),
    ("table", "--op", "my::f"),
    ("resolve", "my::f"),
    ("explain", "my::f", "CPU"),
    ("check-invariants", "--fail-on", "none"),
    ("guards",),
)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_sources(command: tuple[str, ...]) -> None:
    tensors = ("--tensor", "cpu") if command[0] == "resolve" else ()
    result = call(*command, "src", *tensors, "--format", "json")
    assert result.code == 0, result.err
    if command[0] not in ("guards", "check-invariants"):
        assert "f_cpu" in result.out and "src/f.cpp" in result.out
    note = "note: 1 C++ file, 1 Python file: 2 definitions, 4 registrations\n"
    assert result.err.startswith(note)


def test_what_is_extracted_and_what_is_read_from_it_are_the_same(tree: Path) -> None:
    assert call("extract", "src", "-o", "all.yaml").code == 0
    assert call("extract", "src", "-o", "all.json", "--format", "json").code == 0
    data = yaml.safe_load((tree / "all.yaml").read_text())
    assert json.loads((tree / "all.json").read_text()) == data
    for command in COMMANDS[:3]:
        for format_ in ("text", "json", "csv"):
            files = ("src", "all.yaml", "all.json")
            answers = {call(*command, file, "--base", "none", "--format", format_).out for file in files}
            assert len(answers) == 1, (command, format_)


def test_the_summary() -> None:
    Path("src/unknown.cpp").write_text(UNKNOWN)
    Path("src/undecided.cpp").write_text(UNDECIDED)
    Path("src/third_party").mkdir()
    Path("src/gen.cpp").write_text("")
    Path("src/.gitignore").write_text("gen.cpp\n")
    Path("src/ours.yaml").write_text("dispatch: 1\noperators: []\n")
    result = call("extract", "src")
    assert result.code == 0
    assert yaml.safe_load(result.out)["dispatch"] == 1
    lines = result.err.splitlines()
    assert lines[0] == "read: 3 C++ files, 1 Python file, 1 declaration file"
    assert lines[1].startswith("found: 6 blocks, 3 definitions, 5 registrations (1 conditional)")
    assert lines[2] == "not understood: 1 statement"
    assert lines[3].startswith("  src/unknown.cpp:2:33: ->annotate(x)")
    assert lines[5:7] == [
        "undecided: 1 definition or registration",
        "  src/undecided.cpp:2:3: the dispatch key is key_of_machine()",
    ]
    assert "left out: src/gen.cpp (.gitignore)" in lines
    assert "left out: src/third_party/ (others' code)" in lines
    assert "not written: src/ours.yaml: load them beside what is extracted" in lines


def test_a_block_that_does_not_end_is_shown_as_it_is_written() -> None:
    Path("src/f.cpp").write_text(CPP[: CPP.index("}\n")])
    lines = call("extract", "src/f.cpp").err.splitlines()
    assert lines[3:5] == [
        "  src/f.cpp:2:1: TORCH_LIBRARY(my, m)",
        "      the braces of this block are missing or do not match",
    ]


def test_names_that_stand_in_are_named() -> None:
    for name in ("a", "b"):
        Path(name).mkdir()
        Path(name, "setup.py").write_text("")
        Path(name, "x.cpp").write_text('TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) { m.def("f() -> ()"); }\n')
    what = "for TORCH_EXTENSION_NAME; -D TORCH_EXTENSION_NAME=NAME sets it"
    assert f"\nstand-in: a, b stand {what}\n" in call("extract", "a", "b").err
    assert f"note: a stands {what}\n" in call("table", "a").err
    defined = call("table", "a", "-D", "TORCH_EXTENSION_NAME=_C")
    assert "stand" not in defined.err and "_C::f" in defined.out


def test_strict() -> None:
    assert call("extract", "src", "--strict").code == 0
    checks = ("check-invariants", "src", "--fail-on", "none", "--strict")
    assert call(*checks).code == 0
    Path("src/unknown.cpp").write_text(UNKNOWN)
    assert call("extract", "src").code == 0
    assert call("extract", "src", "--strict").code == 1
    assert "note: 1 statement not understood: `dispatch-cli extract src` lists all\n" in call("table", "src").err
    strict = call(*checks)
    assert strict.code == 1 and strict.out == call(*checks[:-1]).out


NOT_PYTHON = """import torch


@torch.library.custom_op("my::b", mutates_args=())
def b(x: torch.Tensor -> torch.Tensor:
    return x
"""


def test_files_that_cannot_be_read_are_findings(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree / "src" / "bad.py").write_text(NOT_PYTHON)
    (tree / "src" / "x.yaml").write_text("dispatch: 1\noperators:\n\t- my::c\n")
    (tree / "src" / "closed.cpp").write_text(CPP)
    (tree / "src" / "closed.yaml").write_text("dispatch: 1\n")  # a file of YAML that may be about anything
    read = source.read_plain

    def read_but_closed(name: str, *rest: Any) -> bytes:
        if "closed" in name:
            raise source.SourceError("unreadable-file", f"{name} cannot be read: permission denied")
        return read(name, *rest)

    monkeypatch.setattr("dispatch_cli.declarations.source.read_plain", read_but_closed)
    monkeypatch.setattr("dispatch_cli.declarations.source.read_start", read_but_closed)
    places = ["src/bad.py:5:1", "src/closed.cpp:1:1", "src/x.yaml:3:1"]
    result = call("check-invariants", "src", "--select", "unread-sources")
    assert result.code == 1
    findings = [line.partition(": ") for line in result.out.splitlines() if "warning[unread-sources]" in line]
    assert [place for place, _, _ in findings] == places
    assert "bad.py could not be read: it is not valid Python" in findings[0][2]
    assert "closed.cpp could not be read: permission denied" in findings[1][2]
    assert "x.yaml could not be read: a tab cannot indent YAML" in findings[2][2]
    data = json.loads(call("check-invariants", "src", "--format", "json").out)
    assert data["unread_files"] == 3 and data["counts"]["warning"] == 3
    assert call("check-invariants", "src", "--format", "github").out.count("::warning file=src/") == 3
    accepted = call("check-invariants", "src", "--ignore", "unread-sources")
    assert accepted.code == 0
    assert (
        "All checks passed but for 4 infos (--severity info shows all), and 3 files could not be read" in accepted.out
    )
    selected = call("check-invariants", "src", "--select", "DC101")
    assert selected.code == 0
    assert "All checks passed, but 3 files could not be read: 2 operators, 1 check" in selected.out
    (tree / "e.yaml").write_text(call("extract", "src").out)
    again = call("check-invariants", "e.yaml", "--select", "unread-sources")
    assert again.code == 1 and all(f"{place}: warning" in again.out for place in places)


@pytest.mark.parametrize(
    "text",
    [
        'from Tkinter import *\nprint "f"\nscreen.define("my::f")\n',  # Python 2, and nothing of PyTorch
        "import torch\nprint torch.zeros(2)\n",  # nothing that registers
        'import torch\n@torch.library.custom_op("{{ name }}", mutates_args=())\ndef {{ name }}(x): ...\n',
    ],
)
def test_broken_python_that_registers_nothing_is_no_finding(tree: Path, text: str) -> None:
    (tree / "src" / "other.py").write_text(text)
    result = call("check-invariants", "src")
    assert result.code == 0 and "All checks passed" in result.out and "could not be read" not in result.out


def test_what_is_undecided_makes_a_strict_run_fail() -> None:
    Path("src/undecided.cpp").write_text(UNDECIDED)
    result = call("check-invariants", "src", "--strict")
    assert result.code == 1 and "note: 1 undecided: `dispatch-cli extract src` lists all\n" in result.err


def test_findings_are_at_lines_of_sources() -> None:
    Path("src/f.py").write_text(PYTHON.replace("my::f", "my::nosuch"))
    for format_, place in (("text", "src/f.py:4:26: error"), ("github", "file=src/f.py,line=4")):
        result = call("check-invariants", "src", "--format", format_, "--fail-on", "info")
        assert result.code == 1
        assert place in result.out
    text = call("check-invariants", "src").out
    assert '@torch.library.impl("my::nosuch", "XLA")' in text


def test_settings_of_the_project(
    tree: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "pyproject.toml").write_text(
        '[tool.dispatch-cli.extract]\nexclude = ["*.py"]\n\n'
        '[[tool.dispatch-cli.extract.files]]\nglob = "src/*.cpp"\ndefine = ["WITH_CUDA"]\nwhen = ["defined(USE_MY)"]\n'
    )
    result = call("extract", str(tree / "src" / "f.cpp"))
    assert "found: 3 blocks, 2 definitions, 3 registrations (5 conditional)" in result.err
    assert "defined(USE_MY)" in result.out
    assert "left out: src/f.py (excluded)" in call("extract", "src").err
    checks = ("check-invariants", "src", "--fail-on", "none")
    assert "2 definitions, 3 registrations\n" in call(*checks).err
    assert "2 definitions, 4 registrations\n" in call(*checks, "--config", "none").err
    assert "2 registrations" in call("extract", "src/f.cpp", "-U", "WITH_CUDA").err
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert "2 definitions, 3 registrations\n" in call("check-invariants", str(tree / "src"), "--fail-on", "none").err


BROKEN = (
    ('define = ["1X"]', "bad-value", 2),
    ("define = 5", "wrong-type", 2),
    ('set = ["x"]', "bad-value", 2),
    ('nosuch = "x"', "unknown-field", 2),
    ('include = ["../.."]', "outside-project", 2),
    ('files = ["x"]', "wrong-type", 2),
    ('\n[[tool.dispatch-cli.extract.files]]\nglob = "*"\nwhen = ["(a"]', "bad-value", 5),
    ('\n[[tool.dispatch-cli.extract.files]]\ndefine = ["A"]', "missing-field", 4),
)


@pytest.mark.parametrize(("text", "code", "line"), BROKEN)
def test_mistakes_in_the_settings_have_a_place(text: str, code: str, line: int, tree: Path) -> None:
    (tree / "pyproject.toml").write_text(f"[tool.dispatch-cli.extract]\n{text}\n")
    result = call("table", "src")
    assert result.code == 2
    assert result.err.startswith(f"pyproject.toml:{line}:") and f"error[{code}]" in result.err, result.err


@pytest.mark.parametrize("name", ["nosuch", "src/nosuch.cpp", "binary.cpp", "notes.txt"])
def test_bad_input(name: str, tree: Path) -> None:
    (tree / "binary.cpp").write_bytes(b"\0\1")
    (tree / "notes.txt").write_text("nothing\n")
    result = call("check-invariants", "src", name, "--format", "json")
    assert result.code == 2
    assert json.loads(result.out)["report"] == "problems"
    assert name in result.err


@pytest.mark.parametrize(
    ("name", "text", "answer"),
    [
        ("a.yaml", "dispatch: 1\n", False),
        ("a.yaml", "key: value\n", False),
        ("a.yaml", "- func: f() -> ()\n", True),
        ("a.py", "", True),
        ("a.cu", "", True),
        ("a.txt", "TORCH_LIBRARY(a, m) {}\n", False),
        ("a.txt", "- func: f() -> ()\n", True),
    ],
)
def test_which_files_are_sources(name: str, text: str, answer: bool) -> None:
    Path(name).write_text(text)
    assert source_reading.is_source(name) is answer
    assert source_reading.is_source(".") and not source_reading.is_source("-")
    assert not source_reading.is_source("nosuch.yaml")


def test_what_extract_writes_can_be_written_again_and_is_no_source(tree: Path) -> None:
    for _ in range(2):
        assert call("extract", ".", "-o", "dispatch.yaml").code == 0
    written = (tree / "dispatch.yaml").read_text()
    assert written.count("func:") == 2
    answer = call("register", ".")
    assert answer.code == 0 and "dispatch.yaml (written by extract)" in answer.err
    assert answer.out == call("register", "src").out
    refused = call("extract", ".", "dispatch.yaml", "-o", "dispatch.yaml")
    assert refused.code == 2 and "it is an input of this command" in refused.err


def test_no_note_says_that_the_folder_of_git_is_left_out() -> None:
    Path("src/.git").mkdir()
    assert "left out" not in call("register", "src").err
    assert "left out: src/.git/ (of a tool)" in call("extract", "src").err


def test_tests_are_read_where_the_project_says_so() -> None:
    Path("src/tests").mkdir()
    Path("src/tests/t.cpp").write_text('TORCH_LIBRARY(mock, m) { m.def("t(Tensor x) -> Tensor", &t); }\n')
    result = call("register", "src")
    assert "mock" not in result.out
    assert "src/tests/ (tests, benchmarks and examples" in result.err
    assert call("resolve", "mock::t", "src").code == 2
    Path("pyproject.toml").write_text("[tool.dispatch-cli.extract]\ntests = true\n")
    assert "mock::t" in call("register", "src").out
    Path("pyproject.toml").write_text("[tool.dispatch-cli.extract]\ntests = 1\n")
    refused = call("register", "src")
    assert refused.code == 2 and "pyproject.toml:2:9: error[wrong-type]: expected true or false" in refused.err


def _pasted(text: str, before: str) -> tuple[str, ...]:
    """The arguments of the command line that stands in backquotes before some words."""
    program, *arguments = shlex.split(text.split(before)[0].rpartition("`")[2])
    assert program == "dispatch-cli"
    return tuple(arguments)


def test_command_lines_in_notes_can_be_pasted() -> None:
    Path("my src").mkdir()
    Path("my src/a.cpp").write_text(CPP + UNKNOWN + "TORCH_LIBRARY(my, m) {}\n")
    for command in (("table", "my src"), ("explain", "my::f", "CPU", "my src")):
        notes = call(*command, "-D", "WITH_CUDA", "--base", "torch-2.13").err
        extract = _pasted(notes, "` lists all")
        assert extract == ("extract", "my src", "-D", "WITH_CUDA")
        assert "  my src/a.cpp:11:33: ->annotate(x)\n" in call(*extract).err
        why = _pasted(notes, "` says why")
        assert why[:2] == ("check-invariants", "my src")
        assert "error[refused-registration]: PyTorch refuses this registration" in call(*why).out


def test_a_refusal_that_the_sources_expect_is_not_noted() -> None:
    define = 'torch.library.define("aten::mm", "(Tensor x) -> Tensor")\n'
    Path("src/f.py").write_text(f"import torch\n\n{define}")
    assert "note: PyTorch refuses 1 registration" in call("table", "src").err
    Path("src/f.py").write_text(f"import torch\n\ntry:\n    {define}except RuntimeError:\n    pass\n")
    assert "note: PyTorch refuses" not in call("table", "src").err


def test_an_option_that_was_given_is_not_suggested() -> None:
    Path("src/g.cpp").write_text('#ifdef A\nTORCH_LIBRARY_IMPL(my, XPU, m) { m.impl("f", &f_xpu); }\n#endif\n')
    checks = ("check-invariants", "src", "--fail-on", "none")
    seen = list[str]()
    while "; --when " in (result := call(*checks, *seen).out):
        option = result.split("; --when ")[1].split(",")[0]
        assert option not in seen
        seen += ["--when", option]
    assert sorted(seen[1::2]) == ["A=undefined", "WITH_CUDA=undefined"]


@pytest.mark.parametrize("text", ['TORCH_LIBRARY(a, m) { m.def("x() -> ()"); }', '"""x."""\nimport torch\n'])
def test_standard_input_is_no_source(text: str) -> None:
    result = call("table", "-", stdin=text.encode())
    assert result.code == 2 and "for C++ and Python, name the files" in result.err


@pytest.mark.parametrize(
    ("name", "text", "note"),
    [
        ("a.cpp", 'PYBIND11_MODULE(a, m) { m.def("f", &f); }', "1 C++ file: no registration with the dispatcher"),
        ("readme.txt", "", "no sources: nothing to read there"),
    ],
)
def test_a_folder_that_registers_nothing(name: str, text: str, note: str, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / name).write_text(text, encoding="utf-8")
    assert f"note: {note}" in call("check-invariants", str(tmp_path / "plain")).err


UNKNOWN_KEY = """\
import torch
from somewhere import platform

lib = torch.library.Library("my", "DEF")
lib.define("f(Tensor x) -> Tensor")
lib.impl("f", lambda x: x, platform.key)
"""


@pytest.mark.parametrize(
    "arguments",
    [("resolve", "my::f", "f.py", "--tensor", "cpu"), ("explain", "my::f", "CPU", "f.py"), ("support", "f.py"),
     ("explain", "--from-error", "error.txt", "f.py"), ("table", "f.py")],
)  # fmt: skip
def test_a_kernel_at_an_unknown_key_is_not_said_to_be_missing(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.py").write_text(UNKNOWN_KEY, encoding="utf-8")
    error = "NotImplementedError: Could not run 'my::f' with arguments from the 'CPU' backend.\n"
    (tmp_path / "error.txt").write_text(error, encoding="utf-8")
    left_out = "Left out: a kernel for my::f, of which not all is known (f.py:6:1: the dispatch key is platform.key)"
    for form in ("text", "html"):
        answer = call(*arguments, "--format", form)
        assert answer.out.count(f"{left_out}; what seems to be missing may be there: ") == 1
        assert left_out not in answer.err
    place = {"file": "f.py", "line": 6, "column": 1}
    kernel = {"operator": "my::f", "declared_at": place, "unknown": [["dispatch_key", "platform.key"]]}
    assert json.loads(call(*arguments, "--format", "json").out)["undecided_kernels"] == [kernel]
    assert "Left out" not in call(*arguments, "--set", "platform.key=CPU").out


@pytest.mark.parametrize("form", ["csv", "svg", "raw"])
def test_standard_error_has_what_a_format_cannot_say(form: str, tmp_path: Path) -> None:
    file = tmp_path / "f.py"
    file.write_text(UNKNOWN_KEY, encoding="utf-8")
    result = call("table", str(file), "--format", form)
    assert "Left out: a kernel for my::f" in result.err and "Left out" not in result.out


def test_a_block_that_holds_what_it_cannot_is_refused_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.cpp").write_text(
        'TORCH_LIBRARY_IMPL(my, CPU, m) { m.def("f(Tensor x) -> Tensor"); }\n'
        "TORCH_LIBRARY_IMPL(my, CPU, m) { m.fallback(torch::CppFunction::makeFallthrough()); }\n"
    )
    out = call("check-invariants", "a.cpp", "--config", "none").out
    assert (out.count("error["), 'def("my::f")' in out, "fallback(...): Fallback functions" in out) == (2, True, True)


def test_a_key_by_the_name_of_the_backend_is_suggested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    renamed = 'import torch\ntorch.utils.rename_privateuse1_backend("npu")\n'
    library = 'lib = torch.library.Library("my", "DEF")\nlib.define("f(Tensor x) -> Tensor")\n'
    (tmp_path / "a.py").write_text(f'{renamed}{library}lib.impl("f", f, "Autogradnpu")\n')
    out = call("check-invariants", "a.py", "--config", "none").out
    assert "did you mean AutogradNPU or AutogradPrivateUse1?" in out


@pytest.mark.parametrize(
    ("condition", "word"),
    [
        ("platform.ready", "platform.ready=VALUE"),
        ('hasattr(platform, "f")', "\"hasattr(platform, 'f')\"=VALUE"),
        ("platform.f(x)", "'platform.f(x)'=VALUE"),
        (f"platform.{'f' * 80}", f"platform.{'f' * 80}=VALUE"),
    ],
)
def test_what_would_decide_more_can_be_pasted_into_a_shell(condition: str, word: str, tmp_path: Path) -> None:
    file = tmp_path / "f.py"
    text = UNKNOWN_KEY.replace("platform.key", '"CPU"')
    file.write_text(f"{text}if {condition}:\n    lib.define('g(Tensor x) -> Tensor')\n", encoding="utf-8")
    assert f"would decide more: --set {word}\n" in call("extract", str(file)).err
    name = shlex.split(word)[0].removesuffix("VALUE")
    assert "would decide more" not in call("extract", str(file), "--set", f"{name}1").err


def test_kernels_of_a_dialect_of_torchgen_may_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A backend's generator makes kernels of its own list: an answer does not call them missing."""
    monkeypatch.chdir(tmp_path)
    entries = "- func: {}\n  dispatch:\n    PrivateUse1: Mine\n"
    text = "".join(map(entries.format, ("amax.out", "my_fused")))
    (tmp_path / "my_functions.yaml").write_text(text)
    out = call("explain", "aten::amax.out", "PrivateUse1", ".").out
    assert "Left out: a kernel for aten::amax.out" in out and "my_functions.yaml:1:3" in out
    undecided = yaml.safe_load(call("extract", ".").out)["undecided"]
    assert [entry["registers"] for entry in undecided] == ["kernel", "block", "definition"]
