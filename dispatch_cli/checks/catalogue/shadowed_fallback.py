"""No default kernel shadows a backend fallback.

A backend fallback comes last (rule 9 of `dispatch-cli rules`). If an operator has a kernel at CompositeExplicitAutograd
or CompositeExplicitAutogradNonFunctional, that default kernel fills the backend's slot, and the fallback is not used
(pytorch/pytorch#188052, #187576). This concerns some 1,700 of PyTorch 2.15's 3,624 operators. Many default kernels call
other operators, which do reach the fallback. Others choose by the device themselves: `aten::convolution` ends in
"convolution_overrideable not implemented. You are likely triggering this with tensor backend other than
CPU/CUDA/MKLDNN". Kernels at CompositeImplicitAutograd do not count here: the operators that they call reach the
fallback.

Reported once for each fallback that your own files register at a backend key, as info. Not reported if these files also
register the fallback's kernel for a single operator at that key, which shows that the limit is known.

Bad, because the fallback is not used for demo::op:

```yaml
dispatch: 1
fallbacks: {PrivateUse1: npu_fallback, AutocastPrivateUse1: fallthrough}
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CompositeExplicitAutograd: op_default, Autograd: op_autograd}
```

Good:

```yaml
dispatch: 1
fallbacks: {PrivateUse1: npu_fallback, AutocastPrivateUse1: fallthrough}
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CompositeExplicitAutograd: op_default, PrivateUse1: npu_fallback, Autograd: op_autograd}
```

Fix: register the fallback's kernel at the backend's key for the operators whose default kernel fails there, as
`m.impl("convolution", torch::CppFunction::makeFromBoxedFunction<&npu_fallback>())`. If none fails, suppress the finding
at the fallback, with a reason.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.checks.check import Check, Finding, Need, Severity
from dispatch_cli.checks.view import View
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import autograd_key_of

MAX_NAMED = 3


def find(view: View) -> Iterator[Finding]:
    """A finding for every fallback of the user's at a backend key that an alias kernel keeps from an operator."""
    for key, fallback in view.own_fallbacks.items():
        if autograd_key_of(view.universe, key) is None or fallback.kernel.fallthrough:
            continue
        function = fallback.kernel.function
        if function is not None and any(_registers(view, name, key, function) for name in view.own):
            continue
        by_alias = _shadowed(view, key)
        if by_alias:
            yield _finding(view, key, fallback, by_alias)


def _registers(view: View, name: OperatorName, key: str, function: str) -> bool:
    registration = view.registration(name, key)
    return registration is not None and view.is_own(registration) and registration.kernel.function == function


def _shadowed(view: View, key: str) -> dict[str, list[OperatorName]]:
    """The operators whose slot at *key* an alias key's default fills, by that alias key."""
    by_source: dict[str, list[OperatorName]] = {}
    for name in view.names:
        decision = view.pattern(name).decision(key)
        if decision.rule in (Rule.DEFAULT, Rule.NESTED) and decision.source is not None:
            by_source.setdefault(decision.source, []).append(name)
    return by_source


def _telling(view: View, name: OperatorName) -> tuple[bool, bool, bool, str]:
    """Sorts what tells people most to the front: their own operators, then public ones without any backend's kernel."""
    is_private = str(name).startswith("_") or "::_" in name.name
    has_backend = any(key in view.universe.backends for key in view.pattern(name).keys)
    return name not in view.own, is_private, has_backend or bool(name.overload), str(name)


def _finding(view: View, key: str, fallback: Registration, by_alias: dict[str, list[OperatorName]]) -> Finding:
    shadowed = [name for names in by_alias.values() for name in names]
    shadowed.sort(key=lambda name: _telling(view, name))
    examples = ", ".join(map(str, shadowed[:MAX_NAMED])) + (" …" if len(shadowed) > MAX_NAMED else "")
    count = f"{len(shadowed):,} of {len(view.names):,} operators" if len(view.names) > 1 else "the one operator"
    whose = "its" if len(shadowed) == 1 else "their"
    return CHECK.finding(
        f"the fallback {fallback.kernel.debug} at {key} is not used for {count} ({examples}): "
        f"{whose} default kernel at {' or '.join(by_alias)} comes first",
        key=key,
        at=fallback,
        details=tuple(
            (f"at {alias}", f"{len(names):,} operator{'' if len(names) == 1 else 's'}")
            for alias, names in by_alias.items()
        ),
        tip=f"register the fallback's kernel at {key} for operators whose default kernel does not work there",
    )


CHECK = Check.of(find, __doc__, "DC302", Severity.INFO, needs=(Need.FILES,))
