"""Registrations that replace another."""

from __future__ import annotations

from dispatch_cli.api import load_state
from tests.checks.helpers import findings


def test_a_base_alone() -> None:
    results = findings(load_state([], bases=["torch-2.15"]), select="overridden-kernel")
    assert results == ()  # no operator is the files' own
    names = ("aten::bmm", "aten::linalg_polar", "aten::linalg_polar.out", "aten::add.Tensor")
    results = findings(load_state([], bases=["torch-2.15"]), *names, select="overridden-kernel")
    assert [(finding.operator, finding.key) for finding in results] == [(name, "CUDA") for name in names[:3]]


# Kernels at both composite keys, and kernels that no slot has.
