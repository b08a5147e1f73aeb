"""``examples/extension``: what is read from its sources is what it registers once it is built."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from dispatch_cli.api import run_declarations
from dispatch_cli.bindings import Bindings
from dispatch_cli.crossref.live import ask_built
from dispatch_cli.declarations.loader import load
from dispatch_cli.declarations.project import find_project
from dispatch_cli.declarations.project_settings import read_project
from dispatch_cli.declarations.tree import ExtractedDocument
from dispatch_cli.extract.run import run
from dispatch_cli.model.built import BuiltLibrary
from dispatch_cli.model.declarations import Declarations, Define, Implement
from tests import in_pytorch
from tests.capture.support import torch_python
from tests.checks.helpers import findings
from tests.cli.support import ROOT, call

EXAMPLE = ROOT / "examples" / "extension"
SOURCES = ("csrc", "scaled")
COMPILER = "g++"
CONDITIONAL = {"scaled::offset": "defined(SCALED_WITH_OFFSET)", "scaled::add": "defined(WITH_CUDA)"}
"""Conditions of what the build of the test lacks, by operator."""
MODULES = """
#include <torch/library.h>
TORCH_LIBRARY_FRAGMENT(scaled, m) {
  m.def("without() -> ()");
  m.set_python_module("scaled.operators");
  m.def("named() -> ()");
  m.def("named.overload(Tensor x) -> Tensor");
  m.impl_abstract_pystub("scaled.others", "//scaled:others");
  m.def("with_context() -> ()");
}
"""
"""A further source for the test: Python modules of operators."""
ASK_MODULES = (
    "import json, sys, torch, scaled; names = [name.partition('.')[::2] for name in sys.argv[1:]]; "
    "print(json.dumps([torch._C._dispatch_pystub(*name) for name in names]))"
)
WHERE = "import torch; print(torch.__path__[0]); print(int(torch.compiled_with_cxx11_abi()))"


def test_it_is_understood_and_passes_all_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLE)
    result = call("check-invariants", *SOURCES, "--strict")
    assert result.code == 0
    assert result.out.splitlines()[-1].startswith("All checks passed: 8 operators, ")


def build(python: str, folder: Path) -> None:
    """A copy of the example, compiled for the PyTorch of *python*: as one file, since PyTorch's headers take long."""
    shutil.copytree(EXAMPLE, folder)
    (folder / "csrc" / "modules.cpp").write_text(MODULES, encoding="utf-8")
    root, abi = in_pytorch.run([python, "-c", WHERE]).stdout.split()
    flags = ["-std=c++20", "-O0", "-fPIC", "-w", "-DSCALED_NAMESPACE=scaled", f"-D_GLIBCXX_USE_CXX11_ABI={abi}"]
    headers = [f"-I{root}/include", f"-I{root}/include/torch/csrc/api/include"]
    files = sorted(path.relative_to(folder) for path in folder.glob("csrc/*.cpp"))
    (folder / "all.cpp").write_text("".join(f'#include "{file}"\n' for file in files), encoding="utf-8")
    libraries = [f"-L{root}/lib", "-ltorch_cpu", "-ltorch", "-lc10", f"-Wl,-rpath,{root}/lib"]
    command = [COMPILER, *flags, *headers, "-shared", "all.cpp", "-o", "scaled/_C.so", *libraries]
    subprocess.run(command, check=True, cwd=folder)


@pytest.mark.live
@pytest.mark.skipif(shutil.which(COMPILER) is None, reason="there is no C++ compiler")
def test_it_registers_what_its_sources_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = torch_python()
    folder = tmp_path / "extension"
    build(python, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    library, universe, _ = ask_built(python, ("scaled",))
    project = find_project(folder)
    assert project is not None
    read = run(SOURCES, (read_project(project).extract,))
    declared = load([ExtractedDocument("sources", read.document, read.lines)], universe=universe)
    drift = findings(run_declarations(declared), select="drift", built=library)
    assert {finding.check for finding in drift} == {"drift-missing"}
    assert {finding.operator: finding.when for finding in drift} == CONDITIONAL
    declared_places, live = places(declared), live_places(library, folder)
    assert declared_places.keys() == live.keys()
    own = {where: text for where, text in live.items() if not text.startswith("site-packages/torch/")}
    assert len(own) == 25  # torch.library itself registers the others
    assert {where: declared_places[where] for where in own} == own
    check_python_modules(python, declared)


def check_python_modules(python: str, declared: Declarations) -> None:
    """Each operator has the Python module that the live library says."""
    names = sorted({str(step.schema.name) for step in declared.own_steps if isinstance(step, Define) and not step.when})
    live = json.loads(in_pytorch.run([python, "-c", ASK_MODULES, *names]).stdout)
    bindings = Bindings(declared.universe, run_declarations(declared).dispatcher)
    ours = [bindings._dispatch_pystub(*name.partition(".")[::2]) for name in names]
    assert [None if stub is None else list(stub) for stub in ours] == live
    assert len(live) - live.count(None) == 3


Places = dict[tuple[str, str | None], str]


def places(declared: Declarations) -> Places:
    """Places of definitions and registrations in the sources, as debug texts name them: the block, or the Library."""
    results: Places = {}
    for step in declared.own_steps:
        match step:
            case Define(when=()):
                results[str(step.schema.name), None] = f"{step.block.file}:{step.block.line}"
            case Implement(when=()):
                key = step.dispatch_key or "CompositeImplicitAutograd"
                results[str(step.operator), key] = f"{step.block.file}:{step.block.line}"
            case _:
                pass
    return results


def live_places(library: BuiltLibrary, folder: Path) -> Places:
    """The same of the live registrations."""
    results: Places = {}
    for name, operator in library.operators.items():
        if operator.imported and operator.debug is not None:
            results[name, None] = operator.debug
        results |= {(name, key): kernel.debug for key, kernel in operator.kernels.items() if kernel.imported}
    return {where: text.removeprefix("registered at ").removeprefix(f"{folder}/") for where, text in results.items()}


# Namespaces of extensions whose names the build says: ``TORCH_EXTENSION_NAME``.


BLOCK = 'TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) { m.def("f() -> ()"); }\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "the-project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="there are no links")
def test_a_build_file_that_leads_out_is_not_read(project: Path) -> None:
    (project.parent / "secret.toml").write_text('[general]\nname = "secret"\n')
    (project / "build.toml").symlink_to("../secret.toml")
    (project / "pyproject.toml").touch()
    (project / "binding.cpp").write_text(BLOCK)
    assert "secret" not in json.dumps(run(["."]).document)


def test_a_kernel_in_a_namespace_that_is_a_guess(project: Path) -> None:
    """Another build may have its definition in another namespace."""
    text = 'TORCH_LIBRARY_IMPL(TORCH_EXTENSION_NAME, CPU, m) { m.impl("f", &f); m.impl("g", &g); }\n'
    (project / "binding.cpp").write_text(BLOCK)
    (project / "kernels.cpp").write_text(text)
    document = run(["."]).document
    assert document["undecided"][0]["unknown"] == {"name": "TORCH_EXTENSION_NAME::g"}
    assert [operator for library in document["libraries"] for operator in library.get("impl", ())] == ["extension::f"]
    (project / "build.toml").write_text('[general]\nname = "extension"\n')
    assert "undecided" not in run(["."]).document
