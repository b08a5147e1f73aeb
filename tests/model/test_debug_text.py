"""The source file that a debug text names."""

from __future__ import annotations

import pytest

from dispatch_cli.model.debug_text import is_placed, source_file


@pytest.mark.parametrize(
    ("text", "file"),
    [
        ("registered at aten/src/ATen/RegisterCPU_0.cpp:30798 [kernel]", "RegisterCPU.cpp"),
        ("registered at /build/torch/csrc/autograd/VariableTypeManual.cpp:407", "VariableTypeManual.cpp"),
        ("registered at C:\\build\\ops.cpp:12", "ops.cpp"),
        ("registered at main:ops.cpp:12", "ops.cpp"),
        ("registered at main:csrc/ops.cpp:12", "ops.cpp"),
        ("lambda at csrc/ops.cpp:3:48", "ops.cpp"),
        ("lambda at HEAD~1:ops.cpp:3:48", "ops.cpp"),
        ("registered at /dev/null:228", None),
        ("ops.cpp:12", None),
    ],
)
def test_the_file_is_named_without_its_folder_revision_line_and_shard(text: str, file: str | None) -> None:
    assert source_file(text) == file
    assert is_placed(text) is text.startswith(("registered", "lambda"))
