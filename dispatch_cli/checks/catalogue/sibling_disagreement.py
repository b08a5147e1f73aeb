"""All forms of an operator have kernels for the same backends.

`foo`, `foo_` and `foo.out` are one operator to its users: they expect ``x.cos_()`` to work where ``x.cos()`` works. If
a backend registers one of the forms and another form has no kernel there, the other form raises "Could not run". A
missing ``out=`` form is an info, unless a call of another form ends in it: with PyTorch's structured kernels, the
functional and the in-place form have default kernels that call it. Operators are forms of one if their names and
arguments agree, as in torchgen (`FunctionSchema.signature` in `torchgen/model.py`).

A fake implementation of one form only is not reported here: `no-fake-kernel` reports the forms that fail without one.

Over a state of PyTorch alone, only the functional and in-place forms are compared, and findings are infos: they are
gaps of PyTorch, such as ``cos_`` of nested tensors (pytorch/pytorch#118107 collects these).

Bad, because ``x.twice_()`` fails where ``x.twice()`` works:

```yaml
dispatch: 1
operators:
  - func: demo::twice(Tensor self) -> Tensor
    dispatch: {CPU: twice_cpu, CUDA: twice_cuda, AutogradCPU: twice_autograd, AutogradCUDA: twice_autograd}
  - func: demo::twice_(Tensor(a!) self) -> Tensor(a!)
    dispatch: {CUDA: twice_cuda_, AutogradCUDA: twice_autograd_, ADInplaceOrView: twice_inplace}
```

Good:

```yaml
dispatch: 1
operators:
  - func: demo::twice(Tensor self) -> Tensor
    dispatch: {CPU: twice_cpu, Autograd: twice_autograd}
  - func: demo::twice_(Tensor(a!) self) -> Tensor(a!)
    dispatch: {CPU: twice_cpu_, Autograd: twice_autograd_, ADInplaceOrView: twice_inplace}
```

Fix: register the missing form, or a composite kernel for it that calls the other form.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from dispatch_cli.checks.check import Check, Finding, MissingPart, Severity
from dispatch_cli.checks.finding_parts import MAX_NAMED, keys_text, own_kernels
from dispatch_cli.checks.view import Pattern, View
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import META, NON_FUNCTIONAL, autograd_key_of, backend_keys


class OperatorForm(Enum):
    """The forms of an operator; the value is how a sentence calls it."""

    FUNCTIONAL = "functional form"
    IN_PLACE = "in-place form"
    OUT = "out= form"


class Coverage(NamedTuple):
    """The backend keys at which a pattern has kernels of its own, and those where it has nothing."""

    present: frozenset[str]
    missing: frozenset[str]


_QUANTIZED = "Quantized"
_IN_PLACE = re.compile(r"(?<!_)_$|(?<=::__)i(?=\w+__$)")
"""Sign of an in-place form in a name: ``add_``, ``__iadd__``."""


def find(view: View) -> Iterator[Finding]:
    """A finding for every form that has kernels where another form of the operator has none."""
    answers: dict[tuple[int, frozenset[str]], Coverage] = {}
    reported = frozenset(view.operators)
    by_base: dict[str, list[Sequence[OperatorName]]] = {}
    for spelling, overloads in view.overloads.items():
        by_base.setdefault(_IN_PLACE.sub("", spelling), []).append(overloads)
    for base in dict.fromkeys(_IN_PLACE.sub("", name.name) for name in view.operators):
        spelled = by_base[base]
        names = [name for overloads in spelled for name in overloads]
        in_place_only = view.own.isdisjoint(names)
        if len(spelled if in_place_only else names) < 2:
            continue
        coverage = {name: _answers(view, view.pattern(name), answers) for name in names}
        if _may_differ(coverage, in_place_only):
            for family in _families(view, names):
                yield from _of_family(view, family, coverage, reported)


def _may_differ(coverages: Mapping[OperatorName, Coverage], in_place_only: bool) -> bool:
    """True if one operator has what another lacks; looked at first, because reading schemas takes long.

    in_place_only: it takes two of different names, a functional and an in-place form.
    """
    return any(
        has.present & lacks.missing
        for name, has in coverages.items()
        for other, lacks in coverages.items()
        if not in_place_only or name.name != other.name
    )


def _answers(view: View, pattern: Pattern, known: dict[tuple[int, frozenset[str]], Coverage]) -> Coverage:
    shape = (pattern.registered, pattern.fallthrough)
    if shape not in known:
        decisions = pattern.plan.decisions
        rules = [(key, decisions[pattern.slot[key]].rule) for key in backend_keys(view.universe)]
        known[shape] = Coverage(
            frozenset(key for key, rule in rules if rule is Rule.KERNEL and key not in pattern.fallthrough),
            frozenset(key for key, rule in rules if rule is Rule.MISSING or rule is Rule.FALLBACK),
        )
    return known[shape]


def _families(view: View, names: Iterable[OperatorName]) -> Iterable[dict[OperatorName, OperatorForm]]:
    """The operators that are forms of one: their arguments are the same but for those that are written to."""
    families: dict[tuple[tuple[str, str, bool], ...], dict[OperatorName, OperatorForm]] = {}
    for name in names:
        schema = view.schema(name)
        if schema is None:
            continue
        taken, form = [], OperatorForm.FUNCTIONAL
        for argument in schema.arguments:
            written = argument.alias is not None and argument.alias.write
            if written and argument.kwarg_only:
                form = OperatorForm.OUT
                continue
            if written and _IN_PLACE.search(name.name):
                form = OperatorForm.IN_PLACE
            taken.append((argument.name, argument.real_type.text, argument.kwarg_only))
        families.setdefault(tuple(taken), {})[name] = form
    return families.values()


def _of_family(
    view: View,
    family: dict[OperatorName, OperatorForm],
    answers: dict[OperatorName, Coverage],
    reported: frozenset[OperatorName],
) -> Iterator[Finding]:
    lacking: dict[OperatorName, frozenset[str]] = {}  # each form is reported once, of the first that has the kernel
    for name, form in family.items():
        if name not in reported:
            continue
        written = frozenset(view.written_keys(name)) if name in view.own else frozenset()
        for other, other_form in family.items():
            keys = (answers[name].present & answers[other].missing) - lacking.get(other, frozenset())
            if written:
                keys &= written
            elif OperatorForm.OUT in (form, other_form):
                continue
            if META in keys and view.active(name)[META].kernel.fake is not None:
                keys -= {META}
            if keys and other_form is not form and view.concerns(name, keys):
                lacking[other] = lacking.get(other, frozenset()) | keys
                ordered = [key for key in view.universe.runtime if key in keys]
                callers = _callers(view, family, ordered[0]) if other_form is OperatorForm.OUT else []
                yield _finding(view, name, other, other_form, ordered, callers)


def _autograd(view: View, other: OperatorName, keys: Iterable[str]) -> list[str]:
    """The autograd keys above, where the other form has nothing of its own."""
    above = dict.fromkeys(autograd_key_of(view.universe, key) for key in keys)
    pattern = view.pattern(other)
    return [key for key in above if key is not None and pattern.rule(key) in (Rule.FALLBACK, Rule.MISSING)]


def _callers(view: View, family: Iterable[OperatorName], key: str) -> list[OperatorName]:
    """The forms whose default kernel at *key* calls the ``out=`` form."""
    return [name for name in family if view.pattern(name).decision(key).source == NON_FUNCTIONAL]


def _finding(
    view: View,
    name: OperatorName,
    other: OperatorName,
    form: OperatorForm,
    keys: list[str],
    callers: list[OperatorName],
) -> Finding:
    key, where = keys[0], keys_text(keys)
    fallback = view.dispatcher.fallbacks.get(key)
    registration = view.active(name)[key]
    is_quantized = all(view.universe.runtime_parts[key][0] == _QUANTIZED for key in keys)  # PyTorch lacks forms, too
    severity = Severity.WARNING if not is_quantized and (form is not OperatorForm.OUT or callers) else Severity.INFO
    if fallback is not None and fallback.kernel.span is not None:
        lack, severity = f"uses the backend fallback {fallback.kernel.debug} there", Severity.INFO
    elif callers:
        lack = f"has none there, and the default kernel of {' and '.join(map(str, callers))} calls it"
    else:
        lack = "has none there"
    return CHECK.finding(
        f"{name} has {'a kernel' if len(keys) == 1 else 'kernels'} at {where}, but its {form.value} {other} {lack}",
        name,
        key,
        at=registration,
        details=(("keys", ", ".join(keys)),) if len(keys) > MAX_NAMED else (),
        related=((f"{other} is defined here", view.defined_at(other)),),
        tip=f"register a kernel for {other} there as well, or a composite kernel for it that calls {name}",
        subject=str(other),
        fix=own_kernels(view, other, (*keys, *_autograd(view, other, keys))),
        severity=severity if view.is_written(registration) else Severity.INFO,
        slots=[(other, key) for key in keys],
    )


CHECK = Check.of(find, __doc__, "DC401", Severity.WARNING, lacks=MissingPart.KERNEL)
