"""Which kernel PyTorch's warning of an override names as the previous one: often not the one that is replaced.

It names the first kernel with a C++ signature that was registered for the operator, at whatever key, even when it was
dropped since, and even the new one itself; one without SymInt comes first. Where there is none it says "no debug info".
Source: ``cpp_signature_`` in ``OperatorEntry::registerKernel``; https://github.com/pytorch/pytorch/issues/65825.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from dispatch_cli.model.kernel import Kernel

NO_DEBUG_INFO = "no debug info"


class FirstKernels(NamedTuple):
    """The kernels of an operator that came first, of those that have a C++ signature or may have one.

    plain: without SymInt, symbolic: with it. Of a kernel that says neither that it has a signature nor that it is a
    Python kernel or a fallthrough it is not known; it counts as a plain one.
    """

    plain: Kernel | None = None
    symbolic: Kernel | None = None

    def and_then(self, kernel: Kernel) -> FirstKernels:
        """The first kernels after *kernel* was registered."""
        if kernel.signature is None:
            may_have = not (kernel.python or kernel.fallthrough)
            return self._replace(plain=kernel) if may_have and self.plain is None else self
        from dispatch_cli.model.schema import takes_symint

        if takes_symint(kernel.signature):
            return self._replace(symbolic=kernel) if self.symbolic is None else self
        return self._replace(plain=kernel) if self.plain is None else self

    def named(self, captured: Iterable[Kernel]) -> str | None:
        """What the warning says; None where it is not known.

        captured: kernels that were there before these, in an order that is not known.
        """
        if any(kernel.signature is not None for kernel in captured):
            return None
        first = self.plain or self.symbolic
        if first is None:
            return NO_DEBUG_INFO
        return None if first.signature is None else first.debug
