"""The functions of ``torch._C`` about operators, and about their kernels."""

from __future__ import annotations

import sys

from dispatch_cli.bindings.errors import internal_assert, read_name
from dispatch_cli.bindings.keys import BoundKeySet, DispatchKey, KeySpace
from dispatch_cli.bindings.library import DispatchModule
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.dispatcher.dump import dump_registrations
from dispatch_cli.engine.dispatcher.library import Library
from dispatch_cli.model.declarations import WILDCARD, Block, LibraryKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.model import FunctionSchema
from dispatch_cli.model.universe import UNDEFINED


class DispatchOperatorHandle:
    """An operator that has a schema, as `OperatorFunctions._dispatch_find_schema_or_throw` gives it."""

    def __init__(self, schema: FunctionSchema, debug: str) -> None:
        self._schema = schema
        self._debug = debug

    def schema(self) -> FunctionSchema:
        """The schema; ``str`` prints it as PyTorch does."""
        return self._schema

    def debug(self) -> str:
        """Place of the definition."""
        return self._debug


class OperatorFunctions:
    """The functions over one dispatcher. space: the keys of its universe."""

    def __init__(self, space: KeySpace, dispatcher: Dispatcher) -> None:
        self.universe = space.universe
        self.dispatcher = dispatcher
        self.space = space

    # registering

    def _dispatch_library(
        self, kind: str, name: str, dispatch: str, file: str = "/dev/null", linenum: int = 0
    ) -> DispatchModule:
        """Open a registration block.

        kind: DEF, FRAGMENT or IMPL. name: the namespace. dispatch: the block's key, or an empty text. file, linenum:
        what debug texts and messages say.
        """
        key = self.space.parse(dispatch).name if dispatch else None
        if kind not in LibraryKind.__members__:
            raise RuntimeError(f"could not parse {kind}")
        block = Block(LibraryKind[kind], name, None if key == UNDEFINED else key, file, linenum)
        _check_block(self.dispatcher, block)
        return DispatchModule(Library(self.dispatcher, block), self.space)

    # operators

    def _dispatch_dump(self, name: str, /) -> str:
        """The registrations of an operator; an empty text when there is none of that name."""
        return dump_registrations(self.dispatcher, read_name(name))

    def _dispatch_dump_table(self, name: str, /) -> str:
        """The computed table of an operator; an empty text when there is none of that name."""
        return self.dispatcher.dump_table(read_name(name))

    def _dispatch_check_invariants(self, name: str, /) -> None:
        """Raise RuntimeError when the operator's live table is not what its registrations determine."""
        operator = read_name(name)
        if operator in self.dispatcher:
            self._check_invariants(operator)

    def _dispatch_check_all_invariants(self) -> None:
        """`_dispatch_check_invariants` of every operator."""
        for operator in self.dispatcher:
            self._check_invariants(operator)

    def _check_invariants(self, operator: OperatorName) -> None:
        if self.dispatcher.stale_entries(operator):
            raise internal_assert(
                "expected_k._equalsBoxedAndUnboxed(dispatchTable_[idx])",
                "aten/src/ATen/core/dispatch/OperatorEntry.cpp",
                f"Canonical state\n~~~~~~~~~~~\n{dump_registrations(self.dispatcher, operator)}\n\n"
                f"Computed table:\n~~~~~~~~~~~\n{self.dispatcher.dump_table(operator)}",
            )

    def _dispatch_find_schema_or_throw(self, name: str, overload_name: str, /) -> DispatchOperatorHandle:
        """The operator of that name, if it has a schema. Errors: RuntimeError."""
        operator = self.dispatcher.find(OperatorName(name, overload_name))
        if operator is not None and operator.definition is not None:
            return DispatchOperatorHandle(operator.definition.schema, operator.definition.debug)
        hint = " but we found an implementation; did you forget to def() the operator?" if operator else ""
        raise RuntimeError(f"Could not find schema for {name}.{overload_name}{hint}")

    def _dispatch_find_dangling_impls(self) -> list[str]:
        """The registrations of every operator that has kernels but no schema."""
        dangling = (name for name in self.dispatcher if self.dispatcher.operator(name).definition is None)
        return [dump_registrations(self.dispatcher, name) for name in dangling]

    def _dispatch_get_all_op_names(self) -> list[str]:
        """Names of all operators."""
        return [str(operator) for operator in self.dispatcher]

    def _dispatch_pystub(self, name: str, overload: str, /) -> tuple[str, str] | None:
        """The Python module of an operator's fake implementation, and its context (``m.set_python_module``).

        A captured state does not have those of PyTorch's own operators.
        """
        operator = self.dispatcher.find(OperatorName(name, overload))
        return None if operator is None or operator.definition is None else operator.definition.python_module

    # kernels

    def _dispatch_has_kernel(self, name: str, /) -> bool:
        """True if there is an operator of that name."""
        return read_name(name) in self.dispatcher

    def _dispatch_has_kernel_for_dispatch_key(self, name: str, dispatch: DispatchKey | str, /) -> bool:
        """True if a kernel is registered at exactly that key."""
        key = self.space.as_key(dispatch)
        return self.dispatcher.operator(read_name(name)).has_kernel(key.name)

    def _dispatch_has_kernel_for_any_dispatch_key(self, name: str, dispatch_key_set: BoundKeySet, /) -> bool:
        """True if a kernel is registered at any key of the set."""
        bits = self.space.bits_of(dispatch_key_set)
        kernels = self.dispatcher.operator(read_name(name)).kernels
        return any(not self.universe.is_alias(key) and bits.has(key) for key in kernels)

    def _dispatch_kernel_for_dispatch_key_is_fallthrough(self, name: str, dispatch: DispatchKey | str, /) -> bool:
        """True if the kernel registered at that key is a fallthrough. Errors: RuntimeError when there is none."""
        key = self.space.as_key(dispatch)
        operator = self.dispatcher.operator(read_name(name))
        registration = operator.active(key.name)
        if registration is None:
            raise RuntimeError(f"no kernel for {self.space.text(key)} on {operator.name}")
        return registration.kernel.fallthrough

    def _dispatch_has_computed_kernel_for_dispatch_key(self, name: str, dispatch: str, /) -> bool:
        """True if the live table has a kernel at that key. Errors: RuntimeError for an alias key."""
        operator = self.dispatcher.operator(read_name(name))
        key = self.space.parse(dispatch)
        if self.space.is_alias(key):
            raise RuntimeError("Alias keys do not have runtime kernel registrations.")
        return operator.live[self.space.slot(key)].kernel is not None

    def _dispatch_get_registrations_for_dispatch_key(self, dispatch_key: str = "") -> list[str]:
        """The operators with a kernel at exactly that key; without a key every operator."""
        if not dispatch_key:
            return self._dispatch_get_all_op_names()
        key = self.space.parse(dispatch_key).name
        return [str(registration.operator) for registration in self.dispatcher.registered_at((key,))]

    def _dispatch_print_registrations_for_dispatch_key(self, dispatch_key: str = "") -> None:
        """Print `_dispatch_get_registrations_for_dispatch_key`, one name a line."""
        names = self._dispatch_get_registrations_for_dispatch_key(dispatch_key)
        sys.stdout.write("".join(f"{name}\n" for name in names))
        sys.stdout.flush()

    def _dispatch_has_backend_fallback(self, dispatch: DispatchKey | str, /) -> bool:
        """True if a backend fallback stands at that key."""
        return self.space.slot(dispatch) in self.dispatcher.fallbacks


def _check_block(dispatcher: Dispatcher, block: Block) -> None:
    """Refuse what PyTorch's ``Library`` constructor refuses in words that only a C++ program would see."""
    if block.kind is LibraryKind.IMPL:
        return
    if block.namespace == WILDCARD:
        if block.kind is LibraryKind.DEF:
            raise RuntimeError("bad optional access")
        return
    if block.dispatch_key is not None:
        if block.kind is LibraryKind.DEF:
            # a namespace that is taken is noticed first
            dispatcher.drop(dispatcher.open_library(block.namespace, f"registered at {block.file}:{block.line}"))
        raise internal_assert("!dispatch_key_.has_value()", "aten/src/ATen/core/library.cpp", block.where)
