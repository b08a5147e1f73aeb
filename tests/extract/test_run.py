"""Results of a run over sources, with the settings of a project and of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli.extract.run import run
from dispatch_cli.extract.sources import ReadSettings, settings_of_files
from dispatch_cli.model.conditions.condition import Atom
from dispatch_cli.model.problem import InputError
from dispatch_cli.model.sources.extracted import SourceKind
from dispatch_cli.model.sources.source_settings import FileSettings, SourceSettings

CPP = """#include "keys.h"
TORCH_LIBRARY(my, m) {
  m.def("f(Tensor x) -> Tensor");
}
#ifdef WITH_META
TORCH_LIBRARY_IMPL(my, Meta, m) { m.impl("f", &f); }
#endif
TORCH_LIBRARY_IMPL(my, KEY, m) { m.impl("f", &f); }
"""
PYTHON = 'import torch\n\n\n@torch.library.impl("my::f", "CUDA")\ndef f(x):\n    return x\n'


@pytest.fixture(autouse=True)
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {"src/f.cpp": CPP, "src/g.py": PYTHON, "inc/keys.h": "#define KEY CPU\n"}.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


INCLUDED = SourceSettings(include=("inc",))


def test_what_a_run_finds() -> None:
    result = run(["src"], (INCLUDED,))
    assert result.files == ((SourceKind.CPP, 1), (SourceKind.PYTHON, 1))
    assert (result.definitions, result.registrations, result.conditional) == (1, 3, 1)
    assert result.not_understood == () and result.left_out == ()
    assert result.document["dispatch"] == 1
    assert result.lines("src/f.cpp")[2] == '  m.def("f(Tensor x) -> Tensor");'
    assert result.lines("inc/keys.h")[0] == "#define KEY CPU"
    assert result.lines("/etc/passwd") == []


def test_settings_of_some_files() -> None:
    project = SourceSettings(
        FileSettings((), (("A", "1"), ("B", "1")), (), (("key", "CPU"),)),
        (
            FileSettings(("csrc/moe/**",), (("NAME", "_moe"),), ("A",), when=(Atom("defined(MOE)"),)),
            FileSettings(("*.cu",), (("A", "3"),), (), (("key", "CUDA"),), (Atom("cuda"),)),
        ),
    )
    own = SourceSettings(FileSettings((), (("B", "2"),)))
    read = settings_of_files((project, own))
    assert read("other/x.cpp") == ReadSettings((("A", "1"), ("B", "2")), frozenset(), (("key", "CPU"),))
    assert read("csrc/moe/x.cpp") == ReadSettings(
        (("B", "2"), ("NAME", "_moe")), frozenset("A"), (("key", "CPU"),), (Atom("defined(MOE)"),)
    )
    assert read("csrc/moe/y/x.cu") == ReadSettings(
        (("B", "2"), ("NAME", "_moe"), ("A", "3")),
        frozenset(),
        (("key", "CUDA"),),
        (Atom("defined(MOE)"), Atom("cuda")),
    )


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("native_functions.yaml", "- func: f(Tensor x) -> Tensor\n  variants: [\n", "yaml-syntax"),
        ("ours.yaml", "dispatch: 1\noperators: [\n", "yaml-syntax"),
        ("later.yaml", "dispatch: 7\n", "wrong-type"),
    ],
)
def test_broken_yaml_is_said_and_refused_where_it_is_named(name: str, text: str, code: str, tree: Path) -> None:
    (tree / "src" / name).write_text(text)
    result = run(["src"], (INCLUDED,))
    (broken,) = result.left_out
    assert broken.path == f"src/{name}" and "line " in broken.detail
    assert result.definitions == 1 and result.declarations == ()
    with pytest.raises(InputError) as raised:
        run(["src", f"src/{name}"])
    assert raised.value.problems[0].code == code
    assert raised.value.problems[0].span is not None


def test_templates_are_for_the_audit_alone() -> None:
    Path("t.cpp").write_text('TORCH_LIBRARY(other, m) {\nm.def("f_{{ kind }}_update() -> ()");\n}\n')
    for result in (run(["t.cpp"]), run(["."])):
        places = [(at.split(":")[1], why) for at, _, why in result.not_understood if at.startswith("t.cpp:")]
        why = "this file is a template, which is filled in when the project is built"
        assert places == [("1", why), ("2", why)]
