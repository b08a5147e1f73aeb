"""Answers about registrations with conditions: what is shown, which are chosen, and what is said of it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli.extract.run import run
from tests.cli.support import call

FILE = "tests/cli/conditions.yaml"
SHOWN = "note: shown for: CUDA_VERSION >= 12000, HAS_PYTHON, not defined(USE_ROCM)"


@pytest.mark.parametrize(
    "line",
    [
        ("table", FILE, "--op", "mylib::scale"),
        ("register", FILE, "--op", "mylib::scale"),
        ("explain", "mylib::scale", "CUDA", FILE),
        ("resolve", "mylib::scale", FILE, "--tensor", "cuda"),
    ],
)
def test_an_answer_says_for_which_conditions_it_holds(line: tuple[str, ...]) -> None:
    result = call(*line)
    assert SHOWN in result.err
    assert "scale_cuda" in result.out
    chosen = call(*line, "--when", "USE_ROCM")
    assert "defined(USE_ROCM)" in chosen.err
    assert "not defined(USE_ROCM)" not in chosen.err
    assert "scale_hip" in chosen.out
    assert "scale_cuda" not in chosen.out


@pytest.mark.parametrize(
    ("choice", "when"),
    [
        ("CUDA_VERSION=11080", "not CUDA_VERSION >= 12000"),
        ("CUDA_VERSION >= 12000", "CUDA_VERSION >= 12000"),
        ("HAS_PYTHON=false", "not HAS_PYTHON"),
    ],
)
def test_names_and_atoms_are_chosen(choice: str, when: str) -> None:
    result = call("table", FILE, "--op", "mylib::scale", "--when", choice)
    assert result.code == 0
    assert when in result.err.partition("shown for: ")[2].partition(";")[0].split(", ")


SENTENCE = """\
import torch
lib = torch.library.Library("m", "DEF")
lib.define("f(Tensor x) -> Tensor")
try:
    load()
    lib.impl("f", fast, "CPU")
except (ImportError, OSError):
    lib.impl("f", slow, "CPU")
"""


def test_the_choice_that_a_note_names_leads_to_another_answer(tmp_path: Path) -> None:
    """Pasted into a shell, it is one option, also where the condition is a sentence."""
    (tmp_path / "s.py").write_text(SENTENCE, encoding="utf-8")
    for line in (("table", FILE, "--op", "mylib::scale"), ("table", str(tmp_path / "s.py"), "--op", "m::f")):
        shown = call(*line)
        note = shown.err.partition("shown for: ")[2].split("\n")[0]
        option = shlex.split(note.partition("--when ")[2])
        assert len(option) == 1, note
        other = call(*line, "--when", *option)
        assert other.code == 0
        assert other.err.partition("shown for: ")[2].partition(";")[0] != note.partition(";")[0]
    assert "is raised at " in note
    assert f"{tmp_path / 's.py'}:4" in note


def test_words_of_a_sentence_are_not_offered_as_names(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text(SENTENCE, encoding="utf-8")
    refused = call("table", str(tmp_path / "s.py"), "--when", "x=1")
    assert refused.code == 2
    assert "there are conditions on '(ImportError, OSError) is raised at line 4'\n" in refused.err


def test_findings_say_it_in_every_format() -> None:
    when = "defined(USE_ROCM) and not CUDA_VERSION >= 12000"
    for format_ in ("text", "csv", "sarif", "github"):
        out = call("check-invariants", FILE, "--format", format_, "--severity", "info").out
        assert f"(when {when})" in " ".join(out.split())
    report = json.loads(call("check-invariants", FILE, "--format", "json").out)
    assert when in [finding["when"] for finding in report["findings"]]
    assert report["conditions"]["operators"] == 1
    assert report["conditions"]["capped"] == []
    assert report["unknown_schemas"] == ["mylib::sized"]


# Files that register the same: alternatives, unless both are named.


LIBRARY = 'TORCH_LIBRARY(my, m) { m.def("f(Tensor x) -> Tensor"); }\n'
ONE = LIBRARY + 'TORCH_LIBRARY_IMPL(my, CPU, m) { m.impl("f", &f_one); }\n'
TWO = LIBRARY + 'TORCH_LIBRARY_IMPL(my, CPU, m) { m.impl("f", &f_two); }\n'
PYTHON = 'import torch\n\nlib = torch.library.Library("my", "{kind}")\nlib.define("f(Tensor x) -> Tensor")\n'
IN_ONE, IN_TWO = "one.cpp is in the build, not two.cpp", "two.cpp is in the build, not one.cpp"
Make = Callable[[dict[str, str]], None]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    monkeypatch.chdir(tmp_path)

    def write(files: dict[str, str]) -> None:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    return write


def whens(*paths: str) -> dict[str, Any]:
    """The condition of each registration with one, by its place."""
    document = run(paths or ["."]).document
    conditions: dict[str, Any] = {}
    for library in document.get("libraries", ()):
        entries = [library, *library.get("define", ()), *(e for es in library.get("impl", {}).values() for e in es)]
        conditions |= {entry["at"]: entry["when"] for entry in entries if "when" in entry}
    return conditions | {entry["at"]: entry["when"] for entry in document.get("operators", ()) if "when" in entry}


def checked(*arguments: str) -> list[str]:
    """The kinds of findings of a run of the checks that are about what files contradict each other in."""
    result = call("check-invariants", *arguments, "--format", "github", "--severity", "info", "--config", "none")
    names = ("refused-registration", "overridden-kernel", "alternative-files", "dangling-implementation")
    return [name for line in result.out.splitlines() for name in names if name in line]


def test_each_of_two_files_is_checked(make: Make) -> None:
    make({"one.cpp": ONE, "two.cpp": TWO + 'TORCH_LIBRARY_IMPL(my, CUDA, m) { m.impl("g", &g); }\n'})
    assert set(whens().values()) == {IN_ONE, IN_TWO}
    result = call("check-invariants", ".", "--config", "none", "--severity", "info")
    assert "info[alternative-files]: one.cpp and two.cpp both register the namespace my and 2 more" in result.out
    assert "my::g has kernels at CUDA, but nothing defines it (when two.cpp is in the build)" in result.out
    assert "2 operators have registrations in alternative files; 2 combinations of them checked" in result.out
    assert "refused-registration" not in result.out and "overridden-kernel" not in result.out
    for name, kernel in (("one.cpp", "f_one"), ("two.cpp", "f_two")):
        table = call("table", ".", "--op", "my::f", "--when", name)
        assert table.code == 0 and f"shown for: {name} is in the build" in table.err and kernel in table.out


def test_files_that_are_named_contradict_each_other(make: Make) -> None:
    make({"one.cpp": ONE, "two.cpp": TWO})
    assert checked(".") == ["alternative-files"]
    assert checked("one.cpp", "two.cpp") == ["refused-registration", "overridden-kernel"]


def test_a_file_is_named_with_the_next_of_its_alternatives(make: Make) -> None:
    """A pair is named for what it alone has: here, ``g`` of the first and the third file."""
    second = 'TORCH_LIBRARY_IMPL(my, CUDA, m) { m.impl("g", &g); }\n'
    make({"a.cpp": ONE + second, "b.cpp": ONE, "c.cpp": ONE + second, "d.cpp": ONE})
    result = call("check-invariants", ".", "--config", "none", "--severity", "info", "--full")
    pairs = re.findall(r"info\[alternative-files\]: (\w).cpp and (\w).cpp", result.out)
    assert pairs == [("a", "b"), ("a", "c"), ("b", "c"), ("c", "d")]


def test_only_what_contradicts_has_a_condition(make: Make) -> None:
    make(
        {
            "one.cpp": 'TORCH_LIBRARY_IMPL(my, CPU, m) { m.impl("f", &a); m.impl("g", &a); }\n',
            "two.cpp": 'TORCH_LIBRARY_IMPL(my, CPU, m) { m.impl("f", &b); m.impl("h", &b); }\n',
            "ops.cpp": 'TORCH_LIBRARY(my, m) { m.def("f(Tensor x) -> Tensor"); }\n',
        }
    )
    assert whens() == {"one.cpp:1:34": IN_ONE, "two.cpp:1:34": IN_TWO}


def test_kernels_of_an_operator_that_one_choice_defines_go_with_it(make: Make) -> None:
    more = 'TORCH_LIBRARY(my, m) { m.def("f(Tensor x) -> Tensor"); m.def("g(Tensor x) -> Tensor"); }\n'
    kernels = 'TORCH_LIBRARY_IMPL(my, CUDA, m) { m.impl("f", &f); m.impl("g", &g); }\n'
    make({"one.cpp": more, "two.cpp": LIBRARY, "cuda.cpp": kernels})
    assert {at: when for at, when in whens().items() if at.startswith("cuda")} == {"cuda.cpp:1:52": IN_ONE}
    assert checked(".") == ["alternative-files"]


def test_what_is_in_few_builds_takes_nothing_from_the_others(make: Make) -> None:
    """A second definition below ``#ifdef`` leaves the first one where the macro is not defined."""
    guarded = f"#ifdef ALONE\n{LIBRARY}#endif\n" + 'TORCH_LIBRARY_IMPL(my, CUDA, m) { m.impl("f", &f); }\n'
    make({"one.py": PYTHON.format(kind="FRAGMENT"), "two.cpp": guarded})
    assert "not defined(ALONE)" in whens()["one.py:4:1"]
    assert checked(".") == ["alternative-files"]


def test_conditions_that_exclude_each_other_say_enough(make: Make) -> None:
    make({"one.cpp": f"#ifdef A\n{ONE}#endif\n", "two.cpp": f"#ifndef A\n{TWO}#endif\n"})
    assert set(whens().values()) == {"defined(A)", "not defined(A)"}
    assert checked(".") == []


def test_more_files_than_can_be_compared_are_not_understood(make: Make) -> None:
    make({f"f{number:03}.cpp": ONE for number in range(100)})
    result = run(["."])
    assert 0 < len(result.not_understood) < 400
    assert "more than 24 files register the same" in result.not_understood[0][2]
    assert set(checked(".")) == {"alternative-files"}


@pytest.mark.parametrize(
    ("more", "is_said"),
    [
        ("", True),
        (
            "TORCH_LIBRARY_IMPL(_, AutogradPrivateUse1, m) { m.fallback(torch::CppFunction::makeFallthrough()); }\n",
            False,
        ),
        ('TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("abs", &f); }\n', False),
    ],
)
def test_a_plugin_of_another_backend(make: Make, more: str, is_said: bool) -> None:
    """The fallbacks that torch_npu registers decide what calls of vllm-ascend's operators do."""
    kernel = 'TORCH_LIBRARY_IMPL(my, PrivateUse1, m) { m.impl("f", &f); }\n'
    make({"one.cpp": 'TORCH_LIBRARY(my, m) { m.def("f(Tensor x) -> Tensor"); }\n' + kernel + more})
    for line in (("support", "one.cpp"), ("resolve", "my::f", "one.cpp", "--tensor", "privateuseone")):
        assert ("another library is the backend at PrivateUse1" in call(*line).err) is is_said
