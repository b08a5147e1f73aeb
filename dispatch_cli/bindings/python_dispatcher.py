"""``PythonDispatcher``, the teaching tool of ``torch/_python_dispatcher.py``: one operator, a few keys, two tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from dispatch_cli.bindings.operators import OperatorFunctions

_PYTORCH_FALLBACK = re.compile(r"registered at .*FallbackKernel\.cpp.*(\[)")
"""The place of a core fallback; the tables here leave it out."""


class PythonDispatcher:
    """Registers kernels named ``fn_KEY`` for one operator and shows which of them each key gets.

    bindings: where to register. One operator is shared by all objects, so that only one can exist at a time in one
    dispatcher.
    """

    namespace = "__test__"
    name = "foo"
    runtime_keys: ClassVar[list[str]] = [
        "CPU",
        "AutogradCPU",
        "FPGA",
        "AutogradOther",
        "XLA",
        "AutogradXLA",
        "Lazy",
        "AutogradLazy",
    ]
    alias_keys: ClassVar[list[str]] = ["CompositeExplicitAutograd", "Autograd", "CompositeImplicitAutograd"]
    supported_keys: ClassVar[list[str]] = runtime_keys + alias_keys

    def __init__(self, bindings: OperatorFunctions) -> None:
        self._bindings = bindings
        bindings._dispatch_check_invariants(self.name)
        self.ref = bindings._dispatch_library("FRAGMENT", self.namespace, "")
        self.ref.def_("foo(Tensor x) -> Tensor")

    def keys(self) -> list[str]:
        """The keys at which kernels can be registered."""
        return self.supported_keys

    def register(self, dispatchKeys: Sequence[str]) -> None:  # noqa: N803
        """Register the kernel ``fn_KEY`` at each key.

        Errors: RuntimeError for a key that is there twice or is not supported, and for both composite keys at once.
        """
        if len(set(dispatchKeys)) != len(dispatchKeys):
            raise RuntimeError(f"Overridden is not allowed but found duplicates in {dispatchKeys}.")
        if {"CompositeImplicitAutograd", "CompositeExplicitAutograd"} <= set(dispatchKeys):
            raise RuntimeError(
                "Registration to both CompositeImplicitAutograd and CompositeExplicitAutograd is not allowed."
            )
        for key in dispatchKeys:
            if key not in self.supported_keys:
                raise RuntimeError(f"{key} is not supported, please select a dispatch key in {self.keys()}.")
            self.ref.impl_t_t("foo", dispatch=key, debug=f"fn_{key}")

    def rawRegistrations(self) -> str:  # noqa: N802
        """PyTorch's own dump of the registrations."""
        return self._bindings._dispatch_dump(f"{self.namespace}::{self.name}")

    def rawDispatchTable(self) -> str:  # noqa: N802
        """PyTorch's own dump of the whole table."""
        return self._bindings._dispatch_dump_table(f"{self.namespace}::{self.name}")

    def registrations(self) -> str:
        """The registered kernels as a table of two columns."""
        lines = []
        for line in self.rawRegistrations().splitlines():
            key, _, kernel = line.partition(": ")
            if key.startswith(tuple(self.supported_keys)):
                lines.append((key, kernel.split(" ::")[0]))
        return _two_columns("Registered Kernels", lines)

    def dispatchTable(self) -> str:  # noqa: N802
        """The kernels that the supported runtime keys get, as a table of two columns."""
        lines = []
        for line in self.rawDispatchTable().splitlines():
            key, _, entry = line.partition(": ")
            if key in self.runtime_keys:
                lines.append((key, _PYTORCH_FALLBACK.sub(r"\1", entry)))
        return _two_columns("Computed Dispatch Table", lines)


def _two_columns(title: str, lines: list[tuple[str, str]]) -> str:
    body = "".join(f"{key:<15} {kernel}\n" for key, kernel in lines)
    return f"\n{title}\n{'key':<15} kernel\n{'-' * 27}\n{body}"
