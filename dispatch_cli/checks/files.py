"""What the files that the user named register, and what was there before them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from dispatch_cli.engine.dispatcher import Dispatcher
from dispatch_cli.engine.registration import Registration
from dispatch_cli.engine.state import State
from dispatch_cli.model.declarations import Define, Fallback, Implement, Settle, Step
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span

CORE_NAMESPACES = frozenset({"aten", "prims"})
"""The namespaces of PyTorch's own operators and of the primitives that they decompose into."""


class Files:
    """A state, as far as it says who registered what."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.dispatcher: Dispatcher = state.dispatcher

    @cached_property
    def own(self) -> frozenset[OperatorName]:
        """The operators that the files named by the user register something for."""
        return frozenset(self.state.own_operators())

    def is_own(self, registration: Registration) -> bool:
        """Whether the registration is by a file that the user named, not by one that it extends, or by a base.

        Those of a what-if, which are in no file, are the user's own too.
        """
        span = registration.kernel.span
        return self._is_of_what_if(registration) if span is None else span in self._own_places

    def is_written(self, registration: Registration) -> bool:
        """Whether the registration is the user's own, and was written by somebody: it is not part of a snapshot."""
        span = registration.kernel.span
        return self._is_of_what_if(registration) if span is None else span in self._written_places

    @cached_property
    def written_steps(self) -> tuple[Step, ...]:
        """The steps of the files that the user named, without those that make up a snapshot."""
        settled: set[OperatorName] = set()
        kept: list[Step] = []
        for step in reversed(self._own_steps):
            if isinstance(step, Settle):
                settled.update(step.operators)
            elif not (
                (isinstance(step, Implement) and step.operator in settled)
                or (isinstance(step, Define) and step.schema.name in settled)
            ):
                kept.append(step)
        return tuple(reversed(kept))

    @cached_property
    def pytorch_namespaces(self) -> frozenset[str]:
        """The namespaces that are PyTorch's: those of the embedded state's operators. Of a snapshot's, which may hold
        libraries of the user's own, only those that every PyTorch has.
        """
        source = self.state.source
        found = {name.partition("::")[0] for name in source.names} if source is not None else set()
        for step in self.state.declarations.steps:
            if isinstance(step, Settle):
                found.update(name.namespace for name in step.operators if name.namespace in CORE_NAMESPACES)
        return frozenset(found)

    @cached_property
    def own_fallbacks(self) -> Mapping[str, Registration]:
        """The backend fallbacks that the user's own files register, by runtime key."""
        return {key: one for key, one in self.dispatcher.fallbacks.items() if self.is_own(one)}

    @cached_property
    def has_pytorch(self) -> bool:
        """Whether the operators of a PyTorch state are there: an embedded one, or a snapshot."""
        steps = self.state.declarations.steps
        return self.state.source is not None or any(isinstance(step, Settle) for step in steps)

    @cached_property
    def has_files(self) -> bool:
        """Whether the user's own files register something."""
        return bool(self._own_steps)

    # inside

    def _is_of_what_if(self, registration: Registration) -> bool:
        """Whether a kernel without a place is one of a what-if; a base's, and PyTorch's fallbacks, have none either."""
        return registration.operator is not None and self.state.source is None and self.has_files

    @cached_property
    def _own_steps(self) -> tuple[Step, ...]:
        declarations = self.state.declarations
        return declarations.steps[declarations.inherited_steps :]

    @cached_property
    def _own_places(self) -> frozenset[Span]:
        def places() -> Iterator[Span]:
            for step in self._own_steps:
                if isinstance(step, Implement | Fallback) and step.kernel.span is not None:
                    yield step.kernel.span
                elif isinstance(step, Define) and step.span is not None:
                    yield step.span

        return frozenset(places())

    @cached_property
    def _written_places(self) -> frozenset[Span]:
        kernels = (step.kernel for step in self.written_steps if isinstance(step, Implement | Fallback))
        return frozenset(kernel.span for kernel in kernels if kernel.span is not None)
