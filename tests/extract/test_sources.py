"""Names of macros and of the backend."""

from __future__ import annotations

import pytest

from dispatch_cli.extract.given_names import backend_names
from dispatch_cli.model.sources.source_settings import definition
from dispatch_cli.model.span import Span


@pytest.mark.parametrize("option", ["F(", "F(a b)=1", "F(,)=1", "F(1)=1"])
def test_names_that_are_no_macros(option: str) -> None:
    with pytest.raises(ValueError, match="a macro has a name"):
        definition(option)


def test_constants_with_the_name_of_the_backend_are_read_once() -> None:
    call = "torch.utils.rename_privateuse1_backend"
    files = {f"{number}.py": f'NAME = "npu"\n{call}(NAME)\n{call}(OTHER)\n' for number in range(50)}
    reads: list[str] = []

    def read(file: str) -> str:
        reads.append(file)
        return files[file]

    assert backend_names(files, list(files), read) == [("npu", Span("0.py", 2, 13))]
    assert len(reads) == 2 * len(files)
