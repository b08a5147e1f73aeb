"""Refusals of a dispatcher, in PyTorch's words."""

from __future__ import annotations

from enum import Enum

from dispatch_cli.engine.table.registration import Definition, LibraryHold, Registration


class Refusal(Enum):
    """The kinds of refusal; the value is the stable code of the problem."""

    DUPLICATE_DEFINITION = "duplicate-definition"
    DUPLICATE_FALLBACK = "duplicate-fallback"
    SIGNATURE_MISMATCH = "signature-mismatch"
    DUPLICATE_LIBRARY = "duplicate-library"
    UNKNOWN_KEY = "unknown-dispatch-key"
    UNKNOWN_OPERATOR = "unknown-operator"
    BLOCK_MISUSE = "block-misuse"
    ALIAS_KEY = "alias-key"
    PYTHON_KERNEL = "python-kernel"
    NO_KERNEL = "no-kernel"
    FAKE_IMPL = "fake-impl"


class Refused(RuntimeError):
    """A registration or query that PyTorch would refuse; the dispatcher's state is as it was.

    The text is PyTorch's. earlier: the registration that it conflicts with, if any.
    """

    def __init__(
        self, kind: Refusal, message: str, earlier: Registration | Definition | LibraryHold | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.earlier = earlier
