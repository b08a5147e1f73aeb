"""One operator of ``native_functions.yaml``. Source: ``torchgen/model.py``, ``NativeFunction``."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from dispatch_cli.extract.torchgen import function_keys as keys
from dispatch_cli.extract.torchgen.point import Point
from dispatch_cli.extract.torchgen.schema import NativeSchema


class NativeKernel(NamedTuple):
    """The kernel at one key, and where the key is written."""

    name: str
    at: Point


class NativeFunction:
    """An operator of ``native_functions.yaml``, or one that torchgen makes of another one.

    name: of the operator, without namespace. at: its place. structured_at: of ``structured`` or
    ``structured_delegate``. autogen: the names that are announced. generated: torchgen makes it. abstract: it has
    kernels of backends.
    """

    def __init__(self, namespace: str, schema: NativeSchema, at: Point) -> None:
        self.namespace = namespace
        self.schema = schema
        self.name = str(schema.name)
        self.at = at
        self.dispatch: dict[str, NativeKernel] = {}
        self.structured = False
        self.delegate: str | None = None
        self.structured_at = at
        self.manual_kernel = False
        self.manual_binding = False
        self.tags: tuple[str, ...] = ()
        self.autogen: tuple[str, ...] = ()
        self.autogen_at = at
        self.generated = False
        self.abstract = False

    @property
    def implicit(self) -> bool:
        return keys.IMPLICIT in self.dispatch

    @property
    def composite(self) -> bool:
        """True if it has a kernel for every backend (``has_composite_kernel``)."""
        dispatch = self.dispatch
        return keys.IMPLICIT in dispatch or keys.EXPLICIT in dispatch or keys.NON_FUNCTIONAL in dispatch

    @property
    def modifies(self) -> bool:
        """True if it writes any of its arguments."""
        return any(argument.is_write for argument in self.schema.arguments)

    @cached_property
    def is_view(self) -> bool:
        """True for a view, as by ``NativeFunction.is_view_op``."""
        if any(result.alias is not None and "!" not in result.alias for result in self.schema.returns):
            return True
        if "inplace_view" in self.tags and self.name not in ("resize_", "resize_as_"):
            return True
        return any(argument.alias is not None and "*" in argument.alias for argument in self.schema.arguments)
