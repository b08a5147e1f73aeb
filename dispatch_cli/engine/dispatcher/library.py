"""Registration blocks: ``TORCH_LIBRARY`` and its siblings over a dispatcher, with PyTorch's checks and messages.

Source: ``aten/src/ATen/core/library.cpp``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.table.registration import Definition, Handle, Refusal, Refused, Registration
from dispatch_cli.model.declarations import WILDCARD, Block, LibraryKind
from dispatch_cli.model.kernel import AliasAnalysisKind, Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.model import FunctionSchema
from dispatch_cli.model.span import Span
from dispatch_cli.model.universe import UNDEFINED


class Library:
    """A block and what it has registered; `drop` takes everything back, newest last, as PyTorch's destructor does.

    Errors: Refused when the block cannot exist (a second DEF of a namespace, a definition block of namespace ``_``).
    """

    def __init__(self, dispatcher: Dispatcher, block: Block) -> None:
        self._dispatcher = dispatcher
        self.block = block
        self.handles: list[Handle] = []
        key = block.dispatch_key
        self.dispatch_key = None if key is None or key == UNDEFINED else dispatcher.check_key(key)
        if block.kind is LibraryKind.IMPL:
            return
        macro = block.kind.value
        if block.namespace == WILDCARD:
            self._refuse(
                f"{macro}: cannot define {macro} with the wildcard namespace _ "
                f"(every {macro} defines operators for a distinct namespace!) "
                "Did you mean to use TORCH_LIBRARY_IMPL instead?  "
            )
        if self.dispatch_key is not None:
            self._refuse(
                f"{macro}: a block that defines operators has no dispatch key, but {self.dispatch_key} is given.  "
            )
        if block.kind is LibraryKind.DEF:
            self.handles.append(dispatcher.open_library(block.namespace, self.debug, block.span))

    @property
    def debug(self) -> str:
        """Debug text for a registration that names none of its own."""
        return f"registered at {self.block.file}:{self.block.line}"

    def define(
        self,
        schema: FunctionSchema,
        alias_analysis: AliasAnalysisKind | None = AliasAnalysisKind.FROM_SCHEMA,
        tags: tuple[str, ...] = (),
        debug: str | None = None,
        span: Span | None = None,
        python_module: tuple[str, str] | None = None,
    ) -> Definition:
        """``m.def(schema)``. Errors: Refused, by the block or by the dispatcher."""
        schema = self._qualified_schema(schema)
        definition = self._dispatcher.define(schema, debug or self.debug, alias_analysis, tags, span, python_module)
        self.handles.append(definition)
        return definition

    def implement(
        self, name: OperatorName, kernel: Kernel, dispatch_key: str | None = None, written: str | None = None
    ) -> Registration:
        """``m.impl(name, kernel)``. written: the name as it was given. Errors: Refused, by the block or the dispatcher.

        A block of all namespaces takes no kernels; PyTorch crashes where the name has no namespace.
        """
        macro = self.block.kind.value
        full_name = self.block.qualified(name)
        is_for_all = self.block.namespace == WILDCARD
        if full_name is None or (is_for_all and name.namespace is not None):
            raise Refused(Refusal.BLOCK_MISUSE, self.block.misplaced(name, in_schema=False, written=written))
        if is_for_all:
            self._refuse(
                f'impl("{written or name}", ...): a {macro} block in the namespace _ can only have a fallback.  '
            )
        own = None if dispatch_key == UNDEFINED else dispatch_key
        if own is not None and self.dispatch_key is not None and own != self.dispatch_key:
            self._refuse(
                f'impl("{written or name}", ...): Explicitly provided dispatch key ({own}) is inconsistent '
                f"with the dispatch key of the enclosing {macro} block ({self.dispatch_key}).  "
                f"Please declare a separate {macro} block for this dispatch key and "
                "move your impl() there.  "
            )
        registration = self._dispatcher.implement(full_name, own or self.dispatch_key, kernel)
        self.handles.append(registration)
        return registration

    def fall_back(self, kernel: Kernel, dispatch_key: str | None = None) -> tuple[Registration, ...]:
        """``m.fallback(kernel)``. Errors: Refused, by the block or by the dispatcher."""
        macro = self.block.kind.value
        if self.block.kind is not LibraryKind.IMPL:
            self._refuse(
                f"fallback(...): Cannot define an operator inside of a {macro} block.  "
                "Did you mean to call this function inside a TORCH_LIBRARY_IMPL block?  "
            )
        key = dispatch_key or self.dispatch_key
        if key is None:
            self._refuse("fallback(...): a backend fallback needs a dispatch key.  ")
        if self.block.namespace != WILDCARD:
            self._refuse(
                "fallback(...): Fallback functions which apply to only a single namespace "
                f"(you specified {self.block.namespace}) are not supported.  If you intended to apply "
                "this fallback function globally, please define a separate block:\n\n"
                f"    TORCH_LIBRARY_IMPL(_, {key}, m) {{ m.fallback(...); }}\n\n"
            )
        registrations = self._dispatcher.fall_back(key, kernel)
        self.handles.extend(registrations)
        return registrations

    def drop(self) -> None:
        """Take back everything that this block registered.

        What it registered stays known: a checkpoint may bring it back, and then it can be taken back again.
        """
        for handle in self.handles:
            self._dispatcher.drop(handle)

    def _qualified_schema(self, schema: FunctionSchema) -> FunctionSchema:
        macro = self.block.kind.value
        if self.block.kind is LibraryKind.IMPL:
            self._refuse(
                f'def("{schema.name}"): Cannot define an operator inside of a {macro} block.  '
                "All def()s should be placed in the (unique) TORCH_LIBRARY block for their namespace.  "
            )
        name = self.block.qualified(schema.name)
        if name is None:
            raise Refused(Refusal.BLOCK_MISUSE, self.block.misplaced(schema.name, in_schema=True))
        return schema if name is schema.name else replace(schema, name=name)

    def _refuse(self, message: str) -> NoReturn:
        raise Refused(Refusal.BLOCK_MISUSE, message + self.block.where)
