"""The names of the backend at PrivateUse1 in sources."""

from __future__ import annotations

import time

import pytest

from dispatch_cli.extract.backend_name import backend_names, imported_names
from dispatch_cli.model.declarations import LibraryKind
from dispatch_cli.model.extracted import ExtractedBlock
from dispatch_cli.model.span import Span

COUNT = 100_000
BLOCK = ExtractedBlock(at=Span("a.cpp", 1, 1), kind=LibraryKind.IMPL, namespace="my", dispatch_key="AutogradNPU")


@pytest.mark.parametrize("end", ["\n", ";"])
def test_many_calls_take_linear_time(end: str) -> None:
    start = time.process_time()
    names = backend_names(["a.py"], lambda _: f'{end}rename_privateuse1_backend("npu"){end}' * COUNT)
    assert [name for name, _ in names] == ["npu"] and time.process_time() - start < 3


def test_many_imports_take_linear_time() -> None:
    start = time.process_time()
    found = imported_names([BLOCK], ["a.py"], lambda _: "import torch\n" + "import torch_npu\n" * COUNT)
    assert found == [("npu", Span("a.py", 2, 1))] and time.process_time() - start < 3
