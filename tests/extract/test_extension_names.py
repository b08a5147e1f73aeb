"""Namespaces of extensions whose names the build says: ``TORCH_EXTENSION_NAME``."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from dispatch_cli.extract.run import run
from dispatch_cli.model.source_settings import FileSettings, SourceSettings, definition

_OPERATOR = re.compile(r"\b(\w+)::(\w+)")
BINDING = """#include "registration.h"
TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, ops) {
  ops.def("f(Tensor x) -> Tensor");
}
TORCH_LIBRARY_IMPL_EXPAND(TORCH_EXTENSION_NAME, CUDA, ops) { ops.impl("f", &f); }
REGISTER_EXTENSION(TORCH_EXTENSION_NAME)
"""
PYTHON = """import torch
from ._ops import add_op_namespace_prefix, ops

@torch.library.register_fake(add_op_namespace_prefix("f"))
def _(x):
    return x

@torch.library.custom_op(add_op_namespace_prefix("g"), mutates_args=())
def g(x: torch.Tensor) -> torch.Tensor:
    return ops.f(x)

torch.library.register_fake(ops.__name__.split(".")[-1] + "::g", lambda x: x)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "the-project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def operators(*settings: SourceSettings) -> dict[str, list[str]]:
    """The operators that the project's sources name, by namespace."""
    result = run(["."], settings)
    assert result.not_understood == () and "undecided" not in result.document
    named: dict[str, list[str]] = {}
    for namespace, name in sorted(set(_OPERATOR.findall(json.dumps(result.document)))):
        named.setdefault(namespace, []).append(name)
    assert (result.stand_ins == ()) == bool(settings)
    return named


def test_each_package_of_kernel_builder_has_its_own_name(project: Path) -> None:
    for name in ("relu-fast", "2d"):
        general = f'[general]\nbackends = ["cuda"]\nname = "{name}"\n\n[torch]\nname = "no"\n'
        files = {"build.toml": general, "torch-ext/binding.cpp": BINDING, "torch-ext/pkg/__init__.py": PYTHON}
        write(project / name, files)
    assert operators() == {"_2d": ["f", "g"], "relu_fast": ["f", "g"]}
    assert run(["."]).stand_ins == ("_2d", "relu_fast")


def test_a_definition_counts_instead(project: Path) -> None:
    files = {"build.toml": '[general]\nname = "a"\n', "binding.cpp": BINDING, "pkg/__init__.py": PYTHON}
    write(project, files)
    assert operators(SourceSettings(FileSettings((), (definition("TORCH_EXTENSION_NAME=_C"),)))) == {"_C": ["f", "g"]}
    write(project, {"binding.cpp": "#define TORCH_EXTENSION_NAME own\n" + BINDING})
    assert operators()["own"] == ["f"]


@pytest.mark.parametrize(
    ("files", "namespace"),
    [
        ({}, "the_project"),
        ({"src/setup.py": 'setup(ext_modules=[CUDAExtension(\n    name="pkg._C", sources=s)])'}, "_C"),
        ({"src/setup.py": 'CppExtension("pkg._C", s)\nCppExtension("pkg._D", t)'}, "src"),
        ({"src/pkg.py": "x = torch.ops.called.f(torch.ops.aten.f(y))\nz = torch.ops.other.unknown(x)"}, "called"),
        ({"src/pkg.py": '@register_fake("named::f")\ndef f(x): ...', "src/setup.py": 'Extension("_C")'}, "named"),
        ({"src/setup.py": "", "pkg.py": "x = torch.ops.called.f(y)"}, "src"),
    ],
)
def test_other_packages(project: Path, files: Mapping[str, str], namespace: str) -> None:
    """The namespace by which the package's Python calls the operators, its only extension, or its folder."""
    write(project, {"src/csrc/binding.cpp": BINDING, "other/setup.py": "", **files})
    assert run(["."]).stand_ins == (namespace,)


def test_a_changed_name_is_seen_beside_a_cache(project: Path) -> None:
    write(project, {"a/binding.cpp": BINDING, "a/build.toml": '[general]\nname = "before"\n'})
    assert run(["."], cache="cache").stand_ins == ("before",)
    write(project, {"a/build.toml": '[general]\nname = "after"\n'})
    assert run(["."], cache="cache").stand_ins == ("after",)


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="there are no links")
def test_a_build_file_that_leads_out_is_not_read(project: Path) -> None:
    (project.parent / "secret.toml").write_text('[general]\nname = "secret"\n')
    (project / "build.toml").symlink_to("../secret.toml")
    (project / "pyproject.toml").touch()
    (project / "binding.cpp").write_text(BINDING)
    assert "secret" not in json.dumps(run(["."]).document)


def test_many_namespaces_of_one_operator_are_compared_in_little_time(project: Path) -> None:
    (project / "use.py").write_text("".join(f"torch.ops.n{number}.f\n" for number in range(20_000)))
    for number in range(200):
        folder = project / f"p{number}"
        folder.mkdir()
        (folder / "setup.py").touch()
        (folder / "binding.cpp").write_text(BINDING)
    start = time.process_time()
    assert len(run(["."]).stand_ins) == 200
    assert time.process_time() - start < 4
