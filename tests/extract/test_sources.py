"""Names of macros and of the backend."""

from __future__ import annotations

import pytest

from dispatch_cli.model.sources.source_settings import definition


@pytest.mark.parametrize("option", ["F(", "F(a b)=1", "F(,)=1", "F(1)=1"])
def test_names_that_are_no_macros(option: str) -> None:
    with pytest.raises(ValueError, match="a macro has a name"):
        definition(option)
