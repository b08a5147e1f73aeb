"""Comparison of the declarations in files with the registrations of a built library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from dispatch_cli.checks.view import View
from dispatch_cli.engine.python.higher_order import places
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.built import BuiltKernel, BuiltLibrary, BuiltOperator
from dispatch_cli.model.declarations import Define, Implement, OpenBlock, PythonKernel, Registrant, Settle
from dispatch_cli.model.higher_order import HigherOrderImpl, HigherOrderOperator, ImplKind, ImplPlace
from dispatch_cli.model.kernel import Kernel, WrapKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from dispatch_cli.model.text.suggest import similar
from dispatch_cli.model.universe import Universe

COMPARISONS = 50_000
"""Number of pairs of names that are compared at most, to find operators that have another name now."""
FAKE = "fake implementation"
"""Word for a kernel of ``register_fake``."""


class DeclaredOperator(NamedTuple):
    """An operator of the user's files, and what the library has of it; None where it has nothing.

    defined_at: where the files define it; None where they only register kernels for it.
    """

    name: OperatorName
    defined_at: Span | None
    built: BuiltOperator | None


class DriftComparison:
    """The user's declarations of a view, and the library."""

    def __init__(self, view: View, library: BuiltLibrary) -> None:
        self.view = view
        self.library = library

    @cached_property
    def operators(self) -> tuple[DeclaredOperator, ...]:
        """The operators of the view that the files define or register kernels for."""
        own, registered = self.view.own, self.library.operators
        return tuple(
            DeclaredOperator(name, self._defined.get(name), registered.get(str(name)))
            for name in self.view.operators
            if name in own
        )

    @cached_property
    def others(self) -> Mapping[OperatorName, BuiltOperator]:
        """The operators for which the library registers something, and the user's own files nothing.

        Where it is not known what the modules registered, they are those of the namespaces that the files define.
        """
        view, library = self.view, self.library
        names = {name: operator for text, operator in library.operators.items() if (name := OperatorName.parse(text))}
        return {
            name: operator
            for name, operator in names.items()
            if name not in view.own
            and (operator.is_imported if library.modules else name.namespace in self.namespaces)
            and (view.guarded is None or name in view.guarded)
        }

    @cached_property
    def renamed(self) -> Mapping[OperatorName, OperatorName]:
        """Operators that the library lacks, and what it seems to call them: operators that are not declared.

        One of the two names is close to the other, or the schemas have the same arguments and results, two arguments at
        least, and no other operator has them.
        """
        left = {str(name): built for name, built in self.others.items() if name not in self.declared}
        missing = [operator.name for operator in self.operators if operator.built is None]
        new_names: dict[OperatorName, OperatorName] = {}
        for name in missing[: COMPARISONS // max(len(left), 1)]:
            meant = self._meant(name, left)
            if meant is not None:
                new_names[name] = OperatorName.parse(meant)
                del left[meant]
        return new_names

    def _meant(self, name: OperatorName, others: Mapping[str, BuiltOperator]) -> str | None:
        wanted = _signature(self.view.schema_text(name))
        alike = [other for other, operator in others.items() if wanted and _signature(operator.schema) == wanted]
        close = similar(str(name), alike) or similar(str(name), others)
        if close:
            return close[0]
        return alike[0] if len(alike) == 1 and wanted is not None and "," in wanted.partition(" -> ")[0] else None

    def kernels(self, operator: DeclaredOperator) -> Iterator[tuple[str, Registration]]:
        """The active kernels that the files register for it, by key."""
        active = self.view.active(operator.name)
        yield from ((key, active[key]) for key in self.view.own_keys(operator.name))

    def pairs(self, operator: DeclaredOperator) -> Iterator[tuple[str, Registration, BuiltKernel]]:
        """The kernels that the files and the library both register for it, by key."""
        for key, registration in self.kernels(operator):
            kernel = operator.built.kernels.get(key) if operator.built is not None else None
            if kernel is not None and self.library.has(kernel):
                yield key, registration, kernel

    def declared_keys(self, name: OperatorName) -> frozenset[str]:
        """The keys of the active kernels of an operator that files register; where PyTorch's cannot be told apart from
        the library's, of all active ones.
        """
        view = self.view
        if name not in view.dispatcher:
            return frozenset()
        active = view.active(name).items()
        return frozenset(key for key, entry in active if not self.library.apart or self.is_declared(entry))

    def is_declared(self, registration: Registration) -> bool:
        """True if a file registers it, and not PyTorch."""
        return self.view.is_own(registration) or self.view.registrant(registration) is not Registrant.PYTORCH

    def python_kernels(self, operator: DeclaredOperator) -> Mapping[str, Span | None]:
        """The keys at which the files declare a kernel of the Python dispatcher, with their places."""
        through = self.view.state.declarations.through
        kernels = self._python_kernels.get(operator.name, ())
        return {kernel.dispatch_key: kernel.span for kernel in kernels if not through(kernel.span)}

    def python_keys(self, name: OperatorName) -> frozenset[str]:
        """The keys with a kernel of the Python dispatcher that is declared, as in `declared_keys`."""
        if not self.library.apart:
            return frozenset(self.view.python_keys(name))
        kernels = self._python_kernels.get(name, ())
        return frozenset(kernel.dispatch_key for kernel in kernels if kernel.by is not Registrant.PYTORCH)

    @cached_property
    def higher_order(self) -> tuple[tuple[HigherOrderOperator, HigherOrderOperator | None], ...]:
        """The higher-order operators that the files declare, and what the library has of each."""
        library = self.library
        built = {
            name: operator
            for name, operator in library.higher_order.items()
            if not library.apart or name in library.imported_higher_order
        }
        return tuple((operator, built.get(operator.name)) for operator in self.view.higher_order if operator.is_own)

    @cached_property
    def namespaces(self) -> frozenset[str]:
        """The namespaces in which the files define operators."""
        return frozenset(name.namespace for name in self._defined if name.namespace is not None)

    @cached_property
    def declared(self) -> frozenset[OperatorName]:
        """The operators that a file defines, or registers a kernel for: the user's own, or one that is extended."""
        steps = self.view.state.declarations.steps
        return self.view.own | {
            step.schema.name if isinstance(step, Define) else step.operator
            for step in steps
            if isinstance(step, Define | Implement) and step.block.by is not Registrant.PYTORCH
        }

    def place(self, namespace: str) -> Span | None:
        """Place for what is not declared: the library section of its namespace, or the file that defines others."""
        steps = [step for step in self.view.state.declarations.own_steps if not isinstance(step, Settle)]
        here = [step for step in steps if step.block.namespace == namespace]
        sections = (step.block.span for step in here if not step.block.implicit and step.block.span is not None)
        section = next(sections, None)
        if section is not None:
            return section
        places = (step.span for step in (*here, *steps) if not isinstance(step, OpenBlock))
        files = (place.file for place in places if place is not None)
        file = next(files, None)
        return None if file is None else Span(file, 1, 1)

    @cached_property
    def _defined(self) -> Mapping[OperatorName, Span | None]:
        steps = self.view.state.declarations.own_steps
        return {step.schema.name: step.span for step in steps if isinstance(step, Define)}

    @cached_property
    def _python_kernels(self) -> Mapping[OperatorName, Sequence[PythonKernel]]:
        by_operator: dict[OperatorName, list[PythonKernel]] = {}
        for kernel in self.view.state.declarations.python_kernels:
            by_operator.setdefault(kernel.operator, []).append(kernel)
        return by_operator


def _signature(schema: str | None) -> str | None:
    """A schema without the name."""
    return None if schema is None else schema[schema.index("(") :]


def functions(kernel: Kernel, built: BuiltKernel) -> Iterator[tuple[str, bool | None, bool | None]]:
    """The user's functions in a kernel of ``torch.library``: a word for each, if it is declared, if it is registered.

    None where the kernel cannot have such a function.
    """
    yield FAKE, None if kernel.fake is None else kernel.fake.function is not None, built.fake
    wraps = kernel.wraps
    is_autograd = wraps is not None and wraps.kind is WrapKind.AUTOGRAD
    yield "backward", wraps.function is not None if wraps is not None and is_autograd else None, built.backward


def place_words(place: ImplPlace) -> str:
    """Key, mode or transform that an implementation of a higher-order operator is registered for, for a sentence."""
    if place.kind is ImplKind.FUNCTIONALIZE:
        return "functionalization"
    word = "key" if place.kind is ImplKind.DISPATCH else place.kind.value
    return f"the {word} {place.name}" if place.name else word


def places_of(operator: HigherOrderOperator, universe: Universe | None = None) -> Mapping[ImplPlace, HigherOrderImpl]:
    """The implementations of a higher-order operator by where they are registered, and the keys that fall through.

    universe: to take all keys of a functionality with the one that is said to fall through, as PyTorch does.
    """
    impls: dict[ImplPlace, HigherOrderImpl] = {}
    for impl in operator.impls:
        for place in (ImplPlace(impl.kind, impl.name),) if impl.fallthrough else places(impl):
            impls.setdefault(place, impl)
    if universe is not None:
        parts = universe.runtime_parts
        for impl in (impl for impl in operator.impls if impl.fallthrough and impl.name in parts):
            functionality = parts[impl.name][0]
            for key in universe.per_backend.get(functionality, ()):
                impls.setdefault(ImplPlace(impl.kind, key), impl)
    return impls
