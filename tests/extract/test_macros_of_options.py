"""Macros that ``-D`` and a project's settings define, with parameters."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli.extract.run import run
from dispatch_cli.model.source_settings import FileSettings, SourceSettings, definition


@pytest.mark.parametrize(
    ("option", "macro"),
    [
        ("BLOCK(k)=TORCH_LIBRARY_IMPL(my, k, m)", ("BLOCK(k)", "TORCH_LIBRARY_IMPL(my, k, m)")),
        ("F(a, b)", ("F(a, b)", "1")),
        ("F()=2", ("F()", "2")),
        ("F(a, ...)=g(a, __VA_ARGS__)", ("F(a, ...)", "g(a, __VA_ARGS__)")),
        ("F(...)=", ("F(...)", "")),
    ],
)
def test_macros_with_parameters_are_taken(option: str, macro: tuple[str, str]) -> None:
    assert definition(option) == macro


@pytest.mark.parametrize("option", ["F(", "F(a", "F(a b)=1", "F(,)=1", "F(1)=1", "(a)=1", "F(a)b=1", "F(,...)=1"])
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
