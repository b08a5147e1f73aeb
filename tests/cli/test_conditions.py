"""Answers about registrations with conditions: what is shown, which are chosen, and what is said of it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli.extract.run import run
from tests.cli.support import call

FILE = "tests/cli/conditions.yaml"
SHOWN = "note: shown for: CUDA_VERSION >= 12000, HAS_PYTHON, not defined(USE_ROCM)"


@pytest.fixture(autouse=True)
def _in_the_project(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    monkeypatch.chdir(request.config.rootpath)


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


# Files that register the same: alternatives, unless it is known that one program loads both.


LIBRARY = 'TORCH_LIBRARY(my, m) { m.def("f(Tensor x) -> Tensor"); }\n'
ONE = LIBRARY + 'TORCH_LIBRARY_IMPL(my, CPU, m) { m.impl("f", &f_one); }\n'
TWO = LIBRARY + 'TORCH_LIBRARY_IMPL(my, CPU, m) { m.impl("f", &f_two); }\n'
PYTHON = 'import torch\n\nlib = torch.library.Library("my", "{kind}")\nlib.define("f(Tensor x) -> Tensor")\n'
IN_ONE, IN_TWO = "one.cpp is in the build, not two.cpp", "two.cpp is in the build, not one.cpp"
Make = Callable[[dict[str, str]], None]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plain_environment: None) -> Make:  # noqa: ARG001
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


def test_files_of_one_list_contradict_each_other(make: Make) -> None:
    make({"one.cpp": ONE, "two.cpp": TWO})
    assert checked(".") == ["alternative-files"]
    make({"setup.py": SETUP.replace("csrc/one.cpp", 'one.cpp", # both\n"two.cpp')})  # the cache sees it, too
    assert checked(".") == ["refused-registration", "overridden-kernel"]
    assert checked("one.cpp", "two.cpp") == ["refused-registration", "overridden-kernel"]
    make({"setup.py": SETUP.replace("csrc/one.cpp", 'one.cpp", "three.cpp')})
    assert checked(".") == ["alternative-files"]


@pytest.mark.parametrize(
    ("files", "known"),
    [
        ({"p/__init__.py": "", "p/user.py": "x = 1\n"}, False),
        ({"p/__init__.py": "from . import one, two\n"}, True),
        ({"p/__init__.py": "if x:\n    from . import one\nelse:\n    from . import two\n"}, False),
        ({"p/__init__.py": "from . import one\n"}, True),  # importing p.two runs p/__init__.py
        ({"p/__init__.py": "", "p/a.py": "from . import one\n", "p/b.py": "import p.a\nimport p.two\n"}, True),
        ({"p/__init__.py": "", "p/a.py": "from . import one\n", "p/b.py": "import p.two\n"}, False),
    ],
)
def test_modules_that_one_module_imports(files: dict[str, str], known: bool, make: Make) -> None:
    fragment = PYTHON.format(kind="FRAGMENT")
    make({"p/one.py": fragment, "p/two.py": fragment, **files})
    assert checked(".") == (["refused-registration"] if known else ["alternative-files"])


SETUP = 'setup(ext_modules=[CppExtension("p._C", ["csrc/one.cpp"])])\n'
TEMPLATE = """
this_dir = os.path.dirname(os.path.curdir)
sources = list(glob.glob(os.path.join(this_dir, library_name, "csrc", "*.cpp")))
setup(ext_modules=[extension(f"{library_name}._C", sources, extra_link_args=[])])
"""
"""The template of PyTorch (extension-cpp)."""


@pytest.mark.parametrize(
    ("setup", "package", "known"),
    [
        (SETUP, "from . import _C, two\n", True),
        (SETUP, "import p._C\nfrom p.two import f\n", True),
        (SETUP, "from ._C import f\nfrom . import two\n", True),
        (SETUP, "try:\n    from . import _C\nexcept ImportError:\n    from . import two\n", False),
        (SETUP, "from . import two\n", False),
        (SETUP, "from torch import _C\nfrom . import two\n", False),
        (SETUP.replace("p._C", "p._other"), "from . import _C, two\n", False),
        (SETUP.replace("one", "three"), "from . import _C, two\n", False),
        (SETUP.replace("]", "] if x else []"), "from . import _C, two\n", False),
        (TEMPLATE, "from . import _C, two\n", True),
        (TEMPLATE, "from . import two\n", False),
        (TEMPLATE + 'CppExtension("p._other", sources)\n', "from . import _C, two\n", False),
    ],
)
def test_an_extension_and_a_module_that_one_module_imports(setup: str, package: str, known: bool, make: Make) -> None:
    text = 'import torch\n\nlib = torch.library.Library("my", "DEF")\nlib.define("g(Tensor x) -> Tensor")\n'
    make({"csrc/one.cpp": ONE, "setup.py": setup, "p/__init__.py": package, "p/two.py": text})
    assert checked(".") == (["refused-registration"] if known else ["alternative-files"])
    if setup == TEMPLATE:  # what is built by another script is not a source of it
        make({"csrc/setup.py": ""})
        assert checked(".") == ["alternative-files"]


ASKS = 'if not hasattr(torch.ops.my, "f"):\n'


@pytest.mark.parametrize(("asks", "expected"), [(ASKS, "alternative-files"), ("if True:\n", "refused-registration")])
def test_a_definition_for_where_the_operator_is_not_there_yet(asks: str, expected: str, make: Make) -> None:
    library = 'import torch\n\nlib = torch.library.Library("my", "FRAGMENT")\n'
    text = f'{library}{asks}    lib.define("f(Tensor x) -> Tensor")\n'
    make({"csrc/one.cpp": ONE, "setup.py": SETUP, "p/__init__.py": "from . import _C, two\n", "p/two.py": text})
    assert checked(".") == [expected]


DEFINES = 'import torch\n\nlib = torch.library.Library("my", "DEF")\nlib.define("g(Tensor x) -> Tensor")\n'
IN_BODY = '    lib = torch.library.Library("my", "DEF")\n    lib.define("g(Tensor x) -> Tensor")\n'
IN_FUNCTION = f"import torch\n\ndef register():\n{IN_BODY}"
CALLED = 'if not hasattr(torch.ops.my, "g"):\n    register()\n'
ABSENT = f"import torch\n\ntry:\n    torch.ops.my.g\nexcept AttributeError:\n{IN_BODY}"


@pytest.mark.parametrize(
    ("files", "known"),
    [
        ({"p/__init__.py": "from . import _C, two\n", "p/two.py": DEFINES}, True),
        ({"p/__init__.py": "from . import _C, two\n", "p/_C.pyi": "", "p/two.py": DEFINES}, True),
        ({"p/__init__.py": "from . import _C\n", "p/_C.py": DEFINES}, False),
        ({"p/__init__.py": "from . import _C, two\n", "p/_C.py": "", "p/two.py": DEFINES}, False),
        ({"p/__init__.py": '"""Use:\n\nfrom p import _C\n"""\nfrom p import two\n', "p/two.py": DEFINES}, False),
        ({"p/__init__.py": "X = '''\nfrom p import _C\n'''\nfrom p import two\n", "p/two.py": DEFINES}, False),
        ({"p/__init__.py": 'Y = \'"""\'\nfrom p import _C, two\nZ = \'"""\'\n', "p/two.py": DEFINES}, True),
        ({"p/__init__.py": "from . import _C, two\n", "p/two.py": ABSENT}, False),
        ({"p/__init__.py": "from . import _C, two\n", "p/two.py": IN_FUNCTION}, False),
        ({"p/__init__.py": "from . import _C, two\n", "p/two.py": IN_FUNCTION + "register()\n"}, True),
        ({"p/__init__.py": "from . import _C, two\n", "p/two.py": IN_FUNCTION + CALLED}, False),
        (
            {"p/__init__.py": "from . import _C, two\nif not _C.OK:\n    two.register()\n", "p/two.py": IN_FUNCTION},
            False,
        ),
    ],
)
def test_an_extension_and_what_may_stand_in_for_it(files: dict[str, str], known: bool, make: Make) -> None:
    make({"csrc/one.cpp": ONE, "setup.py": SETUP, **files})
    assert ("refused-registration" in checked(".")) == known


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
