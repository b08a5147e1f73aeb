"""Conjugated, negated and zero tensors are materialised before a kernel gets them.

`x.conj()` and `x.conj().imag` only set a bit on the tensor. PyTorch's fallbacks at Conjugate and
Negative materialise such tensors before a kernel gets them; the one at ZeroTensor does the same for tensors of zeros
without storage. A fallthrough at one of these keys switches that off for the operator, and not for one backend only:
the keys are not per backend, so every backend's kernel of the operator gets the unmaterialised tensor, also the kernels
of other libraries (`aten/src/ATen/ConjugateFallback.cpp`; PyTorch's own list is in `MathBitFallThroughLists.h`). A
kernel that reads memory and ignores the bit gives silently wrong results: for `x.conj()` it computes with `x`, without
an error or a warning. A zero tensor has no memory to read. pytorch/pytorch#62884 explains it; in #148599 and #177474
``mm`` and ``einsum`` on MPS ignored conj(). The finding says whose operator it is: if it is PyTorch's, the calls of all
users are affected, not only those of the library.

Operators without tensor arguments, such as `aten::empty.memory_format`, are not reported: no tensor brings the bit.

Kernels that a file adds to operators on PyTorch's list are not reported: most of these are views and constructors,
which only have to pass the bit on.

Bad, because the kernels of other libraries get unmaterialised tensors as well:

```yaml
dispatch: 1
operators:
  - func: demo::scale(Tensor x) -> Tensor
    dispatch: {CPU: scale_cpu, CUDA: scale_cuda, Autograd: scale_autograd, Conjugate: fallthrough}
```

Good, because PyTorch's fallback materialises the tensor:

```yaml
dispatch: 1
operators:
  - func: demo::scale(Tensor x) -> Tensor
    dispatch: {CPU: scale_cpu, CUDA: scale_cuda, Autograd: scale_autograd}
```

Fix: remove the fallthrough unless every kernel of the operator handles the bit; in a backend's kernel, resolve it first
(`at::Tensor::resolve_conj`, `resolve_neg`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dispatch_cli.checks.check import Check, Finding, Need, Severity
from dispatch_cli.checks.files import CORE_NAMESPACES
from dispatch_cli.checks.finding_parts import keys_text
from dispatch_cli.checks.view import View
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.changes.change import Action, Edit
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import backend_keys

BITS = {"Conjugate": "conjugated", "Negative": "negated", "ZeroTensor": "zero"}
"""The keys whose fallbacks materialise a tensor, and what the tensor is until then."""


def find(view: View) -> Iterator[Finding]:
    """A finding for every such fallthrough by a file."""
    backends = frozenset(backend_keys(view.universe))
    for pattern in view.patterns:
        bits = [key for key in pattern.keys if key in BITS and key in pattern.fallthrough]
        kernels = [key for key in pattern.keys if key in backends and key not in pattern.fallthrough]
        if bits and view.own:
            for name in pattern.operators:
                active = view.active(name)
                written = [key for key in bits if view.is_written(active[key])]
                if written and name in view.own and view.takes_tensors(name) is not False:
                    foreign = [key for key in kernels if not view.is_written(active[key])]
                    yield _finding(view, name, active, written, foreign)


def _finding(
    view: View, name: OperatorName, active: Mapping[str, Registration], bits: list[str], foreign: list[str]
) -> Finding:
    others = f" (including those of other libraries at {keys_text(foreign)})" if foreign else ""
    places = ((key, active[key].kernel.span) for key in foreign)
    return CHECK.finding(
        f"{name} ({_whose(view, name)}) falls through at {_listed(bits)}: every backend's kernel{others} "
        f"{_outcome(bits)}",
        name,
        bits[0],
        at=active[bits[0]],
        details=(("keys", ", ".join(bits)), *((("kernels of others", ", ".join(foreign)),) if foreign else ())),
        related=[(f"the kernel at {key}", place) for key, place in places],
        tip="remove the fallthrough unless every kernel of the operator handles the bit",
        slots=[(name, key) for key in bits],
        fix=tuple(
            Edit(Action.REMOVE, name, key, kernel=active[key].kernel.debug, span=active[key].kernel.span)
            for key in bits
        ),
    )


def _whose(view: View, name: OperatorName) -> str:
    """The owner of an operator: who defines it."""
    if view.is_defined_by_files(name):
        return "your own operator"
    is_pytorchs = str(name) in view.pytorch_operators or name.namespace in CORE_NAMESPACES
    return "PyTorch's operator" if is_pytorchs else "an operator of another library"


def _outcome(bits: list[str]) -> str:
    """The tensors that a kernel gets, and what happens if it reads their memory as that of any other tensor."""
    wrong = "crashes or gives" if bits == ["ZeroTensor"] else "gives"
    tensors = _listed([BITS[key] for key in bits])
    return f"gets unmaterialised {tensors} tensors, and {wrong} silently wrong results unless it handles the bit"


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


CHECK = Check.of(find, __doc__, "DC306", Severity.WARNING, needs=(Need.FILES,))
