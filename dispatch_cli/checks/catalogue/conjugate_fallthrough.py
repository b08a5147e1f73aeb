"""Backends are told of tensors that are not materialised.

`x.conj()` and the imaginary part's negation only set a bit on the tensor. PyTorch's fallbacks at Conjugate and
Negative materialise such tensors before a kernel sees them, and the one at ZeroTensor does so with tensors of zeros
that have no storage. A fallthrough registered there for an operator switches that off, and not for one backend alone:
the keys are not per backend, so every backend's kernel of the operator gets the bit, those of other libraries too
(`aten/src/ATen/ConjugateFallback.cpp`, and `MathBitFallThroughLists.h` for PyTorch's own list). A kernel that reads
memory and ignores the bit gives silently wrong results: of `x.conj()` it computes with `x`, without an error or a
warning. Memory of a zero tensor is not even there. pytorch/pytorch#62884 explains it; in #148599 and #177474 ``mm`` and
``einsum`` on MPS took no notice of conj(). The finding says whose operator it is: of PyTorch's, all users' calls are
concerned, not only those of the library.

Over a state of PyTorch, the kernels that a file adds to operators on that list are reported as an info, for each to
be looked at; most of them are views and constructors, which only have to pass the bit on.

Bad, because the kernels that other libraries bring are told nothing of it:

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

Fix: leave the fallthrough out unless every kernel of the operator heeds the bit; in a backend, resolve it first
(`at::Tensor::resolve_conj`, `resolve_neg`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dispatch_cli.checks.check import Check, Finding, Need, Severity
from dispatch_cli.checks.files import CORE_NAMESPACES
from dispatch_cli.checks.text import backend_keys, keys_text
from dispatch_cli.checks.view import View
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.edit import Action, Edit
from dispatch_cli.model.names import OperatorName

BITS = {"Conjugate": "conjugated", "Negative": "negated", "ZeroTensor": "zero"}
"""The keys whose fallbacks materialise a tensor, and what the tensor is until then."""


def find(view: View) -> Iterator[Finding]:
    """A finding for every such fallthrough by a file, and for every kernel by a file that one of PyTorch's reaches."""
    backends = frozenset(backend_keys(view.universe))
    for pattern in view.patterns:
        bits = [key for key in pattern.keys if key in BITS and key in pattern.fallthrough]
        kernels = [key for key in pattern.keys if key in backends and key not in pattern.fallthrough]
        if bits and view.own:
            for name in pattern.operators:
                if name in view.own:
                    yield from _of_operator(view, name, bits, kernels)


def _of_operator(view: View, name: OperatorName, bits: list[str], kernels: list[str]) -> Iterator[Finding]:
    active = view.active(name)
    written_bits = [key for key in bits if view.is_written(active[key])]
    written_kernels = [key for key in kernels if view.is_written(active[key])]
    if written_bits:
        yield _by_a_file(view, name, active, written_bits, [key for key in kernels if key not in written_kernels])
    elif written_kernels:
        yield _by_pytorch(view, name, active, bits, written_kernels)


def _by_a_file(
    view: View, name: OperatorName, active: Mapping[str, Registration], bits: list[str], foreign: list[str]
) -> Finding:
    others = f", those of other libraries at {keys_text(foreign)} too," if foreign else ""
    places = ((key, active[key].kernel.span) for key in foreign)
    return CHECK.finding(
        f"{name}, {_whose(view, name)}, falls through at {_listed(bits)}: every backend's kernel{others} "
        f"{_outcome(bits)}",
        name,
        bits[0],
        at=active[bits[0]],
        details=(("keys", ", ".join(bits)), *((("kernels of others", ", ".join(foreign)),) if foreign else ())),
        related=[(f"the kernel at {key}", place) for key, place in places],
        tip="leave it out unless every kernel of the operator heeds the bit",
        severity=Severity.WARNING,
        fix=tuple(
            Edit(Action.REMOVE, name, key, kernel=active[key].kernel.debug, span=active[key].kernel.span)
            for key in bits
        ),
    )


def _by_pytorch(
    view: View, name: OperatorName, active: Mapping[str, Registration], bits: list[str], kernels: list[str]
) -> Finding:
    kernel = active[kernels[0]].kernel
    return CHECK.finding(
        f"{name}, {_whose(view, name)}, falls through at {_listed(bits)}: the kernel {kernel.debug} at "
        f"{keys_text(kernels)} {_outcome(bits)}",
        name,
        kernels[0],
        span=kernel.span,
        mark=kernels[0],
        details=(("keys", ", ".join(bits)),),
        tip="see that the kernel heeds or resolves the bit; a kernel that only makes a view passes it on",
        severity=Severity.INFO,
    )


def _whose(view: View, name: OperatorName) -> str:
    """Whose operator it is: who defines it."""
    if view.is_defined_by_files(name):
        return "your own operator"
    is_pytorchs = str(name) in view.pytorch_operators or name.namespace in CORE_NAMESPACES
    return "PyTorch's operator" if is_pytorchs else "an operator of another library"


def _outcome(bits: list[str]) -> str:
    """What a kernel gets, and what it makes of it when it reads memory as if it were any other tensor's."""
    wrong = "crashes or gives" if bits == ["ZeroTensor"] else "gives"
    tensors = _listed([BITS[key] for key in bits])
    return f"gets {tensors} tensors as they are, and {wrong} silently wrong results unless it looks at the bit"


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


CHECK = Check.of(find, __doc__, "DC306", Severity.WARNING, needs=(Need.FILES,))
