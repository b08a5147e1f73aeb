"""The library object that ``_dispatch_library`` gives: registrations that last as long as the object does.

Source: ``torch/csrc/utils/python_dispatch.cpp`` (class ``_DispatchModule``).
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from enum import Enum
from typing import Any

from dispatch_cli.bindings.errors import internal_assert, read_name, read_schema
from dispatch_cli.bindings.keys import DispatchKey, KeySpace
from dispatch_cli.engine.dispatcher.library import Library
from dispatch_cli.model.declarations import LibraryKind
from dispatch_cli.model.kernel import AliasAnalysisKind, Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.model import FunctionSchema
from dispatch_cli.model.schema.parser import parse_signature
from dispatch_cli.model.universe import UNDEFINED

_ALIAS_KINDS = {kind.value: kind for kind in AliasAnalysisKind} | {"": AliasAnalysisKind.FROM_SCHEMA}
_T_T = "(Tensor _0) -> Tensor _0"
_PYTHON_KERNEL = "PythonKernelHolder"
"""All Python kernels are one C++ function, which looks the Python one up; so PyTorch takes them for equal."""


class DispatchModule:
    """A registration block. What it registered is taken back when the object goes away, or by `reset`.

    Every method raises RuntimeError with PyTorch's text when the registration is refused; nothing of it remains then,
    except for a definition whose own kernel is refused: like PyTorch, that stays until the object goes.
    """

    def __init__(self, library: Library, space: KeySpace) -> None:
        self._library = library
        self._space = space
        self._dropped_with_self = weakref.finalize(self, library.drop)
        # at the interpreter's end the dispatcher is gone
        self._dropped_with_self.atexit = False

    def def_(self, schema: str, alias: str = "") -> DispatchModule:
        """``m.def(torch::schema(schema, alias))``."""
        kind = _alias_kind(alias)
        self._library.define(read_schema(schema), kind)
        return self

    def def_legacy(self, schema: str) -> DispatchModule:
        """``m.def(torch::jit::parseSchema(schema))``: the alias analysis kind is left at its default."""
        self._library.define(read_schema(schema), None)
        return self

    def def_name_t_t(self, name: str, dispatch: str = "", debug: str = "default_def_name_t_t") -> DispatchModule:
        """``m.def(name, kernel)`` with a kernel Tensor → Tensor, whose schema is inferred if *name* is only a name."""
        key, kernel = self._parse_key(dispatch), self._t_t_kernel("def_name_t_t", debug)
        if "(" in name:
            schema, alias = read_schema(name), AliasAnalysisKind.FROM_SCHEMA
        else:
            schema, alias = _inferred_schema(read_name(name)), AliasAnalysisKind.CONSERVATIVE
        return self._define_with_kernel(schema, alias, key, kernel)

    def def_schema_t_t(
        self, name: str, dispatch: str = "", alias: str = "", debug: str = "default_def_schema_t_t"
    ) -> DispatchModule:
        """``m.def(torch::schema(name, alias), kernel)`` with a kernel Tensor → Tensor."""
        key = self._parse_key(dispatch)
        kernel, kind = self._t_t_kernel("def_schema_t_t", debug), _alias_kind(alias)
        return self._define_with_kernel(read_schema(name), kind, key, kernel)

    def impl_t_t(self, name: str, dispatch: str = "", debug: str = "impl_t_t") -> DispatchModule:
        """``m.impl(name, kernel)`` with a kernel Tensor → Tensor; no *dispatch* is the catch-all."""
        key = self._parse_key(dispatch)
        self._library.implement(read_name(name), self._t_t_kernel("impl_t_t", debug), key, name)
        return self

    def impl(self, name: str, dispatch: DispatchKey | str, func: object, with_keyset: bool = False) -> None:  # noqa: ARG002
        """Register a Python kernel. Nothing is ever called here, so *func* and *with_keyset* do not matter."""
        given = self._space.as_key(dispatch)
        operator = read_name(name)  # which PyTorch does before it looks at the key
        self._library.implement(operator, self._python_kernel(), self._registrable(given), name)

    def define(self, schema: str, alias_analysis: str = "", tags: Iterable[Any] = ()) -> str:
        """``m.def(torch::schema(schema, alias_analysis), tags)``; the operator's name as it was written.

        tags: members of ``torch.Tag``, or of `Tag`.
        """
        kind = _alias_kind(alias_analysis)
        parsed = read_schema(schema)
        self._library.define(parsed, kind, tuple(str(getattr(tag, "name", tag)) for tag in tags))
        return parsed.name.name

    def fallback(self, dispatch: DispatchKey | str, func: object, with_keyset: bool = False) -> None:  # noqa: ARG002
        """Register a Python backend fallback."""
        self._fall_back(self._python_kernel(), self._registrable(dispatch))

    def fallback_fallthrough(self, dispatch: str = "") -> DispatchModule:
        """Register a fallthrough as the backend fallback of *dispatch*, or of the block's own key."""
        self._fall_back(Kernel(self._library.debug, fallthrough=True), self._parse_key(dispatch))
        return self

    def reset(self) -> None:
        """Take everything back now."""
        self._library.drop()

    def _registrable(self, dispatch: DispatchKey | str) -> str:
        """The name of a key. Errors: RuntimeError for what is none, such as a marker, at which PyTorch registers."""
        key = self._space.as_key(dispatch)
        if key.name not in self._space.universe.ids and key.name != UNDEFINED:
            raise RuntimeError(f"{self._space.text(key)} ({key.value}) is no dispatch key")
        return key.name

    def _parse_key(self, dispatch: str) -> str | None:
        return self._space.parse(dispatch).name if dispatch else None

    def _fall_back(self, kernel: Kernel, dispatch_key: str | None) -> None:
        key = None if dispatch_key == UNDEFINED else dispatch_key
        block = self._library.block
        if block.kind is LibraryKind.IMPL and key is None and self._library.dispatch_key is None:
            raise internal_assert("dispatch_key.has_value()", "aten/src/ATen/core/library.cpp", block.where)
        self._library.fall_back(kernel, key)

    def _t_t_kernel(self, function: str, debug: str) -> Kernel:
        """function: which of PyTorch's canned kernels it is; two registrations of one compare as equal."""
        return Kernel(
            debug or self._library.debug,
            function=function,
            signature=parse_signature(_T_T),
            boxed=True,
            unboxed=True,
        )

    def _python_kernel(self) -> Kernel:
        return Kernel(self._library.debug, function=_PYTHON_KERNEL, python=True)

    def _define_with_kernel(
        self, schema: FunctionSchema, alias: AliasAnalysisKind, key: str | None, kernel: Kernel
    ) -> DispatchModule:
        definition = self._library.define(schema, alias)
        self._library.implement(definition.operator, kernel, key)
        return self


Tag = Enum(
    "Tag",
    "core cudagraph_unsafe data_dependent_output dynamic_output_shape flexible_layout generated inplace "
    "inplace_view maybe_aliasing_or_mutating needs_contiguous_strides needs_exact_strides "
    "needs_fixed_stride_order nondeterministic_bitwise nondeterministic_seeded out out_variant pointwise "
    "pt2_compliant_tag reduction view_copy",
    start=0,
)
"""``torch.Tag``: what an operator can be tagged with."""


def _alias_kind(text: str) -> AliasAnalysisKind:
    if text not in _ALIAS_KINDS:
        raise RuntimeError(f"could not parse {text}")
    return _ALIAS_KINDS[text]


def _inferred_schema(name: OperatorName) -> FunctionSchema:
    inferred = parse_signature(_T_T)
    return FunctionSchema(name, inferred.arguments, inferred.returns)
