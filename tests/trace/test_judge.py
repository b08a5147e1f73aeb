"""Calls that really run in a program: the recorder has every call, and the engine names the kernels."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.capture.support import live_sample, torch_python
from tests.trace.judge.run import judge, names, table

OWN_KERNELS = frozenset({"traced::double"})
"""Operators of the programs whose kernels do what is not known of a kernel: they call the operator again."""


@pytest.mark.live
def test_a_program(tmp_path: Path) -> None:
    """One program of the sample; `python -m tests.trace.judge` judges all."""
    for program in live_sample(names(), 1):
        (folder := tmp_path / program).mkdir()
        judged = judge(torch_python(), program, folder)
        printed, compared = table([judged]), judged.compared
        assert 0 < compared.seen == compared.recorded == compared.alike == compared.kernels, printed
        assert judged.disturbed.total() == 0, printed
        for tally in judged.engine.tallies.values():
            assert tally.first == tally.calls, printed
            assert {operator for _, operator in tally.differences()} <= OWN_KERNELS, printed
