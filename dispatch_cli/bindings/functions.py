"""PyTorch's dispatcher introspection functions over the engine.

Source: ``torch/csrc/utils/python_dispatch.cpp``. Names, arguments, texts and exceptions are PyTorch's. What PyTorch
reads from a running program has no counterpart here: tensors, C++ warnings, Python stubs.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

from dispatch_cli.bindings import thread_state
from dispatch_cli.bindings.devices import key_for_device
from dispatch_cli.bindings.errors import internal_assert, read_name, refuses
from dispatch_cli.bindings.keys import BoundKeySet, DispatchKey, KeySpace, key_set
from dispatch_cli.bindings.library import DispatchModule
from dispatch_cli.bindings.python_dispatcher import PythonDispatcher
from dispatch_cli.bindings.thread_state import ThreadState, guard_of
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.dispatcher.dump import dump_registrations, dump_table
from dispatch_cli.engine.dispatcher.library import WILDCARD, Library
from dispatch_cli.engine.keys.keyset import DispatchKeySet as KeyBits
from dispatch_cli.model.declarations import Block, LibraryKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema import FunctionSchema
from dispatch_cli.model.universe import UNDEFINED, Universe

Key = DispatchKey | str
"""Wherever PyTorch takes a key, it also takes the name of one."""


class DispatchOperatorHandle:
    """An operator that has a schema, as `Bindings._dispatch_find_schema_or_throw` gives it."""

    def __init__(self, schema: FunctionSchema, debug: str) -> None:
        self._schema = schema
        self._debug = debug

    def schema(self) -> FunctionSchema:
        """The schema; ``str`` prints it as PyTorch does."""
        return self._schema

    def debug(self) -> str:
        """Where it was defined."""
        return self._debug


class Bindings:
    """The functions, over a dispatcher of their own.

    universe: the key layout. dispatcher: the engine's dispatcher to ask and change, for instance one that already
    holds an embedded state; by default a new one of *universe*.

    DispatchKey and DispatchKeySet are classes of this universe: objects of two universes do not mix.
    """

    def __init__(self, universe: Universe, dispatcher: Dispatcher | None = None) -> None:
        self.universe = universe
        self.dispatcher = Dispatcher(universe) if dispatcher is None else dispatcher
        self.space = space = KeySpace(universe)
        self.thread_state = ThreadState(space)
        self.DispatchKey: Any = space.DispatchKey
        self.DispatchKeySet: Any = space.DispatchKeySet
        self._DispatchModule = DispatchModule
        self._DispatchOperatorHandle = DispatchOperatorHandle
        self.PythonDispatcher = partial(PythonDispatcher, self)
        self._ExcludeDispatchKeyGuard = guard_of(thread_state.ExcludeDispatchKeyGuard, self.thread_state)
        self._IncludeDispatchKeyGuard = guard_of(thread_state.IncludeDispatchKeyGuard, self.thread_state)
        self._ForceDispatchKeyGuard = guard_of(thread_state.ForceDispatchKeyGuard, self.thread_state)
        self._PreserveDispatchKeyGuard = guard_of(thread_state.PreserveDispatchKeyGuard, self.thread_state)
        self._SetExcludeDispatchKeyGuard = guard_of(thread_state.SetExcludeDispatchKeyGuard, self.thread_state)
        self._AutoDispatchBelowAutograd = guard_of(thread_state.AutoDispatchBelowAutograd, self.thread_state)
        self._AutoDispatchBelowADInplaceOrView = guard_of(
            thread_state.AutoDispatchBelowADInplaceOrView, self.thread_state
        )
        self._dispatch_autogradother_backends = self._set(KeyBits.of(universe, universe.autogradother_backends))
        self._after_autograd_keyset = self._set(KeyBits.full_after(universe, universe.after_autograd))
        self._after_ADInplaceOrView_keyset = self._set(KeyBits.full_after(universe, universe.after_ADInplaceOrView))

    # registering

    @refuses
    def _dispatch_library(
        self, kind: str, name: str, dispatch: str, file: str = "/dev/null", linenum: int = 0
    ) -> DispatchModule:
        """Open a registration block.

        kind: DEF, FRAGMENT or IMPL. name: the namespace. dispatch: the block's key, or an empty text. file, linenum:
        what debug texts and messages say.
        """
        key = self.space.parse(dispatch).name if dispatch != "" else None
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
        return dump_table(self.dispatcher, read_name(name))

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
                f"Computed table:\n~~~~~~~~~~~\n{dump_table(self.dispatcher, operator)}",
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
        return [dump_registrations(self.dispatcher, operator) for operator in self.dispatcher.dangling()]

    def _dispatch_get_all_op_names(self) -> list[str]:
        """Every operator's name."""
        return [str(operator) for operator in self.dispatcher]

    def _dispatch_pystub(self, name: str, overload: str, /) -> tuple[str, str] | None:  # noqa: ARG002
        """The Python module that registers an operator's Python rules: none does here."""
        return None

    # kernels

    def _dispatch_has_kernel(self, name: str, /) -> bool:
        """Whether there is an operator of that name."""
        return read_name(name) in self.dispatcher

    @refuses
    def _dispatch_has_kernel_for_dispatch_key(self, name: str, dispatch: Key, /) -> bool:
        """Whether a kernel is registered at exactly that key."""
        key = self.space.convert(dispatch)
        return self.dispatcher.has_kernel_for_dispatch_key(read_name(name), key.name)

    @refuses
    def _dispatch_has_kernel_for_any_dispatch_key(self, name: str, dispatch_key_set: BoundKeySet, /) -> bool:
        """Whether a kernel is registered at any key of the set."""
        bits = self._bits(dispatch_key_set)
        return self.dispatcher.has_kernel_for_any_dispatch_key(read_name(name), bits)

    @refuses
    def _dispatch_kernel_for_dispatch_key_is_fallthrough(self, name: str, dispatch: Key, /) -> bool:
        """Whether the kernel registered at that key is a fallthrough. Errors: RuntimeError when there is none."""
        key = self.space.convert(dispatch)
        return self.dispatcher.kernel_is_fallthrough(read_name(name), key.name)

    @refuses
    def _dispatch_has_computed_kernel_for_dispatch_key(self, name: str, dispatch: str, /) -> bool:
        """Whether the live table has a kernel at that key. Errors: RuntimeError for an alias key."""
        if not isinstance(dispatch, str):
            raise TypeError(f"the name of a DispatchKey is needed, not {dispatch!r}")
        operator = self.dispatcher.operator(read_name(name)).name
        key = self.space.parse(dispatch)
        slot = key.name if self.space.is_alias(key) else self.space.slot(key)
        return self.dispatcher.has_computed_kernel(operator, slot)

    @refuses
    def _dispatch_get_registrations_for_dispatch_key(self, dispatch_key: str = "") -> list[str]:
        """The operators with a kernel at exactly that key; without a key every operator."""
        key = self.space.parse(dispatch_key).name if dispatch_key != "" else None
        return [str(operator) for operator in self.dispatcher.registrations_for(key)]

    def _dispatch_print_registrations_for_dispatch_key(self, dispatch_key: str = "") -> None:
        """Print `_dispatch_get_registrations_for_dispatch_key`, one name a line."""
        names = self._dispatch_get_registrations_for_dispatch_key(dispatch_key)
        sys.stdout.write("".join(f"{name}\n" for name in names))
        sys.stdout.flush()

    def _dispatch_has_backend_fallback(self, dispatch: Key, /) -> bool:
        """Whether a backend fallback stands at that key."""
        return self.space.slot(self.space.convert(dispatch)) in self.dispatcher.fallbacks

    # keys

    def _dispatch_key_name(self, dispatch: Key, /) -> str:
        """The key's name, as dumps print it."""
        return self.space.text(self.space.convert(dispatch))

    def _dispatch_key_parse(self, dispatch: Key, /) -> DispatchKey:
        """The key of that name. Errors: RuntimeError for a name that PyTorch's parser does not know."""
        return self.space.convert(dispatch)

    def _parse_dispatch_key(self, key: str, /) -> DispatchKey | None:
        """The key of that name, or None."""
        try:
            return self.space.parse(key)
        except RuntimeError:
            return None

    def _to_functionality_key(self, key: Key, /) -> DispatchKey:
        """The functionality of a runtime key; Undefined for an alias key."""
        return self.space.functionality(self.space.convert(key))

    def _functionality_to_backend_keys(self, key: Key, /) -> list[DispatchKey]:
        """The runtime keys of a per-backend functionality; any other key alone."""
        return self.space.backend_keys(self.space.convert(key))

    def _dispatch_num_backends(self) -> int:
        """How many backend components there are."""
        return len(self.universe.backends)

    def _dispatch_is_alias_key(self, dispatch: Key, /) -> bool:
        """Whether it is an alias key."""
        return self.space.is_alias(self.space.convert(dispatch))

    def _dispatch_is_included_in_alias(self, dispatch_a: Key, dispatch_b: Key, /) -> bool:
        """Whether the alias key *dispatch_b* covers *dispatch_a*; a key that is no alias covers itself only."""
        key, alias = self.space.convert(dispatch_a), self.space.convert(dispatch_b)
        if key.value == 0:
            return False
        if alias.value == 0:
            raise internal_assert("t != DispatchKey::Undefined", "c10/core/DispatchKeySet.cpp")
        if not self.space.is_alias(alias):
            return key == alias
        return self._set(KeyBits.of(self.universe, self.universe.covered_by(alias.name))).has(key)

    def _dispatch_key_for_device(self, device_type: str, /) -> str:
        """The name of a device type's key. Errors: RuntimeError."""
        return key_for_device(self.universe, device_type)

    # key sets

    def _dispatch_keyset_full(self) -> BoundKeySet:
        """Every key."""
        return self._set(KeyBits.full(self.universe))

    def _dispatch_keyset_full_after(self, dispatch: Key, /) -> BoundKeySet:
        """Every key below the functionality of that one, and PythonDispatcher."""
        return self.space.full_after(self.space.convert(dispatch))

    def _dispatch_keyset_to_string(self, keyset: BoundKeySet, /) -> str:
        """The printed form."""
        return repr(key_set(self.space, keyset))

    def _dispatch_get_backend_keyset_from_autograd(self, dispatch: Key, /) -> BoundKeySet:
        """The backend keys behind an autograd key."""
        backends = self.universe.autograd_backends.get(self.space.convert(dispatch).name, ())
        return self._set(KeyBits.of(self.universe, backends))

    # thread-local state

    def _dispatch_tls_local_include_set(self) -> BoundKeySet:
        """The keys that this thread adds to every call."""
        return self._set(self.thread_state.included)

    def _dispatch_tls_local_exclude_set(self) -> BoundKeySet:
        """The keys that this thread takes out of every call."""
        return self._set(self.thread_state.excluded)

    def _dispatch_tls_is_dispatch_key_included(self, dispatch: Key, /) -> bool:
        """Whether this thread includes the key."""
        return self.thread_state.is_included(dispatch)

    def _dispatch_tls_is_dispatch_key_excluded(self, dispatch: Key, /) -> bool:
        """Whether this thread excludes the key."""
        return self.thread_state.is_excluded(dispatch)

    def _dispatch_tls_set_dispatch_key_included(self, dispatch: Key, included: bool, /) -> None:
        """Include the key in this thread, or no longer do."""
        self.thread_state.set_included(dispatch, included)

    def _dispatch_tls_set_dispatch_key_excluded(self, dispatch: Key, excluded: bool, /) -> None:
        """Exclude the key in this thread, or no longer do."""
        self.thread_state.set_excluded(dispatch, excluded)

    # inside

    def _set(self, bits: KeyBits) -> BoundKeySet:
        return self.space.wrap(bits)

    def _bits(self, keyset: BoundKeySet) -> KeyBits:
        return KeyBits(self.space.layout, key_set(self.space, keyset).raw_repr())


def _check_block(dispatcher: Dispatcher, block: Block) -> None:
    """Refuse what PyTorch's ``Library`` constructor refuses in words that only a C++ program would see."""
    if block.kind is LibraryKind.IMPL:
        return
    if block.kind is LibraryKind.DEF and block.namespace == WILDCARD:
        raise RuntimeError("bad optional access")
    if block.dispatch_key is not None:
        if block.kind is LibraryKind.DEF:
            # a namespace that is taken is noticed first
            dispatcher.drop(dispatcher.open_library(block.namespace, f"registered at {block.file}:{block.line}"))
        raise internal_assert(
            "!dispatch_key_.has_value()",
            "aten/src/ATen/core/library.cpp",
            f"(Error occurred while processing {block.kind.value} block at {block.file}:{block.line})",
        )
