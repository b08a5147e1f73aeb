"""PyTorch takes every registration in the sources.

When PyTorch loads a library, it refuses what contradicts itself or other libraries: a schema that it cannot parse, a
dispatch key that it does not know, a second definition of an operator, a second `TORCH_LIBRARY` block of a namespace.
The import then fails. In declarations that are written by hand, this is an error, and nothing is checked. In those that
were extracted from sources, which may belong to several libraries that are never loaded together, it is this finding,
and everything else is checked.

PyTorch takes kernels at a functionality, such as Sparse or NestedTensor, which has no slot: it never runs them. It also
takes what a `torch.library.Library` registers that only a local variable of a function holds, and removes it when the
function returns.

Two definitions under conditions of their own are a warning: the conditions may exclude each other. Those of the turns
of one loop are no finding.

A registration that needs its operator to be there, such as `torch.library.register_fake`, is refused without it.
`dangling-implementation` says when that is an error, and when the operator is another library's.

The message is PyTorch's. If the sources are right, and `dispatch-cli` has misread them, or if they are written for
another version of PyTorch, the finding is about that: choose the version with `--universe` or `--base`, leave out files
that are not in the same build, or tell the macros of the build with `-D`.

Bad, because the operator is defined twice:

```yaml
dispatch: 1
extracted: true
libraries:
  - {kind: FRAGMENT, namespace: demo, define: [{func: "add(Tensor a) -> Tensor", at: "csrc/add.cpp:4:3"}]}
  - {kind: FRAGMENT, namespace: demo, define: [{func: "add(Tensor a) -> Tensor", at: "csrc/more.cpp:9:3"}]}
  - kind: IMPL
    namespace: demo
    dispatch_key: CompositeImplicitAutograd
    impl: {add: add}
```

Good:

```yaml
dispatch: 1
extracted: true
libraries:
  - {kind: FRAGMENT, namespace: demo, define: [{func: "add(Tensor a) -> Tensor", at: "csrc/add.cpp:4:3"}]}
  - kind: IMPL
    namespace: demo
    dispatch_key: CompositeImplicitAutograd
    impl: {add: add}
```

Fix: correct the registration, or leave out sources that are not loaded together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dispatch_cli.checks.catalogue import dangling_implementation as dangling
from dispatch_cli.checks.catalogue.dangling_implementation import (
    MAX_SUGGESTIONS,
    NOTHING_DEFINES,
    Defined,
    near_names,
    no_definition,
)
from dispatch_cli.checks.check import Check, Finding, Severity
from dispatch_cli.checks.view import View
from dispatch_cli.engine.table.registration import Refusal
from dispatch_cli.model.declarations import Define
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import Problem
from dispatch_cli.model.span import Span

_DUPLICATE, _UNKNOWN = Refusal.DUPLICATE_DEFINITION.value, Refusal.UNKNOWN_OPERATOR.value
_REPEATED = frozenset({_DUPLICATE, Refusal.DUPLICATE_LIBRARY.value, Refusal.FAKE_IMPL.value})
"""Refusals that are not certain in a handler of exceptions: the first attempt may not have registered anything."""
_OF_VERSION = frozenset({_DUPLICATE, Refusal.SIGNATURE_MISMATCH.value})
"""Refusals of registrations for PyTorch's operators that another version may accept."""
TAKEN = ("functionality-key", "dropped-library")
"""The codes of a kernel at a functionality, and of a library that does not last, which PyTorch takes."""


def is_expected(item: Problem) -> bool:
    """True if the sources ask first whether the operator is there, and so do not make the refused registration.

    They may also try to use it, and register it where that raises an exception.
    """
    from dispatch_cli.model.sources.source_conditions import (
        asks_for,
        is_for_absent,
        is_for_absent_namespace,
        is_for_exception,
    )

    if item.code in _REPEATED and any(map(is_for_exception, item.when)):
        return True
    if item.code == Refusal.DUPLICATE_LIBRARY.value:
        return any(is_for_absent_namespace(condition, item.namespace) for condition in item.when)
    if item.operator is None:
        return False
    if item.code == _UNKNOWN:
        return asks_for(item.when, item.operator)
    return item.code == _DUPLICATE and is_for_absent(item.when, item.operator)


def find(view: View) -> Iterator[Finding]:
    """A finding for everything that is refused."""
    steps = (step for step in view.own_steps if isinstance(step, Define))
    defined = {(step.schema.name, step.span): step for step in reversed([*steps])}
    excluded: set[Span | None] = set()
    for position, item in enumerate(view.state.refused):
        if item.operator is not None and not view.is_whole and OperatorName.parse(item.operator) not in view.operators:
            continue
        if is_expected(item) or (item.code == _UNKNOWN and _asks_in_vain(view, item)):
            continue
        if (excluding := _excluding(item, defined)) is not None:
            if item.span in excluded or excluding.span == item.span:
                continue  # a loop may stop after the first; and calls of a helper are repeated as a whole
            excluded.add(item.span)
        from dispatch_cli.model.conditions.simplify import text_of_all

        message = " ".join(item.message.split())
        text, is_given, reason = message.rpartition(" reason: ")
        if is_given:
            message = f"{reason} {text}"  # PyTorch's last words say most, and a long text is cut
        finding = CHECK.finding(
            message if item.code in TAKEN else f"PyTorch refuses this registration: {message}",
            item.operator,
            span=item.span,
            related=item.related,
            details=(("code", item.code),),
            tip=item.hint,
            subject=item.code,
        )
        if item.code == _UNKNOWN and item.operator is not None:
            finding = _of_unknown_operator(view, finding, OperatorName.parse(item.operator), position < MAX_SUGGESTIONS)
        if view.state.over_assumed and item.code in _OF_VERSION and item.operator in view.pytorch_operators:
            finding = finding._replace(severity=Severity.WARNING)  # the project may be for another PyTorch
        if finding.severity is Severity.WARNING and view.state.over:
            finding = finding._replace(message=finding.message.replace("PyTorch", ", ".join(view.state.over), 1))
        if excluding is not None:
            finding = finding._replace(severity=Severity.WARNING)
        yield finding._replace(when=text_of_all(item.when) or None)


def _excluding(item: Problem, defined: Mapping[tuple[OperatorName, Span | None], Define]) -> Define | None:
    """The definition that stands, if its conditions and the refused one's may exclude each other."""
    if item.code != _DUPLICATE or item.operator is None:
        return None
    name, own = OperatorName.parse(item.operator), {*item.when}
    first = next((defined[name, other.span] for other in item.related if (name, other.span) in defined), None)
    return first if first is not None and {*first.when} - own and own - {*first.when} else None


def _asks_in_vain(view: View, item: Problem) -> bool:
    """True if a registration is only made where another operator is there, which nothing defines, either."""
    from dispatch_cli.model.sources.source_conditions import operators_asked_for

    defined = Defined(view)
    return not all(map(defined.overloads, operators_asked_for(item.when)))


def _of_unknown_operator(view: View, finding: Finding, name: OperatorName, suggests: bool) -> Finding:
    """A registration for an operator that nothing defines; which may be another library's."""
    defined = Defined(view)
    outcome, tip, severity = no_definition(view, name, defined)
    if outcome is NOTHING_DEFINES and suggests:
        finding = finding._replace(message=f"{finding.message}{near_names(name, defined)}")
    elif outcome is not NOTHING_DEFINES:
        message = f"PyTorch refuses this registration without {name}, {outcome}"
        finding = finding._replace(message=message.replace(", and is not", ", which is not"))
    return dangling.CHECK.hedged(view, finding._replace(tip=tip, severity=severity))


CHECK = Check.of(find, __doc__, "DC106", Severity.ERROR)
