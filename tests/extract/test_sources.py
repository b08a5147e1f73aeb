"""The file that an ``#include`` means."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from dispatch_cli.extract.backend_name import backend_names, imported_names
from dispatch_cli.extract.run import run
from dispatch_cli.extract.sources import Sources
from dispatch_cli.model.declarations import LibraryKind
from dispatch_cli.model.extracted import ExtractedBlock
from dispatch_cli.model.source_settings import FileSettings, SourceSettings, definition
from dispatch_cli.model.span import Span

HEADERS = frozenset({"src/core/macros.h", "src/gpu/macros.h", "src/gpu/core/other.h", "include/lib/api.h"})


@pytest.mark.parametrize(
    ("target", "including", "found"),
    [
        ("macros.h", "src/gpu/a.cu", "src/gpu/macros.h"),
        ("core/macros.h", "src/gpu/a.cu", "src/core/macros.h"),
        ("../core/macros.h", "src/gpu/a.cu", "src/core/macros.h"),
        ("lib/api.h", "src/gpu/a.cu", "include/lib/api.h"),
        ("acros.h", "src/core/b.cpp", None),
        ("torch/library.h", "src/core/b.cpp", None),
    ],
)
def test_a_header_is_found(target: str, including: str, found: str | None) -> None:
    """Beside the file, else where the end of its path says so, nearest to the file."""
    sources = Sources({}, headers=HEADERS)
    assert sources.find(target, including, quoted=True) == found
    if ".." not in target:
        assert sources.find(target, including, quoted=False) == found


def test_directories_of_headers_come_first() -> None:
    sources = Sources({}, headers=HEADERS, include=("src/core",))
    assert sources.find("macros.h", "src/gpu/a.cu", quoted=False) == "src/core/macros.h"
    assert sources.find("macros.h", "src/gpu/a.cu", quoted=True) == "src/gpu/macros.h"


# The names of the backend at PrivateUse1 in sources.


COUNT = 100_000
BLOCK = ExtractedBlock(at=Span("a.cpp", 1, 1), kind=LibraryKind.IMPL, namespace="my", dispatch_key="AutogradNPU")


@pytest.mark.parametrize("end", ["\n", ";"])
def test_many_calls_take_linear_time(end: str) -> None:
    start = time.process_time()
    names = backend_names(["a.py"], lambda _: f'{end}rename_privateuse1_backend("npu"){end}' * COUNT)
    assert [name for name, _ in names] == ["npu"] and time.process_time() - start < 3


def test_many_imports_take_linear_time() -> None:
    start = time.process_time()
    names = imported_names([BLOCK], ["a.py"], lambda _: "import torch\n" + "import torch_npu\n" * COUNT)
    assert names == [("npu", Span("a.py", 2, 1))] and time.process_time() - start < 3


# Macros that ``-D`` and a project's settings define, with parameters.


@pytest.mark.parametrize(
    ("option", "macro"),
    [
        ("BLOCK(k)=TORCH_LIBRARY_IMPL(my, k, m)", ("BLOCK(k)", "TORCH_LIBRARY_IMPL(my, k, m)")),
        ("F()=2", ("F()", "2")),
        ("F(a, ...)=g(a, __VA_ARGS__)", ("F(a, ...)", "g(a, __VA_ARGS__)")),
        ("F(...)=", ("F(...)", "")),
    ],
)
def test_macros_with_parameters_are_taken(option: str, macro: tuple[str, str]) -> None:
    assert definition(option) == macro


@pytest.mark.parametrize(
    "option",
    [
        "F(",
        "F(a b)=1",
        "F(,)=1",
        "F(1)=1",
    ],
)
def test_names_that_are_no_macros(option: str) -> None:
    with pytest.raises(ValueError, match="a macro has a name"):
        definition(option)


def test_a_macro_with_parameters_defines_a_block(tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    path.write_text('TORCH_LIBRARY(my, m) { m.def("f() -> ()"); }\nBLOCK(CPU) { m.impl("f", f); }\n', encoding="utf-8")
    block = SourceSettings(FileSettings((), (definition("BLOCK(k)=TORCH_LIBRARY_IMPL(my, k, m)"),)))
    assert run([str(path)], (block,)).registrations == 1
    undefined = SourceSettings(FileSettings((), undefines=("BLOCK",)))
    assert run([str(path)], (block, undefined)).registrations == 0
