"""Every operator with kernels has a schema.

Kernels of an operator that nothing defines can never be called: there is no schema to call them by. Usually the name is
misspelt, the overload is missing, or the library that defines the operator is not loaded. PyTorch lists such operators
in `torch._C._dispatch_find_dangling_impls`.

Bad, because nothing defines the operator:

```yaml
dispatch: 1
operators:
  - name: demo::mull
    dispatch: {CPU: mul_cpu}
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::mul(Tensor a, Tensor b) -> Tensor
    dispatch: {CPU: mul_cpu, Autograd: mul_autograd}
```

In sources, the finding is an error where the operator would be the project's own: its namespace has a `TORCH_LIBRARY`
block there, or one of its operators is defined there whose name is similar, or the namespace's name is one edit from
such a one. Where the project only extends a namespace, another library may do so, too: the finding is a warning, and an
info if there are five of them or more, and more than the project defines. It is an error, too, for an operator of
PyTorch that needs the name of an overload, such as ``aten::softmax``, and a warning for any other name in ``aten``:
another version of PyTorch, or a patched one, may have it; an info where nobody named the PyTorch, and another embedded
one has it. These need a captured PyTorch (`--base`). Operators of other libraries, such as torchvision, are
warnings where the project defines one of the same name in a namespace that is almost the same, else infos: whether they
are defined is not known here. Infos, too, are all where sources have a definition whose namespace or name is not known,
and which may be the operator's.

An operator that is defined unless it is there already, as `torch.library._defs` says, is not reported, nor one whose
kernels are registered only where `hasattr(torch.ops.demo, "mull")` says that it is there. One that is defined only
under other conditions is a warning; and an info where its kernels are in C++ files that do not define it, because such
a build may leave these files out.

Fix: define the operator, correct its name, or load the declarations that define it as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from dispatch_cli.checks.check import Check, Finding, MissingPart, Severity
from dispatch_cli.checks.files import CORE_NAMESPACES, NamespaceOwner
from dispatch_cli.checks.view import View
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.declarations import Define
from dispatch_cli.model.names import OperatorName, usualness
from dispatch_cli.model.text.suggest import is_one_edit_away, similar

MAX_SUGGESTIONS = 20
"""Looking for a similar name compares with every operator, so only the first findings get a suggestion."""
MAX_OVERLOADS = 4
"""An operator with more overloads than these is not listed whole."""
CUTOFF = 0.8
_ASKS_PYTORCH = re.compile(r"torch\.library\._(?:defs|impls)\b|torch\._C\._dispatch_|hasattr\(torch\.ops\b")
"""Call in a condition that tests if something is registered already."""
REFUSED_SCHEMA = "bad-schema"
"""The code of a definition that PyTorch refuses, which is a finding of its own."""
NOTHING_DEFINES = "but nothing defines it"
TIP = "define the operator, correct its name, or load the declarations that define it as well"
OTHER_BUILD = "if the kernel's file is not in such a build, say so: `when` in [[tool.dispatch-cli.extract.files]]"
ANOTHERS = "correct the name, unless that library is loaded first"
OF_OTHER_VERSION = "register it only for the versions of PyTorch that have it; --base chooses the one to check"
WITHOUT_BASE = "load PyTorch's operators as well (--base NAME), or correct the operator's name"


def find(view: View) -> Iterator[Finding]:
    """A finding for every operator without a schema."""
    refused = {item.operator for item in view.state.refused if item.code == REFUSED_SCHEMA}
    without = (name for name in view.operators if view.schema_text(name) is None and str(name) not in refused)
    dangling = [name for name in without if not _is_there_anyway(view, name)]
    if not dangling:
        return
    from dispatch_cli.model.sources.source_conditions import asks_for

    defined = Defined(view)
    for position, name in enumerate(dangling):
        kernels = [registration for registrations in view.kernels(name).values() for registration in registrations]
        steps = view.implementations.get(name, ())
        if steps and all(asks_for(step.when, str(name)) for step in steps):  # they are there with the operator alone
            continue
        kernels.sort(key=_place)
        keys = ", ".join(view.pattern(name).keys) or "no key"
        outcome, tip, severity = no_definition(view, name, defined)
        if is_defined_otherwise(view, name):
            outcome, tip, severity = NOTHING_DEFINES, OTHER_BUILD, _otherwise(view, name, kernels)
        hint = ""
        if position < MAX_SUGGESTIONS and outcome is NOTHING_DEFINES:
            hint = near_names(name, defined)
        finding = CHECK.finding(
            f"{name} has kernels at {keys}, {outcome}{_where(view, name, outcome, severity)}{hint}",
            name,
            details=(("keys", keys),),
            at=kernels[0] if kernels else None,
            tip=tip,
            severity=severity,
        )
        if name.namespace in view.namespaces.in_sources:
            finding = finding._replace(mark=str(name).rpartition("::")[2])
        yield finding


def no_definition(view: View, name: OperatorName, defined: Defined) -> tuple[str, str, Severity]:
    """The end of the sentence about an operator without a definition, the tip, and the severity."""
    namespace = name.namespace or ""
    if namespace not in view.namespaces.in_sources:  # declarations say everything that they are about
        return NOTHING_DEFINES, TIP, Severity.ERROR
    match view.namespaces.owner(namespace):
        case NamespaceOwner.ANOTHER if (other := defined.in_similar_namespace(name)) is not None:
            return f"but nothing here defines {namespace}; did you mean {other}?", ANOTHERS, Severity.WARNING
        case NamespaceOwner.ANOTHER:
            return f"and is not defined here; it would be {namespace}'s", ANOTHERS, Severity.INFO
        case NamespaceOwner.PYTORCH if view.state.source is None:
            return "and is not defined here; it would be PyTorch's", WITHOUT_BASE, Severity.INFO
        case NamespaceOwner.PYTORCH if (other := _elsewhere(view, name)) is not None:
            return f"{NOTHING_DEFINES} in {', '.join(view.state.over)}; {other} has it", OF_OTHER_VERSION, Severity.INFO
        case NamespaceOwner.PYTORCH if name.overload or not defined.overloads(name.name):
            severity = Severity.WARNING if namespace in CORE_NAMESPACES or defined.is_near(name) else Severity.INFO
            return NOTHING_DEFINES, TIP, severity
        case NamespaceOwner.PROJECT if namespace in view.namespaces.mostly_implemented and not defined.is_near(name):
            return f"but nothing here defines it; another library may extend {namespace}", TIP, Severity.INFO
        case NamespaceOwner.PROJECT if namespace not in view.namespaces.whole and not defined.seems_misspelt(name):
            return f"but nothing here defines it; another library may extend {namespace}", TIP, Severity.WARNING
    return NOTHING_DEFINES, TIP, Severity.ERROR


def _where(view: View, name: OperatorName, outcome: str, severity: Severity) -> str:
    """The PyTorch that does not define one of its operators, where it is not sure that no other does."""
    is_pytorchs = view.namespaces.owner(name.namespace or "") is NamespaceOwner.PYTORCH
    rests_on_it = outcome is NOTHING_DEFINES and severity is Severity.WARNING and is_pytorchs
    return f" in {', '.join(view.state.over)}" if rests_on_it and view.state.over else ""


def _elsewhere(view: View, name: OperatorName) -> str | None:
    """Another PyTorch that has the operator, where nobody named the one that is looked at."""
    elsewhere = view.first.state.elsewhere
    return None if elsewhere is None else elsewhere(str(name))


def _is_there_anyway(view: View, name: OperatorName) -> bool:
    """True if the operator is defined unless PyTorch says that it is already."""
    variants = view.first.state.variants
    if variants is None or name not in variants.defined:
        return False
    return any(
        _ASKS_PYTORCH.search(str(condition))
        for step in variants.declarations.steps
        if isinstance(step, Define) and step.schema.name == name
        for condition in step.when
    )


def is_defined_otherwise(view: View, name: OperatorName) -> bool:
    """True if the operator is defined under other conditions: then its kernels' file may not be in such a build."""
    variants = view.first.state.variants
    return variants is not None and name in variants.defined


def _otherwise(view: View, name: OperatorName, kernels: Sequence[Registration]) -> Severity:
    """The severity for kernels of an operator that is defined under other conditions."""
    variants = view.first.state.variants
    steps = () if variants is None else variants.declarations.steps
    files = {step.span.file for step in steps if isinstance(step, Define) and step.schema.name == name and step.span}
    may_be_left_out = (
        not entry.kernel.python and entry.kernel.span is not None and entry.kernel.span.file not in files
        for entry in kernels
    )
    is_in_sources = name.namespace in view.namespaces.in_sources
    return Severity.INFO if is_in_sources and all(may_be_left_out) else Severity.WARNING


def _place(registration: Registration) -> tuple[bool, str, int, int]:
    span = registration.kernel.span
    return (True, "", 0, 0) if span is None else (False, span.file, span.line, span.column)


class Defined:
    """The operators that are defined. Of those of a base it is only looked up when asked for: for all it takes long."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._compared = 0
        self._names = [
            name
            for name, overloads in view.overloads.items()
            if any(view.dispatcher.is_untouched(form) or view.schema_text(form) is not None for form in overloads)
        ]

    def overloads(self, name: str) -> list[str]:
        """The overloads of a name."""
        operators = self._view.overloads.get(name, ())
        return [operator.overload for operator in operators if self._view.schema_text(operator) is not None]

    def ending(self, end: str) -> list[str]:
        """The names with that end."""
        return [name for name in self._names if name.endswith(end) and self.overloads(name)]

    def in_similar_namespace(self, name: OperatorName) -> str | None:
        """An operator of the project of the same name, in a namespace that is almost the same."""
        namespace, _, own = name.name.rpartition("::")
        other = f"{_similar(namespace, self._view.namespaces.projects)}::{own}"
        return other if self.overloads(other) else None

    def is_near(self, name: OperatorName) -> bool:
        """True if there is an operator whose name is one edit away."""
        return any(is_one_edit_away(name.name, other) and self.overloads(other) for other in self._names)

    def seems_misspelt(self, name: OperatorName) -> bool:
        """True if an operator that is there has a similar name; looked up for the first few alone."""
        self._compared += 1
        return self._compared <= MAX_SUGGESTIONS and near_names(name, self) != ""

    def similar(self, name: str) -> str | None:
        """A name that is almost the same."""
        while (candidate := _similar(name, self._names)) is not None and not self.overloads(candidate):
            self._names.remove(candidate)  # one of the few of a base that are not
        return candidate


def near_names(name: OperatorName, defined: Defined) -> str:
    """Suggestion of an overload of the same operator, or of an operator of almost the same name."""
    if overloads := defined.overloads(name.name):
        return _overload_hint(name, overloads)
    namespace, sep, own = name.name.rpartition("::")
    # the right operator in the wrong namespace comes before another one in the right namespace
    elsewhere = {full_name.rpartition("::")[0]: full_name for full_name in defined.ending(f"{sep}{own}")}
    meant = _similar(namespace, elsewhere)
    other = elsewhere[meant] if meant is not None else defined.similar(name.name)
    if other is None:
        return ""
    meant_one = OperatorName(other, name.overload) if name.overload in defined.overloads(other) else other
    return f"; did you mean {meant_one}?"


def _overload_hint(name: OperatorName, overloads: Sequence[str]) -> str:
    meant = overloads[0] if len(overloads) == 1 else _similar(name.overload, overloads)
    if meant is not None:
        return f"; did you mean {OperatorName(name.name, meant)}?"
    usual = sorted(overloads, key=lambda overload: (name.overload not in overload, usualness(overload)))[:MAX_OVERLOADS]
    shown = ", ".join(overload or "default (no name)" for overload in usual)
    more = f" and {len(overloads) - MAX_OVERLOADS} more" if len(overloads) > MAX_OVERLOADS else ""
    return f"; {name.name} has the overloads {shown}{more}"


def _similar(text: str, others: Iterable[str]) -> str | None:
    return next(iter(similar(text, others, cutoff=CUTOFF)), None)


CHECK = Check.of(find, __doc__, "DC101", Severity.ERROR, lacks=MissingPart.DEFINITION)
