"""Kernels at the autograd keys: ambiguous, displaced, missing, in the way, or alone."""

from __future__ import annotations

import pytest

from dispatch_cli.api import what_if_state
from tests.checks.helpers import findings

MATH = "CompositeImplicitAutograd"


# ambiguous-autogradother


# math-kernel-displaced


# no-autograd-kernel


# sparse-bypass


# autograd-only


# what-ifs


@pytest.mark.parametrize(
    ("keys", "found"),
    [
        (["CPU", MATH], [("math-kernel-displaced", "AutogradCPU")]),
        (["CPU"], [("no-autograd-kernel", "AutogradCPU")]),
        (["CPU", "Autograd"], []),
        (["MkldnnCPU", MATH], [("ambiguous-autogradother", "AutogradOther")]),
        (["SparseCPU", "AutogradOther", MATH], [("sparse-bypass", "AutogradCPU")]),
    ],
)
def test_the_registrations_of_a_what_if_are_ones_own(keys: list[str], found: list[tuple[str, str]]) -> None:
    results = findings(what_if_state(keys), select="DC1,DC2,DC5")
    assert [(finding.check, finding.key) for finding in results] == found
