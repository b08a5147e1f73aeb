"""What is compared of a state that is incomplete at some keys."""

from __future__ import annotations

import pytest

from dispatch_cli.crossref.incomplete import UNKNOWN_LINE, Difference, known


@pytest.mark.parametrize(
    ("difference", "counts"),
    [
        (("MPS", UNKNOWN_LINE, "registered at MPSFallback.mm:90 [kernel]"), False),
        (("AutogradMPS", UNKNOWN_LINE, None), False),
        (("MPS", None, "registered at MPSFallback.mm:90 :: (none) [ boxed ]"), False),
        (("MPS", "add_mps :: (none) [ boxed unboxed ]", "registered at RegisterMPS_0.cpp:1 :: (…) [ boxed ]"), False),
        (("MPS", "add_mps [kernel]", "registered at RegisterMPS_0.cpp:1 [kernel]"), False),
        (("MPS", "add_mps [kernel]", "registered at RegisterMPS_0.cpp:1 [math kernel]"), True),
        (("MPS", "add_mps [kernel]", None), True),
        (("CPU", "one [kernel]", "other [kernel]"), True),
        (("AutogradMPS", None, "other [math kernel]"), True),
    ],
)
def test_only_what_is_known_can_differ(difference: Difference, counts: bool) -> None:
    assert list(known([difference], ("MPS", "SparseMPS"))) == [difference] * counts
