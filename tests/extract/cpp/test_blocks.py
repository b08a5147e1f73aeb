"""Registration blocks of C++ and the statements in them."""

from __future__ import annotations

from pathlib import Path

from dispatch_cli.model.declarations import LibraryKind
from dispatch_cli.model.extracted import ExtractedBlock, ExtractedDefinition, ExtractedKernel
from tests.extract.cpp.reading import extracted


def test_a_definition_and_a_kernel_have_their_places(tmp_path: Path) -> None:
    text = (
        '#include <torch/library.h>\nTORCH_LIBRARY(my, m) {\n  m.def("f(Tensor a) -> Tensor");\n  m.impl("f", &f);\n}\n'
    )
    block, definition, kernel = extracted(tmp_path, text).found
    assert isinstance(block, ExtractedBlock)
    assert (block.kind, block.namespace, block.dispatch_key) == (LibraryKind.DEF, "my", None)
    assert (block.at.line, block.at.column) == (2, 1)
    assert isinstance(definition, ExtractedDefinition)
    assert (definition.name, definition.schema) == ("my::f", "my::f(Tensor a) -> Tensor")
    assert (definition.at.line, definition.at.column) == (3, 3)
    assert isinstance(kernel, ExtractedKernel)
    assert (kernel.operator, kernel.key, kernel.kernel, kernel.at.line) == ("my::f", None, "f", 4)
