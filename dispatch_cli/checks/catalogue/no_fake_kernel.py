"""An operator that works on real tensors works on fake tensors.

`torch.compile`, `torch.export` and other tracers call operators with the tensors of `FakeTensorMode`, which have no
data. The mode decomposes an operator that has a kernel at CompositeImplicitAutograd; otherwise it runs the operator's
fake implementation, or calls it with the key Meta included. If there is nothing to run, it raises
UnsupportedOperatorException, whose text is the operator's name, after "attempted to run this operator with Meta
tensors, but there was no fake impl or Meta kernel registered". An operator of `torch.library.custom_op` without a fake
implementation raises "There was no fake impl registered for <CustomOpDef(mylib::op)>"
(`torch/_subclasses/fake_tensor.py`, `torch/_library/custom_ops.py`).

The check simulates a call with real tensors and the same call with fake ones, for every kind of tensor that the
operator has a kernel for, and reports an operator if the first works and the second does not. So it does not report an
operator that only writes to its arguments and returns nothing, for which the mode needs no kernel; one whose tags say
that its result depends on data; one with the same kernel for autograd and for a backend, which calls other operators;
or one of the namespaces whose real kernels the mode runs on zeros, such as `vision` and `torchaudio`.

A finding is a warning if the files define the operator, and it is meant to be traced: it has the tag
`pt2_compliant_tag`, which does not count where `custom_op` has set it, or nearly all operators of its namespace work on
fake tensors: all others, or at least five in six. It is an info if the files only add kernels to the operator, or if
fewer do, and some operator of the namespace has a fake implementation, a kernel at Meta, or the tag. Other libraries
may not be meant for tracing: each gets one finding for all its operators, an info.

Bad:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    tags: [pt2_compliant_tag]
    dispatch: {CPU: op_cpu, Autograd: op_autograd}
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    tags: [pt2_compliant_tag]
    dispatch: {CPU: op_cpu, Autograd: op_autograd}
    fake: op_fake
```

Fix: register a fake implementation with `torch.library.register_fake("demo::op")` (`fake` in declarations) or, in C++,
a kernel at Meta. It returns an empty tensor of the right size, such as `torch.empty_like(x)`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from dispatch_cli.checks.check import Check, Finding, MissingPart, Severity
from dispatch_cli.checks.finding_parts import MAX_NAMED
from dispatch_cli.checks.view import Pattern, View
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.changes.change import fake_impl
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from dispatch_cli.model.universe import IMPLICIT, META

if TYPE_CHECKING:
    from dispatch_cli.engine.support.cell import Cell
    from dispatch_cli.engine.support.verdicts import Judge

PT2_COMPLIANT = "pt2_compliant_tag"
ONE_IN = 6
"""If at most one in so many operators of a library fails on fake tensors, that is taken for an oversight."""


def find(view: View) -> Iterator[Finding]:
    """A finding for every operator that fails on fake tensors alone; one for a whole library without any for them."""
    failing, first = _failing(view), _failing(view.first)
    libraries = _libraries(view.first, failing)
    own = libraries if view is view.first else _libraries(view, failing)
    for namespace, names in sorted(failing.items(), key=str):
        ordered = sorted(names, key=str)
        whole = libraries.get(namespace, ())
        if _is_traced(view.first, whole) and (own is libraries or _is_traced(view, own[namespace])):
            count = max(len(names), len(first.get(namespace, ())))
            few = count == 1 or count * ONE_IN <= len(whole)
            yield from (_finding(view, name, few) for name in ordered)
        elif view.first is view or len(first.get(namespace, ())) < 2:
            yield _of_library(view, namespace or "", ordered)


_Failing = Mapping[str | None, Sequence[OperatorName]]
_Devices = Sequence[tuple[str, str]]
"""Devices, and their backends."""
_FAILING: WeakKeyDictionary[View, _Failing] = WeakKeyDictionary()


def _failing(view: View) -> _Failing:
    """The operators of a view that fail on fake tensors, by library; simulated once, as variants ask for the first."""
    failing = _FAILING.get(view)
    if failing is None:
        suspects: list[tuple[OperatorName, _Devices]] = []
        for pattern in view.patterns:
            names = [
                name for name in _suspects(view, pattern) if _written(view, name) and not _calls_others(view, name)
            ]
            devices = _devices(view, pattern) if names else ()
            suspects += ((name, devices) for name in names if devices)
        failing = _FAILING[view] = _simulated(view, suspects) if suspects else {}
    return failing


def _simulated(view: View, suspects: Iterable[tuple[OperatorName, _Devices]]) -> _Failing:
    """The operators of these whose calls fail on fake tensors, by library."""
    from dispatch_cli.engine.support.verdicts import Judges

    judges, by_library = Judges(view.state), dict[str | None, list[OperatorName]]()
    for name, devices in suspects:
        if _fails(judges.new(name), devices):
            by_library.setdefault(name.namespace, []).append(name)
    return by_library


def _suspects(view: View, pattern: Pattern) -> Iterator[OperatorName]:
    """The operators of a pattern that may fail: nothing is registered by which every call with fake tensors works."""
    if pattern.has(META):
        yield from (name for name in pattern.operators if _is_placeholder(view, name))
    elif not pattern.has(IMPLICIT) and pattern.decision(META).rule in (Rule.FALLBACK, Rule.MISSING):
        yield from (name for name in pattern.operators if not _is_served(view, name))


def _is_served(view: View, name: OperatorName) -> bool:
    """True if the mode has a function for the operator, or runs its real kernels; factories get the device meta."""
    from dispatch_cli.model.calls.fake_tensor import CONSTRUCTORS, runs_on_zeros

    implementation = view.state.fake_rules(name).implementation
    if implementation is not None:
        return implementation != CONSTRUCTORS
    return runs_on_zeros(view.universe, name) and view.takes_tensors(name) is True


def _written(view: View, name: OperatorName) -> bool:
    """True if the operator is the user's responsibility."""
    is_known = view.schema_text(name) is not None and not view.is_unknown(name)
    return is_known and view.concerns(name, view.active(name))


def _devices(view: View, pattern: Pattern) -> _Devices:
    """The devices on which a call with real tensors may work."""
    universe = view.universe
    parts = (universe.runtime_parts.get(key, (None, None)) for key in pattern.keys)
    backends = {component for _, component in parts if component is not None and component != META} or {"CPU"}
    return [item for item in universe.devices.items() if item[1] in backends]


def _fails(judge: Judge, devices: _Devices) -> bool:
    """True if a call works with real tensors on some device, and does not with fake ones."""
    from dispatch_cli.engine.support.cell import Column
    from dispatch_cli.model.calls.support import SupportContext

    for device, key in devices:
        fake = Column(key, device, SupportContext.FAKE)
        real = fake._replace(context=SupportContext.EAGER)
        if _has_no_kernel(judge.cell(fake)) and judge.cell(real).verdict.works:
            return True
    return False


def _has_no_kernel(fake: Cell) -> bool:
    """True if a call raises because nothing is there for fake tensors, or for the device that a factory is given."""
    from dispatch_cli.engine.support.cell import Reason, Verdict
    from dispatch_cli.model.calls.fake_tensor import CONSTRUCTORS

    return fake.reason is Reason.NO_FAKE or (fake.verdict is Verdict.RAISES and fake.kernel == CONSTRUCTORS)


def _calls_others(view: View, name: OperatorName) -> bool:
    """True if the kernel for autograd is that of a backend, too: then it calls operators other than this one."""
    active = view.active(name)
    above = {active[key].kernel.function for key in active if key in view.autograd} - {None}
    return any(active[key].kernel.function in above for key in active if key in view.universe.backends)


def _libraries(view: View, namespaces: Collection[str | None]) -> Mapping[str | None, Sequence[OperatorName]]:
    """All operators of the state in some namespaces."""
    by_namespace: dict[str | None, list[OperatorName]] = {}
    for name in view.names if namespaces else ():
        if name.namespace in namespaces:
            by_namespace.setdefault(name.namespace, []).append(name)
    return by_namespace


def _is_traced(view: View, names: Iterable[OperatorName]) -> bool:
    """True if something of a library is for fake tensors, or says that it is. names: of its operators."""
    return any(
        not _is_placeholder(view, name) if META in view.pattern(name).keys else _is_tagged(view, name) for name in names
    )


def _is_placeholder(view: View, name: OperatorName) -> bool:
    """True if its kernel at Meta only says that there is no fake implementation."""
    registration = view.registration(name, META)
    fake = None if registration is None else registration.kernel.fake
    return fake is not None and fake.function is None


def _is_tagged(view: View, name: OperatorName) -> bool:
    """True if its author says that it can be traced."""
    definition = view.dispatcher.operator(name).definition
    return definition is not None and PT2_COMPLIANT in definition.tags


def _finding(view: View, name: OperatorName, is_of_few: bool) -> Finding:
    """is_of_few: nearly all other operators of its library work on fake tensors."""
    is_meant = is_of_few or (META not in view.active(name) and _is_tagged(view, name))
    return CHECK.finding(
        f"{name} fails on fake tensors, as in torch.compile: it has no fake implementation and no kernel at Meta, and "
        "does not decompose",
        name,
        META,
        span=view.defined_at(name) or _place(view, name),
        tip="register a fake implementation with torch.library.register_fake, or a kernel at Meta, "
        "unless another package does",
        fix=() if META in view.active(name) else (fake_impl(name),),
        severity=Severity.WARNING
        if is_meant and view.own_keys(name) and view.is_defined_by_files(name)
        else Severity.INFO,
        slots=[(name, META)],
    )


def _of_library(view: View, namespace: str, names: list[OperatorName]) -> Finding:
    """One finding for a library of which nothing is for fake tensors."""
    count = len(names)
    first = names[0]
    listed = ", ".join(map(str, names[:MAX_NAMED])) + (f" and {count - MAX_NAMED} more" if count > MAX_NAMED else "")
    fail = "1 of its operators fails" if count == 1 else f"{count} of its operators fail"
    return CHECK.finding(
        f"{namespace} has no fake implementation and no kernel at Meta: {fail} on fake tensors, as in torch.compile",
        first if count == 1 else None,
        META,
        span=view.defined_at(first) or _place(view, first),
        details=(("operators", listed),),
        tip="register fake implementations with torch.library.register_fake, or kernels at Meta",
        subject=namespace,
        severity=Severity.INFO,
        slots=[(name, META) for name in names],
    )


def _place(view: View, name: OperatorName) -> Span | None:
    return next((entry.kernel.span for entry in view.active(name).values() if entry.kernel.span is not None), None)


CHECK = Check.of(find, __doc__, "DC308", Severity.WARNING, lacks=MissingPart.KERNEL)
