"""A page of a state with more findings than are listed: no operator reads as if it had none."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli.checks.listing import OF_CHECK
from tests.cli.support import call
from tests.page.node import needs_node, script_of

OPERATORS = OF_CHECK + 20
"""Each has a CPU kernel over a composite one, which a check warns of."""


@pytest.mark.slow
@needs_node
def test_an_operator_whose_findings_are_not_listed_says_so(tmp_path: Path) -> None:
    file, page = tmp_path / "big.yaml", tmp_path / "big.html"
    lines = (
        f"  - func: big::op{number}(Tensor x) -> Tensor\n    dispatch: {{CPU: k, CompositeImplicitAutograd: m}}\n"
        for number in range(OPERATORS)
    )
    file.write_text("dispatch: 1\noperators:\n" + "".join(lines), encoding="utf-8")
    assert call("page", str(file), "-o", str(page)).code == 0
    with script_of(page) as script:
        names = [f"big::op{number}" for number in range(OPERATORS)]
        assert all(script.ask("foundBy", name)["findings"] == 1 for name in names)
        cut = [name for name in names if not script.ask("findingsOf", name)]
        assert len(cut) == script.ask("unlisted") == 20
        assert script.ask("unlistedOf", cut[0]) == 1
        assert script.ask("command", "operator-findings", cut[0]).endswith(f"--op {cut[0]}")
