"""Comparison of the declarations in files with the registrations of a built library, part by part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from dispatch_cli.checks.check import Check, Finding, Severity
from dispatch_cli.checks.view import View
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.built import BuiltKernel, BuiltOperator
from dispatch_cli.model.declarations import WILDCARD, Define, Implement, OpenBlock, Registrant, Settle
from dispatch_cli.model.kernel import Kernel, WrapKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span

FAKE = "fake implementation"
"""Word for a kernel of ``register_fake``."""
NO_MODULES = "no module was imported; name the one that registers it with --import MODULE"
ANOTHERS = "if another library that the modules import registers them, nothing is to be done"


class Part(NamedTuple):
    """Something that files declare, or that the library registers.

    words: what it is, with its operator. declared, built: on which sides it is. difference: how the library has it, and
    how it is declared, where that is not the same. pytorchs: PyTorch's own kernel there. left_out: the declarations
    change it away. several: the words are in the plural. The other fields are those of a finding.
    """

    words: str
    operator: OperatorName | None = None
    key: str | None = None
    subject: str = ""
    span: Span | None = None
    mark: str | None = None
    declared: bool = False
    built: bool = False
    difference: str | None = None
    details: tuple[tuple[str, str], ...] = ()
    pytorchs: str | None = None
    left_out: bool = False
    several: bool = False
    tip: str | None = None
    severity: Severity | None = None

    def finding(self, check: Check, sentence: str) -> Finding:
        """The finding of a check. sentence: what is said of the part."""
        return check.finding(
            f"{self.words} {sentence}",
            self.operator,
            self.key,
            span=self.span,
            mark=self.mark,
            details=self.details,
            tip=self.tip,
            subject=self.subject,
            severity=self.severity,
        )


class Drift:
    """The user's declarations of a view, and the library."""

    def __init__(self, view: View) -> None:
        assert view.built is not None, "the checks need a library"
        self._view = view
        self._library = view.built
        self.source = view.built.source

    def parts(self) -> Iterator[Part]:
        """Everything that one of the two has, as far as it is compared."""
        for name in self._view.operators:
            if name in self._view.own:
                yield from self._of_operator(name, self._library.operators.get(str(name)))
        yield from self._others()
        yield from self._fallbacks()

    def _of_operator(self, name: OperatorName, built: BuiltOperator | None) -> Iterator[Part]:
        """The parts of an operator that the files define or register kernels for."""
        active, defined = self._view.active(name), self._defined.get(name)
        own = {key: active[key] for key in self._view.own_keys(name)}
        span = defined or next((registration.kernel.span for registration in own.values()), None)
        if built is None:
            tip = NO_MODULES if self._library.is_live and not self._library.modules else None
            yield Part(str(name), name, span=span, declared=True, tip=tip)
            return
        if defined is not None:
            yield from self._of_definition(name, defined, built)
        for key, registration in own.items():
            yield from self._of_kernel(f"{name}: the kernel at {key}", name, registration, built.kernels.get(key))
        for kernel in self._view.state.declared_python_kernels.get(name, ()):
            if not self._view.state.declarations.through(kernel.span):
                key = kernel.dispatch_key
                words = f"{name}: the kernel of the Python dispatcher at {key}"
                is_there = key in built.python
                yield Part(words, name, key, "python kernel", kernel.span, key, declared=True, built=is_there)
        yield from self._undeclared(name, built, span)

    def _of_definition(self, name: OperatorName, span: Span, built: BuiltOperator) -> Iterator[Part]:
        """Schema, alias analysis, and tags, where the files have some.

        Tags are not compared where the declarations are of another PyTorch, whose ``torch.library`` may add others.
        """
        view, library = self._view, self._library
        schema = None if view.is_unknown(name) else view.schema_text(name)
        rows: list[tuple[str, str | None, str | None]] = [("schema", schema, built.schema)]
        definition = view.dispatcher.operator(name).definition
        if definition is not None and built.imported:
            kind = "default" if definition.alias_analysis is None else definition.alias_analysis.value
            rows.append(("alias analysis", kind, built.alias_analysis))
            if definition.tags and library.universe in ("", view.universe.name):
                rows.append(("tags", ", ".join(sorted(definition.tags)), ", ".join(sorted(built.tags or ()))))
        for subject, declared, there in rows:
            difference = None
            if None not in (declared, there) and declared != there:
                difference = f"in {self.source} {'are' if subject == 'tags' else 'is'} not as declared"
            details = () if difference is None else (("declared", declared or ""), ("built", there or ""))
            is_there = subject != "schema" or there is not None
            words = f"{name}: the {subject}"
            yield Part(words, name, None, subject, span, None, True, is_there, difference, details)

    def _of_kernel(
        self, words: str, name: OperatorName | None, registration: Registration, kernel: BuiltKernel | None
    ) -> Iterator[Part]:
        """A kernel that the files register, and the user's functions in it. name: None for a backend fallback."""
        key, own = registration.key, registration.kernel
        subject, is_there = "fallback" if name is None else "kernel", self._library.has(kernel)
        difference, pytorchs = None, None
        if kernel is not None and is_there:
            difference = self._difference(own.fallthrough, kernel.fallthrough)
            for what, is_declared, is_built in _functions(own, kernel):
                if None not in (is_declared, is_built):
                    declared, built = bool(is_declared), bool(is_built)
                    yield Part(f"{name}: the {what}", name, key, what, own.span, None, declared, built)
                elif what == FAKE and (is_declared or is_built):
                    difference = self._fake(bool(is_built))
        elif kernel is not None:
            pytorchs = kernel.debug
        details = () if pytorchs is None else (("PyTorch's kernel", pytorchs),)
        yield Part(words, name, key, subject, own.span, key, True, is_there, difference, details, pytorchs)

    def _difference(self, declared: bool, built: bool) -> str | None:
        """Difference between a declared kernel and the registered one, of which one falls through."""
        if declared is built:
            return None
        if built:
            return f"falls through in {self.source}, but is declared as a kernel that runs"
        return f"runs in {self.source}, but is declared as a fallthrough"

    def _fake(self, is_built: bool) -> str:
        """Difference between two kernels at Meta, of which one is a fake implementation. is_built: the built one."""
        if is_built:
            return f"is a fake implementation in {self.source}, but is declared as another kernel"
        return f"is not a fake implementation in {self.source}, but is declared as one"

    def _undeclared(self, name: OperatorName, built: BuiltOperator, span: Span | None) -> Iterator[Part]:
        """Kernels of an operator that only the library has."""
        view, library = self._view, self._library
        active = view.active(name) if name in view.dispatcher else {}
        is_defined = not library.apart and view.is_defined_by_files(name)
        declared = {key for key, entry in active.items() if not library.apart or self._is_declared(entry)}
        changes = {edit.key: edit.span for edit in view.changes if edit.operator == name and edit.key not in active}
        for key, kernel in built.kernels.items():
            left_out = key in changes
            if left_out or (key not in declared and (kernel.imported or is_defined)):
                what = "fallthrough" if kernel.fallthrough and not left_out else "kernel"
                place, details = changes.get(key, span), (("kernel", kernel.debug),)
                words = f"{name}: the {what} at {key}"
                yield Part(words, name, key, "kernel", place, built=True, details=details, left_out=left_out)
        kernels = view.state.declared_python_kernels.get(name, ())
        known = {kernel.dispatch_key for kernel in kernels if kernel.by is not Registrant.PYTORCH}
        if not library.apart:
            known.update(view.python_keys(name))
        for key in built.python if library.apart or is_defined else ():
            if key not in known:
                words = f"{name}: the kernel of the Python dispatcher at {key}"
                yield Part(words, name, key, "python kernel", span, built=True)

    def _others(self) -> Iterator[Part]:
        """Parts of operators for which the library registers something, and the user's own files nothing.

        Where it is not known what the modules registered, they are those of the namespaces that the files define. Those
        of other namespaces may be of another library that the modules import: they are counted.
        """
        view, library = self._view, self._library
        namespaces = {name.namespace for name in self._defined}
        elsewhere = Counter[str]()
        for text, built in library.operators.items():
            name = OperatorName.parse(text)
            namespace = name.namespace or ""
            is_asked = name not in view.own and (view.guarded is None or name in view.guarded)
            if not is_asked or not (built.is_imported if library.modules else namespace in namespaces):
                continue
            if name in self._declared or (library.modules and not built.imported):
                yield from self._undeclared(name, built, self._place(namespace))
            elif namespace in namespaces:
                yield Part(text, name, subject="operator", span=self._place(namespace), built=True)
            else:
                elsewhere[namespace] += 1
        for namespace, count in elsewhere.items():
            words = f"{'an operator' if count == 1 else f'{count:,} operators'} in the namespace {namespace}"
            subject, place = f"namespace {namespace}", self._place(namespace)
            part = Part(words, None, None, subject, place, built=True, several=count > 1)
            yield part._replace(tip=ANOTHERS, severity=Severity.INFO)

    def _fallbacks(self) -> Iterator[Part]:
        view, library = self._view, self._library
        for key, registration in view.own_fallbacks.items():
            words = f"the backend fallback at {key}"
            yield from self._of_kernel(words, None, registration, library.fallbacks.get(key))
        for key, fallback in library.fallbacks.items() if view.is_whole else ():
            known = view.dispatcher.fallbacks.get(key)
            is_declared = known is not None and (not library.apart or self._is_declared(known))
            if fallback.imported and not is_declared:
                words, details = f"the backend fallback at {key}", (("kernel", fallback.debug),)
                yield Part(words, None, key, "fallback", self._place(WILDCARD), built=True, details=details)

    def _is_declared(self, registration: Registration) -> bool:
        """True if a file registers it, and not PyTorch."""
        return self._view.is_own(registration) or self._view.registrant(registration) is not Registrant.PYTORCH

    @cached_property
    def _declared(self) -> frozenset[OperatorName]:
        """The operators that a file defines, or registers a kernel for: the user's own, or one that is extended."""
        return self._view.own | {
            step.schema.name if isinstance(step, Define) else step.operator
            for step in self._view.state.declarations.steps
            if isinstance(step, Define | Implement) and step.block.by is not Registrant.PYTORCH
        }

    @cached_property
    def _defined(self) -> Mapping[OperatorName, Span | None]:
        """The operators that the user's files define, and where."""
        return {step.schema.name: step.span for step in self._view.own_steps if isinstance(step, Define)}

    def _place(self, namespace: str) -> Span | None:
        """Place for what is not declared: the library section of its namespace, or the file that defines others."""
        steps = [step for step in self._view.own_steps if not isinstance(step, Settle)]
        here = [step for step in steps if step.block.namespace == namespace]
        sections = (step.block.span for step in here if not step.block.implicit and step.block.span is not None)
        section = next(sections, None)
        if section is not None:
            return section
        places = (step.span for step in (*here, *steps) if not isinstance(step, OpenBlock))
        file = next((place.file for place in places if place is not None), None)
        return None if file is None else Span(file, 1, 1)


def _functions(kernel: Kernel, built: BuiltKernel) -> Iterator[tuple[str, bool | None, bool | None]]:
    """The user's functions in a kernel of ``torch.library``: a word for each, if it is declared, if it is registered.

    None where the kernel cannot have such a function.
    """
    yield FAKE, None if kernel.fake is None else kernel.fake.function is not None, built.fake
    wraps = kernel.wraps
    is_autograd = wraps is not None and wraps.kind is WrapKind.AUTOGRAD
    yield "backward", wraps.function is not None if wraps is not None and is_autograd else None, built.backward
